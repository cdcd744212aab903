"""See which files of a project its code reads, lists, runs or hands to a process.

What is seen belongs to each file whose code was asking: a file that a module reads once
and keeps is known to belong to that module, whichever test came first.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest_proofread.pytest_plugin as plugin
from pytest_proofread.digests import digest

# What a file was seen to do with another, and the words before the other's name.
READS, LISTS, IMPORTS, STARTS = "reads", "lists", "imports", "starts"

# In a process that is started, code of the project runs unseen: it may import what can
# be imported, or read all, if it is started inside the project or told of a file.
ALL_MODULES, ALL_FILES = "modules", "files"

STARTED = {
    *("subprocess.Popen", "os.posix_spawn", "os.exec", "os.spawn", "os.system"),
    *("os.fork", "os.forkpty", "pty.spawn"),
}
EVENTS = {"open", "os.listdir", "os.scandir", "exec", *STARTED}
MACHINERY = "<frozen importlib"
OWN = tuple(str(Path(file).parent) + os.sep for file in (__file__, plugin.__file__))


class Files:
    """The files of a project that count.

    These are all but those that the `.gitignore` at the top names. What another such
    file names is built from the rest, and read like it.

    Args:
        project: The folder.
    """

    def __init__(self, project: Path) -> None:
        self.roots = {f"{project}/", f"{project.resolve()}/"}
        self.project = project
        lines = [".git/", "__pycache__/", ".pytest_cache/"]
        if (file := project / ".gitignore").is_file():
            lines += file.read_text(encoding="utf-8").split()
        patterns = []
        for line in lines:
            name = line.strip("/")
            if name and line[0] not in "#!":
                wild = re.escape(name).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
                patterns.append(f"{'' if '/' in line[:-1] else '(.*/)?'}{wild}(/|$)")
        self.ignored = re.compile("|".join(patterns)).match

    def name(self, path: str) -> str | None:
        """Return a path from the project's folder; none, if it does not count."""
        for root in self.roots:
            if f"{path}/" == root:
                return "."
            if path.startswith(root):
                name = path[len(root) :]
                installed = "site-packages/" in name or self.ignored(name)
                return None if installed else name
        return None

    def contents(self) -> dict[str, str]:
        """Return a digest of each file."""
        found = {}
        for folder, folders, files in os.walk(self.project):
            folders[:] = [
                one
                for one in folders
                if self.name(f"{folder}/{one}")
                and not os.path.exists(f"{folder}/{one}/pyvenv.cfg")
            ]
            for one in files:
                path = f"{folder}/{one}"
                if (name := self.name(path)) and os.path.isfile(path):
                    found[name] = digest(Path(path).read_bytes())
        return found


