"""Each command that the book, the README and the helps print does what they say."""

import ast
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from headway import cli
from headway.checks import cli as checks
from headway.checks.command.worker import answer
from headway.practice import cli as practice
from tests.practice.small import CORE, Here, small_set

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PLACES = (
    *(
        ROOT / name
        for name in ("README.md", "CONTRIBUTING.md", "Makefile", "mkdocs.yml")
    ),
    *sorted(DOCS.rglob("*.md")),
    *sorted((ROOT / "generated").rglob("*.md")),
    *sorted((ROOT / "tools").rglob("*.md")),
    *sorted((ROOT / "overrides").rglob("*.html")),
    *sorted((ROOT / ".github").rglob("*.*")),
    *sorted((ROOT / "src/headway").rglob("cli.py")),
)
COMMAND = r"(?:python -m headway\.cli|headway) (?:check|explain|practi[sc]e)"
# In a terminal, a workflow or a hook, below a report, in a sentence of a page, and of a
# help.
FORMS = (
    rf"^ *\$ (?P<terminal>{COMMAND}\b(?:.*\\\n)*.*)\n(?P<printed>(?:(?! *[$`]).*\n)*)",
    rf"^[- ]*(?:run|entry): (?P<yaml>{COMMAND}\b.*)$",
    rf"(?:^Read on|In a terminal): (?P<report>{COMMAND}\b.*)$",
    rf"`(?P<page>{COMMAND}\b[^`\n]*)`",
    rf'(?<=")(?P<help>{COMMAND} [^"\n:]*:[^"\n]*--help)(?=")',
)
# Names of the tool that are no commands, such as in what it says of an error.
NAMES = (
    rf'"{COMMAND}"',
    rf"{COMMAND}: (?=\{{|interrupted)",
    rf"`{COMMAND} \.\.\. \| head`",
    rf"^ +headway {COMMAND} .*$",  # in a container
)
GIVEN = {"NAME": "double", "SET": "set"}
# A command without a terminal judges an exercise that is not written yet; where no file
# was made, there are none to judge; and the models of the pages are wrong.
STATUS = {
    "headway practice": 1,
    "headway practice NAME": 1,
    "headway practice --core": 1,
    "headway practice --once": 1,
    "headway practice --once --json": 1,
    "headway practice --path evening": 1,
    "headway practice --all": 2,
    "headway practice --all FOLDER": 2,
    "headway practice --all class --edition autumn.json": 2,
    "headway practice --set SET": 1,
    "headway check my_model.py:GPT --vocab 50257": 1,
    "headway check my_model.py:GPT --vocab 66": 1,
    "headway check my_model.py:MyModel --vocab 17": 1,
}


def commands_of(text: str) -> Iterator[tuple[str, str]]:
    """Give each command that a text prints, and what it prints below."""
    for form in FORMS:
        for found in re.finditer(form, text, re.MULTILINE):
            groups = found.groupdict()
            printed = groups.pop("printed", "")
            [line] = groups.values()
            command = " ".join(line.replace("\\\n", " ").split())
            if "..." not in command:
                yield command, printed


COMMANDS = sorted(
    {one for path in PLACES for one in commands_of(path.read_text("utf-8"))}
)


def classes(page: str, name: str) -> str:
    """Give the imports and classes of the first program that defines a class."""
    fences = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    program, *_ = [one for one in fences if f"class {name}(" in one]
    kept = (ast.Import, ast.ImportFrom, ast.ClassDef)
    found = [one for one in ast.parse(program).body if isinstance(one, kept)]
    return "\n".join(map(ast.unparse, found))


ATTENTION = """
from headway import MultiHeadAttention

MyAttention = MultiHeadAttention

class Name(MultiHeadAttention):
    def __init__(self, d_in=12, d_out=20, num_heads=4):
        super().__init__(d_in, d_out, 30, 0.0, num_heads)
"""
CONFIGURED = ATTENTION + "\nMyAttention = Name\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with all that the commands name, and work in it."""
    in_your_ci = (DOCS / "in_your_ci.md").read_text("utf-8")
    whole_models = (DOCS / "whole_models.md").read_text("utf-8")
    models = classes(in_your_ci, "MyModel"), classes(whole_models, "GPT")
    (tmp_path / "my_model.py").write_text("\n".join(models))
    for name in ("my_attention.py", "file.py"):
        (tmp_path / name).write_text(ATTENTION)
    (tmp_path / "known.json").write_text("{}")
    small_set(tmp_path / "set", half=CORE)
    (tmp_path / "set/evening.txt").write_text("half\n")
    small_set(tmp_path / "src/headway/practice/exercises")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(practice, "Worker", Here)
    monkeypatch.setattr(practice, "BOOK", tmp_path / "set")
    return tmp_path


