"""Where angles are computed: in float64, which not every device has."""

import torch


def device_of_doubles(device: torch.device) -> torch.device:
    """Give the device itself, or the CPU for one without float64 (Apple's GPUs)."""
    return torch.device("cpu") if device.type == "mps" else device
