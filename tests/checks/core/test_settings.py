"""What a caller has set, and what other threads do, changes no report."""

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from headway import MultiHeadAttention, small_gpt
from headway.checks import Report, check, check_model
from headway.checks.core import settings
from tests.support.processes import PATIENCE
from tests.support.sizes import CONTEXT, D_IN, E, H


@contextlib.contextmanager
def put(change: Callable[[Any], object], value: Any, before: Any) -> Iterator[None]:
    change(value)
    try:
        yield
    finally:
        change(before)


def default_type(dtype: torch.dtype) -> Any:
    return put(torch.set_default_dtype, dtype, torch.get_default_dtype())


@contextlib.contextmanager
def warnings_as_errors() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


SETTINGS: dict[str, Callable[[], Any]] = {
    "no gradients": torch.no_grad,
    "inference": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "sixteen bits": lambda: default_type(torch.bfloat16),
    "64 bits": lambda: default_type(torch.float64),
    "a device": lambda: torch.device("meta"),
    "a default device": lambda: put(torch.set_default_device, "meta", None),
    "deterministic": lambda: put(torch.use_deterministic_algorithms, True, False),
    "anomalies": lambda: torch.autograd.set_detect_anomaly(True),
    "one kernel": lambda: sdpa_kernel(SDPBackend.FLASH_ATTENTION),
    "the plain kernel": lambda: sdpa_kernel(SDPBackend.MATH),
    "no kernel": lambda: sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION),
    "coarse products": lambda: put(
        torch.set_float32_matmul_precision, "medium", "highest"
    ),
    "strict warnings": warnings_as_errors,
}


MET: set[str] = set()  # while `attend` was called


def everything_set() -> list[Any]:
    """List what a check may change, as the caller sees it."""
    return [
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_anomaly_enabled(),
        torch.backends.cuda.flash_sdp_enabled(),
        torch.backends.cuda.mem_efficient_sdp_enabled(),
        torch.backends.cuda.math_sdp_enabled(),
        torch.get_float32_matmul_precision(),
        warnings.filters[0],
    ]


def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
    """Attend, and depend on the default type and on what a warning does."""
    warnings.warn("It is slow.", stacklevel=2)
    MET.add(str(everything_set()))
    scores = query @ key.mT / torch.tensor(query.shape[-1]).sqrt()
    return scores.softmax(-1) @ value


def told(report: Report) -> tuple[str, str]:
    return str(report), report.to_json()


@pytest.fixture(scope="module")
def module() -> nn.Module:
    return MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H)


@pytest.fixture(scope="module")
def plain(module: nn.Module) -> list[Any]:
    """Give what is told where nothing is set, and what was met."""
    return reports_of(module)


def reports_of(module: nn.Module) -> list[Any]:
    MET.clear()
    targets = (module, attend, scaled_dot_product_attention)
    return [*(told(check(target)) for target in targets), {*MET}]


@pytest.mark.parametrize("name", SETTINGS)
def test_what_a_caller_has_set_changes_no_report(
    name: str, module: nn.Module, plain: list[Any]
) -> None:
    with SETTINGS[name]():
        before = everything_set()
        assert reports_of(module) == plain
        assert everything_set() == before


# Those that the report of a model told, too.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "autocast" else pytest.mark.slow)
        for name in ("autocast", "a device", "one kernel", "the plain kernel")
    ],
)
def test_what_a_caller_has_set_changes_no_report_of_a_model(name: str) -> None:
    model = small_gpt()
    expected = told(check_model(model))
    with SETTINGS[name]():
        assert told(check_model(model)) == expected


def test_what_is_built_in_inference_mode_has_the_same_report(
    module: nn.Module, plain: list[Any]
) -> None:
    with torch.inference_mode():
        built = MultiHeadAttention(D_IN, E, CONTEXT, 0.0, H)
        built.load_state_dict(module.state_dict())
        assert told(check(built)) == plain[0]
    assert told(check(built)) == plain[0]


def test_the_accelerator_has_an_autocast_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = torch.device("cuda")
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda: found)
    monkeypatch.setattr(torch, "is_autocast_enabled", lambda kind: kind == "cuda")
    [cast] = [one for one in settings._modes() if isinstance(one, torch.autocast)]
    assert cast.device == "cuda"


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
            assert (come if name == "first" else ended).wait(PATIENCE)
            order.append(f"{name} goes on")
        return scaled_dot_product_attention(query, key, value)

    def run(name: str) -> None:
        reports[name] = told(check(waiting))
        ended.set()

    reports: dict[str, Any] = {}
    threads = [
        threading.Thread(target=run, args=(one,), name=one)
        for one in ("first", "second")
    ]
    count = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        threads[0].start()
        assert began.wait(PATIENCE)
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
