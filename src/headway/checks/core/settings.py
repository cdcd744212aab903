"""The settings of a caller, which a check sets aside."""

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, NamedTuple

import torch

_SIZES = 64
_LIMIT_BEFORE = "cache_size_limit"  # its name in PyTorch 2.6
# Settings are of the whole process. What is checked may well check something itself.
_ALONE = threading.RLock()


class _Setting(NamedTuple):
    """A setting of the whole process, and what a check needs it to be."""

    get: Callable[[], Any]
    put: Callable[[Any], object]
    value: Any


_SETTINGS = (
    # All tensors are small, so that more threads take longer.
    _Setting(torch.get_num_threads, torch.set_num_threads, 1),
    _Setting(torch.get_default_dtype, torch.set_default_dtype, torch.float32),
    _Setting(
        torch.get_float32_matmul_precision,
        torch.set_float32_matmul_precision,
        "highest",
    ),
    _Setting(torch.get_deterministic_debug_mode, torch.set_deterministic_debug_mode, 0),
    *(
        _Setting(
            getattr(torch.backends.cuda, f"{kernel}_sdp_enabled"),
            getattr(torch.backends.cuda, f"enable_{kernel}_sdp"),
            True,
        )
        for kernel in ("flash", "mem_efficient", "math")
    ),
)


@contextmanager
def isolated_settings() -> Iterator[None]:
    """Set aside what a caller has set, and leave it and random numbers as they are.

    So nothing is told of code that comes from around it, such as from `no_grad`, from
    `autocast` or from a default type. One thread is inside at a time; others wait.
    """
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with _ALONE, ExitStack() as stack:
        for one in _SETTINGS:
            _set_for_now(one, stack)
        stack.enter_context(torch.random.fork_rng(devices=devices))
        for mode in (*_modes(), _many_compiled_sizes(), warnings.catch_warnings()):
            stack.enter_context(mode)
        warnings.simplefilter("ignore")  # what others warn of is theirs
        yield


def _set_for_now(one: _Setting, stack: ExitStack) -> None:
    """Set one setting until the end, if it is not so: some take long to set."""
    before = one.get()
    if before != one.value:
        one.put(one.value)
        stack.callback(one.put, before)


def _modes() -> Iterator[AbstractContextManager[Any]]:
    """Give what ends the modes in which a caller may be."""
    yield torch.inference_mode(False)  # which lets gradients be computed, too
    yield torch.autograd.set_detect_anomaly(False)
    accelerator = torch.accelerator.current_accelerator() or torch.device("cpu")
    for kind in {"cpu", accelerator.type}:
        if torch.is_autocast_enabled(kind):
            yield torch.autocast(kind, enabled=False)
    if torch.get_default_device().type != "cpu":
        yield torch.device("cpu")  # which makes each call of torch take longer


def _many_compiled_sizes() -> AbstractContextManager[object]:
    """Let compiled code be compiled for more sizes than PyTorch's eight."""
    config = sys.modules.get("torch._dynamo.config")
    if config is None:  # nothing is compiled
        return nullcontext()
    name = "recompile_limit" if hasattr(config, "recompile_limit") else _LIMIT_BEFORE
    patched: AbstractContextManager[object] = config.patch({name: _SIZES})
    return patched
