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

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(T)",
            "the new tokens begin again at position zero; they should go on behind "
            "the cache",
            exhibit="positions/#counted-from-zero",
        ),
        Wrong(
            "@ keys.mT / D**0.5",
            "@ keys.mT",
            "the scores are not divided by the root of D",
        ),
        Wrong(
            "asking = turned(query)",
            "asking = query",
            "the queries are not turned",
        ),
        Wrong(
            "turned(key)]",
            "key]",
            "the new keys are not turned",
        ),
        Wrong(
            "base ** (-twice / D)",
            "10_000.0 ** (-twice / D)",
            "the base is 10,000 always; it should be the one that is given",
        ),
        Wrong(
            "torch.arange(0, D, 2,",
            "torch.arange(0, D // 2,",
            "the exponent is i / D; it should be 2 i / D",
            exhibit="positions/#a-speed-for-each-channel",
        ),
        Wrong(
            "-twice / D",
            "-twice / (D // 2)",
            "2 i is divided by the number of pairs; it should be by the width D",
        ),
        Wrong(
            "-twice / D",
            "twice / D",
            "the minus of the exponent is lost, so that later pairs are faster",
        ),
        Wrong(
            "a * cos - b * sin",
            "a * cos + b * sin",
            "the minus sign of the rotation is lost",
            exhibit="positions/#rotary-sign-lost",
        ),
        Wrong(
            "positions[:, None]",
            "-positions[:, None]",
            "positions are negative, so that new tokens are turned backwards, and "
            "those in the cache are not",
        ),
        Wrong(
            "/ D**0.5",
            "/ D",
            "the scores are divided by D itself, or twice by its root",
        ),
        Wrong(
            "/ D**0.5",
            "/ (D // 2) ** 0.5",
            "the scores are divided by the root of the number of pairs; it should be "
            "that of the width D",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S + 1, S + 1 + T)",
            "positions are counted from one, and the keys in the cache from zero",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S + T, S + 2 * T)",
            "the new tokens are counted from S + T on, as if the cache had their keys "
            "already",
            exhibit="caches/#offset-after-append",
        ),
        Wrong(
            "/ D**0.5",
            "* D**0.5",
            "the scores are multiplied by the root of D; they should be divided",
        ),
        Wrong(
            "torch.arange(0, D, 2, dtype=torch.float64)",
            "torch.arange(0, D, 2)",
            "the speeds are computed in 32 bits",
            hint="An arange of whole numbers becomes 32 bits when it is divided. "
            "dtype= makes it 64 from the start.",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(base ** (-twice.float() / D)).double()",
            "the speeds are computed in 32 bits, and turned into 64 afterwards",
        ),
        Wrong(
            "a, b = x[..., 0::2], x[..., 1::2]",
            "a, b = x.chunk(2, dim=-1)",
            "numbers half a vector apart are taken for a pair, and laid side by side",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
            alone=True,
        ),
        Wrong(
            "return pairs.flatten(-2)",
            "return torch.cat(pairs.unbind(-1), dim=-1)",
            "the turned pairs are laid half a vector apart, and not side by side",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
            alone=True,
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([turned(key), cache], dim=-2)",
            "the new keys stand before those of the cache; old keys come first",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "turned(key)",
            "the new tokens are scored with one another only, and the cache is "
            "forgotten",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    future = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)\n"
            "    return (asking @ keys.mT / D**0.5).masked_fill(future, -torch.inf)",
            "the future is hidden, by minus infinity; here nothing is",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5).softmax(dim=-1)",
            "weights are given, after a softmax; scores are asked for",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.sin(), angles.cos()",
            "cosine and sine are exchanged",
        ),
        Wrong(
            "/ D**0.5",
            "/ (S + T) ** 0.5",
            "the scores are divided by the root of the number of keys; it should be "
            "that of the width D",
        ),
        Wrong(
            "cache.shape[-2]",
            "cache.shape[0]",
            "the first axis of the cache is counted; the tokens are the last but one",
        ),
        Wrong(
            "cache.shape[-2]",
            "cache.shape[1]",
            "axis 1 of the cache is counted, which are the tokens only if one axis "
            "stands in front",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S - 1, S - 1 + T)",
            "the first new token gets the place of the last one in the cache",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S - T, S)",
            "the new tokens get the last T positions of the cache; they should go on "
            "behind it",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.full((T,), S)",
            "all new tokens stand at one position, that behind the cache",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.full((T,), S + T - 1)",
            "all new tokens stand at the last position",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S + T - 1, S - 1, -1)",
            "the positions of the new tokens run backwards",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(T) - S",
            "the length of the cache is subtracted from the positions; it should be "
            "added",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "S + 2 * torch.arange(T)",
            "positions go up by two from one new token to the next",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(T, 2 * T)",
            "positions begin at the number of new tokens; it should be that of the "
            "keys in the cache",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S)",
            "there is a position for each key in the cache; there should be one for "
            "each new token",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S, T)",
            "positions end at T; they should end at S + T",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S + T)",
            "there are positions for the cache, too; only the new tokens should be "
            "turned",
        ),
        Wrong(
            "torch.arange(S, S + T)",
            "torch.arange(S, S + T - 1)",
            "there is one position too few: arange ends before its end",
        ),
        Wrong(
            "cache.shape[-2]",
            "cache.shape[-1]",
            "the width of the cache is taken for its number of tokens",
        ),
        Wrong(
            "(T, D) = cache.shape[-2], query.shape[-2:]",
            "(T, D) = cache.shape[-2], (query.shape[0], query.shape[-1])",
            "the first axis of the queries is counted; the tokens are the last but one",
        ),
        Wrong(
            "    S, (T, D) = cache.shape[-2], query.shape[-2:]",
            "    H, T, D = query.shape\n    S = cache.shape[-2]",
            "the queries are taken to have three axes; there may be fewer or more",
        ),
        Wrong(
            "    S, (T, D) = cache.shape[-2], query.shape[-2:]",
            "    T, D = query.shape\n    S = cache.shape[-2]",
            "the queries are taken to have two axes; there may be more",
        ),
        Wrong(
            "    S, (T, D) = cache.shape[-2], query.shape[-2:]",
            "    B, H, T, D = query.shape\n    S = cache.shape[-2]",
            "the queries are taken to have four axes; there may be fewer",
        ),
        Wrong(
            "    S, (T, D) = cache.shape[-2], query.shape[-2:]",
            "    S, (T, D) = cache.shape[-2], query.shape[-2:]\n"
            "    if S == 0:\n"
            "        return query @ key.mT / D**0.5",
            "the first piece is not turned: with nothing in the cache, only position "
            "zero may stay as it is",
        ),
        Wrong(
            "return pairs.flatten(-2)",
            "return x",
            "nothing new is turned, neither queries nor keys",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    old = torch.arange(S)[:, None] * base ** (-twice / D)\n"
            "    new = cos, sin\n"
            "    cos, sin = old.cos(), old.sin()\n"
            "    cache = turned(cache)\n"
            "    cos, sin = new\n"
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "the cache is turned once more, by its own positions; it is turned already",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    new = cos, sin\n"
            "    angles = torch.full((S, 1), T) * base ** (-twice / D)\n"
            "    cos, sin = angles.cos(), angles.sin()\n"
            "    cache = turned(cache)\n"
            "    cos, sin = new\n"
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "old keys are turned on by T with each piece; they should stay as they are",
            same_as="the new tokens get the last T positions of the cache; they "
            "should go on behind it",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    found = turned(key)\n"
            "    angles = torch.arange(T)[:, None] * base ** (-twice / D)\n"
            "    cos, sin = angles.cos(), angles.sin()\n"
            "    return turned(query) @ torch.cat([cache, found], dim=-2).mT / D**0.5",
            "the queries begin again at position zero, and the new keys go on behind "
            "the cache",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    asking = turned(query)\n"
            "    angles = torch.arange(T)[:, None] * base ** (-twice / D)\n"
            "    cos, sin = angles.cos(), angles.sin()\n"
            "    return asking @ torch.cat([cache, turned(key)], dim=-2).mT / D**0.5",
            "the new keys are counted from the first query, and the queries from the "
            "beginning of the text",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    cos, sin = cos[-1:], sin[-1:]\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "all queries are turned by the last position; each has its own",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    cos, sin = cos[:1], sin[:1]\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "all queries are turned by the first new position; each has its own",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    angles = (positions[:, None] + 1) * base ** (-twice / D)\n"
            "    cos, sin = angles.cos(), angles.sin()\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "the queries are turned by one position more than the keys of the same "
            "tokens",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    asking = turned(query)\n"
            "    angles = (positions[:, None] + 1) * base ** (-twice / D)\n"
            "    cos, sin = angles.cos(), angles.sin()\n"
            "    return asking @ torch.cat([cache, turned(key)], dim=-2).mT / D**0.5",
            "the new keys are turned by one position more than the queries of the "
            "same tokens",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    sin = -sin\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "the queries are turned backwards, and keys forwards, so that the sum of "
            "two positions counts",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    asking = turned(query)\n"
            "    sin = -sin\n"
            "    return asking @ torch.cat([cache, turned(key)], dim=-2).mT / D**0.5",
            "the new keys are turned backwards, and all others forwards",
        ),
        Wrong(
            "asking = turned(query)",
            "asking = turned(turned(query))",
            "the queries are turned twice",
        ),
        Wrong(
            "turned(key)]",
            "turned(turned(key))]",
            "the new keys are turned twice",
        ),
        Wrong(
            "torch.arange(0, D, 2,",
            "torch.arange(2, D + 2, 2,",
            "pairs are counted from one; the first should turn by one radian a "
            "position",
        ),
        Wrong(
            "torch.arange(0, D, 2,",
            "torch.arange(1, D, 2,",
            "odd numbers are counted; the exponent has 2 i, the even ones",
        ),
        Wrong(
            "torch.arange(0, D, 2, dtype=torch.float64)",
            "torch.arange(D, dtype=torch.float64)",
            "there is an angle for each number; there should be one for each pair",
        ),
        Wrong(
            "base ** (-twice / D)",
            "torch.exp(-twice / D)",
            "the base is e always; it should be the one that is given",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(base**-twice / D)",
            "a pair of parentheses is missing in the exponent: the power is taken "
            "first, and then divided by D",
        ),
        Wrong(
            "base ** (-twice / D)",
            "base ** (-twice)",
            "the exponent is not divided by D",
        ),
        Wrong(
            "base ** (-twice / D)",
            "base * (-twice / D)",
            "the base is multiplied by the exponent; it should be raised to it",
        ),
        Wrong(
            "base ** (-twice / D)",
            "base ** (-twice // D)",
            "the exponent is rounded down by //, so that all pairs but the first turn "
            "equally fast",
        ),
        Wrong(
            "base ** (-twice / D)",
            "torch.ones_like(twice)",
            "all pairs turn by one radian a position; each should have its own speed",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(base ** (-twice / D)).flip(-1)",
            "the slowest pair comes first",
        ),
        Wrong(
            "torch.arange(0, D, 2, dtype=torch.float64)",
            "D * torch.linspace(0, 1, D // 2, dtype=torch.float64)",
            "the exponents go up to one, so that the last pair has the speed 1 / base",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(2 * torch.pi * base ** (-twice / D))",
            "angles are multiplied by 2 pi; the first pair turns by one radian a "
            "position",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(base ** (-twice / D)).float()",
            "the speeds are computed in 64 bits, and kept in 32",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.float().cos(), angles.float().sin()",
            "cosines and sines are computed in 32 bits",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.cos().float(), angles.sin().float()",
            "cosines and sines are computed in 64 bits, and kept in 32",
        ),
        Wrong(
            "base ** (-twice / D)",
            "1 / base ** (twice.float() / D)",
            "1 / base ** (2 i / D) is computed in 32 bits",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(1 / base ** (twice.float() / D)).double()",
            "1 / base ** (2 i / D) is computed in 32 bits, and turned into 64 "
            "afterwards",
        ),
        Wrong(
            "base ** (-twice / D)",
            "(torch.pi * base ** (-twice / D))",
            "angles are multiplied by pi; the first pair turns by one radian a "
            "position",
        ),
        Wrong(
            "torch.arange(0, D, 2, dtype=torch.float64)",
            "D * torch.linspace(0, 1, D // 2).double()",
            "the exponents go up to one, and are made in 32 bits",
        ),
        Wrong(
            "positions[:, None] * base",
            "positions[:, None].double() / (S + T) * base",
            "positions are divided by the number of tokens; they should be whole "
            "numbers",
        ),
        Wrong(
            "positions[:, None] * base",
            "positions[:, None].double() / T * base",
            "positions are divided by the number of new tokens; they should be whole "
            "numbers",
        ),
        Wrong(
            "positions[:, None] * base",
            "positions * base",
            "no axis is made for the pairs, so that positions meet pairs: [:, None] "
            "is missing",
        ),
        Wrong(
            "positions[:, None] * base",
            "positions[:, None, None] * base",
            "positions have an axis too many, and run along the axis before the tokens",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles.deg2rad().cos(), angles.deg2rad().sin()",
            "the angles are taken for degrees; cos and sin of PyTorch are given "
            "radians",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "angles, angles",
            "angles stand in for their cosines and sines",
        ),
        Wrong(
            "angles.cos(), angles.sin()",
            "(2 * angles).cos(), (2 * angles).sin()",
            "angles are twice as large",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos + b * sin, b * cos - a * sin",
            "new tokens are turned backwards, by the minus at the other sine, and "
            "those in the cache are not",
            same_as="positions are negative, so that new tokens are turned backwards, "
            "and those in the cache are not",
        ),
        Wrong(
            "a * sin + b * cos",
            "a * sin - b * cos",
            "the second number of a pair has the sign that the first should have",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b * cos",
            "the second number of a pair gets no sine of the first",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos, a * sin + b * cos",
            "the first number of a pair gets no sine of the second",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos, b * cos",
            "the sines are left out, so that pairs get shorter and do not turn",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b * sin + a * cos",
            "the second number is made of the wrong partners: it should be a times "
            "the sine, and b times the cosine",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * sin + b * cos, a * cos - b * sin",
            "the two of a pair are exchanged after they are turned",
        ),
        Wrong(
            "a, b = x[..., 0::2], x[..., 1::2]",
            "b, a = x[..., 0::2], x[..., 1::2]",
            "the two of a pair are exchanged before they are turned",
        ),
        Wrong(
            "        a, b = x[..., 0::2], x[..., 1::2]\n"
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        a, b = x.chunk(2, dim=-1)\n"
            "        return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)",
            "numbers half a vector apart are turned together, the layout of halves, "
            "as in Hugging Face's Llama; a pair should be neighbours",
            alone=True,
        ),
        Wrong(
            "        a, b = x[..., 0::2], x[..., 1::2]\n"
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        a, b = x.chunk(2, dim=-1)\n"
            "        return torch.cat([a * cos + b * sin, b * cos - a * sin], dim=-1)",
            "numbers half a vector apart are turned together, and backwards; a pair "
            "should be neighbours",
            alone=True,
        ),
        Wrong(
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        both = torch.cat([angles, angles], dim=-1)\n"
            "        other = torch.stack([-b, a], dim=-1).flatten(-2)\n"
            "        return x * both.cos() + other * both.sin()",
            "angles are laid out for halves, and the numbers are paired with "
            "neighbours",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "        a, b = x[..., 0::2], x[..., 1::2]\n"
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        both = angles.repeat_interleave(2, dim=-1)\n"
            "        a, b = x.chunk(2, dim=-1)\n"
            "        return x * both.cos() + torch.cat([-b, a], dim=-1) * both.sin()",
            "angles are laid out for neighbours, and the numbers are paired half a "
            "vector apart",
            exhibit="positions/#rotary-angles-laid-out-otherwise",
        ),
        Wrong(
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        both = angles.repeat_interleave(2, dim=-1)\n"
            "        return x * both.cos() + torch.cat([-b, a], dim=-1) * both.sin()",
            "partners are joined as two halves; each should stand at its number's "
            "place",
        ),
        Wrong(
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        x = x.clone()\n"
            "        x[..., 0::2] = x[..., 0::2] * cos - x[..., 1::2] * sin\n"
            "        x[..., 1::2] = x[..., 0::2] * sin + x[..., 1::2] * cos\n"
            "        return x",
            "the first of a pair is written before the second is made of it, in place "
            "or by a view",
            hint="Both new numbers are made of both old ones. A slice such as x[..., "
            "0::2] is a view, and changes with x: keep copies, or build a new "
            "tensor.",
        ),
        Wrong(
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        x[..., 0::2] = a * cos - b * sin\n"
            "        x[..., 1::2] = a * sin + b * cos\n"
            "        return x",
            "a and b are views of x, and x is written while they are still needed",
            same_as="the first of a pair is written before the second is made of it, "
            "in place or by a view",
        ),
        Wrong(
            "return pairs.flatten(-2)",
            "return x + pairs.flatten(-2)",
            "the turned vector is added to the one that was not; it should take its "
            "place",
        ),
        Wrong(
            "return pairs.flatten(-2)",
            "return pairs",
            "pairs keep an axis of their own",
        ),
        Wrong(
            "return pairs.flatten(-2)",
            "return pairs.flatten(2)",
            "axes are counted from the front where pairs are laid side by side, which "
            "fits one axis before the tokens only",
        ),
        Wrong(
            "a, b = x[..., 0::2], x[..., 1::2]",
            "a, b = x[:, 0::2], x[:, 1::2]",
            "every second entry of the second axis is taken; it should be of the last",
        ),
        Wrong(
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos], "
            "dim=-1)\n"
            "        return pairs.flatten(-2)",
            "        pairs = torch.stack([a * cos - b * sin, a * sin + b * cos])\n"
            "        return pairs.reshape(x.shape)",
            "the two of the pairs are stacked in front, and a reshape mixes all "
            "numbers",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a * cos - b * sin, b",
            "only the first of each pair is turned",
        ),
        Wrong(
            "a * cos - b * sin, a * sin + b * cos",
            "a, a * sin + b * cos",
            "only the second of each pair is turned",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "cache",
            "the new tokens are scored with the cache only, and not with one another",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([cache, turned(query)], dim=-2)",
            "the turned queries are put behind the cache; it should be the new keys",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(query)], dim=-2)\n"
            "    return turned(key) @ keys.mT / D**0.5",
            "queries and keys are exchanged",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([cache, turned(key)], dim=0)",
            "keys are joined along the first axis; the tokens are the last but one",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([cache, turned(key)], dim=1)",
            "keys are joined along axis 1, which are the tokens only if one axis "
            "stands in front",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([cache, turned(key)], dim=-1)",
            "keys are joined along their width",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.stack([cache, turned(key)], dim=-2)",
            "stack takes pieces of one length; cat joins along an axis",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([cache, key, turned(key)], dim=-2)",
            "the new keys stand there twice, as they were and turned",
        ),
        Wrong(
            "torch.cat([cache, turned(key)], dim=-2)",
            "torch.cat([torch.zeros_like(cache), turned(key)], dim=-2)",
            "the place of the old keys is left at zero",
        ),
        Wrong(
            "/ D**0.5",
            "/ T**0.5",
            "the scores are divided by the root of the number of queries; it should "
            "be that of the width D",
        ),
        Wrong(
            "/ D**0.5",
            "/ query.shape[0] ** 0.5",
            "the scores are divided by the root of the first axis; it should be that "
            "of the width D",
        ),
        Wrong(
            "/ D**0.5",
            "/ query.shape[1] ** 0.5",
            "the scores are divided by the root of axis 1, which is the width only "
            "without an axis in front",
        ),
        Wrong(
            "/ D**0.5",
            "/ int(D**0.5)",
            "the root of D is rounded down to a whole number",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return asking / D**0.5 @ (keys / D**0.5).mT",
            "queries and keys are both divided by the root of D, so that it counts "
            "twice",
            same_as="the scores are divided by D itself, or twice by its root",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)",
            "    keys = torch.cat([cache, turned(key) / D**0.5], dim=-2)",
            "the new keys are divided by the root of D, and then all scores once more",
        ),
        Wrong(
            "    keys = torch.cat([cache, turned(key)], dim=-2)\n"
            "    asking = turned(query)\n"
            "    return asking @ keys.mT / D**0.5",
            "    keys = torch.cat([cache, turned(key) / D**0.5], dim=-2)\n"
            "    return turned(query) @ keys.mT",
            "only the new keys are divided by the root of D, and the scores with the "
            "cache are not",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT).softmax(dim=-1) / D**0.5",
            "a softmax is taken, and the division by the root of D comes after it; "
            "scores are asked for, without a softmax",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    future = torch.ones(T, S + T, dtype=torch.bool).triu(1)\n"
            "    return (asking @ keys.mT / D**0.5).masked_fill(future, -torch.inf)",
            "keys are hidden, and by a triangle from the upper left corner; here "
            "nothing is hidden",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    future = torch.ones(T, S + T, dtype=torch.bool).triu(S + 1)\n"
            "    return (asking @ keys.mT / D**0.5).masked_fill(future, -1e9)",
            "the future is hidden, by minus a billion; here nothing is",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5).tril(S)",
            "scores with later tokens are set to zero; here nothing is hidden",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return keys @ asking.mT / D**0.5",
            "keys are the rows of the scores; queries should be",
        ),
        Wrong(
            "keys.mT",
            "keys",
            "the keys are not transposed for the product",
        ),
        Wrong(
            "keys.mT",
            "keys.transpose(1, 2)",
            "axes 1 and 2 of the keys are exchanged, which fits one axis in front only",
        ),
        Wrong(
            "keys.mT",
            "keys.transpose(0, 1)",
            "axes 0 and 1 of the keys are exchanged, which fits no axis in front only",
        ),
        Wrong(
            "keys.mT",
            "keys.transpose(2, 3)",
            "axes 2 and 3 of the keys are exchanged, which fits two axes in front only",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            '    return torch.einsum("htd,hsd->hts", asking, keys) / D**0.5',
            "einsum is told of one axis in front; there may be none, or more",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    ones = torch.tensor([1.0, -1.0]).repeat(D // 2)\n"
            "    return asking @ (ones * keys).mT / D**0.5",
            "pairs are multiplied as complex numbers without a conjugate, so that the "
            "products of the second numbers are subtracted",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    asking = torch.view_as_complex(asking.unflatten(-1, (-1, 2)))\n"
            "    found = torch.view_as_complex(keys.unflatten(-1, (-1, 2)))\n"
            "    return (asking @ found.conj().mT).abs() / D**0.5",
            "the absolute value of complex products is taken; a score is their real "
            "part",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    asking = torch.view_as_complex(asking.unflatten(-1, (-1, 2)))\n"
            "    found = torch.view_as_complex(keys.unflatten(-1, (-1, 2)))\n"
            "    return (asking @ found.conj().mT).imag / D**0.5",
            "the imaginary part of complex products is taken; a score is their real "
            "part",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    asking = torch.view_as_complex(asking.unflatten(-1, (-1, 2)))\n"
            "    found = torch.view_as_complex(keys.unflatten(-1, (-1, 2)))\n"
            "    return (asking @ found.conj().mT) / D**0.5",
            "complex scores are given; a score is their real part",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5).float()",
            "the scores are turned into 32 bits at the end",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return asking @ keys.mT / D**0.5, keys",
            "the new cache is given besides the scores; the scores alone are asked for",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return keys",
            "the new cache is given; the scores are asked for",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    scores = asking @ keys.mT / D**0.5",
            "the scores are not returned: the function ends without a return",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5)[..., -1:, :]",
            "the scores of the last new token alone are given; each has a row",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5)[..., -S:]",
            "only the last S keys are scored, as if the cache let one old key go for "
            "each new one",
        ),
        Wrong(
            "    return asking @ keys.mT / D**0.5",
            "    return (asking @ keys.mT / D**0.5).flatten(-2)",
            "the rows of the scores are joined to one",
        ),
    ],
    minutes=25,
    covers=("angles", "rotate", "append"),
)
