"""Positions that go on

A text arrives in pieces, and the keys of earlier pieces are kept in a cache, rotated
already. Write `append(cache, key, rotate)`: the cache with the keys of one more piece.

`cache` has shape (H, S, D), with S = 0 at first; `key` is (H, T, D), not rotated;
`rotate(x, positions)` turns x (H, T, D) by positions (T). The result is (H, S + T, D).
"""

from headway.practice import Exercise, Wrong

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
    wrong=[
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(key.shape[1])",
            "each piece begins again at position zero",
            exhibit="positions/#counted-from-zero",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin + key.shape[1], begin + 2 * key.shape[1])",
            "the offset is taken after the append",
            exhibit="caches/#offset-after-append",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "rotate(torch.cat([cache, key], dim=1), "
            "torch.arange(begin + key.shape[1]))",
            "what is in the cache is turned once more with each piece",
        ),
        Wrong(
            "[cache, rotate(key, positions)]",
            "[rotate(key, positions), cache]",
            "new keys are put before the old",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, key], dim=1)",
            "new keys are not turned",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.full((key.shape[1],), begin)",
            "all tokens of a piece stand at one position",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "rotate(key, positions)",
            "the old keys are forgotten",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin + 1, begin + 1 + key.shape[1])",
            "positions are counted from one",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin - 1, begin - 1 + key.shape[1])",
            "the first new key gets the place of the last old one",
        ),
        Wrong(
            "begin = cache.shape[1]",
            "begin = len(cache)",
            "the heads of the cache are counted, and not its tokens",
        ),
        Wrong(
            "begin = cache.shape[1]",
            "begin = cache.shape[-1]",
            "the width of the keys is taken for the number of tokens",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, key.shape[1])",
            "positions end at T; they should end at S + T",
        ),
        Wrong(
            "    positions = ",
            "    if begin == 0:\n        return key\n    positions = ",
            "the first piece is not turned: only position zero may stay as it is",
        ),
        Wrong(
            "dim=1)",
            "dim=0)",
            "keys are joined along the heads",
        ),
        Wrong(
            "    return torch.cat([cache, rotate(key, positions)], dim=1)",
            "    return torch.cat([cache, rotate(key, positions)], dim=-1)",
            "keys are joined along their width",
        ),
        Wrong(
            "    return torch.cat([cache, rotate(key, positions)], dim=1)",
            "    return torch.cat([cache, key, rotate(key, positions)], dim=1)",
            "new keys stand there twice, as they were and turned",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[0])",
            "there is a position for each head; there should be one for each new token",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[-1])",
            "there is a position for each number of a key; there should be one for "
            "each new token",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin + key.shape[1] - 1, begin - 1, -1)",
            "positions are counted backwards",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin + key.shape[1])",
            "there are positions for the old keys, too; only the new ones should "
            "be turned",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[1] - 1)",
            "there is one position too few: arange ends before its end",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[1] + 1)",
            "there is one position too many: arange ends before its end, and not at it",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "begin * torch.arange(1, key.shape[1] + 1)",
            "positions are multiples of the length of the cache",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "-torch.arange(begin, begin + key.shape[1])",
            "positions are negative, so that keys are turned backwards",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(rotate(key, positions), positions)], dim=1)",
            "new keys are turned twice",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([rotate(cache, torch.full((begin,), "
            "key.shape[1])), rotate(key, positions)], dim=1)",
            "old keys are turned on by the length of the new piece; they should "
            "stay as they are",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.stack([cache, rotate(key, positions)], dim=1)",
            "stack takes pieces of one length; cat joins along an axis",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin + key.shape[1])[: key.shape[1]]",
            "the first positions are taken; it should be the last",
            same_as="each piece begins again at position zero",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "cache",
            "the cache is given as it was, without the new keys",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(key.shape[1], 2 * key.shape[1])",
            "positions begin at the number of new tokens; it should be that of the old",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin)",
            "there is a position for each old key; there should be one for each new "
            "one",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([torch.zeros_like(cache), rotate(key, positions)], dim=1)",
            "the place of the old keys is left at zero",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[1]) - min(begin, 1)",
            "behind the first piece all positions are one too small",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(begin, begin + key.shape[1]) + min(begin, 1)",
            "behind the first piece all positions are one too large",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "begin + 2 * torch.arange(key.shape[1])",
            "positions go up by two: the cache grows in the loop, and the number of "
            "the token is added as well",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(key, positions)], dim=1), positions",
            "something is given besides the cache; the cache alone is asked for",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(key, positions.tolist())], dim=1)",
            "positions are a list; rotate takes a tensor of them",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(key, begin)], dim=1)",
            "one number is given for all positions; rotate takes a tensor of them",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.full((key.shape[1],), begin) if begin else "
            "torch.arange(key.shape[1])",
            "behind the first piece all tokens of a piece stand at one position",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "rotate(torch.cat([cache, key], dim=1), torch.arange(begin, 2 * begin + "
            "key.shape[1]))",
            "what is in the cache is turned once more, and by positions that begin "
            "behind it",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(positions, key)], dim=1)",
            "keys and positions are handed to rotate in the opposite order",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "cache + rotate(key, positions)",
            "the new keys are added to the old; they should be put behind them",
        ),
        Wrong(
            "    return torch.cat([cache, rotate(key, positions)], dim=1)",
            "    cache = torch.cat([cache, rotate(key, positions)], dim=1)",
            "the new cache is not returned: the function ends without a return",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, rotate(key, positions[:, None])], dim=1)",
            "positions have an axis too many; they should be (T)",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([cache, *rotate(key, positions).unbind(1)], dim=1)",
            "the new keys are joined one by one without the axis of the tokens",
        ),
        Wrong(
            "torch.arange(begin, begin + key.shape[1])",
            "torch.arange(key.shape[1]) - begin",
            "the length of the cache is subtracted from the positions; it should be "
            "added",
        ),
        Wrong(
            "torch.cat([cache, rotate(key, positions)], dim=1)",
            "torch.cat([key, rotate(key, positions)], dim=1)",
            "the new keys stand in the place of the cache, too",
        ),
    ],
    minutes=8,
)