def configure(project: Path) -> None:
    """Write the table that a page shows, and the class that it is about."""
    page = (DOCS / "in_your_ci.md").read_text("utf-8")
    [table] = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (project / "pyproject.toml").write_text(table)
    (project / "my_attention.py").write_text(CONFIGURED)


Run = Callable[[str], tuple[int, str]]


@pytest.fixture
def run(project: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command in that folder; give its status and what it prints.

    It is run in this process: one of its own would import PyTorch each time.
    """

    def called(command: str) -> tuple[int, str]:
        words = [GIVEN.get(word, word) for word in shlex.split(command)]
        words = words[3 if words[0] == "python" else 1 :]
        if ".py:" not in command:  # what has a target must do without a table
            configure(project)
        try:
            if words[0] == "check":
                status = checks.main(words[1:], ask=answer)
            else:
                status = cli.main(words)
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = capsys.readouterr()
        return status, out + err

    return called


@pytest.mark.parametrize(("command", "printed"), COMMANDS, ids=lambda one: one[:60])
@pytest.mark.refusal
def test_a_command_does_what_the_page_says(
    run: Run, command: str, printed: str
) -> None:
    status, out = run(command)
    assert status == STATUS.get(command.replace("practise", "practice"), 0), out
    assert printed in out


def test_each_command_is_found() -> None:
    for path in PLACES:
        left = path.read_text("utf-8")
        for form in (*FORMS, *NAMES):
            left = re.sub(form, "", left, flags=re.MULTILINE)
        assert re.findall(rf"^.*\b{COMMAND}\b.*$", left, re.MULTILINE) == [], path


def test_what_is_declared_is_printed() -> None:
    assert STATUS.keys() <= {command for command, _ in COMMANDS}
    words = {word for command, _ in COMMANDS for word in shlex.split(command)}
    assert GIVEN.keys() <= words


@pytest.mark.refusal
def test_what_the_museum_adds_to_the_command_of_the_home_page_is_taken(
    run: Run,
) -> None:
    home = (DOCS / "index.md").read_text("utf-8")
    museum = (DOCS / "museum.md").read_text("utf-8")
    [command] = [one for one, _ in commands_of(home) if "MultiHeadAttention" in one]
    added = set(re.findall(r"\| `(--[^`]+)` \|$", museum, re.MULTILINE))
    assert added
    status, out = run(f"{command} {' '.join(sorted(added))}")
    assert status == 0, out


PYTEST = r"(?:`|^ *\$ )(pytest --(?:proofread|record|changed)\b[^`\n]*)"
OF_PYTEST = sorted(
    {
        one
        for path in PLACES
        for one in re.findall(PYTEST, path.read_text("utf-8"), re.MULTILINE)
    }
)
PAGE = """```python
print(1 + 1)
```

<!--pytest-codeblocks:expected-output-->

```text
2
```
"""


@pytest.mark.parametrize("command", OF_PYTEST)
def test_the_programs_of_pages_are_run_as_printed(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.delenv("CI", raising=False)  # nothing is recorded in CI
    pytester.makepyprojecttoml(
        '[tool.pytest.ini_options]\naddopts = ["-p", "pytest_proofread.options"]\n'
    )
    for page in (pytester.mkdir("docs") / "page.md", pytester.path / "README.md"):
        page.write_text(PAGE, "utf-8")
    (pytester.mkdir("tests") / "test_nothing.py").write_text("def test(): pass\n")
    done = pytester.runpytest_inprocess(*shlex.split(command)[1:])
    assert done.ret == 0
    if "docs" in command:
        done.stdout.fnmatch_lines("proofread: [12] programs ran, 0 of them refused *")


def test_commands_of_pytest_are_found() -> None:
    assert {"pytest --proofread docs", "pytest --record docs"} <= {*OF_PYTEST}


def test_the_targets_of_make_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for path in PLACES:
        if path.suffix == ".md":
            named = re.findall(r"(?:`|^ *\$ )make ([a-z-]+)", path.read_text("utf-8"))
            assert {*named} <= targets, path
