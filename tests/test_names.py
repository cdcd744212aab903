"""The public names are there when they are asked for, and cost nothing before."""

import subprocess
import sys
from pathlib import Path

import pytest

import headway
from headway import _names

COMMAND_LINE = """
import sys
import headway, headway.cli, headway.checks.cli
assert headway.__version__
assert not {"torch", "numpy"} & {*sys.modules}
"""


def test_a_command_line_is_read_without_pytorch() -> None:
    subprocess.run([sys.executable, "-P", "-c", COMMAND_LINE], check=True)


def test_a_source_tree_alone_says_its_version_and_reads_a_command_line() -> None:
    source = str(Path(headway.__file__).parents[1])
    # Without site-packages nothing is installed: no metadata, and no PyTorch.
    program = f"import sys; sys.path.append({source!r})\nfrom headway.cli import main\n"
    for words in ("--version", "--help", "check --help"):
        line = f"sys.exit(main({words.split()}))"
        command = [sys.executable, "-I", "-S", "-c", program + line]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.startswith(
            (f"headway {headway.__version__}", "usage: headway")
        )


def test_the_package_gives_each_name_its_parts_and_its_tools() -> None:
    assert headway.attention is _names.attention
    assert headway.basics.fused.fused_attention is headway.fused_attention
    assert headway.checks.check is headway.checks.attention.run.check
    assert callable(headway.practice.exercise)


def test_what_is_there_is_listed() -> None:
    assert {*headway.__all__, "checks", "practice", "__version__"} <= {*dir(headway)}
    assert {*headway.checks.__all__} <= {*dir(headway.checks)}


@pytest.mark.parametrize("name", ["attenton", "_nothing"])
def test_a_name_that_is_not_there(name: str) -> None:
    with pytest.raises(AttributeError, match=f"^module 'headway' has no .*'{name}'$"):
        getattr(headway, name)
    with pytest.raises(AttributeError, match=f"^module 'headway.checks' .*'{name}'$"):
        getattr(headway.checks, name)
