"""Many files are judged in copies of one process."""

import os
from pathlib import Path

import pytest
import torch

from headway.practice.judging.copies import CAN_COPY, Copies
from headway.practice.judging.verdict import Verdict
from headway.practice.terminal.folder import Folder
from tests.practice.terminal.test_folder import write
from tests.support.processes import PATIENCE, left

pytestmark = [
    pytest.mark.xdist_group("processes"),
    pytest.mark.skipif(not CAN_COPY, reason="processes cannot be copied here"),
]


def of(folder: Folder, *lines: str, limit: float = PATIENCE) -> list[Verdict]:
    verdicts = []
    with Copies(limit=limit) as worker:
        for line in lines:
            path = write(folder, "double", line)
            double = folder.library["double"]
            verdicts.append(worker.judge(folder.library, double, path, seed=3))
    return verdicts


def test_no_file_spoils_the_next(folder: Folder) -> None:
    spoils = "import os; os.environ['SPOILED'] = '1'; torch.SPOILED = 1; "
    first, second = of(folder, f"{spoils}return x * 3", "return x + x")
    assert first.mistakes == ("it is three times as much",)
    assert (second.ok, second.seed) == (True, 3)
    assert "SPOILED" not in os.environ
    assert not hasattr(torch, "SPOILED")


def test_a_file_that_hangs_costs_itself_alone(folder: Folder) -> None:
    double = folder.library["double"]
    with Copies(limit=4.0) as worker:
        path = write(folder, "double", "while True: pass")
        hangs = worker.judge(folder.library, double, path, seed=3)
        worker.limit = PATIENCE
        path = write(folder, "double", "return x + x")
        fine = worker.judge(folder.library, double, path, seed=3)
    assert hangs.sentence == "It must end within 4 seconds: a loop may never end."
    assert fine.ok


def test_a_file_that_ends_python_is_told(folder: Folder) -> None:
    says = "import os; os.write(1, b'{}'); os.write(2, b'no\\nand why'); "
    one, other, third = of(
        folder, f"{says}os._exit(3)", "import os; os._exit(0)", "return x + x"
    )
    assert one.sentence == "It ended Python with status 3: and why"
    assert other.sentence == "It ended Python with status 0."
    assert third.ok


def test_what_closes_the_way_of_the_answer_is_ended(folder: Folder) -> None:
    closes = "import os, time; os.closerange(3, 99); time.sleep(9000)"
    [verdict] = of(folder, closes, limit=4.0)
    assert verdict.sentence == "It must end within 4 seconds: a loop may never end."


def test_where_nothing_is_judged_nothing_is_left() -> None:
    with Copies() as worker:
        copy = worker._next
        assert copy is not None
    assert copy.complaints.closed


def test_nobody_types(folder: Folder) -> None:
    [verdict] = of(folder, "import os; print(os.read(0, 1)); return x + x")
    assert (verdict.ok, verdict.printed.splitlines()[0]) == (True, "b''")


def test_what_a_file_has_started_ends_with_it(folder: Folder, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    starts = "import os, pathlib, subprocess, sys; run = [sys.executable, '-c', "
    starts += "'import time; time.sleep(9000)']; "
    notes = f"pathlib.Path({str(pid)!r}).write_text(str(subprocess.Popen(run).pid))"
    [verdict] = of(folder, f"{starts}{notes}; return x + x")
    assert verdict.ok
    assert left([int(pid.read_text())]) == []


def test_an_interruption_ends_the_copy(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(folder, "double", "import time; time.sleep(9000)")
    worker = Copies(limit=PATIENCE)
    copy = worker._next
    assert copy is not None

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(copy.reader, "poll", interrupted)  # type: ignore[attr-defined]
    with pytest.raises(KeyboardInterrupt):
        worker.judge(folder.library, folder.library["double"], path, seed=1)
    with pytest.raises(ValueError, match="closed"):
        copy.copy.is_alive()  # type: ignore[attr-defined]
