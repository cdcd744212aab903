"""Each program of a Markdown page is a test, and so is the page.

`pytest_proofread.options` has pytest load this where pages are asked for.
"""

import os
import random
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

from pytest_proofread.pytest_plugin.changed import Keys, leave_out
from pytest_proofread.pytest_plugin.items import FOLLOWING, WATCH, WORKER, Page, Run
from pytest_proofread.pytest_plugin.lookahead import Lookahead, current_interpreter
from pytest_proofread.pytest_plugin.settings import inexact, number
from pytest_proofread.pytest_plugin.summary import Account
from pytest_proofread.runner import NO_WINDOWS


def pytest_configure(config: pytest.Config) -> None:
    """Refuse what makes no sense, and keep the account of this run."""
    if sys.platform == "win32":
        raise pytest.UsageError(NO_WINDOWS)
    for name in ("proofread_limit", "proofread_output_limit"):
        number(config, name, 1.0)
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
    # They start with the first program.
    config.stash[WORKER] = Lookahead(
        *(current_interpreter() for _ in range(workers(config)))
    )
    watch = config.hook.pytest_proofread_watch(config=config)
    config.stash[WATCH] = "" if config.option.record else watch or ""
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


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Look into a folder with pages whatever its name, if one above it was named.

    By itself pytest would pass over `docs/build`, which a site publishes.
    """
    name = collection_path.name
    passed_over = any(fnmatch(name, text) for text in config.getini("norecursedirs"))
    if not passed_over or name.startswith("."):
        return None
    start = config.invocation_params.dir
    named = [(start / text.partition("::")[0]).resolve() for text in config.args]
    above = {*collection_path.resolve().parents} & {*named} - {config.rootpath}
    return False if above and any(collection_path.glob("**/*.md")) else None


def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> pytest.Collector | None:
    """Read each Markdown page."""
    if file_path.suffix == ".md":
        return Page.from_parent(parent, path=file_path)
    return None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Order the programs, and leave out those that nothing can have changed."""
    if config.option.shuffle is not None:
        random.Random(config.option.shuffle).shuffle(items)  # noqa: S311
    # What runs again does so in another order.
    again = [item for item in items if isinstance(item, Run) and item.again]
    items[:] = [*(item for item in items if item not in {*again}), *again[::-1]]
    if config.option.changed:
        settings = inexact(config), config.getini("proofread_limit")
        files = config.hook.pytest_proofread_files(config=config)
        keys = Keys(config.rootpath, settings, files)
        leave_out(
            config,
            items,
            lambda item: keys.of(item.program) if isinstance(item, Run) else None,
        )
