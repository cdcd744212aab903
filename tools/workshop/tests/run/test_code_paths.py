"""Which code paths a processor has is asked of the libraries, not of its name."""

import os

import pytest
import torch

from pytest_proofread.pytest_plugin.elsewhere import run_pages
from workshop.run.code_paths import (
    BY_THEMSELVES,
    OLDEST,
    PATHS,
    CodePath,
    not_taken,
    taken,
)


def test_a_path_replaces_what_the_libraries_were_told() -> None:
    base = {"A": "1", "MKL_CBWR": "AVX", "ATEN_CPU_CAPABILITY": "avx2"}
    threads = {"OMP_NUM_THREADS": "7"}
    assert BY_THEMSELVES.environment(base | threads) == {"A": "1"} | threads
    assert CodePath("b", {"PyTorch": "c"}, 3).environment(base | threads) == {
        "A": "1",
        "ATEN_CPU_CAPABILITY": "c",
        "OMP_NUM_THREADS": "3",
    }


def test_there_are_paths_of_each_kind() -> None:
    assert PATHS[:2] == (BY_THEMSELVES, OLDEST)
    assert len({path.name for path in PATHS}) == len(PATHS)
    for library, branches in {
        "PyTorch": {"default", "avx2", "avx512"},
        "MKL": {"COMPATIBLE", "AVX2", "AVX512"},
        "oneDNN": {"SSE41", "AVX2", "AVX512_CORE"},
    }.items():
        assert {path.branches[library] for path in PATHS[1:]} == branches
    for branch in ("AVX2", "AVX-512"):
        threads = {path.threads for path in PATHS if path.name.startswith(branch)}
        assert threads == {1, 2}


@pytest.mark.slow
def test_the_oldest_path_is_there_on_every_processor() -> None:
    found = taken(OLDEST)
    assert "PyTorch" not in dict(not_taken(OLDEST, found))
    here = torch.backends.cpu.get_cpu_capability()
    assert taken(BY_THEMSELVES)["PyTorch"] == here
    if torch.backends.mkl.is_available():
        assert found["MKL"] == "COMPATIBLE"
    if torch.backends.mkldnn.is_available():
        assert found["oneDNN"]


def test_a_branch_that_ends_the_interpreter_is_not_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PyTorch takes a branch that it was told to, even where it cannot run."""
    monkeypatch.setattr("workshop.run.code_paths.PROBE", "import os; os.abort()")
    assert taken(OLDEST) == {}
    assert [*not_taken(OLDEST, {})] == [
        ("PyTorch", "PyTorch default: it does not run here"),
        ("MKL", "MKL COMPATIBLE: it does not run here"),
        ("oneDNN", "oneDNN SSE41: it does not run here"),
    ]


def test_a_library_that_takes_another_branch_is_named() -> None:
    found = {"PyTorch": "DEFAULT", "MKL": "AUTO", "oneDNN": "Intel SSE4.1"}
    assert [*not_taken(OLDEST, found)] == [
        ("MKL", "MKL COMPATIBLE: it takes AUTO instead")
    ]
    assert [*not_taken(BY_THEMSELVES, found)] == []


@pytest.mark.slow
def test_pages_run_on_a_path(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\naddopts = ["-p", "pytest_proofread.options"]\n'
    )
    page = tmp_path / "page.md"
    code = "import torch\nprint(torch.backends.cpu.get_cpu_capability())"
    page.write_text(f"```python\n{code}\n```\n")
    found = run_pages([page], [], OLDEST.environment(os.environ))
    (result,) = found.values()
    assert result["output"].upper() == f"{taken(OLDEST)['PyTorch']}\n".upper()
