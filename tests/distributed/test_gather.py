"""Processes tell each other small things, in an environment without NumPy, too."""

from collections.abc import Iterator
from inspect import cleandoc

import pytest
import torch
from torch import distributed

from headway.distributed._gather import content, gather_objects
from tests.support.in_processes import print_in_processes


@pytest.fixture
def one_process() -> Iterator[None]:
    store = torch.distributed.HashStore()
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


@pytest.mark.usefixtures("one_process")
def test_one_process_hears_itself() -> None:
    assert gather_objects({"a": (1, None)}) == [{"a": (1, None)}]


def test_each_says_something_of_another_length() -> None:
    """What reads tensors into NumPy is taken away, as where it is not installed."""
    program = cleandoc(
        """
        import torch
        import torch.distributed as dist

        from headway.distributed._gather import gather_objects


        def absent(self):
            raise RuntimeError("Numpy is not available")


        torch.Tensor.numpy = absent
        dist.init_process_group("gloo")
        rank = dist.get_rank()
        own = (rank, "x" * 50 * rank, (3, 5)[:rank])
        heard = gather_objects(own)
        some = dist.new_group([0, 2])
        if rank != 1:
            print([len(text) for _, text, _ in gather_objects(own, some)])
        print(heard[0], heard[2][2], [len(text) for _, text, _ in heard])
        """
    )
    printed = print_in_processes(program, 3)
    assert printed == "[0, 100]\n(0, '', ()) (3, 5) [0, 50, 100]\n"


def test_the_bytes_are_those_of_numpy() -> None:
    x = torch.randn(3, 5, 7, dtype=torch.float64).transpose(0, 2).requires_grad_()
    assert content(x) == x.detach().numpy().tobytes()
    assert content(torch.ones(0)) == b""
    half = torch.arange(5, dtype=torch.bfloat16)
    assert content(half) == half.view(torch.int16).numpy().tobytes()
