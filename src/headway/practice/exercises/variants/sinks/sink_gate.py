"""A sink for a kernel that has none

A kernel gives the rows of plain attention, and for each row the log-sum-exp of its
scores. A sink, one more key of value zero, can be put on afterwards.

Write `sink_gate(rows, lse, sinks)`: `rows` (B, H, T, V) and `lse` (B, H, T) are from
the kernel, `sinks` (H) are the scores of the sinks, one a head. Give the rows as they
are with the sinks, (B, H, T, V). A row that sees no key has a log-sum-exp of minus
infinity, and nan in `rows`: it must be zeros. Scores may be large.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def sink_gate(rows: Tensor, lse: Tensor, sinks: Tensor) -> Tensor:
    """Put sinks (H) on rows (B, H, T, V) with log-sum-exps (B, H, T)."""
    # --- write ---
    gate = torch.sigmoid(lse - sinks[:, None])
    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)
    return rows * gate[..., None]
    # --- written ---


if __name__ == "__main__":
    lse = torch.tensor([10.0, 0.1]).log().view(1, 1, 2)
    rows = torch.tensor([30.0, 30.0]).view(1, 1, 2, 1)
    print(sink_gate(rows, lse, torch.tensor([10.0]).log()).flatten())
    # tensor([15.0000,  0.2970])
# --- end of your file ---


def draw(d):  # type: ignore[no-untyped-def]
    rows, lse = d.normal(d.B, d.H, d.T, d.V), d.normal(d.B, d.H, d.T)
    sinks = d.normal(d.H)
    if d.loud > 1:  # keys and sink both have more than an exponential can hold
        lse[0, 0, 0], sinks[0] = 2 * d.loud, 2 * d.loud + 1
    blind = lse.abs() < 0.3 * d.loud
    rows[blind], lse[blind] = torch.nan, -torch.inf
    return rows, lse, sinks


EXERCISE = Exercise(
    answer="sink_gate",
    read=(
        "variants/sinks/#in-tensors-one-more-key-or-a-gate",
        "In tensors: one more key, or a gate",
    ),
    hints=(
        "Of all there is to share, keys and sink together, which part do the keys get?",
        "That part is a sigmoid of a difference: what the keys have, less what the "
        "sink has. It is one number a row, which all its numbers are multiplied by.",
        "The sinks need an axis for the tokens, the gate one for the numbers of a row. "
        "Zero times nan is nan: what saw nothing must be set to zero first.",
    ),
    draw=draw,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 900.0}),
    law="A sink is a gate: one of minus infinity is off, and one of zero is not.",
    right=[
        """
        # By mass: a share is a difference of two log-sum-exps.
        mass = torch.logaddexp(lse, sinks[:, None])
        share = (lse - mass).exp()[..., None]
        return torch.where(share > 0, rows, 0.0) * share
        """,
        """
        # The sigmoid written out: one divided by one and a power.
        gate = 1 / (1 + (sinks[None, :, None] - lse).exp())
        return torch.nan_to_num(rows) * gate.unsqueeze(-1)
        """,
    ],
    wrong=[
        Wrong(
            "lse - sinks[:, None]",
            "sinks[:, None] - lse",
            "the gate is upside down: it is the sink's share, and not that of the keys",
        ),
        Wrong(
            "sinks[:, None]",
            "sinks",
            "the sinks are laid along the tokens, and not along the heads",
        ),
        Wrong(
            "lse - sinks[:, None]",
            "lse",
            "the sink's score is zero, whatever was learned",
        ),
        Wrong(
            "    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)\n",
            "",
            "rows that see nothing stay nan: zero times nan is nan",
        ),
        Wrong(
            "    gate = torch.sigmoid(lse - sinks[:, None])",
            "    gate = lse.exp() / (lse.exp() + sinks[:, None].exp())",
            "powers are taken one by one, so that large scores overflow",
            exhibit="softmax/#softmax-overflow",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(lse - sinks.mean())",
            "one sink is taken for all heads",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows",
            "the sink is lost: the rows are the plain ones",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "1 / (1 + sinks[:, None].exp())",
            "the sink is weighed against a mass of one, whatever the keys have",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows * gate[..., None] + sinks[:, None, None]",
            "the sink's score is added to the rows, where its value is zero",
        ),
        Wrong(
            "    gate = torch.sigmoid(lse - sinks[:, None])\n"
            "    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)\n"
            "    return rows * gate[..., None]",
            "    gate = lse.exp() / (lse.exp() + sinks[:, None].exp())\n"
            "    return torch.nan_to_num(rows * gate[..., None])",
            "powers are taken one by one, and the nan of those that overflow is set to "
            "zero with the rest",
            exhibit="softmax/#softmax-overflow",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "lse / (lse + sinks[:, None])",
            "the logarithms themselves are divided: their exponentials are forgotten",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "(lse - sinks[:, None]).exp()",
            "keys are divided by the sink alone, and not by keys and sink together",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(sinks[:, None] + 0 * lse.nan_to_num(neginf=0.0))",
            "the gate is the sigmoid of the sink, whatever the keys have",
        ),
        Wrong(
            "lse - sinks[:, None]",
            "lse + sinks[:, None]",
            "the sink is added to the log-sum-exp, where the gate needs the difference",
        ),
        Wrong(
            "rows * gate[..., None]",
            "torch.where(lse[..., None] == -torch.inf, rows, rows / gate[..., None])",
            "the rows are divided by the gate, and grow: the fraction is upside down",
        ),
        Wrong(
            "    gate = torch.sigmoid(lse - sinks[:, None])\n"
            "    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)\n"
            "    return rows * gate[..., None]",
            "    gate = lse.exp() / (lse.exp() + sinks[:, None].exp())\n"
            "    rows = rows * gate[..., None]\n"
            "    return rows.masked_fill(lse[..., None] == -torch.inf, 0.0)",
            "exponentials are taken of large scores, and overflow; rows that "
            "see nothing are hidden at the end",
            same_as="powers are taken one by one, so that large scores overflow",
        ),
        Wrong(
            "    gate = torch.sigmoid(lse - sinks[:, None])\n",
            "    gate = 1 / (1 + sinks[:, None].exp() / lse.exp())\n",
            "the exponentials of sink and keys are divided; that of a "
            "difference should be taken, which does not overflow",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows * gate",
            "the gate gets no axis for the numbers of a row: [..., None] is missing",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return gate * rows",
            "the gate is laid along the numbers of a row: [..., None] is missing",
        ),
        Wrong(
            "sinks[:, None]",
            "sinks[0]",
            "the sink of the first head is taken for all heads",
        ),
        Wrong(
            "sinks[:, None]",
            "sinks[:, None, None]",
            "the sinks are laid along the texts; they should be laid along the heads",
        ),
        Wrong(
            "lse - sinks[:, None]",
            "lse - sinks[:, None].exp()",
            "the exponential of a sink is taken off; the sink itself should be",
        ),
        Wrong(
            "lse - sinks[:, None]",
            "lse.exp() - sinks[:, None].exp()",
            "exponentials are subtracted in the sigmoid; it takes the "
            "difference of the logarithms",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.tanh(lse - sinks[:, None])",
            "tanh is taken for the gate; it should be the sigmoid",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.softmax(lse - sinks[:, None], dim=-1)",
            "a softmax over the tokens is taken for the gate; each row has a "
            "gate of its own",
        ),
        Wrong(
            "    rows = rows.masked_fill(lse[..., None] == -torch.inf, 0.0)\n",
            "    rows = rows.masked_fill(lse[..., None] == torch.inf, 0.0)\n",
            "plus infinity is looked for, so that rows that see nothing stay nan",
            same_as="rows that see nothing stay nan: zero times nan is nan",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows - (1 - gate)[..., None]",
            "the sink's share is taken off the rows; they should be multiplied "
            "by what is left",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows * (gate**2)[..., None]",
            "the gate is used twice",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows * gate[..., None] * lse.exp()[..., None]",
            "the rows are multiplied by their mass as well",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(torch.logaddexp(lse, sinks[:, None]))",
            "the sink's mass is added to that of the keys in the sigmoid; it "
            "should be taken off",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.exp(lse - torch.logsumexp(torch.cat([lse, sinks[:, "
            "None].expand(len(lse), -1, 1)], dim=-1), dim=-1, keepdim=True))",
            "the mass of all tokens is added up; each row has the sink and its "
            "own keys alone",
        ),
        Wrong(
            "    gate = torch.sigmoid(lse - sinks[:, None])",
            "    top = torch.maximum(lse.max(), sinks.max())\n"
            "    keys, sink = (lse - top).exp(), (sinks[:, None] - top).exp()\n"
            "    gate = keys / (keys + sink)",
            "one largest number is subtracted for all rows and heads, so that "
            "others have a mass of zero, and zero is divided by zero",
        ),
        Wrong(
            "torch.sigmoid(lse",
            "torch.nn.functional.logsigmoid(lse",
            "the logarithm of the keys' share is taken for the share",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "1 / (1 + sinks[:, None] - lse)",
            "the exponential of the difference is forgotten",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "1 - (sinks[:, None] - lse).exp()",
            "the sink is weighed against the keys alone, and the rest taken for "
            "the keys; it should be weighed against keys and sink",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "lse.exp() / (lse.exp() + sinks[:, None])",
            "a sink's score is added to the mass of the keys; its exponential "
            "should be",
        ),
        Wrong(
            "    return rows * gate[..., None]",
            "    return rows * gate[:, None]",
            "the gate's new axis stands before the heads; it should stand last",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(lse - sinks[:, None]).mean(dim=1, keepdim=True)",
            "the mean gate of the heads is taken for all of them",
        ),
        Wrong(
            "lse[..., None] == -torch.inf",
            "lse[..., None] != -torch.inf",
            "rows that see something become zeros, and those that see nothing stay nan",
        ),
        Wrong(
            "lse[..., None] == -torch.inf",
            "lse == -torch.inf",
            "the mask of rows that see nothing gets no axis for their numbers: "
            "[..., None] is missing",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "1 / torch.logaddexp(lse, sinks[:, None]).exp()",
            "rows are divided by the mass of keys and sink, as if they had not "
            "been divided by that of the keys",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "1 / torch.logaddexp(lse, sinks[:, None])",
            "rows are divided by a logarithm of the mass; they should be "
            "multiplied by the keys' share of it",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "lse / torch.logaddexp(lse, sinks[:, None])",
            "two logarithms are divided; the exponential of their difference "
            "should be taken",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(lse) * torch.sigmoid(-sinks[:, None])",
            "keys and sink get a gate each, and are never compared with each other",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(lse - sinks[:, None] / rows.shape[-1] ** 0.5)",
            "sinks are divided by a root of the width; they are scores already",
        ),
        Wrong(
            "torch.sigmoid(lse - sinks[:, None])",
            "torch.sigmoid(lse.clamp(-80, 80) - sinks[:, None])",
            "log-sum-exps are cut at a number such as 80, beyond which a sink may lie",
        ),
    ],
    survivors={"0.0 -> 1.0": "the gate of a row that sees nothing is zero anyway"},
    minutes=8,
)
