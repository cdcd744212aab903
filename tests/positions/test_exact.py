"""Devices without float64, as Apple's GPUs: angles on the CPU, results back there."""

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

from headway import Rotary, sinusoidal_positions


class NoDoubles(TorchDispatchMode):
    """Refuse float64 on such a device, as the device itself does."""

    def __torch_dispatch__(self, operation, types, args=(), kwargs=None):
        result = operation(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and result.device.type == "mps":
            assert result.dtype != torch.float64, operation
        return result


def test_no_angle_in_64_bits_is_made_where_there_are_none() -> None:
    # Fake tensors have a device and a type, and need no such machine.
    with FakeTensorMode(), NoDoubles():
        positions = torch.arange(5, device="mps")
        waves = sinusoidal_positions(positions, 6)
        assert (waves.device.type, waves.dtype) == ("mps", torch.float32)

        x = torch.empty(2, 5, 6, device="mps", dtype=torch.bfloat16)
        given = torch.ones(3, device="mps")
        for frequencies in (None, given):
            turned = Rotary(6, frequencies=frequencies, halves=True)(x, positions)
            assert (turned.device.type, turned.dtype) == ("mps", torch.bfloat16)
