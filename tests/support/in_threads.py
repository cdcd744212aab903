"""Processes that are only threads: a network in memory, for many small tests."""

import queue
import threading
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from tests.support.processes import PATIENCE


class Network:
    """As much of `torch.distributed` as sends from one to another.

    Put it in the place of `dist` in a module. Messages from one process to another
    go to those who wait for them in the order in which both began.
    """

    P2POp = staticmethod(lambda call, tensor, peer, group: (call, tensor, peer))
    isend, irecv = "send", "receive"
    group = SimpleNamespace(WORLD="world")

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self.numbers: Counter[int] = Counter()  # floating-point, sent by each process
        # One letter box for each message, by its number on the way from one to another.
        self._boxes: dict[tuple[int, int, int], queue.Queue] = {}
        self._begun: Counter[tuple[str, int, int]] = Counter()
        self._lock = threading.Lock()
        self._table: list[Any] = [None] * processes
        self._barrier = threading.Barrier(processes)
        self._local = threading.local()

    def run(self, work: Callable[[int], Any]) -> list[Any]:
        """Give what `work(rank)` gives in each process; raise what one raises."""
        results: list[Any] = [None] * self.processes
        errors: list[BaseException] = []
        seed = torch.initial_seed()

        def start(rank: int) -> None:
            self._local.rank = rank
            try:
                results[rank] = work(rank)
            except threading.BrokenBarrierError:
                pass
            except BaseException as error:
                errors.append(error)
                self._barrier.abort()

        threads = [
            threading.Thread(target=start, args=(rank,), daemon=True)
            for rank in range(self.processes)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(2 * PATIENCE)
        if errors:
            raise errors[0]
        assert not any(thread.is_alive() for thread in threads)
        assert all(box.empty() for box in self._boxes.values())  # all was received
        assert torch.initial_seed() == seed
        return results

    def get_rank(self, group: Any = None) -> int:
        return self._local.rank

    def get_world_size(self, group: Any = None) -> int:
        return self.processes

    def get_global_rank(self, group: Any, rank: int) -> int:
        return rank

    def gather_objects(self, own: Any, group: Any = None) -> list[Any]:
        self._table[self.get_rank()] = own
        self._barrier.wait(PATIENCE)
        heard = [*self._table]
        self._barrier.wait(PATIENCE)
        return heard

    def batch_isend_irecv(self, work: list) -> list:
        rank, waiting = self.get_rank(), []
        for call, tensor, peer in work:
            assert tensor.is_contiguous()
            assert tensor.numel()
            if call == self.isend:
                self._box(call, rank, peer).put(tensor.detach().clone())
                if tensor.is_floating_point():
                    self.numbers[rank] += tensor.numel()
            else:
                tensor.fill_(-99)  # whoever reads before it waits finds this
                waiting.append(self._receive(tensor, self._box(call, peer, rank)))
        return waiting

    def _box(self, call: str, source: int, target: int) -> queue.Queue:
        with self._lock:
            number = self._begun[call, source, target]
            self._begun[call, source, target] += 1
            return self._boxes.setdefault((source, target, number), queue.Queue())

    @staticmethod
    def _receive(tensor: torch.Tensor, box: queue.Queue) -> SimpleNamespace:
        def wait() -> None:
            came = box.get(timeout=PATIENCE)
            assert (came.shape, came.dtype) == (tensor.shape, tensor.dtype)
            tensor.copy_(came)

        return SimpleNamespace(wait=wait)
