"""Scores of keys that are never made

Latent attention keeps one latent c (L numbers) for each token. Head h would make its
keys as W_h c; instead, its queries are moved, once, to where the latents are.

Write `absorb(query, turned, latent, rope, weight)`: scaled scores (H, T, S). `query`
(H, T, D) is the part for the keys W_h c, and `weight` (H, D, L) holds all W_h; `latent`
is (S, L). `turned` (H, T, R) is the part that is turned, and all heads share its keys,
`rope` (S, R). The score is the sum of both products, divided as if the keys had been
made. Make no keys: no tensor of H * S * D numbers. Scores may be large.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor


def absorb(
    query: Tensor, turned: Tensor, latent: Tensor, rope: Tensor, weight: Tensor
) -> Tensor:
    """Score latents (S, L) with queries (H, T, D) and (H, T, R): (H, T, S)."""
    # --- write ---
    moved = query @ weight
    scores = moved @ latent.T + turned @ rope.T
    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5
    # --- written ---


if __name__ == "__main__":
    latent = torch.tensor([[3.0, 1.0]])
    weight = torch.tensor([[[2.0, 1], [1, 3]], [[0, 1], [1, -1]]])
    query = torch.tensor([[[1.0, 2.0]], [[2.0, 1.0]]])
    none = torch.zeros(2, 1, 2)
    print(absorb(query, none, latent, torch.zeros(1, 2), weight).flatten() * 2)
    # tensor([19.,  4.])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    R = d.W
    return (
        d.normal(d.H, d.T, d.D),
        d.normal(d.H, d.T, R),
        d.normal(d.S, d.E),
        d.normal(d.S, R),
        d.normal(d.H, d.D, d.E),
    )


def makes_no_keys(absorb, query, turned, latent, rope, weight):  # type: ignore[no-untyped-def]
    from torch.overrides import TorchFunctionMode

    keys = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                most = max(H * S * D, weight.numel() + 1)
                keys.append({S, D} <= {*result.shape} or result.numel() >= most)
            return result

    H, _, D = query.shape
    S = 50
    latent, rope = latent[:1].expand(S, -1), rope[:1].expand(S, -1)
    with Watch():
        absorb(query[:, :1], turned[:, :1], latent, rope, weight)
    return D in (1, H, *weight.shape[2:], *rope.shape[1:]) or not any(keys)


EXERCISE = Exercise(
    answer="absorb",
    read=(
        "decoding/latent_attention/#in-tensors-in-two-forms",
        "In tensors, in two forms",
    ),
    hints=(
        "In q . (W c), what could be multiplied first, so that no key W c is made?",
        "Multiply each head's queries with its matrix; what comes out is as wide as a "
        "latent, and asks the latents themselves. The turned part is added as it is.",
        "Rows times W_h is the moved query, for all heads at once. Divide by the root "
        "of the width that queries and keys would have had: both parts together.",
    ),
    draw=draw,
    trials=({}, {**dict.fromkeys("BHGTSDVEW", 4), "S": 9}, {"loud": 30.0}),
    properties=[
        Property(
            "no key of a head is made: W_h is to meet the queries, and not the latents",
            makes_no_keys,
        )
    ],
    law="The scores are those of keys that were made, in values and gradients; the "
    "scale is that of the expanded width.",
    right=[
        """
        # One product: latent and turned part laid side by side.
        width = query.shape[-1] + turned.shape[-1]
        moved = torch.einsum("htd,hdl->htl", query, weight)
        asked = torch.cat([moved, turned], dim=-1)
        kept = torch.cat([latent, rope], dim=-1)
        return asked @ kept.mT / width**0.5
        """,
        """
        # A head at a time: two products of plain tables, as on paper.
        rows = []
        for q, r, w in zip(query, turned, weight):
            rows.append((q @ w) @ latent.T + r @ rope.T)
        width = query.shape[-1] + turned.shape[-1]
        return torch.stack(rows) / width**0.5
        """,
    ],
    stars=3,
    minutes=15,
)
