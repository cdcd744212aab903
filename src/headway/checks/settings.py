"""The settings of a caller, which a check sets aside."""

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch

_SIZES = 64
_LIMIT_BEFORE = "cache_size_limit"  # its name in PyTorch 2.6
# Settings are of the whole process. What is checked may well check something itself.
_ALONE = threading.RLock()


@contextmanager
def isolated_settings() -> Iterator[None]:
    """Leave random numbers as they are, use one thread, and compile for many sizes.

    All tensors are small, so that more threads take longer. One thread of the caller is
    inside at a time; others wait.
    """
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    with _ALONE:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=devices), _many_compiled_sizes():
                yield
        finally:
            torch.set_num_threads(threads)


def _many_compiled_sizes() -> AbstractContextManager[object]:
    """Let compiled code be compiled for more sizes than PyTorch's eight."""
    config = sys.modules.get("torch._dynamo.config")
    if config is None:  # nothing is compiled
        return nullcontext()
    name = "recompile_limit" if hasattr(config, "recompile_limit") else _LIMIT_BEFORE
    patched: AbstractContextManager[object] = config.patch({name: _SIZES})
    return patched
