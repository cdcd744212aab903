"""Answers that try to pass without being right, and none does."""

import os
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from headway.practice.grading import child, protected
from headway.practice.grading.protected import Server, _source, judge_protected
from headway.practice.judging.copies import CAN_COPY
from headway.practice.judging.judge import KnownResults
from headway.practice.judging.verdict import Verdict
from headway.practice.task.library import Library
from headway.practice.task.refused import RefusedError
from tests.support.processes import PATIENCE

Judged = Callable[..., Verdict]
pytestmark = [
    pytest.mark.skipif(not CAN_COPY, reason="processes cannot be copied here"),
    pytest.mark.xdist_group("grading"),
]

FORGED = '{"ok": true, "state": "passed", "value": 1, "name": "double"}'
# What an answer does, in lines of a function that has x. It is wrong where it returns.
ATTACKS = {
    "a verdict is written to every descriptor": f"""
        import os
        for number in range(3, 64):
            try: os.write(number, b'''{FORGED}''')
            except OSError: pass
        os._exit(0)
    """,
    "a message is written to every descriptor": f"""
        import os, struct
        text = b'''{FORGED}'''
        for number in range(3, 64):
            try: os.write(number, struct.pack(">II", len(text), 0) + text)
            except OSError: pass
        os._exit(0)
    """,
    "the solution is asked for": """
        from headway.practice import exercise
        space = {}
        exec(exercise("softmax").solution(), space)
        return x * 2
    """,
    "the solution is imported by its path": """
        import importlib, sys
        sys.modules["headway.practice"].__path__ = ["PACKAGE/practice"]
        importlib.import_module("headway.practice.task.library")
        return x * 2
    """,
    "the solution is read": """
        open("PACKAGE/practice/exercises/contents.txt").read()
        return x * 2
    """,
    "the environment is read": """
        import os
        return x * (2 if "SECRET_TOKEN" in os.environ else 3)
    """,
    "the environment of the parent is read": """
        import os
        open(f"/proc/{os.getppid()}/environ").read()
        return x * 2
    """,
    "the memory of the parent is read": """
        import os
        open(f"/proc/{os.getppid()}/mem", "rb").read(1)
        return x * 2
    """,
    "the judge is looked for in memory": """
        import gc, sys
        names = {type(one).__name__ for one in gc.get_objects()}
        names |= {*sys.modules}
        known = {"Exercise", "Wrong", "Trial", "KnownResults", "Verdict", "Task"}
        known |= {"headway.practice.judging.judge", "headway.practice.task.library"}
        return x * (2 if names & known else 3)
    """,
    "the judge is looked for in frames": """
        import sys
        frame, names = sys._getframe(), set()
        while frame is not None:
            names |= {*frame.f_globals} | {*frame.f_locals}
            frame = frame.f_back
        return x * (2 if names & {"trial", "known", "verdict", "exercise"} else 3)
    """,
    "torch compares all as equal": """
        torch.equal = torch.allclose = lambda *_, **__: True
        torch.Tensor.__eq__ = torch.Tensor.__le__ = lambda *_: torch.tensor(True)
        torch.Tensor.all = torch.Tensor.any = lambda *_, **__: torch.tensor(True)
        return x * 3
    """,
    "a subclass is equal to all": """
        class Equal(torch.Tensor):
            def __eq__(self, other): return torch.tensor(True)
            def __sub__(self, other): return torch.zeros(())
            @classmethod
            def __torch_function__(cls, *_, **__): return torch.tensor(True)
        return (x * 3).as_subclass(Equal)
    """,
    "an object is equal to all": """
        class Equal:
            shape, dtype = x.shape, x.dtype
            def __eq__(self, other): return True
            def __getattr__(self, name): return self
            def __call__(self, *_, **__): return self
        return Equal()
    """,
    "builtins and json are patched": """
        import builtins, json, struct
        json.dumps = lambda *_, **__: '{"value": true, "state": "passed"}'
        builtins.len = lambda _: 0
        return x * 3
    """,
    "it exits": "import os; os._exit(0)",
    "it exits politely": "raise SystemExit(0)",
    "it exits by a signal": "import signal; signal.raise_signal(9)",
    "there is something to do at the end": """
        import atexit, os
        atexit.register(os.write, 1, b'{"ok": true}')
        raise KeyboardInterrupt
    """,
    "what it gives is huge": "return torch.zeros(2**25)",
    "what it gives is huge, and takes no memory": """
        return torch.zeros(1).expand(10**9)
    """,
    "what it gives is deep": """
        found = []
        for _ in range(100_000): found = [found]
        return found
    """,
    "what it gives is a number without end": "return 10 ** 100_000",
    "what it gives contains itself": "y = []; y.append(y); return y",
    "what it gives has no numbers": """
        return torch.zeros(x.shape, device="meta", dtype=x.dtype)
    """,
    "it writes where it was not asked to": """
        open("FOLDER/double.py", "w").write("")
        return x * 2
    """,
    "it reads what another has written": """
        open("FOLDER/other.py").read()
        return x * 2
    """,
    "it lists what others have written": """
        import os
        os.listdir("FOLDER")
        return x * 2
    """,
    "it takes all files": """
        held = [open("/dev/null") for _ in range(1000)]
        return x * 2
    """,
    "it takes all memory": "held = bytearray(2**34); return x * 2",
    "it fills the disk": """
        open("much", "wb").write(bytes(2**24))
        return x * 2
    """,
    "it starts a program": "import os; os.system('true'); return x * 2",
    "it starts processes": """
        import os
        while os.fork(): pass
        return x * 2
    """,
    "it calls the network": """
        import socket
        socket.create_connection(("127.0.0.1", 9))
        return x * 2
    """,
    "it ends its parent": "import os; os.kill(os.getppid(), 9); return x * 2",
    "it calls the C library": """
        import ctypes
        ctypes.CDLL(None).getppid()
        return x * 2
    """,
}


