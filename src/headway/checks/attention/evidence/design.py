"""What stands inside attention besides the equation, on purpose."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor


@dataclass(frozen=True)
class Rotation:
    """A rotation of queries and keys by their positions.

    Attributes:
        angles: The angle of each pair at each position, (positions, pairs).
        pairing: Whether the two numbers of a pair are neighbours, or half a head apart.
        source: Where the angles were found, for the report.
        length: How many times as long rotated vectors are, as with YaRN.
    """

    angles: Tensor
    pairing: Literal["pairs", "halves"]
    source: str
    length: float = 1.0


@dataclass(frozen=True)
class Buckets:
    """Learned biases of scores, one for each bucket of distances.

    Attributes:
        name: The name of the parameter that holds them.
        values: What each head adds in each bucket, (buckets, heads).
        numbers: The bucket of each query and key, (T, S).
    """

    name: str
    values: Tensor
    numbers: Tensor

    @property
    def bias(self) -> Tensor:
        """What is added to the scores, (heads, T, S)."""
        return self.values[self.numbers].movedim(-1, 0)


@dataclass(frozen=True)
class Design:
    """What attention does besides the equation, all of it meant; by default nothing.

    Attributes:
        rotation: How queries and keys are rotated by their positions.
        bias: What is added to the scaled scores, (heads or 1, T, S).
        buckets: What the bias is made of, if it is learned for buckets of distances.
        window: How many of the latest keys a query sees, itself included.
        softcap: The largest magnitude of a score, cap tanh(score / cap), before masks.
        sinks: The score of one more key of value zero, for each head.
        query_norm: The module's own norm of queries; None leaves them as they are.
        key_norm: The same for keys.
        norm_of: Whether these act on each head, or on all heads side by side.
        norms_after: Whether they come before a rotation, or after it.
        scale: What scores are multiplied by, if it is not one over the root of D.
        normalize: What makes weights of scores.
        source: In words, for the report: what of this is inside.
    """

    rotation: Rotation | None = None
    bias: Tensor | None = None
    buckets: Buckets | None = None
    window: int | None = None
    softcap: float | None = None
    sinks: Tensor | None = None
    query_norm: Callable[[Tensor], Tensor] | None = None
    key_norm: Callable[[Tensor], Tensor] | None = None
    norm_of: Literal["head", "all heads"] = "head"
    norms_after: Literal["projection", "rotation"] = "projection"
    scale: float | None = None
    normalize: Literal["softmax", "sigmoid", "softmax plus one"] = "softmax"
    source: str = ""
