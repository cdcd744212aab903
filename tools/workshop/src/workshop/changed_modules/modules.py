"""Leave out the modules of tests that have passed whole and reach nothing that changed.

The key of a module is made of the text of all files that it reaches: by imports, as
they are written; and by what it and the modules that it imports were seen to read, to
list and to start, in this run and in those before.
"""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Generator, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_proofread.digests import digest, installed
from workshop.changed_modules.main_branch import differing, is_in, same_as_on_main
from workshop.changed_modules.reads import (
    ALL_FILES,
    ALL_MODULES,
    IMPORTS,
    LISTS,
    READS,
    STARTS,
    Recorder,
    absolute,
    importable,
)
from workshop.reached import Reached

CACHE = "workshop/modules"
SAME = "workshop_same"

# These change neither which tests run nor what comes out.
HARMLESS = {
    *("file_or_dir", "verbose", "no_header", "no_summary", "reportchars", "tbstyle"),
    *("color", "code_highlight", "durations", "durations_min", "maxfail", "results"),
    *("numprocesses", "maxprocesses", "tx", "px", "dist", "distload", "looponfail"),
    *("rsyncdir", "rsyncignore", "testrunuid", "maxworkerrestart", "basetemp"),
    *("collectonly", "cacheclear", "shuffle", "no_lookahead", "xmlpath"),
}
ENDED = {
    pytest.ExitCode.OK,
    pytest.ExitCode.TESTS_FAILED,
    pytest.ExitCode.NO_TESTS_COLLECTED,
}


class Unchanged(pytest.Module):
    """A module that is left out: it is not even imported."""

    def collect(self) -> Sequence[pytest.Item]:
        """Return no test."""
        return ()


class Reach:
    """What the files of a project reach, and the keys that follow.

    Args:
        config: Of pytest, with its settings.
        contents: A digest of each file of the project.
        seen: What was seen of each: who, what it did, and with which.
    """

    def __init__(
        self,
        config: pytest.Config,
        contents: dict[str, str],
        seen: set[tuple[str, str, str]],
        modules: Sequence[str],
    ) -> None:
        self.root = config.rootpath.resolve()
        self.contents = contents
        self.modules = modules
        self.known: dict[str, list[tuple[str, str]]] = {}
        self.did: dict[str, list[tuple[str, str]]] = defaultdict(list)
        imports = defaultdict(list)
        for who, what, other in seen:
            if what == IMPORTS:
                imports[self.root / who].append(self.root / other)
            else:
                self.did[who].append((what, other))
        self.reached = Reached(self.root, sys.path, imports)
        self.tested_on_main = config.getini("workshop_tested_on_main")
        own = sorted(Path(__file__).parent.glob("*.py"))
        self.settings = digest(
            *installed(),
            *(path.read_text(encoding="utf-8") for path in own),
            *(config.inipath.read_text(encoding="utf-8") if config.inipath else "",),
        )

    def start(self, module: str) -> list[Path]:
        """Return where a module of tests begins: itself, and what stands above it."""
        above = [self.root / folder for folder in Path(module).parents]
        names = ("conftest.py", "__init__.py")
        return [self.root / module, *(one / name for one in above for name in names)]

    def of(self, module: str) -> list[tuple[str, str]]:
        """Return all that a module of tests reaches, as files, lists and processes."""
        if module not in self.known:
            self.known[module] = sorted(self.find(module))
        return self.known[module]

    def find(self, module: str) -> set[tuple[str, str]]:
        """Find all that a module of tests reaches."""
        files = self.imports(module)
        found = {(READS, file) for file in files}
        if is_in(module, self.tested_on_main):
            # On the main branch it runs whatever its processes read, and whatever the
            # package read for another module.
            files = {one for one in files if "src" not in Path(one).parts}
        found = found.union(*(self.did.get(file, ()) for file in files))
        if is_in(module, self.tested_on_main):
            found -= {(STARTS, ALL_MODULES), (STARTS, ALL_FILES)}
        return found

    def imports(self, module: str) -> set[str]:
        """Return the files that a module of tests imports."""
        return {*map(self.name, self.reached.modules_of(self.start(module)))}

    def files(self, module: str) -> set[str]:
        """Return the files that a module of tests imports, and data beside them."""
        imports = self.imports(module)
        folders = {(self.root / one).parent for one in imports}
        beside = set[Path]().union(*map(self.reached.files_beside, folders))
        return imports | {self.name(one) for one in beside if one.suffix != ".py"}

    def name(self, file: Path) -> str:
        """Return a path from the project's folder."""
        return file.relative_to(self.root).as_posix()

    def key(self, reached: Sequence[tuple[str, str]], contents: dict[str, str]) -> str:
        """Return the key of all this with some contents."""
        parts = [self.settings]
        for what, name in reached:
            parts += [what, name]
            if what == READS:
                parts.append(contents.get(name, "none"))
            elif what == LISTS:
                inside = "" if name == "." else f"{name}/"
                parts += [one for one in sorted(contents) if one.startswith(inside)]
            elif name in {ALL_MODULES, ALL_FILES}:
                for one in sorted(contents):
                    if name == ALL_FILES or importable(one, self.modules):
                        parts += [one, contents[one]]
        return digest(*parts)