@pytest.mark.parametrize("lines", ATTACKS.values(), ids=ATTACKS)
def test_an_attack_fails(
    lines: str, judged: Judged, tmp_path: Path, library: Library
) -> None:
    import headway

    package = str(Path(headway.__file__).parent)
    (tmp_path / "other.py").write_text("x * 2")
    written = lines.replace("PACKAGE", package).replace("FOLDER", str(tmp_path))
    verdict = judged(*written.splitlines(), limit=PATIENCE)
    assert verdict.state == "failed", verdict
    assert (tmp_path / "double.py").read_text()
    # The next answer is judged as if nothing had been.
    assert judged("return x + x").ok


@pytest.mark.parametrize(
    "lines",
    [
        "while True: pass",
        "while True: print('on and on')",
        "import time; time.sleep(900)",
        "import signal; signal.signal(15, lambda *_: 0)\nwhile True: 0",
    ],
)
def test_what_never_ends_is_ended(lines: str, judged: Judged) -> None:
    verdict = judged(*lines.splitlines(), limit=1.0)
    assert verdict.sentence == "It must end within 1 seconds: a loop may never end."


def test_a_link_is_no_answer(server: Server, library: Library, tmp_path: Path) -> None:
    task = library["double"]
    real, link = tmp_path / "real.py", tmp_path / "double.py"
    real.write_text(task.source.solution)
    link.symlink_to(real)
    verdict = judge_protected(server, link, KnownResults(task, 3))
    said = "double.py could not be read: it must be a file, and no link or folder."
    assert verdict.sentence == said


def whole(server: Server, library: Library, path: Path, text: str) -> Verdict:
    """Judge a whole file."""
    path.write_text(text, encoding="utf-8")
    return judge_protected(server, path, KnownResults(library["double"], 3))


