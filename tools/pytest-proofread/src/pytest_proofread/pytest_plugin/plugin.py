"""A pytest plugin: each program of a Markdown page is a test, and so is the page.

Once installed it is there in each run, and does nothing until it is asked to:

    pytest --proofread docs     runs each program and compares what it prints
    pytest --record docs        rewrites what is recorded
    pytest --changed docs       leaves out what has passed and cannot have changed
    pytest --changed tests      does so with modules of tests
    pytest --changed --codeblocks docs
                                does so with what pytest-codeblocks runs, too
"""

import os
import random
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_proofread.pytest_plugin.changed import Keys
from pytest_proofread.pytest_plugin.codeblocks import is_codeblock, key_of_codeblock
from pytest_proofread.pytest_plugin.items import FOLLOWING, WORKER, Page, Run
from pytest_proofread.pytest_plugin.modules import Modules
from pytest_proofread.pytest_plugin.reads import Files, Recorder, modules_of
from pytest_proofread.pytest_plugin.settings import inexact, wanted
from pytest_proofread.pytest_plugin.summary import CACHE, KEY, Account
from pytest_proofread.run import NO_WINDOWS, runner

RECORDER = pytest.StashKey[Recorder]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Name the options and the settings."""
    group = parser.getgroup("proofread", "programs in Markdown pages")
    flag = {"action": "store_true", "default": False}
    group.addoption("--proofread", help="run them and compare what they print", **flag)
    group.addoption("--record", help="rewrite what the pages say they print", **flag)
    group.addoption(
        "--changed", help="leave out what passed and has not changed", **flag
    )
    group.addoption(
        "--no-lookahead", help="begin no program before the last has ended", **flag
    )
    group.addoption("--shuffle", type=int, metavar="SEED", help="in another order")
    group.addoption(
        "--compare",
        choices=["auto", "exact", "tokens"],
        default="auto",
        help="auto: exact in the reference environment, else token by token",
    )
    group.addoption("--results", type=Path, metavar="FILE", help="write JSON")
    parser.addini("proofread_kinds", "what a fence may say that is not run", "args")
    parser.addini("proofread_reference", "where outputs are exact", "linelist")
    parser.addini("proofread_limit", "seconds that a program may run", default="")
    parser.addini("proofread_variables", "what tests take from outside", "args")
    parser.addini("proofread_width", "characters in a line of code", default="0")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """See what tests reach, from the first module of the project that is imported."""
    if early_config.known_args_namespace.changed and sys.platform != "win32":
        files = Files(early_config.rootpath)
        # What pytest alone adds is not there for a process that a test starts.
        added = {*map(str, early_config.getini("pythonpath"))}
        path = [folder for folder in sys.path if folder not in added]
        early_config.stash[RECORDER] = Recorder(files, modules_of(files, path))
        early_config.stash[RECORDER].start()


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what makes no sense, and keep the account of this run."""
    config.addinivalue_line("markers", "timeout(seconds): how long a program may run")
    if not wanted(config):
        return
    if sys.platform == "win32":
        raise pytest.UsageError(NO_WINDOWS)
    if config.option.record and "CI" in os.environ:
        raise pytest.UsageError(
            f"--record must not be used where CI is set; got CI={os.environ['CI']}."
        )
    if config.option.record and config.option.changed:
        raise pytest.UsageError("--record must not be combined with --changed.")
    if config.option.usepdb:
        raise pytest.UsageError(
            "--pdb must not be used for pages: a program has a process of its own."
        )
    if config.option.changed:
        modules = Modules(config, config.stash[RECORDER])
        config.pluginmanager.register(modules, "proofread-modules")
    # They start with the first program.
    config.stash[WORKER] = runner.Lookahead(
        *(runner.current_interpreter() for _ in range(workers(config)))
    )
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Account(config), "proofread-account")


def workers(config: pytest.Config) -> int:
    """Return how many processes to start programs from: a second where a core is free.

    Programs that are recorded run alone, and the workers of pytest-xdist have the cores
    already.
    """
    alone = config.option.record or config.option.no_lookahead
    busy = hasattr(config, "workerinput") or (os.cpu_count() or 1) < 2
    return 1 if alone or busy else 2


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Say which program comes next, so that it may begin."""
    if isinstance(item, Run):
        following = None
        if isinstance(nextitem, Run) and nextitem.may_begin_ahead:
            following = nextitem.job
        item.config.stash[FOLLOWING] = following


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process that programs are started from."""
    if worker := config.stash.get(WORKER, None):
        worker.close()
    if recorder := config.stash.get(RECORDER, None):
        recorder.stop()


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Look into a folder with pages whatever its name, if one above it was named.

    By itself pytest would pass over `docs/build`, which a site publishes.
    """
    name = collection_path.name
    passed_over = any(fnmatch(name, text) for text in config.getini("norecursedirs"))
    if not wanted(config) or not passed_over or name.startswith("."):
        return None
    start = config.invocation_params.dir
    named = [(start / text.partition("::")[0]).resolve() for text in config.args]
    above = {*collection_path.resolve().parents} & {*named} - {config.rootpath}
    return False if above and any(collection_path.glob("**/*.md")) else None


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Read each Markdown page."""
    if wanted(parent.config) and file_path.suffix == ".md":
        return Page.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Order the programs, and leave out those that nothing can have changed."""
    if not wanted(config):
        return
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)  # noqa: S311
    # What runs again does so in another order.
    again = [item for item in items if isinstance(item, Run) and item.again]
    items[:] = [*(item for item in items if item not in {*again}), *again[::-1]]
    if config.option.changed:
        keys = Keys(
            config.rootpath, (inexact(config), config.getini("proofread_limit"))
        )
        passed = set(config.cache.get(CACHE, []))
        same = []
        for item in items:
            if isinstance(item, Run):
                key = keys.of(item.program)
            elif is_codeblock(item):
                key = key_of_codeblock(keys, item)
            else:
                continue
            item.user_properties.append((KEY, key))
            if key in passed:
                same.append(item)
        config.hook.pytest_deselected(items=same)
        items[:] = [item for item in items if item not in {*same}]
