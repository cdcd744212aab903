"""What this book adds to pytest: `-p workshop.pytest_plugin`.

With `--changed`, modules of tests and programs that pytest-codeblocks runs are left out
that have passed and reach nothing that has changed; of some folders also those that the
main branch has as they are, whose checks have run them. With `--record`, each page runs
on another code path of the processor, too, before it is written. A page that asks for
new lines must have some.
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from workshop.changed_modules.kept import Kept
    from workshop.changed_modules.reads import Recorder

RECORDER: "pytest.StashKey[Recorder]" = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the settings."""
    parser.addini("workshop_variables", "what tests take from outside", "args")
    parser.addini(
        "workshop_unheeded",
        "files of which --changed does not count what they read, because it matters to "
        "nobody but to those who import it",
        "args",
    )
    parser.addini(
        "workshop_tested_on_main",
        "folders of tests of which --changed leaves out what has not run here, too, "
        "while it reaches nothing that differs from the main branch; and of pages, of "
        "which it leaves out what pytest-codeblocks alone would run",
        "args",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """See what tests reach, from the first module of the project that is imported."""
    changed = getattr(early_config.known_args_namespace, "changed", False)
    if changed and sys.platform != "win32":
        from workshop.changed_modules.reads import Files, Recorder, modules_of

        files = Files(early_config.rootpath)
        # What pytest alone adds is not there for a process that a test starts.
        added = {*map(str, early_config.getini("pythonpath"))}
        path = [folder for folder in sys.path if folder not in added]
        unheeded = early_config.getini("workshop_unheeded")
        recorder = Recorder(files, modules_of(files, path), unheeded)
        early_config.stash[RECORDER] = recorder
        recorder.start()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the shapes that pages show, and leave out modules of tests, as asked for."""
    if config.option.proofread and not hasattr(config, "workerinput"):
        from workshop.run.kept_shapes import KeptShapes

        config.pluginmanager.register(KeptShapes(config), "workshop-shapes")
    if recorder := config.stash.get(RECORDER, None):
        from workshop.changed_modules.modules import Modules

        config.pluginmanager.register(Modules(config, recorder), "workshop-modules")


@pytest.fixture(scope="session")
def kept(pytestconfig: pytest.Config) -> "Kept":
    """Keep what tests compute, until something changes that it depends on."""
    from workshop.changed_modules.kept import kept_here

    return kept_here(pytestconfig.rootpath, active=RECORDER in pytestconfig.stash)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Leave out programs that pytest-codeblocks has run, if it is asked for."""
    if RECORDER in config.stash:
        from workshop.changed_modules.codeblocks import leave_out_codeblocks

        leave_out_codeblocks(config, items)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take note of no more."""
    if recorder := config.stash.get(RECORDER, None):
        recorder.stop()


@pytest.hookimpl(optionalhook=True)
def pytest_proofread_environments() -> Mapping[str, Mapping[str, str]]:
    """Have programs print the same on another code path before they are recorded."""
    from workshop.run.code_paths import THREADS, another

    environment = another(os.environ).environment(os.environ)
    threads = "2" if os.environ.get(THREADS) == "1" else "1"
    return {"on another processor": environment | {THREADS: threads}}


@pytest.hookimpl(optionalhook=True)
def pytest_proofread_files(config: pytest.Config) -> Callable[[str], set[Path]]:
    """Follow each name of a package to where it is made, and no others."""
    from workshop.reached import Reached

    return Reached(config.rootpath, sys.path).of


@pytest.hookimpl(optionalhook=True)
def pytest_proofread_watch() -> str:
    """See which shapes the tensors have: the pages show them."""
    from workshop.run.watched_shapes import WATCH

    return WATCH


@pytest.hookimpl(optionalhook=True)
def pytest_proofread_check(text: str) -> Iterable[tuple[int, str]]:
    """Find a comment that asks for new lines where there is none to show."""
    from workshop.new_lines import check_new_lines

    return check_new_lines(text)
