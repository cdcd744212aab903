"""A task that only a head that has learned can solve: who is who, and where."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from headway import _require

_GUESTS = {
    "Mary": "Polly",
    "John": "Jack",
    "Anne": "Nan",
    "Henry": "Hal",
    "Sarah": "Sally",
    "James": "Jim",
    "Ellen": "Nell",
    "Oscar": "Ozzy",
}


def eight_guests() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the names of the eight guests, and their nicknames.

    Returns:
        Eight names, and in the same order what their friends call them.

    Examples:
        >>> names, nicknames = eight_guests()
        >>> names[0], nicknames[0]
        ('Mary', 'Polly')
    """
    return tuple(_GUESTS), tuple(_GUESTS.values())


def recall_task(
    texts: int, guests: int = 5, *, generator: torch.Generator | None = None
) -> tuple[Float[Tensor, "B T 24"], Int[Tensor, " B"], Int[Tensor, " B"]]:
    """Draw texts that say who has which hook, and then ask for one of them.

    A token is 24 numbers: which of eight names it says, which of eight nicknames, and
    which of eight hooks. A guest's token has a one for the name and a one for the hook.
    The last token has a one for the nickname of one of the guests, and is at right
    angles to all the others.

    Args:
        texts: How many texts to draw.
        guests: How many guests a text names, each with a hook of their own.
        generator: Where the random numbers come from; `None` means torch's own.

    Returns:
        The tokens, one more in each text than guests; the hook that is the answer; and
            the place of the token that knows it.

    Raises:
        ValueError: If a size is not a positive integer, or `guests` is more than eight.

    Examples:
        >>> x, answer, place = recall_task(7)
        >>> x.shape
        torch.Size([7, 6, 24])
        >>> bool((x[range(7), place, 16 + answer] == 1.0).all())
        True
    """
    _require.positive(texts=texts, guests=guests)
    most = len(_GUESTS)
    if guests > most:
        raise ValueError(f"guests must be at most {most}; got guests={guests}.")

    names = _some_of_all(texts, guests, generator)
    hooks = _some_of_all(texts, guests, generator)
    place = torch.randint(guests, (texts,), generator=generator)
    text = torch.arange(texts)
    x = torch.zeros(texts, guests + 1, 3 * most)
    x[:, :-1].scatter_(2, names[..., None], 1.0)
    x[:, :-1].scatter_(2, 2 * most + hooks[..., None], 1.0)
    x[text, -1, most + names[text, place]] = 1.0
    return x, hooks[text, place], place


def _some_of_all(
    texts: int, guests: int, generator: torch.Generator | None
) -> Int[Tensor, "B some"]:
    order = torch.rand(texts, len(_GUESTS), generator=generator)
    # Stable, so that two equal numbers have one order on every processor.
    return order.argsort(dim=1, stable=True)[:, :guests]


def weight_of(
    weights: Float[Tensor, "*B T S"], place: Int[Tensor, "*B"]
) -> Float[Tensor, "*B"]:
    r"""Read how much the last token of each text attends to one position.

    $$\alpha_{T p}$$

    Args:
        weights: Attention weights, one row for each query.
        place: A key of each text, $p$.

    Returns:
        One weight for each text.

    Raises:
        ValueError: If `weights` are not floating-point, or `place` does not hold one
            integer for each text, from zero to the number of keys less one.

    Examples:
        >>> weight_of(torch.tensor([[[0.5, 0.5], [0.1, 0.9]]]), torch.tensor([1]))
        tensor([0.9000])
    """
    _require.floating(weights=weights)
    if weights.ndim < 2:
        raise ValueError(
            "weights must have shape (..., queries, keys); "
            f"got weights.shape={tuple(weights.shape)}."
        )
    _require.integers(place=place)
    if place.shape != weights.shape[:-2]:
        raise ValueError(
            "place must have one number for each text; "
            f"got place.shape={tuple(place.shape)}, "
            f"weights.shape={tuple(weights.shape)}."
        )
    keys = weights.shape[-1]
    outside = (place < 0) | (place >= keys)
    if outside.any():
        raise ValueError(
            f"place must be from 0 to {keys - 1}; got place={int(place[outside][0])}."
        )
    return weights[..., -1, :].gather(-1, place.long()[..., None])[..., 0]
