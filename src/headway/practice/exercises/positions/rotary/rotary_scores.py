"""Rotary scores from scratch

A text arrives in pieces, and a cache keeps the keys of all tokens so far, turned
already. Write `rotary_scores(query, key, cache, base)`: the scores of the T new tokens
with the S of the cache and with one another.

`query` and `key` have shape (..., T, D), with an even D, and are not turned; `cache` is
(..., S, D), where S may be 0; any number of axes may stand in front, also none. The
text begins at position 0. A pair is two neighbours; from one position to the next pair
i turns by base ** (-2 i / D) radians, from (1, 0) towards (0, 1).

Scores are divided by the root of D, and nothing is hidden. The result is
(..., T, S + T), old keys first. Compute all in 64 bits.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor


def rotary_scores(
    query: Tensor, key: Tensor, cache: Tensor, base: float = 10_000.0
) -> Tensor:
    """Score new tokens (..., T, D) behind a cache (..., S, D): (..., T, S + T)."""
    # --- write ---
    S, (T, D) = cache.shape[-2], query.shape[-2:]
    positions = torch.arange(S, S + T)
    twice = torch.arange(0, D, 2, dtype=torch.float64)
    angles = positions[:, None] * base ** (-twice / D)
    cos, sin = angles.cos(), angles.sin()

    def turned(x: Tensor) -> Tensor:
        a, b = x[..., 0::2], x[..., 1::2]
        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1)
        return pairs.flatten(-2)

    keys = torch.cat([cache, turned(key)], dim=-2)
    asking = turned(query)
    return asking @ keys.mT / D**0.5
    # --- written ---


if __name__ == "__main__":
    # One word again and again; position zero turns nothing.
    word = torch.tensor([[1.0, 0.0, 1.0, 0.0]], dtype=torch.float64)
    print(rotary_scores(word.repeat(2, 1), word.repeat(2, 1), cache=word))
    # tensor([[0.7701, 1.0000, 0.7701],
    #         [0.2918, 0.7701, 1.0000]], dtype=torch.float64)
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    """Draw queries, keys and a cache: any numbers may be keys that are turned."""
    D = d.D + d.D % 2
    new = d.normal(*d.lead, d.T, D), d.normal(*d.lead, d.T, D)
    return *new, d.normal(*d.lead, d.S, D), 1000.0


def turned(x, base, begin, step=1):  # type: ignore[no-untyped-def]
    """Turn x by positions from `begin` on, or all by `begin` alone if `step` is 0."""
    from headway import Rotary

    positions = begin + step * torch.arange(x.shape[-2])
    return Rotary(x.shape[-1], base=base)(x, positions)


def only_distance(rotary_scores, query, key, cache, base):  # type: ignore[no-untyped-def]
    moved = torch.cat([key[..., :1, :]] * 5 + [turned(cache, base, 5, step=0)], dim=-2)
    near = rotary_scores(query, key, cache, base)
    return torch.allclose(near, rotary_scores(query, key, moved, base)[..., 5:])


def as_one_token_each(rotary_scores, query, key, cache, base):  # type: ignore[no-untyped-def]
    S, T = cache.shape[-2], query.shape[-2]
    together = rotary_scores(query, key, cache, base)
    keys = torch.cat([cache, turned(key, base, S)], dim=-2)
    return all(
        torch.allclose(
            rotary_scores(
                query[..., t : t + 1, :],
                key[..., t : t + 1, :],
                keys[..., : S + t, :],
                base,
            ),
            together[..., t : t + 1, : S + t + 1],
        )
        for t in range(T)
    )


EXERCISE = Exercise(
    answer="rotary_scores",
    read=(
        "positions/rotary/#a-text-that-arrives-in-pieces",
        "A text that arrives in pieces",
    ),
    hints=(
        "At which position does the first new token stand, and what in a score has to "
        "be turned by it?",
        "Four steps: angles for the new positions, (T, D // 2); turn queries and new "
        "keys by them; put the keys behind the cache; take dot products, and scale.",
        "arange from S to S + T, times a row of D // 2 speeds. The even places a and "
        "the odd places b give a cos - b sin and a sin + b cos, which stack and "
        "flatten lay side by side. The cache is used as it is.",
    ),
    draw=draw,
    # All sizes differ; all are equal; no axis in front; two of them; nothing in the
    # cache; one new token.
    trials=(
        {"D": 22},
        dict.fromkeys("BHGTSDVEW", 4),
        {"axes": 0, "T": 3, "S": 13, "D": 14},
        {"axes": 2, "T": 7, "S": 5, "D": 22},
        {"S": 0, "T": 5, "D": 14},
        {"T": 1, "S": 11, "D": 10},
    ),
    small=[
        {"axes": 0, "T": T, "S": S, "D": D}
        for T, S, D in (
            (1, 0, 2),
            (1, 1, 2),
            (1, 1, 4),
            (2, 0, 2),
            (2, 1, 2),
            (2, 1, 4),
        )
    ],
    properties=[
        Property("scores depend only on how far apart two tokens are", only_distance),
        Property(
            "new tokens have the same scores one at a time and together",
            as_one_token_each,
        ),
    ],
    law="Only distances count, if what is new is turned by its place in the whole "
    "text; the cache can stay as it is.",
    right=[
        """
        # Complex numbers: queries and keys turn together, and a turn is one product.
        S, (T, D) = cache.shape[-2], query.shape[-2:]
        speeds = base ** (-torch.arange(0, D, 2).double() / D)
        angles = torch.outer(torch.arange(S, S + T).double(), speeds)
        both = torch.stack([query, key]).unflatten(-1, (-1, 2))
        both = torch.view_as_complex(both) * torch.exp(1j * angles)
        asking, found = torch.view_as_real(both).flatten(-2)
        return asking @ torch.cat([cache, found], dim=-2).mT / D**0.5
        """,
        """
        # Halves: one order for all numbers, as for weights from Hugging Face; a dot
        # product does not ask for it.
        D = query.shape[-1]
        order = torch.arange(D).view(-1, 2).T.flatten()
        query, key, cache = query[..., order], key[..., order], cache[..., order]
        positions = torch.arange(cache.shape[-2] + key.shape[-2])[cache.shape[-2] :]
        pair = torch.arange(D // 2, dtype=torch.float64).repeat(2)
        angles = positions[:, None] / base ** (2 * pair / D)

        def turned(x):
            a, b = x.chunk(2, dim=-1)
            return x * angles.cos() + torch.cat([-b, a], dim=-1) * angles.sin()

        keys = torch.cat([cache, turned(key)], dim=-2)
        return torch.einsum("...td,...sd->...ts", turned(query), keys) / D**0.5
        """,
        """
        # By distances: new keys stay as they are, and each query turns by how far it
        # is from them; a cached key was turned from position zero.
        import math

        (S, D), T = cache.shape[-2:], query.shape[-2]
        new = torch.arange(T).double()
        far = torch.cat([(S + new)[:, None].expand(T, S), new[:, None] - new], dim=1)
        keys = torch.cat([cache, key], dim=-2).unsqueeze(-3)
        query = query.unsqueeze(-2)
        scores = 0
        for i in range(0, D, 2):
            angle = far * math.exp(-i / D * math.log(base))
            a, b = query[..., i], query[..., i + 1]
            c, d = keys[..., i], keys[..., i + 1]
            scores = scores + (a * c + b * d) * angle.cos()
            scores = scores + (a * d - b * c) * angle.sin()
        return scores / math.sqrt(D)
        """,
    ],
    minutes=25,
    covers=("angles", "rotate", "append"),
)
