"""A place for unused attention

Write `sink_weights(scores, sinks)`: softmax with one more key, whose score is a number
of the head's own and whose value is zero, so that a row need not spend all of its one.

`scores` has shape (H, T, S), `sinks` (H). Give the weights of the S keys, (H, T, S);
the share of the sink is left out. Scores and sinks may be large.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def sink_weights(scores: Tensor, sinks: Tensor) -> Tensor:
    """Give weights (H, T, S) for scores (H, T, S), with one more key of score (H)."""
    # --- write ---
    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)
    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)
    return weights[..., :-1]
    # --- written ---


if __name__ == "__main__":
    logs = torch.tensor([[[1.0, 2.0]]]).log()
    print(sink_weights(logs, torch.tensor([1.0]).log()))
    # tensor([[[0.2500, 0.5000]]])
# --- end of your file ---


EXERCISE = Exercise(
    answer="sink_weights",
    read=(
        "variants/sinks/#in-tensors-one-more-key-or-a-gate",
        "In tensors: one more key, or a gate",
    ),
    hints=(
        "What is added to the sum below the line, and what to the row of weights?",
        "Lay one more column beside the scores, take the softmax, and leave that "
        "column out.",
        "The column is the same for all queries of a head: give the sinks two axes and "
        "expand them to one column for each query.",
    ),
    draw=lambda d: (d.normal(d.H, d.T, d.S), d.normal(d.H)),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="A row sums to less than one; with a sink of minus infinity it sums to one.",
    right=[
        """
        # Plain softmax times a gate: what a kernel's log-sum-exp allows.
        lse = scores.logsumexp(dim=-1, keepdim=True)
        gate = torch.sigmoid(lse - sinks[:, None, None])
        return torch.softmax(scores, dim=-1) * gate
        """,
        """
        # Written out: the sink is one more term below the line.
        top = torch.maximum(scores.amax(dim=-1, keepdim=True), sinks[:, None, None])
        powers = torch.exp(scores - top)
        below = powers.sum(dim=-1, keepdim=True) + torch.exp(sinks[:, None, None] - top)
        return powers / below
        """,
    ],
    wrong=[
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1] / weights[..., :-1].sum(dim=-1, keepdim=True)",
            "rows are made to sum to one again, so that the sink does nothing",
            exhibit="variants/#the-sink-s-share-handed-back",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores + extra, dim=-1), extra], dim=-1)",
            "the sink is added to every score, which changes nothing",
            exhibit="variants/#a-sink-in-every-score",
            same_as="rows are made to sum to one again, so that the sink does nothing",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., 1:]",
            "the first key is left out, and not the sink",
        ),
        Wrong(
            "sinks[:, None, None]",
            "sinks.mean()[None, None, None].expand(len(sinks), 1, 1)",
            "one sink is taken for all heads",
            exhibit="variants/#one-size-for-all-heads",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "0 * sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "the sink's score is zero, whatever was learned",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights",
            "the column of the sink is given back as well",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([scores, extra], dim=-1).exp() / (scores.exp().sum(dim=-1, "
            "keepdim=True) + extra.exp())",
            "the largest score is not subtracted, so that large ones overflow",
        ),
        Wrong(
            "[scores, extra]",
            "[extra, scores]",
            "the sink is put in front, and the last key is cut off in its place",
        ),
        Wrong(
            "dim=-1), dim=-1)",
            "dim=-1), dim=1)",
            "the softmax runs over the queries",
        ),
        Wrong(
            "dim=-1), dim=-1)",
            "dim=-1), dim=0)",
            "the softmax runs over the heads",
        ),
        Wrong(
            "sinks[:, None, None]",
            "sinks.exp()[:, None, None]",
            "the exponential of a sink is put among the scores: softmax takes it again",
        ),
        Wrong(
            "sinks[:, None, None]",
            "sinks[0][None, None, None].expand(len(sinks), 1, 1)",
            "the sink of the first head is taken for all heads",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([scores, extra], dim=-1).exp() / (scores.exp().sum(dim=-1, "
            "keepdim=True) + extra)",
            "the sink is added to the sum as it is, without its exponential",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([scores, extra], dim=-1)\n"
            "    weights = (weights - scores.amax(dim=-1, keepdim=True)).exp()\n"
            "    total = weights[..., :-1].sum(dim=-1, keepdim=True) + extra.exp()\n"
            "    weights = weights / total",
            "the largest score is taken off the scores, and not off the sink",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores, dim=-1) * extra.sigmoid(), extra], "
            "dim=-1)",
            "each head is multiplied by the sigmoid of its sink, whatever its scores "
            "are",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.exp(torch.cat([scores, extra], dim=-1) - extra)\n"
            "    weights = weights / weights.sum(dim=-1, keepdim=True)",
            "the sink's score is subtracted; it should be the largest, since "
            "scores far above the sink overflow",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks[:, None, None]",
            "the column of the sinks is not expanded to one for each query",
        ),
        Wrong(
            "extra], dim=-1)",
            "extra], dim=1)",
            "the sinks are laid below the scores as a query; they should be "
            "laid beside them as a key",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[:, :-1]",
            "a query is left out, and the sink's column is kept",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1] + weights[..., -1:] / scores.shape[-1]",
            "the sink's share is handed out to all keys; it should be left out",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1] * (1 - weights[..., -1:])",
            "the sink's share is taken off twice",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores, dim=-1) * torch.sigmoid(extra - "
            "scores.logsumexp(-1, True)), extra], dim=-1)",
            "the keys get the sink's share: the gate is upside down",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores, dim=-1) - torch.sigmoid(extra), "
            "extra], dim=-1)",
            "the sink is taken off the weights of plain attention",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.softmax(torch.cat([scores, extra * scores.shape[-1]], "
            "dim=-1), dim=-1)",
            "the sink is multiplied by the number of keys",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.softmax(torch.cat([scores, extra.expand_as(scores)], "
            "dim=-1), dim=-1)[\n"
            "        ..., : scores.shape[-1] + 1\n"
            "    ]",
            "the sink stands once for each key; it should be one more key",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores - extra, dim=-1), extra], dim=-1)",
            "the sink is taken off every score, which changes nothing",
            same_as="rows are made to sum to one again, so that the sink does nothing",
        ),
        Wrong(
            "sinks[:, None, None]",
            "sinks.neg()[:, None, None]",
            "the sink's score gets a minus",
        ),
        Wrong(
            "sinks[:, None, None]",
            "sinks.log()[:, None, None]",
            "the logarithm of a sink is put among the scores; it is a score already",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.sigmoid(torch.cat([scores - extra, extra], dim=-1))",
            "a sigmoid is taken of each score less the sink; one softmax "
            "should share out all",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.softmax(torch.cat([scores / scores.shape[-1] ** 0.5, "
            "extra], dim=-1), dim=-1)",
            "the scores are scaled by the number of keys; they are to be taken "
            "as they are",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.log_softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "logarithms of the weights are given",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores, dim=-1) * torch.sigmoid(-extra), "
            "extra], dim=-1)",
            "plain weights are divided by one and the sink's exponential, "
            "whatever the scores are",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    total = torch.logaddexp(scores.logsumexp(dim=-1), sinks)\n"
            "    return torch.exp(scores - total[..., None])",
            "the sinks (H) meet the log-sum-exps (H, T) along the queries; "
            "sinks[:, None] lays them along the heads",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    gate = torch.sigmoid(scores.logsumexp(dim=-1, keepdim=True) - sinks)\n"
            "    return torch.softmax(scores, dim=-1) * gate",
            "the sinks (H) meet the log-sum-exps (H, T, 1) along the last axis; "
            "sinks[:, None, None] lays them along the heads",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    return torch.softmax(scores, dim=-1)",
            "the sinks are not used",
            same_as="rows are made to sum to one again, so that the sink does nothing",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    top = scores.amax(dim=-1, keepdim=True)\n"
            "    powers = torch.exp(scores - top)\n"
            "    below = powers.sum(dim=-1, keepdim=True) + torch.exp(sinks[:, None, "
            "None])\n"
            "    return powers / below",
            "the largest is taken off the scores, and not off the sink",
            same_as="the largest score is taken off the scores, and not off the sink",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    top = torch.maximum(scores.amax(dim=-1, keepdim=True), sinks[:, "
            "None, None])\n"
            "    powers = torch.exp(scores - top)\n"
            "    return powers / (powers.sum(dim=-1, keepdim=True) + 1)",
            "one is added to the sum, as for a sink of score zero, after the largest "
            "was taken off",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    powers = scores.exp()\n"
            "    return powers / (powers.sum(dim=-1, keepdim=True) + sinks.exp()[:, "
            "None, None])",
            "exponentials are taken without the largest, and overflow",
            same_as="the largest score is not subtracted, so that large ones overflow",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks[None, None].expand(len(sinks), scores.shape[1], -1)",
            "each row gets the sinks of all heads; it should get that of its own",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks[None, :, None].expand(len(sinks), -1, 1)",
            "the sinks are laid along the queries; they should be laid along the heads",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., -1:]",
            "the share of the sink is given; the weights of the keys should be",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1].sum(dim=-1)",
            "the sums of the weights are given; the weights should be",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1], weights[..., -1]",
            "the share of the sink is given as well; it should be left out",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1] - weights[..., -1:]",
            "the sink's share is taken off each weight",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.cat([torch.softmax(scores, dim=-1) * (1 - torch.softmax(sinks, "
            "0))[:, None, None], extra], dim=-1)",
            "the softmax of the sinks runs over the heads; each belongs to the scores "
            "of its own head",
        ),
        Wrong(
            "torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)",
            "torch.softmax(torch.cat([torch.softmax(scores, dim=-1), extra], dim=-1), "
            "dim=-1)",
            "a softmax is taken of the scores first, and then one more with the sink",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks.expand(len(sinks), scores.shape[1], 1)",
            "the sinks get no axes of their own before they are expanded: sinks[:, "
            "None, None] lays them along the heads",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks",
            "the sinks are joined as they are, with one axis; they need those of "
            "queries and keys",
        ),
        Wrong(
            "sinks[:, None, None].expand(-1, scores.shape[1], 1)",
            "sinks.repeat(scores.shape[1]).reshape(len(sinks), -1, 1)",
            "the sinks are repeated in turn and reshaped, so that a head gets those "
            "of others",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    top = torch.maximum(scores.max(), sinks.max())\n"
            "    powers = torch.exp(scores - top)\n"
            "    below = powers.sum(dim=-1, keepdim=True) + torch.exp(sinks[:, None, "
            "None] - top)\n"
            "    return powers / below",
            "one maximum is subtracted from all rows, so that small rows become 0/0",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return torch.softmax(weights[..., :-1], dim=-1)",
            "a second softmax is taken of the weights",
        ),
        Wrong(
            "return weights[..., :-1]",
            "return weights[..., :-1].flatten(0, 1)",
            "heads and queries are joined to one axis, as by torch.cat of the heads; "
            "torch.stack keeps them",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    return torch.softmax(torch.maximum(scores, sinks[:, None, None]), "
            "dim=-1)",
            "scores below the sink are raised to it; the sink should be one more key",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    return torch.softmax(scores, dim=-1) * (scores > sinks[:, None, "
            "None])",
            "weights of scores below the sink are set to zero; the sink should take a "
            "share",
        ),
        Wrong(
            "    extra = sinks[:, None, None].expand(-1, scores.shape[1], 1)\n"
            "    weights = torch.softmax(torch.cat([scores, extra], dim=-1), dim=-1)\n"
            "    return weights[..., :-1]",
            "    return torch.softmax(scores, dim=-1) * (1 - sinks[:, None, None])",
            "the sink is taken for its share; it is a score",
        ),
    ],
    survivors={},
    stars=1,
    minutes=6,
)
