"""Positions that go on

A text arrives in pieces, and the keys of earlier pieces are kept in a cache, rotated
already. Write `append(cache, key, rotate)`: the cache with the keys of one more piece.

`cache` has shape (H, S, D), with S = 0 at first; `key` is (H, T, D), not rotated;
`rotate(x, positions)` turns x (H, T, D) by positions (T). The result is (H, S + T, D).
"""

from headway.practice import Exercise

# --- your file ---
from collections.abc import Callable

import torch
from torch import Tensor


def append(cache: Tensor, key: Tensor, rotate: Callable[..., Tensor]) -> Tensor:
    """Rotate keys (H, T, D), and put them behind a cache (H, S, D) of rotated ones."""
    # --- write ---
    begin = cache.shape[1]
    positions = torch.arange(begin, begin + key.shape[1])
    return torch.cat([cache, rotate(key, positions)], dim=1)
    # --- written ---


if __name__ == "__main__":

    def turned(x: Tensor, positions: Tensor) -> Tensor:
        return x + positions[:, None]

    cache = append(torch.zeros(1, 0, 1), torch.zeros(1, 2, 1), turned)
    print(append(cache, torch.zeros(1, 1, 1), turned).flatten())
    # tensor([0., 1., 2.])
# --- end of your file ---


def turn(x, positions):  # type: ignore[no-untyped-def]
    from headway import Rotary

    return Rotary(x.shape[-1], base=100.0)(x, positions)


def run(append, key, cuts):  # type: ignore[no-untyped-def]
    cache = key[:, :0]
    for piece in key.split(cuts, dim=1):
        cache = append(cache, piece, turn)
    return cache


EXERCISE = Exercise(
    answer="append",
    read=(
        "positions/rotary/#a-text-that-arrives-in-pieces",
        "A text that arrives in pieces",
    ),
    hints=(
        "At which position does the first token of the second piece stand?",
        "The length of the cache says where the new tokens begin; what is in it is "
        "turned already.",
        "Positions run from the length of the cache, as many as there are new keys; "
        "then join along the axis of the tokens.",
    ),
    draw=lambda d: (d.normal(d.H, 9, 2 * d.D), [4, 3, 2]),
    ask=run,
    law="A text in pieces gets the same keys as the whole, however it is cut.",
    right=[
        """
        # Token by token, as a model writes: each stands where the cache ends.
        for token in key.unbind(1):
            at = torch.tensor([cache.shape[1]])
            cache = torch.cat([cache, rotate(token[:, None], at)], dim=1)
        return cache
        """,
        """
        # All positions are numbered, and the last T are taken: nothing need be added.
        T = key.shape[1]
        positions = torch.arange(cache.shape[1] + T)[-T:]
        return torch.cat([cache, rotate(key, positions)], dim=1)
        """,
        """
        # Room for all, filled by slices: as caches do that are made once.
        H, S, D = cache.shape
        longer = cache.new_empty(H, S + key.shape[1], D)
        longer[:, :S] = cache
        longer[:, S:] = rotate(key, torch.arange(key.shape[1]) + S)
        return longer
        """,
    ],
    minutes=8,
)
