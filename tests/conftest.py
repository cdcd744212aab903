"""Switch the shape checks on for the whole run, and seed torch for each test."""

import gc
import os
import signal
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import coverage
import jaxtyping
import pytest

# Idle threads sleep instead of spinning: on a busy machine the run takes a sixth of the
# time. It is read when torch is loaded, and changes no number.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# What a script starts in the background is deaf to Ctrl-C, and so would be all that
# tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Coverage follows the workers of pytest-xdist, and not what these start in their turn:
# each program of the book would take twice the time. A test whose processes it should
# follow asks for `coverage_of_processes`.
FOLLOW = "COVERAGE_PROCESS_CONFIG"
follow = os.environ.get(FOLLOW)
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop(FOLLOW, None)

# These try in great number what the tests of each module try in small number, so they
# need not count for the coverage. `make coverage` runs them, too, but without its
# tracer, with which they take half as long again.
UNTRACED = (
    "book",
    "checks/corpus",
    "checks/test_right.py",
    "checks/test_wrong.py",
    "practice/test_proofs.py",
    "properties",
)
HERE = Path(__file__).parent

# The hook rewrites modules as they are imported, so it must come before the first one.
if "headway" in sys.modules:
    raise RuntimeError("headway was imported before its shape checks were switched on")
# Only what says something about shapes is rewritten. The rest has plain types, which
# mypy has seen, and checks alone would take twice the time; a night has time for it.
SOURCE = HERE.parent / "src"
HOOKED = [
    ".".join(file.relative_to(SOURCE).with_suffix("").parts)
    for file in sorted(SOURCE.rglob("*.py"))
    if "from jaxtyping import" in file.read_text("utf-8")
]
everywhere = os.environ.get("SHAPE_CHECKS") == "everywhere"
jaxtyping.install_import_hook("headway" if everywhere else HOOKED, "beartype.beartype")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "refusal: bad input on purpose; switches the shape checks off for the test, "
        "which would else refuse it before the package's own sentence.",
    )


def pytest_sessionfinish() -> None:
    # pytest-xdist kills a worker that needs more than ten seconds to end, as one may on
    # a busy machine; what it has measured would be lost.
    measured = coverage.Coverage.current()
    if "PYTEST_XDIST_WORKER" in os.environ and measured is not None:
        measured.stop()
        measured.save()


def pytest_collection_finish() -> None:
    # Modules and tests stay until the end: the collector need not look at them again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Run a test without the tracer of coverage where that has nothing to see."""
    measured = coverage.Coverage.current()
    untraced = any(item.path.is_relative_to(HERE / one) for one in UNTRACED)
    if measured is None or not untraced:
        return (yield)
    measured.stop()
    try:
        return (yield)
    finally:
        measured.start()


@pytest.fixture(autouse=True)
def _shape_checks(request: pytest.FixtureRequest) -> Iterator[None]:
    off = request.node.get_closest_marker("refusal") is not None
    jaxtyping.config.update("jaxtyping_disable", off)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def coverage_of_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    if follow is not None:
        monkeypatch.setenv(FOLLOW, follow)


@pytest.fixture(autouse=True)
def _seed() -> None:
    import torch

    # `torch.manual_seed` formats the stack several times, which is deep in a test.
    torch.default_generator.manual_seed(0)


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Let the package be installed anew, by a build that knows these addresses."""
    from headway._published import published_at

    def build(*addresses: str) -> None:
        folder = tmp_path / "headway-0.1.0.dist-info"
        folder.mkdir()
        lines = ["Metadata-Version: 2.4", "Name: headway", "Version: 0.1.0"]
        lines += [f"Project-URL: {one}" for one in addresses]
        (folder / "METADATA").write_text("\n".join(lines) + "\n\n")
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    published_at.cache_clear()
    yield build
    published_at.cache_clear()
