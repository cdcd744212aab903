"""Programs in processes that begin with PyTorch imported: it is imported once for all.

`run_processes` imports it anew in each; what that does is tested for itself.
"""

import contextlib
import io
import multiprocessing
import os
import traceback
from multiprocessing.connection import Connection, wait

import coverage
from torch.distributed import TCPStore

from tests.support.processes import PATIENCE

FOLLOW = "COVERAGE_PROCESS_CONFIG"  # of who asks for `coverage_of_processes`
# What programs import, and what its first use imports.
IMPORTED = ["headway", "headway._names", "torch.distributed.tensor.parallel"]


def print_in_processes(program: str, processes: int) -> str:
    """Run a program in several processes, and return what the first of them prints."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    store = TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    begun, told = [], {}
    try:
        for rank in range(processes):
            mine, other = context.Pipe(duplex=False)
            where = (rank, processes, store.port)
            given = (program, *where, other, os.environ.get(FOLLOW))
            begun.append(context.Process(target=run, args=given))
            begun[-1].start()
            other.close()
            told[mine] = rank
        printed = [""] * processes
        while told:
            ready = wait(told, PATIENCE)
            assert ready, "it hangs"
            for one in ready:
                printed[told.pop(one)], failed = one.recv()
                assert not failed, failed
        for process in begun:  # what it has measured may not be whole yet
            process.join(PATIENCE)
        return printed[0]
    finally:
        for process in begun:
            process.kill()
            process.join()


def run(
    program: str,
    rank: int,
    processes: int,
    port: int,
    told: Connection,
    measured: str | None,
) -> None:
    """Run it as one of them; tell what it prints, and how it fails."""
    import torch

    if measured:
        os.environ[FOLLOW] = measured
        coverage.process_startup()
    torch.set_num_threads(1)
    os.environ |= {
        "RANK": str(rank),
        "WORLD_SIZE": str(processes),
        "MASTER_ADDR": "localhost",
        "MASTER_PORT": str(port),
        # The store is there, and no process makes it.
        "TORCHELASTIC_USE_AGENT_STORE": "True",
    }
    failed = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            exec(compile(program, "program.py", "exec"), {"__name__": "__main__"})  # noqa: S102
        except BaseException:
            failed = f"Process {rank}: {traceback.format_exc()}"
    if measured and (lines := coverage.Coverage.current()):
        lines.stop()
        lines.save()
    told.send((printed.getvalue(), failed))
