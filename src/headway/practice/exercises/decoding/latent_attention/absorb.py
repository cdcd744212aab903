"""Scores of keys that are never made

Latent attention keeps one latent c (L numbers) for each token. Head h would make its
keys as W_h c; instead, its queries are moved, once, to where the latents are.

Write `absorb(query, turned, latent, rope, weight)`: scaled scores (H, T, S). `query`
(H, T, D) is the part for the keys W_h c, and `weight` (H, D, L) holds all W_h; `latent`
is (S, L). `turned` (H, T, R) is the part that is turned, and all heads share its keys,
`rope` (S, R). The score is the sum of both products, divided as if the keys had been
made. Make no keys: no tensor of H * S * D numbers. Scores may be large.
"""

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "query.shape[-1] + turned.shape[-1]",
            "latent.shape[-1] + rope.shape[-1]",
            "it is divided by the root of the width of latent and turned part, so that "
            "the scores are not those of training",
            exhibit="groups/#scale-of-the-latent",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ query.shape[-1] ** 0.5",
            "the width of the turned part is left out of the scale",
        ),
        Wrong(
            " / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "",
            "the scores are not divided",
        ),
        Wrong(
            " + turned @ rope.T",
            "",
            "the turned part is left out, so that the scores know no places",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n"
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    one = moved @ latent.T / query.shape[-1] ** 0.5\n"
            "    return one + turned @ rope.T / turned.shape[-1] ** 0.5",
            "each part is divided by the root of its own width",
        ),
        Wrong(
            "query @ weight",
            "query @ weight[0]",
            "all heads are moved by the matrix of the first",
        ),
        Wrong(
            "query @ weight",
            "query @ weight.reshape(weight.shape[0], -1, weight.shape[1]).mT",
            "the matrix is reshaped, where it must be used as it is",
        ),
        Wrong(
            "query @ weight",
            "query @ weight.mT",
            "the matrix is transposed once too often",
        ),
        Wrong(
            "turned @ rope.T",
            "(turned @ rope.T).mean(0)",
            "all heads share one query for the turned part, and not its key alone",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return torch.softmax(scores, dim=-1)",
            "weights are given, where scores are asked for",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (query.shape[-1] + turned.shape[-1])",
            "it is divided by the width, and not by its root",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ latent.shape[-1] ** 0.5",
            "it is divided by the root of the width of a latent",
            exhibit="groups/#scale-of-the-latent",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n"
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    width = query.shape[-1] + turned.shape[-1]\n"
            "    return moved @ latent.T / width**0.5 + turned @ rope.T",
            "the product of the turned part is not divided",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n"
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    width = query.shape[-1] + turned.shape[-1]\n"
            "    return moved @ latent.T + turned @ rope.T / width**0.5",
            "only the product of the turned part is divided",
        ),
        Wrong(
            "(query.shape[-1] + turned.shape[-1]) ** 0.5",
            "(query.shape[-1] ** 0.5 + turned.shape[-1] ** 0.5)",
            "the roots of both widths are added, where the root of their sum is "
            "asked for",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ turned.shape[-1] ** 0.5",
            "it is divided by the root of the turned part's width alone",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "* (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "scores are multiplied by the root of the width; they should be "
            "divided by it",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (query.shape[-1] + latent.shape[-1]) ** 0.5",
            "the width of a latent is put in the scale in place of the turned part's",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (latent.shape[-1] + turned.shape[-1] + query.shape[-1]) ** 0.5",
            "the widths of latent, turned part and query are all added in the "
            "scale; the latent's does not belong there",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (query.shape[1] + turned.shape[1]) ** 0.5",
            "the scale counts the tokens; it should count the numbers of a "
            "query, which are the last axis",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (query.shape[-1] * turned.shape[-1]) ** 0.5",
            "the two widths are multiplied in the scale; they should be added",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (2 * query.shape[-1]) ** 0.5",
            "the turned part is taken to be as wide as the other",
        ),
        Wrong(
            "moved @ latent.T + turned @ rope.T",
            "(moved @ latent.T) * (turned @ rope.T)",
            "the two products are multiplied; they should be added",
        ),
        Wrong(
            "moved @ latent.T + turned @ rope.T",
            "moved @ latent.T - turned @ rope.T",
            "the turned part is taken off; it should be added",
        ),
        Wrong(
            "moved @ latent.T",
            "moved @ latent",
            "the latents are not transposed in the product",
        ),
        Wrong(
            "turned @ rope.T",
            "turned @ rope",
            "the turned keys are not transposed in the product",
        ),
        Wrong(
            "turned @ rope.T",
            "turned[0] @ rope.T",
            "all heads use the turned queries of the first; each head has its own",
        ),
        Wrong(
            "moved @ latent.T + turned @ rope.T",
            "turned @ rope.T",
            "the part of the latents is left out",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    scores = (moved @ latent.T + turned @ rope.T).mT\n",
            "keys and queries are exchanged in the table: rows should be queries",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    scores = (moved @ latent.T + turned @ rope.T).sum(dim=0)\n",
            "the scores of all heads are added; each head should have a table "
            "of its own",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    scores = (moved @ latent.T + turned @ rope.T).mean(dim=0)\n",
            "the scores of all heads are averaged; each head should have a "
            "table of its own",
        ),
        Wrong(
            "query @ weight",
            "query @ weight.mean(0)",
            "all heads are moved by the mean of their matrices",
        ),
        Wrong(
            "query @ weight",
            "torch.einsum('htd,hdl->tl', query, weight)",
            "the moved queries of all heads are added to one",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    scores = torch.cat([moved @ latent.T, turned @ rope.T], dim=-1)\n",
            "the two products are laid side by side; they should be added",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    scores = torch.einsum('htl,sl->tsh', moved, latent) + (turned @ "
            "rope.T).movedim(0, -1)\n",
            "the heads are the last axis; they should be the first",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5 @ latent",
            "the mixture of latents is given, without a softmax; the scores are asked "
            "for",
        ),
        Wrong(
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    moved = moved / query.shape[-1] ** 0.5\n"
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "the moved queries are divided once more, before the product",
        ),
        Wrong(
            "query @ weight",
            "(query @ weight) / query.shape[-1]",
            "the moved queries are divided by their width",
        ),
        Wrong(
            "turned @ rope.T",
            "(turned @ rope.T).roll(1, 0)",
            "each head uses the turned queries of its neighbour",
        ),
        Wrong(
            "query @ weight",
            "torch.einsum('htd,hdl->hl', query, weight)[:, None].expand(-1, "
            "query.shape[1], -1)",
            "the moved queries of all tokens are added to one",
        ),
        Wrong(
            "query.shape[-1] + turned.shape[-1]",
            "query.shape[-1] + turned.shape[-1] + latent.shape[-1] + rope.shape[-1]",
            "all four widths are added in the scale; it should be those of `query` "
            "and `turned`",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ query.shape[-1]",
            "it is divided by the width of one part, without its root",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (len(query) * query.shape[-1]) ** 0.5",
            "the scale counts the numbers of all heads; it should count those of one",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ weight.numel() ** 0.5",
            "the scale counts all numbers of the weight",
        ),
        Wrong(
            "turned @ rope.T",
            "(query.shape[-1] / turned.shape[-1]) ** 0.5 * (turned @ rope.T)",
            "the turned part is divided by the root of its own width, and all by "
            "another scale",
        ),
        Wrong(
            "    moved = query @ weight\n"
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    moved = query @ weight\n"
            "    asked = torch.cat([moved, turned], dim=-1)\n"
            "    scores = asked @ torch.cat([rope, latent], dim=-1).T\n",
            "turned part and latent are laid side by side in another order for the "
            "keys than for the queries",
        ),
        Wrong(
            "    moved = query @ weight\n"
            "    scores = moved @ latent.T + turned @ rope.T\n",
            "    moved = query @ weight\n"
            "    asked = torch.cat([moved, turned], dim=1)\n"
            "    scores = asked @ torch.cat([latent, rope], dim=-1).T\n",
            "both parts of a query are joined along the tokens; it should be along "
            "the numbers",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return scores.flatten(0, 1)",
            "heads and queries are one axis, as by torch.cat of the heads; "
            "torch.stack keeps them",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return [*scores]",
            "a list with a table for each head is given; torch.stack makes one tensor "
            "of them",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return scores.transpose(0, 1)",
            "the tokens stand before the heads; it should be the other way round",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    return torch.softmax(scores, dim=-1)",
            "weights are given, and the scores are not even divided; scores are asked "
            "for",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return scores.tril()",
            "scores with the future are set to zero; nothing should be hidden",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    return scores - scores.amax(dim=-1, keepdim=True)",
            "the largest score of each row is taken off; the scores are asked for as "
            "they are",
        ),
        Wrong(
            "    return scores / (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "    scores = scores / (query.shape[-1] + turned.shape[-1]) ** 0.5\n"
            "    hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)\n"
            "    return scores.masked_fill(hidden, -torch.inf)",
            "the future is hidden, which nobody asked for",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ query.shape[1] ** 0.5",
            "it is divided by the root of the number of queries",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ len(latent) ** 0.5",
            "it is divided by the root of the number of latents",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ ((query.shape[-1] + turned.shape[-1]) * 0.5)",
            "it is divided by half the width; it should be by its root",
        ),
        Wrong(
            "/ (query.shape[-1] + turned.shape[-1]) ** 0.5",
            "/ (query.shape[-1] - turned.shape[-1]) ** 0.5",
            "the width of the turned part is taken off in the scale; it should be "
            "added",
        ),
        Wrong(
            "turned @ rope.T",
            "(turned @ rope.T).sum(-3, keepdim=True)",
            "the turned parts of all heads are added up; each head should have its own",
        ),
    ],
    stars=3,
    minutes=15,
)
