"""Small things told to all processes, without NumPy, which PyTorch's function needs."""

import ctypes
import pickle
from typing import TypeVar

import torch
from torch import Tensor, distributed

Kind = TypeVar("Kind")


def gather_objects(
    own: Kind, group: "distributed.ProcessGroup | None" = None
) -> list[Kind]:
    """Tell all processes of a group something small, and hear what they tell.

    As `torch.distributed.all_gather_object`, which unpickles what it receives, too.

    Args:
        own: What this process tells.
        group: The processes; by default all.

    Returns:
        What each process tells, by its rank in the group.
    """
    device = "cuda" if distributed.get_backend(group) == "nccl" else "cpu"
    written = torch.frombuffer(bytearray(pickle.dumps(own)), dtype=torch.uint8)
    processes = distributed.get_world_size(group)
    sizes = torch.zeros(processes, 1, dtype=torch.int64, device=device)
    distributed.all_gather([*sizes], sizes.new_tensor([len(written)]), group=group)
    longest = int(sizes.max())
    padded = torch.zeros(longest, dtype=torch.uint8, device=device)
    padded[: len(written)] = written.to(device)
    of_all = padded.new_empty(processes, longest)
    distributed.all_gather([*of_all], padded, group=group)
    return [
        pickle.loads(content(one[:size]))  # noqa: S301
        for one, size in zip(of_all, sizes.flatten().tolist(), strict=True)
    ]


def content(numbers: Tensor) -> bytes:
    """Copy the bytes of a tensor."""
    numbers = numbers.detach().cpu().contiguous()
    return ctypes.string_at(numbers.data_ptr(), numbers.nbytes)
