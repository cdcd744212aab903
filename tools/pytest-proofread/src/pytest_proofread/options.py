"""What pytest loads in each run: the options, and no more until one of them is given.

- `pytest --proofread docs` runs each program and compares what it prints.
- `pytest --record docs` rewrites what is recorded.
- `pytest --changed docs` leaves out what has passed and cannot have changed.
"""

from pathlib import Path

import pytest


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
    parser.addini("proofread_output_limit", "bytes that one may print", default="")
    parser.addini("proofread_width", "characters in a line of code", default="0")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Name what other plugins can add."""
    from pytest_proofread import hooks

    pluginmanager.add_hookspecs(hooks)


def pytest_configure(config: pytest.Config) -> None:
    """Load what reads and runs pages, if it is asked for."""
    config.addinivalue_line("markers", "timeout(seconds): how long a program may run")
    option = config.option
    if option.proofread or option.record or option.changed:
        from pytest_proofread.pytest_plugin import plugin

        config.pluginmanager.register(plugin, "proofread-pages")
