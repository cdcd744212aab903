"""Measure the time and the memory that attention takes: a table of part four.

    python tools/measure_kernels.py           print what this device takes
    python tools/measure_kernels.py --write   put it into generated/measured, too

The measurements of other devices stay as they are, each with its date. The tokens are
random, since only their number counts. Each size and way has a process of its own. On a
CPU its time is what one core works for it, and its memory how far the process grows; on
a GPU they are what passes, and what PyTorch allocates.
"""

import argparse
import datetime
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.utils._python_dispatch import TorchDispatchMode

from headway import attention, flash_attention

FOLDER = Path(__file__).parents[1] / "generated/measured"
DATA = FOLDER / "kernels.json"
MIB = 2**20
# Lengths of texts, heads, width of a head, and how a number is kept.
SIZES = {
    "cpu": ((1024, 4096), 8, 64, torch.float32),
    "cuda": ((2048, 8192, 32768), 32, 128, torch.bfloat16),
}
WAYS = {
    "table": lambda q, k, v: attention(q, k, v, causal=True),
    "tiles": lambda q, k, v: flash_attention(q, k, v, causal=True),
    "PyTorch": lambda q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True),
}
NAMES = {
    "table": "a table of weights",
    "tiles": "tiles, in Python",
    "PyTorch": "PyTorch's kernel",
}
DIRECTIONS = ("forward", "with backward")
KERNELS = "scaled_dot_product"
REPEATS = 5
LONGEST = 3000  # milliseconds, after which no repeat begins


class Kernels(TorchDispatchMode):
    """Note which of PyTorch's kernels for attention are called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a kernel, and note its name if it is one for attention."""
        name = function.overloadpacket.__name__.strip("_")
        if KERNELS in name and not name.endswith("backward"):
            self.names.add(name)
        return function(*args, **(kwargs or {}))


def measure(way: str, kind: str, length: int, backward: bool) -> dict[str, Any]:
    """Return the milliseconds and MiB of one way, and the kernel that PyTorch took."""
    _, heads, width, dtype = SIZES[kind]
    torch.manual_seed(0)
    torch.set_num_threads(1)
    shape = (3, 1, heads, length, width)
    q, k, v = torch.randn(shape, device=kind, dtype=dtype).unbind()
    answer = torch.randn_like(q)
    for tensor in (q, k, v):
        tensor.requires_grad_(backward)

    def run() -> None:
        result = WAYS[way](q, k, v)
        if backward:
            torch.autograd.grad(result, (q, k, v), answer)
        if kind == "cuda":
            torch.cuda.synchronize()

    with Kernels() as kernels:
        # What a first call sets up once is no memory of the method.
        small = [one[..., :64, :] for one in (q, k, v)]
        WAYS[way](*small)
    before = peak(kind)
    run()
    memory = peak(kind) - before
    clock = time.perf_counter if kind == "cuda" else time.process_time
    times: list[float] = []
    while not times or (len(times) < REPEATS and sum(times) < LONGEST):
        began = clock()
        run()
        times.append(1e3 * (clock() - began))
    (kernel,) = kernels.names or {""}
    return {"ms": min(times), "MiB": memory / MIB, "kernel": kernel}


def peak(kind: str) -> int:
    """Return the most bytes that were in use so far."""
    if kind == "cuda":
        return torch.cuda.max_memory_allocated()
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def device(kind: str) -> str:
    """Return the name of this device, with the version of PyTorch."""
    name = torch.cuda.get_device_name() if kind == "cuda" else processor()
    return f"{name}, PyTorch {torch.__version__.partition('+')[0]}"


def processor() -> str:
    """Return the name of this processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        name = next(line for line in lines if line.startswith("model name"))
        return f"One core of {name.partition(':')[2].strip()}"
    except (OSError, StopIteration):
        return f"One core of {platform.machine()}"


def measure_all(kind: str) -> list[dict[str, Any]]:
    """Measure each length, way and direction, each in a process of its own."""
    rows = []
    for length in SIZES[kind][0]:
        for way in WAYS:
            row: dict[str, Any] = {"length": length, "way": way}
            for direction in DIRECTIONS:
                command = [sys.executable, __file__, "--one", way, kind, str(length)]
                command += [direction]
                done = subprocess.run(command, capture_output=True, text=True)  # noqa: S603
                if done.returncode and "OutOfMemoryError" in done.stderr:
                    row[direction] = None
                elif done.returncode:
                    raise RuntimeError(f"{way} with {length} tokens:\n{done.stderr}")
                else:
                    row[direction] = json.loads(done.stdout)
            rows.append(row)
            print(row, file=sys.stderr)
    return rows


def table(measured: dict[str, Any]) -> str:
    """Return all that was measured as Markdown."""
    head = ["tokens", "way", "ms", "MiB", "ms, with backward", "MiB"]
    lines = []
    for _, one in sorted(measured.items()):
        lines += ["", f"**{one['device']}**, {one['date']}, {one['size']}."]
        lines += [f"PyTorch took {kernels(one['rows'])}.", ""]
        lines += ["| " + " | ".join(head) + " |", "| ---: | --- |" + " ---: |" * 4]
        for row in one["rows"]:
            cells = [f"{row['length']:,}", NAMES[row["way"]]]
            for direction in DIRECTIONS:
                cells += figures(row[direction])
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines[1:]) + "\n"


def kernels(rows: list[dict[str, Any]]) -> str:
    """Return the names of the kernels that PyTorch took."""
    measured = [row[one] for row in rows for one in DIRECTIONS if row[one]]
    return " or ".join(sorted({f"`{one['kernel']}`" for one in measured} - {"``"}))


def figures(one: dict[str, Any] | None) -> tuple[str, str]:
    """Return milliseconds and MiB as they are printed."""
    if one is None:
        return "does not fit", ""
    ms = one["ms"]
    return (f"{ms:,.2f}" if ms < 10 else f"{ms:,.0f}"), f"{one['MiB']:,.0f}"


def described(kind: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what was measured with its device, day and size."""
    _, heads, width, dtype = SIZES[kind]
    return {
        "device": device(kind),
        "date": datetime.date.today().isoformat(),
        "size": f"{heads} heads of {width}, {str(dtype).removeprefix('torch.')}",
        "rows": rows,
    }


def write(kind: str, measured: dict[str, Any]) -> None:
    """Put what was measured into the data and the table of the book."""
    kept = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    kept[kind] = measured
    FOLDER.mkdir(exist_ok=True)
    DATA.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    DATA.with_suffix(".md").write_text(table(kept), encoding="utf-8")


def main() -> None:
    """Measure this device, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="keep it in the book")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        way, kind, length, direction = asked.one
        found = measure(way, kind, int(length), direction == "with backward")
        print(json.dumps(found))
        return
    kind = "cuda" if torch.cuda.is_available() else "cpu"
    measured = described(kind, measure_all(kind))
    if asked.write:
        write(kind, measured)
    print(table({kind: measured}))


if __name__ == "__main__":
    main()