class Modules:
    """Leaves modules out, sees what the others reach, and keeps those that pass.

    With pytest-xdist one process does the first and the last for all workers, and each
    of them sees what its own tests reach.

    Args:
        config: Of pytest.
        recorder: What takes note in this process.
    """

    def __init__(self, config: pytest.Config, recorder: Recorder) -> None:
        self.config = config
        self.recorder = recorder
        # What a worker of pytest-xdist is told, and what it tells in the end.
        self.told: dict[str, Any] | None = getattr(config, "workerinput", None)
        self.options = options(config)
        self.left_out: set[str] = set()
        self.collected: set[str] = set()
        self.waiting: dict[str, set[str]] = defaultdict(set)
        # Of these, only some tests were asked for.
        start = config.invocation_params.dir
        named = [
            start / text.partition("::")[0] for text in config.args if "::" in text
        ]
        self.wrong = {recorder.files.name(absolute(path)) or "" for path in named}
        if self.told is not None:
            self.same = {*self.told[SAME]}
            return
        kept = config.cache.get(CACHE, {})
        self.seen = {tuple(one) for one in kept.get("seen", ())}
        self.passed: dict[str, dict[str, str]] = kept.get("passed", {})
        self.contents = recorder.files.contents()
        reach = self.reach()
        # By options, for others may have passed with other ones.
        self.valid = {
            options: {one for one, key in keys.items() if self.key(reach, one) == key}
            for options, keys in self.passed.items()
        }
        known = self.passed.get(self.options, {})
        self.on_main = self.tested_on_main(reach) - known.keys()
        self.same = self.valid.get(self.options, set()) | self.on_main

    def key(self, reach: Reach, module: str) -> str | None:
        """Return the key of a module as it was when this run began, if it was there."""
        if module not in self.contents:
            return None
        return reach.key(reach.of(module), self.contents)

    def tested_on_main(self, reach: Reach) -> set[str]:
        """Return the modules that the checks of the main branch have run as they are.

        These are modules of the folders that the settings name.
        """
        folders = self.config.getini("workshop_tested_on_main")
        changed = differing() if folders else None
        if changed is None:
            return set()
        return same_as_on_main(
            [one for one in self.contents if is_in(one, folders)],
            changed,
            {one for one in changed if not importable(one, reach.modules)},
            reach.files,
            reach.imports,
            lambda file: (reach.root / file).read_text(encoding="utf-8"),
        )

    def reach(self) -> Reach:
        """Return what the files reach, as far as that was seen."""
        return Reach(self.config, self.contents, self.seen, self.recorder.modules)

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker what to leave out."""
        node.workerinput[SAME] = sorted(self.same)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(
        self, module_path: Path, parent: pytest.Collector
    ) -> pytest.Module | None:
        """Leave a module out before it is imported."""
        module = self.recorder.files.name(str(module_path))
        if module in self.same - self.wrong:
            return Unchanged.from_parent(parent, path=module_path)
        return None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take note of the tests that must pass."""
        self.wait_for(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: Sequence[str]) -> None:
        """Take note of the tests that must pass."""
        self.wait_for(ids)

    def wait_for(self, tests: Iterable[str]) -> None:
        """Take note of the tests that must pass."""
        for test in tests:
            self.waiting[test.partition("::")[0]].add(test)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> None:
        """Say which test asks for what nobody else does."""
        self.recorder.test = self.recorder.files.name(str(item.path))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self,
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Send what was seen with the report of each test."""
        report = yield
        if report.when == "teardown":
            self.recorder.test = None
            vars(report)["workshop_seen"] = self.recorder.new()
        return report

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Take note of a module that was collected, left out, or cannot be imported."""
        module = report.nodeid.partition("::")[0]
        if report.failed:
            self.wrong.add(module)
        elif module.endswith(".py"):
            (self.left_out if module in self.same else self.collected).add(module)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take note of a test."""
        if self.told is not None:
            return
        module = report.nodeid.partition("::")[0]
        if report.failed:
            self.wrong.add(module)
        if report.when == "teardown":
            self.waiting[module].discard(report.nodeid)
        self.seen.update(map(tuple, getattr(report, "workshop_seen", ())))

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from a worker what it collected and left out."""
        output = getattr(node, "workeroutput", {})
        left_out, collected, seen = output.get(SAME, ((), (), ()))
        self.left_out.update(left_out)
        self.collected.update(collected)
        self.seen.update(map(tuple, seen))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Keep which modules have passed whole, and all that was seen."""
        self.recorder.stop()
        seen = self.recorder.new()
        if self.told is not None:
            left_out, collected = sorted(self.left_out), sorted(self.collected)
            tell: dict[str, Any] = vars(self.config)["workeroutput"]
            tell[SAME] = (left_out, collected, seen)
            return
        self.seen.update(seen)
        after = self.recorder.files.contents()
        self.seen = {one for one in self.seen if one[0] in after}
        reach = self.reach()
        # What was seen now may add to what a module reaches that passed before, and so
        # to its key, with whichever options.
        for options, modules in (
            self.valid | {self.options: self.whole(session)}
        ).items():
            for module in modules:
                # What changes while it runs did not run as it is now.
                key = reach.key(reach.of(module), after)
                if key == self.key(reach, module):
                    self.passed.setdefault(options, {})[module] = key
        self.config.cache.set(CACHE, {"seen": sorted(self.seen), "passed": self.passed})
        if self.left_out and session.exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED:
            session.exitstatus = pytest.ExitCode.OK

    def whole(self, session: pytest.Session) -> set[str]:
        """Return the modules of which each test that was chosen has passed, or none."""
        option = self.config.option
        if getattr(option, "lf", False) or getattr(option, "stepwise", False):
            return set()
        waiting = {one for one in self.waiting if one.endswith(".py")}
        found = self.same - self.on_main | waiting
        if session.exitstatus in ENDED:  # else some were not asked for their tests
            found |= self.collected
        return {one for one in found - self.wrong if not self.waiting.get(one)}

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Say how many modules were left out."""
        if not self.left_out:
            return
        terminalreporter.write_line(
            f"workshop: {len(self.left_out)} modules of tests left out, which passed, "
            "here or on the main branch, and reach nothing that has changed"
        )


def options(config: pytest.Config) -> str:
    """Return a short name for the options and variables that a result depends on."""
    given = {
        name: str(value)
        for name, value in vars(config.option).items()
        if name not in HARMLESS
    }
    variables = {
        name: os.environ.get(name) for name in config.getini("workshop_variables")
    }
    return digest(json.dumps([given, variables], sort_keys=True))
