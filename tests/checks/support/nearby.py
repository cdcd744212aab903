"""Code in which a token sees only what is near it."""

import torch
from torch import Tensor, nn
from torch.nn.functional import pad, scaled_dot_product_attention, unfold

from tests.checks.support.attention_designs import ByHand


class Latest(nn.Module):
    """A dynamic convolution: each token weighs the latest ones, itself among them."""

    def __init__(self, size: int = 3) -> None:
        super().__init__()
        self.kernel_size = size
        self.value, self.weigh = nn.Linear(12, 12), nn.Linear(12, size)

    def forward(self, x: Tensor) -> Tensor:
        size = self.weigh.out_features
        values = pad(self.value(x), (0, 0, size - 1, 0)).unfold(1, size, 1)
        return (values * self.weigh(x).softmax(-1)[:, :, None]).sum(-1)


class Around(nn.Module):
    """A pixel of an image sees itself, and pixels around it, so many places away."""

    def __init__(self, *places: int) -> None:
        super().__init__()
        self.places = places
        self.query, self.key, self.value = (nn.Conv2d(12, 12, 1) for _ in range(3))

    def near(self, x: Tensor) -> Tensor:
        found = [unfold(x, 3, dilation=n, padding=n) for n in self.places]
        every = [one.unflatten(1, (x.shape[1], 9)).permute(0, 3, 2, 1) for one in found]
        return torch.cat(every, dim=2)

    def forward(self, x: Tensor) -> Tensor:
        query = self.query(x).flatten(2).mT[:, :, None]
        key, value = self.near(self.key(x)), self.near(self.value(x))
        rows = scaled_dot_product_attention(query, key, value)
        return rows.squeeze(2).mT.reshape(x.shape)


class OnBothSides(ByHand):
    """Each token sees two before it and two after it; a name may tell so."""

    def __init__(self, name: str = "reach") -> None:
        super().__init__(causal=False)
        setattr(self, name, 2)

    def allowed(self, T: int) -> Tensor:
        return torch.ones(T, T, dtype=torch.bool).tril(2).triu(-2)


class Pixels(nn.Module):
    """All pixels of an image see each other, by layers that are kernels of one."""

    def __init__(
        self, names: tuple[str, str, str] = ("query", "key", "value"), size: int = 1
    ) -> None:
        super().__init__()
        self.names = names
        for name in names:
            setattr(self, name, nn.Conv2d(12, 12, size, padding="same"))

    def scale(self, width: int) -> float:
        return width**-0.5

    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(-1)

    def forward(self, x: Tensor) -> Tensor:
        layers = (getattr(self, name) for name in self.names)
        query, key, value = (layer(x).flatten(2).mT for layer in layers)
        scores = query @ key.mT * self.scale(query.shape[-1])
        return (self.weigh(scores) @ value).mT.reshape(x.shape)


class Unscaled(Pixels):
    def scale(self, width: int) -> float:
        return 1.0


class OverQueries(Pixels):
    def weigh(self, scores: Tensor) -> Tensor:
        return scores.softmax(-2)
