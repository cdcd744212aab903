"""Count calls and memory, and measure what a processor does for a program."""

import ctypes
import resource
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

KIB, MIB = 2**10, 2**20

# ---- Memory --------------------------------------------------------------------------

mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc has it
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX = -1, -3, -4
START, END, KEEP = "a limit of 128 KiB", "a limit of 32 MiB", "all memory kept"
if mallopt is None:
    START = END = KEEP = "memory as it comes"


def set_memory(how: str) -> None:
    """Set how large a freed block must be to go back to the system.

    Args:
        how: `START`, as a program starts; `END`, as it may end; or `KEEP`: none does.
    """
    if mallopt is not None:
        limit = 128 * KIB if how == START else 32 * MIB
        mallopt(M_MMAP_THRESHOLD, limit)
        mallopt(M_TRIM_THRESHOLD, -1 if how == KEEP else 2 * limit)
        mallopt(M_MMAP_MAX, 0 if how == KEEP else 65536)


# ---- What can be counted -------------------------------------------------------------


class Ledger(TorchDispatchMode):
    """Count calls, and the bytes of all tensors made that are alive at once."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.alive: dict[int, int] = {}
        self.peak = 0

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        """Call a kernel, and count it and the memory of its results."""
        result = function(*args, **(kwargs or {}))
        if not function.is_view:
            self.calls[function.overloadpacket.__name__] += 1
        given = {id(storage) for storage in storages((args, kwargs))}
        for storage in storages(result):
            if id(storage) not in given | self.alive.keys():
                self.alive[id(storage)] = storage.nbytes()
                weakref.finalize(storage, self.alive.pop, id(storage))
        self.peak = max(self.peak, sum(self.alive.values()))
        return result


def storages(tree: Any) -> Iterator[Any]:
    """Yield where the tensors in some arguments or results keep their numbers."""
    for leaf in tree_leaves(tree):
        if isinstance(leaf, torch.Tensor):
            yield leaf.untyped_storage()


# ---- What is measured ----------------------------------------------------------------


def used() -> torch.Tensor:
    """Return the milliseconds of program and system, and the pages, used so far."""
    now = resource.getrusage(resource.RUSAGE_SELF)
    return torch.tensor([1e3 * now.ru_utime, 1e3 * now.ru_stime, now.ru_minflt])


def measure(
    seconds: float, runs: Mapping[str, Callable[[], object]]
) -> dict[str, torch.Tensor]:
    """Return what each run uses, a row each time; all in turn, in changing order."""
    names = list(runs)
    rows: dict[str, list[torch.Tensor]] = {name: [] for name in runs}
    for run in 2 * list(runs.values()):
        run()
    end = time.perf_counter() + seconds
    while len(rows[names[0]]) < 3 or time.perf_counter() < end:
        for index in torch.randperm(len(names)).tolist():
            before = used()
            runs[names[index]]()
            rows[names[index]].append(used() - before)
    return {name: torch.stack(several) for name, several in rows.items()}


def best(rows: torch.Tensor) -> float:
    """Return the best time of program and system together, of what was measured."""
    return float(rows[:, :2].sum(dim=1).min())