class Recorder:
    """Takes note of what code of the project does with files, as Python announces it.

    Args:
        files: The files that count.
        modules: The folders of what a process that is started may import.
        unheeded: The files of which it does not count what they read and list.
    """

    def __init__(
        self,
        files: Files,
        modules: Sequence[str] = (),
        unheeded: Sequence[str] = (),
    ) -> None:
        self.files = files
        self.modules = modules
        self.unheeded = {*unheeded}
        self.names: dict[str, str | None] = {}
        self.found: set[tuple[str, str, str]] = set()
        self.given: set[tuple[str, str, str]] = set()
        self.test: str | None = None

    def start(self) -> None:
        """Begin to take note."""
        if not RECORDERS:
            _listen()
        RECORDERS.append(self)

    def stop(self) -> None:
        """Take note of no more."""
        if self in RECORDERS:
            RECORDERS.remove(self)

    def new(self) -> list[tuple[str, str, str]]:
        """Return what was not returned before: who, what it did, and with which."""
        new = self.found - self.given
        self.given |= new
        return sorted(new)

    def note(self, event: str, arguments: tuple[Any, ...], frame: FrameType) -> None:
        """Take note of an event."""
        if event in STARTED:
            self.add(STARTS, self.reach_of_process(event, arguments), frame)
        elif event == "exec":
            code = arguments[0]
            whole = isinstance(code, CodeType) and code.co_name == "<module>"
            if whole and (name := self.name_of(code.co_filename)):
                self.add(IMPORTS, name, frame)
        elif event == "open" and str(arguments[1])[:1] in {*"wxa"}:
            return
        elif frame.f_code.co_name != "_rmtree_safe_fd":  # its names are from elsewhere
            path = self.files.name(absolute(arguments[0]))
            if path and not path.endswith(".pyc"):
                self.add(READS if event == "open" else LISTS, path, frame)

    def name_of(self, file: str) -> str | None:
        """Return the name of a file of code; none, if it is not the project's."""
        if file not in self.names:
            foreign = file.startswith((*OWN, "<"))
            self.names[file] = None if foreign else self.files.name(absolute(file))
        return self.names[file]

    def add(self, what: str, name: str, frame: FrameType) -> None:
        """Take note that those who are asking did this."""
        askers, depth, statement = self.asking(frame)
        if depth and what in {READS, LISTS}:  # Python itself, to import a module
            return
        if self.unheeded.intersection(askers) and what in {READS, LISTS}:
            return
        # On the way to another module, or for a name that the text tells.
        in_passing = depth > 1 or statement
        if what == IMPORTS and in_passing and name.endswith("__init__.py"):
            what = READS
        # A warning shows the line that it is about.
        if what == READS and name.endswith(".py") and name in askers:
            return
        if not askers and self.test:
            askers = [self.test]
        self.found.update((one, what, name) for one in askers if one != name)

    def asking(self, frame: FrameType | None) -> tuple[list[str], int, bool]:
        """Return the files whose code asks, up to the import that it is part of.

        Returns:
            The files; how many imports stand between the first and what it asks for;
            and whether it does so by a statement.
        """
        askers: list[str] = []
        depth, statement = 0, False
        while frame is not None:
            file, name = frame.f_code.co_filename, frame.f_code.co_name
            if file.startswith(MACHINERY):
                if askers and name == "_find_and_load":
                    break
                depth += name == "_find_and_load"
                if not askers:
                    statement = name in {"_find_and_load", "_handle_fromlist"}
            elif asker := self.name_of(file):
                askers.append(asker)
                # A package that fetches a name when it is asked for.
                if name == "__getattr__" and asker.endswith("__init__.py"):
                    break
            elif not askers:
                statement = False
            frame = frame.f_back
        return askers, depth, statement

    def reach_of_process(self, event: str, arguments: tuple[Any, ...]) -> str:
        """Say what a process may reach: the modules, or all files."""
        words, where = [], None
        if event == "subprocess.Popen":
            words, where = [arguments[0], *listed(arguments[1])], arguments[2]
        elif len(arguments) > 1:
            words = [arguments[0], *listed(arguments[1])]
        elif arguments:
            words = [arguments[0]]
        if where is not None and self.files.name(absolute(where)):
            return ALL_FILES
        start = os.getcwd() if where is None else absolute(where)
        for word in words:
            for part in os.fsdecode(word).split():
                path = os.path.normpath(os.path.join(start, part))
                name = self.files.name(path)
                outside = name and not importable(name, self.modules)
                if outside and os.path.exists(path):
                    return ALL_FILES
        return ALL_MODULES


def importable(name: str, modules: Sequence[str]) -> bool:
    """Say whether a file is one of some modules, or in one of some folders."""
    return any(name == one or name.startswith(f"{one}/") for one in modules)


def modules_of(files: Files, path: Sequence[str]) -> list[str]:
    """Return the folders of a project that a process that is started imports from.

    Of the project's own folder, these are the packages and the modules in it.
    """
    found = []
    for folder in map(absolute, path):
        if (name := files.name(folder)) == ".":
            inside = sorted(Path(folder).iterdir())
            found += [one.name for one in inside if one.suffix == ".py"]
            found += [one.name for one in inside if (one / "__init__.py").is_file()]
        elif name:
            found.append(name)
    return found


def listed(words: Any) -> list[Any]:
    """Return the words of a command, whichever way they are given."""
    return [words] if isinstance(words, str | bytes | os.PathLike) else [*words]


def absolute(path: Any) -> str:
    """Return the whole path of what is opened; nothing, if it is open already."""
    if path is None:
        return os.getcwd()
    if isinstance(path, int):
        return ""
    text = os.fsdecode(path)
    plain = text.startswith("/") and "/." not in text and "//" not in text
    return text if plain else os.path.abspath(text)


RECORDERS: list[Recorder] = []
_listening: list[bool] = []


def _listen() -> None:
    """Let Python announce what it does; this can be begun once, and not ended."""
    if not _listening:
        _listening.append(True)
        sys.addaudithook(_hear)


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if event in EVENTS and RECORDERS:
        for recorder in RECORDERS:
            # What cannot be told must not end what is being done.
            try:
                recorder.note(event, arguments, sys._getframe(1))
            except (OSError, TypeError, ValueError):
                continue
