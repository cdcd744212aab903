"""What other threads do changes no report."""

import contextlib
import threading
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from headway.checks import Report, check, settings


def told(report: Report) -> tuple[str, str]:
    return str(report), report.to_json()


class Watched:
    """The lock of checks, which says when a second thread comes to it."""

    def __init__(self, lock: Any, come: threading.Event) -> None:
        self.lock, self.come = lock, come

    def __enter__(self) -> None:
        if threading.current_thread().name == "second":
            self.come.set()
        self.lock.acquire()

    def __exit__(self, *error: object) -> None:
        self.lock.release()


def test_checks_in_two_threads_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Without the lock the second begins inside of the first, and ends after it.
    began, come, ended = threading.Event(), threading.Event(), threading.Event()
    order: list[str] = []
    lock = getattr(settings, "_ALONE", contextlib.nullcontext())
    monkeypatch.setattr(settings, "_ALONE", Watched(lock, come), raising=False)

    def waiting(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        name = threading.current_thread().name
        if name not in order:
            order.append(name)
            (began if name == "first" else come).set()
            assert (come if name == "first" else ended).wait(60)
            order.append(f"{name} goes on")
        return scaled_dot_product_attention(query, key, value)

    def run(name: str) -> None:
        reports[name] = told(check(waiting))
        if name == "first":
            ended.set()

    reports: dict[str, Any] = {}
    names = ("first", "second")
    threads = [threading.Thread(target=run, args=(one,), name=one) for one in names]
    count = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        threads[0].start()
        assert began.wait(60)
        threads[1].start()
        for one in threads:
            one.join()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(count)
    assert order == ["first", "first goes on", "second", "second goes on"]
    assert reports["first"] == reports["second"]


def test_a_check_may_check_something_itself() -> None:
    asked: list[bool] = []

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        if not asked:
            asked.append(True)
            asked.append(check(scaled_dot_product_attention).ok)
        return scaled_dot_product_attention(query, key, value)

    assert check(attend).ok
    assert asked == [True, True]