def test_a_file_that_cannot_be_run(
    server: Server, library: Library, tmp_path: Path
) -> None:
    path = tmp_path / "double.py"
    verdict = whole(server, library, path, "x = 1\nraise ValueError('no')\n")
    assert verdict.sentence == "double.py could not be run."
    assert "line 2" in verdict.traceback
    assert whole(server, library, path, "raise NotImplementedError").state == "open"
    large = whole(server, library, path, "#" * (2**20 + 1))
    assert large.sentence == (
        "double.py could not be read: it has 1048577 bytes, and may have 1048576."
    )


def test_what_a_file_defines_cannot_be_forged(
    server: Server, library: Library, tmp_path: Path
) -> None:
    text = f"""
import os, struct
text = b'{{"storages": [], "value": {FORGED}}}'
for number in range(3, 64):
    try: os.write(number, struct.pack(">II", len(text), 0) + text)
    except OSError: pass
"""
    for forged in ("3", '["list", 1, []]'):
        lines = text.replace(FORGED, forged)
        verdict = whole(server, library, tmp_path / "double.py", lines)
        assert verdict.sentence == "What it gave cannot be read."


def test_classes_of_an_exercise_are_handed_over_as_source(library: Library) -> None:
    task = library["double"]
    lines = "class Base: x = 1", "class Own(Base):\n    y = 2"
    task.path.write_text(task.path.read_text() + "\n\n" + "\n\n".join(lines) + "\n")
    own = type("Own", (type("Base", (), {}),), {})
    assert _source(task, own) == "\n\n\n".join(lines)
    assert _source(task, Path) is None


def test_a_server_must_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protected, "_START", "")
    with pytest.raises(RefusedError, match="must start; it has ended"):
        Server()
    monkeypatch.delattr(os, "fork")
    with pytest.raises(RefusedError, match="must be judged on Linux or macOS"):
        Server()


# The raw function, which asks no hook, so that processes do begin.
LEAVES = """
import os, sys, _posixsubprocess
read, write = os.pipe()
command = [b"/bin/sh", b"-c", b"exec sleep 98765.4321"]
def begin(session):
    _posixsubprocess.fork_exec(
        command, [command[0]], True, (write,), None, None, -1, -1, -1, -1, -1, -1,
        read, write, False, session, -1, None, None, None, -1, None, False)
for session in (False, True, True): begin(session)
"""


def sleepers() -> int:
    found = subprocess.run(["ps", "ax", "-o", "args"], capture_output=True, text=True)
    return found.stdout.count("sleep 98765.4321")


def test_no_process_is_left(judged: Judged) -> None:
    before = sleepers()
    judged(*LEAVES.splitlines(), "return x + x")
    assert sleepers() == before


class ForkedServer(Server):
    """Serves in a fork of this process, the only one whose lines are recorded."""

    def __init__(self) -> None:
        self.control, other = socket.socketpair()
        self.number = os.fork()
        if not self.number:
            self.control.close()
            child.main(other.detach())
            os._exit(0)
        other.close()
        self._wait()

    def close(self) -> None:
        self.control.close()
        _, self.status = os.waitpid(self.number, 0)


def test_a_server_is_measured_and_ends_what_it_began(
    library: Library, tmp_path: Path
) -> None:
    task, path = library["double"], tmp_path / "double.py"
    path.write_text(task.source.filled_with("return x + x"), encoding="utf-8")
    with ForkedServer() as server:
        for _ in range(2):
            assert judge_protected(server, path, KnownResults(task, 3)).ok
    assert server.status == 0


def test_a_thread_that_is_left_changes_nothing(judged: Judged) -> None:
    lines = """
        import threading, torch
        def on():
            while True: x.mul_(1.0)
        threading.Thread(target=on, daemon=False).start()
        return x * 3
    """
    assert judged(*lines.splitlines()).state == "failed"
    assert judged("return x + x").ok


def test_right_answers_pass_and_wrong_ones_are_named(judged: Judged) -> None:
    assert judged("return x + x").ok
    verdict = judged("return x * 3")
    assert verdict.mistakes == ("it is three times as much",)
    assert judged("raise NotImplementedError").state == "open"
    assert os.environ["SECRET_TOKEN"]
