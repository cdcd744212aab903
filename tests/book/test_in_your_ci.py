"""What the page on CI tells a reader to copy works, to the letter."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from headway.checks import cli as checks
from headway.checks.command.worker import answer
from tests.support.processes import PATIENCE

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "in_your_ci.md"
RIGHT = """
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class MyAttention(nn.Module):
    def __init__(self, d_in, d_out, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(d_in, 3 * d_out)

    def forward(self, x):
        B, T, _ = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        context = scaled_dot_product_attention(q, k, v, is_causal=True)
        return context.transpose(1, 2).reshape(B, T, -1)
"""
WRONG = RIGHT.replace(".transpose(1, 2)", "")


def fences(kind: str, beginning: str = "") -> list[str]:
    """Give the fences of a kind on the page that begin so."""
    found = re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    return [one for one in found if one.startswith(beginning)]


def recipe(beginning: str) -> Any:
    """Read the one recipe that begins so."""
    [text] = fences("yaml", beginning)
    return yaml.safe_load(text)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project that the page configures, with attention that is right."""
    [table] = fences("toml")
    (tmp_path / "pyproject.toml").write_text(table)
    (tmp_path / "my_attention.py").write_text(RIGHT)
    return tmp_path


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command of the page, with the interpreter of this process."""
    program, *words = command.split()
    modules = {"headway": "headway.cli", "pytest": "pytest"}
    environment = {k: v for k, v in os.environ.items() if k != "GITHUB_WORKSPACE"}
    return subprocess.run(
        [sys.executable, "-m", modules[program], *words],
        cwd=folder,
        env=environment | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


Check = Callable[[str], tuple[int, str]]


@pytest.fixture
def check_here(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Check:
    """Run a command in the project, with code that is wrong; give what comes out.

    It is run in this process: those of its own would import PyTorch each time.
    """

    def called(command: str) -> tuple[int, str]:
        (project / "my_attention.py").write_text(WRONG)
        monkeypatch.chdir(project)
        program, name, *words = command.split()
        assert (program, name) == ("headway", "check")
        return checks.main(words, ask=answer), capsys.readouterr().out

    return called


@pytest.mark.refusal
def test_the_workflow_checks_what_is_configured(
    project: Path, check_here: Check
) -> None:
    workflow = recipe("name: attention")
    assert workflow[True] == ["pull_request"]  # `on` is a truth in YAML
    assert workflow["permissions"] == {"contents": "read"}
    *_, needs, last = workflow["jobs"]["check"]["steps"]
    assert needs == {"run": "pip install -r requirements.txt"}
    done = run(last["run"], project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == [
        "MyAttention",
        "MultiheadAttention",
    ]
    status, printed = check_here(last["run"])
    assert status == 1
    assert printed.startswith(
        "::error file=my_attention.py,line=6,title=MyAttention%3A equals the "
        "equation [equation]::"
        "It is exactly what comes out when heads are merged without the transpose."
    )


@pytest.mark.refusal
def test_the_hook_runs_when_the_file_changes_and_fails_if_it_is_wrong(
    check_here: Check,
) -> None:
    recipes = [yaml.safe_load(text) for text in fences("yaml", "repos:")]
    [[repository]] = [r["repos"] for r in recipes if r["repos"][0]["repo"] == "local"]
    [hook] = repository["hooks"]
    assert {"id", "name", "entry", "language", "files"} <= hook.keys()
    assert (hook["language"], hook["pass_filenames"]) == ("system", False)
    assert re.search(hook["files"], "my_attention.py")
    assert not re.search(hook["files"], "my_attention.pyc")
    assert check_here(hook["entry"])[0] == 1


def git(*words: str, folder: Path) -> None:
    identity = ("-c", "user.name=A", "-c", "user.email=a@b.c")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True)


def commit(folder: Path) -> None:
    """Make a repository of a folder."""
    git("init", "-q", folder=folder)
    git("add", "-A", folder=folder)
    git("commit", "-qm", "first", folder=folder)


@pytest.mark.slow
def test_the_hook_of_this_repository_runs_in_a_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """pre-commit itself reads it, from a repository."""
    ours = tmp_path_factory.mktemp("ours")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", ours)
    commit(ours)
    recipes = [yaml.safe_load(text) for text in fences("yaml", "repos:")]
    [[repository]] = [r["repos"] for r in recipes if r["repos"][0]["repo"] != "local"]
    repository |= {"repo": str(ours), "rev": "HEAD"}
    text = yaml.safe_dump({"repos": [repository]})
    (project / ".pre-commit-config.yaml").write_text(text)
    (project / "README.md").write_text("")
    commit(project)

    def hooked(*words: str) -> tuple[int, str]:
        paths = [str(Path(sys.executable).parent), os.environ["PATH"]]
        done = subprocess.run(
            [sys.executable, "-m", "pre_commit", "run", *words],
            cwd=project,
            env={
                **os.environ,
                "PATH": os.pathsep.join(paths),
                "PRE_COMMIT_HOME": str(tmp_path_factory.mktemp("home")),
            },
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    status, printed = hooked("--all-files")
    assert (status, "Passed" in printed) == (0, True), printed
    status, printed = hooked("--files", "README.md")
    assert (status, "Skipped" in printed) == (0, True), printed
    (project / "my_attention.py").write_text(WRONG)
    git("add", "-A", folder=project)
    status, printed = hooked()
    assert status == 1
    assert "heads are merged without the" in printed


@pytest.mark.slow
def test_the_action_of_this_repository_runs_in_a_project(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Its steps, one after the other, in an environment that has PyTorch."""
    action = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
    [(name, argument)] = action["inputs"].items()
    environment = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    python = environment / "bin" / "python"
    [folder] = environment.glob("lib/python*/site-packages")
    # All that is installed here but headway, which the first step is to install.
    theirs = [one for one in sys.path if one.endswith("site-packages")]
    (folder / "theirs.pth").write_text("\n".join(theirs))

    def steps(arguments: str) -> tuple[int, str]:
        paths = [str(environment / "bin"), os.environ["PATH"]]
        given = {
            **os.environ,
            "PATH": os.pathsep.join(paths),
            "GITHUB_ACTION_PATH": str(ROOT),
            "GITHUB_WORKSPACE": str(project),
            "PIP_NO_DEPS": "1",
            "PIP_NO_BUILD_ISOLATION": "0",  # which pip reads as true
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        printed = ""
        for step in action["runs"]["steps"]:
            values = {
                key: value.replace(f"${{{{ inputs.{name} }}}}", arguments)
                for key, value in step.get("env", {}).items()
            }
            shell = {"bash": ["bash", "-eo", "pipefail"], "python": [str(python)]}
            file = tmp_path_factory.mktemp("step") / "step"
            file.write_text(step["run"])
            done = subprocess.run(
                [*shell[step["shell"]], file],
                cwd=project,
                env=given | values,
                capture_output=True,
                text=True,
                timeout=PATIENCE,
                check=False,
            )
            printed += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, printed
        return 0, printed

    status, printed = steps(argument["default"])
    assert status == 0, printed
    assert "Successfully installed headway" in printed
    assert "MyAttention: " in printed
    (project / "my_attention.py").write_text(WRONG)
    status, printed = steps("my_attention.py:MyAttention --only 'equation,leak'")
    assert status == 1
    assert "::error file=my_attention.py,line=6,title=MyAttention%3A equals" in printed
    assert "MyAttention: 0 passed, 2 failed, 0 not applicable" in printed


def test_the_file_of_tests_has_a_test_for_each_property(tmp_path: Path) -> None:
    [code] = fences("text", "from headway import")
    (tmp_path / "test_attention.py").write_text(code)
    done = run("pytest -v -p no:cacheprovider -p no:hypothesispytest", tmp_path)
    assert done.returncode == 0, done.stdout
    page = PAGE.read_text("utf-8")
    [name] = re.findall(r"called `(test_attention\[.+?\])`", page)
    assert f"test_attention.py::{name} PASSED" in done.stdout
    [words] = re.findall(r"`(pytest -k .+?)`", page)
    assert f"[{words.removeprefix('pytest -k ')}]" in name


def test_the_page_names_the_exit_statuses_and_real_options() -> None:
    page = PAGE.read_text("utf-8")
    table = re.findall(r"^\| (\d) \|", page, re.MULTILINE)
    assert table == ["0", "1", "2"]
    [text] = fences("toml")
    checks = tomllib.loads(text)["tool"]["headway"]["checks"]
    assert [*checks] == ["my_attention.py:MyAttention", "torch.nn:MultiheadAttention"]
