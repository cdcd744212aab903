"""A vocabulary on several machines

The table of logits is the largest tensor of many trainings. Let N machines share it:
machine n has the logits of the tokens from n V to (n + 1) V - 1, and no machine ever
sees the others'.

Write `shared_loss(parts, targets)`: the cross-entropy of each position, a tensor (T),
which is minus the logarithm of the share that the softmax over all N V tokens gives to
the target. `parts` is a list of N tensors (T, V), and `targets` (T) has numbers from 0
to N V - 1. No tensor may be larger than (T, V): machines tell each other one number for
each position, at most three times. Logits may be large, and all those of a position may
lie far below zero.
"""

from headway.practice import Exercise, Property, Wrong

# --- your file ---
import torch
from torch import Tensor


def shared_loss(parts: list[Tensor], targets: Tensor) -> Tensor:
    """Give the losses (T) for logits (T, V) of each machine, and targets (T)."""
    # --- write ---
    top = torch.stack([part.amax(dim=-1) for part in parts]).amax(dim=0)
    mass = torch.zeros_like(top)
    asked = torch.zeros_like(top)
    for n, part in enumerate(parts):
        mass = mass + (part - top[:, None]).exp().sum(dim=-1)
        V = part.shape[-1]
        mine = (targets >= n * V) & (targets < (n + 1) * V)
        place = (targets - n * V).clamp(0, V - 1)
        found = part.gather(-1, place[:, None])[:, 0]
        asked = asked + torch.where(mine, found, 0.0)
    return top + mass.log() - asked
    # --- written ---


if __name__ == "__main__":
    # Masses 1 and 2 on the first machine, 3 and 2 on the second: 3 of 8, and 2 of 8.
    parts = [torch.tensor([[1.0, 2.0]]).log(), torch.tensor([[3.0, 2.0]]).log()]
    parts = [part.expand(2, 2) for part in parts]
    print(shared_loss(parts, torch.tensor([2, 1])).neg().exp())
    # tensor([0.3750, 0.2500])
# --- end of your file ---


def makes_no_table_of_all(shared_loss, parts, targets):  # type: ignore[no-untyped-def]
    from torch.overrides import TorchFunctionMode

    sizes = []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            if isinstance(result, Tensor):
                sizes.append(result.numel())
            return result

    with Watch():
        shared_loss(parts, targets)
    return max(sizes, default=0) <= parts[0].numel()


EXERCISE = Exercise(
    answer="shared_loss",
    read=(
        "distributed/tensor_parallel/#a-product-in-two-halves-by-eye",
        "A product in two halves, by eye",
    ),
    hints=(
        "Of a softmax over all tokens, which numbers must all machines agree on before "
        "any of them can add up its own part?",
        "First the largest logit of each position, then the sum of exponentials below "
        "it; the target's logit is known to one machine alone.",
        "The loss is the largest logit, plus the logarithm of the sum, minus the "
        "target's logit. A machine that does not have the target adds zero.",
    ),
    # Each token is asked once, so the first and the last of each machine are, too.
    # If loud, all logits of the first position lie far below zero.
    draw=lambda d: (
        [*d.normal(3, 3 * d.V, d.V) - 1e4 * (d.loud - 1) * torch.eye(3 * d.V, 1)],
        d.order(3 * d.V),
    ),
    trials=({}, {"V": 3}, {"V": 5, "loud": 3000.0}),
    properties=[
        Property("no tensor is larger than (T, V)", makes_no_table_of_all),
    ],
    survivors={"-1 -> 1": "each table has two axes"},
    law="A largest logit, a sum and the target's logit, one number each for a "
    "position, are all that the machines must tell each other.",
    right=[
        """
        # Each machine's log-sum-exp is one number; those of all are joined by another.
        V = parts[0].shape[-1]
        whole = torch.stack([part.logsumexp(dim=-1) for part in parts]).logsumexp(dim=0)
        asked = torch.zeros_like(whole)
        for n, part in enumerate(parts):
            [mine] = torch.nonzero(targets // V == n, as_tuple=True)
            asked[mine] = part[mine, targets[mine] % V]
        return whole - asked
        """,
        """
        # A machine after the other, as in an online softmax: nobody waits for the
        # largest logit of all.
        top, mass, asked = -torch.inf, 0.0, 0.0
        rows = torch.arange(len(targets))
        for n, part in enumerate(parts):
            first, V = n * part.shape[-1], part.shape[-1]
            new = part.amax(dim=-1).clamp(min=top)
            mass = mass * (top - new).exp() + (part - new[:, None]).exp().sum(dim=-1)
            mine = (first <= targets) * (targets < first + V)
            asked = asked + mine * part[rows, (targets - first) * mine]
            top = new
        return mass.log() + top - asked
        """,
    ],
    wrong=[
        Wrong(
            "(part - top[:, None])",
            "(part - part.amax(dim=-1, keepdim=True))",
            "each machine subtracts its own largest logit, so that the sums do not "
            "belong to the same scale",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return mass.log() - asked",
            "the largest logit, which was subtracted, is not added back",
        ),
        Wrong(
            "torch.stack([part.amax(dim=-1) for part in parts]).amax(dim=0)",
            "torch.zeros_like(parts[0][:, 0])",
            "the largest logit is not subtracted, so that large ones overflow",
        ),
        Wrong(
            "(targets - n * V).clamp(0, V - 1)",
            "targets.clamp(0, V - 1)",
            "targets are looked up by their number in the whole vocabulary; a machine "
            "should count from its own first token",
        ),
        Wrong(
            "torch.where(mine, found, 0.0)",
            "found",
            "each machine adds some logit, whether the target is one of its own or not",
        ),
        Wrong(
            "asked = asked + torch.where(mine, found, 0.0)",
            "asked = torch.where(mine, found, 0.0)",
            "the target's logit is known only where the last machine has it",
        ),
        Wrong(
            "mass = mass + (part",
            "mass = (part",
            "the sum of the last machine alone is taken",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return (top + mass.log() - asked).mean()",
            "the mean over all positions is given, and not the loss of each",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return asked - top - mass.log()",
            "the sign is lost: logarithms of shares are given, which are negative",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return top + mass.log()",
            "the target's logit is not subtracted",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return mass / (asked - top).exp()",
            "no logarithm is taken: the inverse of the share is given",
        ),
        Wrong(
            ".amax(dim=0)",
            "[0]",
            "the largest logit of the first machine stands for that of all",
        ),
        Wrong(
            "for part in parts]).amax(dim=0)",
            "for part in parts]).amax().expand(len(targets))",
            "one largest logit is subtracted in all positions, so that others come out "
            "as zero",
        ),
        Wrong(
            "targets < (n + 1) * V",
            "targets <= (n + 1) * V",
            "a machine answers for the first token of the next one, too",
        ),
        Wrong(
            "targets >= n * V",
            "targets > n * V",
            "nobody answers for the first token of a machine",
        ),
        Wrong(
            ".exp().sum(dim=-1)",
            ".exp().mean(dim=-1)",
            "the mean of the exponentials is taken, and not their sum",
        ),
        Wrong(
            "        mass = mass + (part - top[:, None]).exp().sum(dim=-1)\n",
            "        own = (part - top[:, None]).exp().sum(dim=-1)\n"
            "        mass = own if n == 0 else mass * own\n",
            "the logarithms of the machines' sums are added, and not the sums",
        ),
        Wrong(
            "    return top + mass.log() - asked\n",
            "    V = parts[0].shape[-1]\n"
            "    losses = torch.stack([part.logsumexp(dim=-1) for part in parts])\n"
            "    return losses.gather(0, (targets // V)[None])[0] - asked\n",
            "each machine has a softmax of its own, over its tokens alone",
        ),
        Wrong(
            "asked + torch.where(mine, found, 0.0)",
            "asked + torch.where(mine, (found - top).exp(), 0.0)",
            "the exponential of the target's logit is subtracted, and not the logit",
        ),
        Wrong(
            "(targets >= n * V) & (targets < (n + 1) * V)",
            "targets < (n + 1) * V",
            "only the end of a machine's tokens is asked for, so that later machines "
            "add the logit of their first token",
        ),
        Wrong(
            "(targets >= n * V) & (targets < (n + 1) * V)",
            "targets >= n * V",
            "only the beginning of a machine's tokens is asked for, so that earlier "
            "machines add the logit of their last token",
        ),
        Wrong(
            "(targets >= n * V) & (targets < (n + 1) * V)",
            "(targets > n * V) & (targets <= (n + 1) * V)",
            "a machine answers for the first token of the next one, and not for its "
            "own first",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return sum(part.logsumexp(dim=-1) for part in parts) - asked",
            "the log-sum-exps of the machines are added; the sums of exponentials "
            "should be",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return sum(part.logsumexp(dim=-1) for part in parts) / len(parts) - asked",
            "the mean of the machines' log-sum-exps is taken",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return torch.stack([part.logsumexp(dim=-1) for part in "
            "parts]).amax(dim=0) - asked",
            "the largest of the machines' log-sum-exps is taken; they should be "
            "joined by one more",
        ),
        Wrong(
            "torch.where(mine, found, 0.0)",
            "part.gather(-1, (targets % V)[:, None])[:, 0]",
            "each machine adds the logit at the target's place among its own "
            "tokens, whether it has the target or not",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return top + mass.log() - parts[0].gather(-1, (targets % V)[:, "
            "None])[:, 0]",
            "the target's logit is always taken from the first machine",
        ),
        Wrong(
            "        mine = (targets >= n * V) & (targets < (n + 1) * V)\n"
            "        place = (targets - n * V).clamp(0, V - 1)\n",
            "        mine = targets % len(parts) == n\n"
            "        place = targets // len(parts)\n",
            "tokens are taken to be dealt out to the machines in turn; each has a "
            "block of them",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return top + mass.log() - (asked - top)",
            "the largest logit is subtracted from the target's logit as well, and "
            "added back once only",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return -((asked - top).exp() / mass).log()",
            "the share is computed before its logarithm is taken, so that a small "
            "one becomes zero and its loss infinite",
        ),
        Wrong(
            "for part in parts]).amax(dim=0)",
            "for part in parts]).amin(dim=0)",
            "the smallest of the machines' largest logits is subtracted, so that "
            "large ones overflow",
        ),
        Wrong(
            "(targets - n * V).clamp(0, V - 1)",
            "targets - n * V",
            "targets of other machines are looked up, too, at places that a "
            "machine does not have",
        ),
        Wrong(
            "        found = part.gather(-1, place[:, None])[:, 0]\n"
            "        asked = asked + torch.where(mine, found, 0.0)\n",
            "        asked[mine] = part[mine, targets[mine]]\n",
            "a machine looks its targets up by their number in the whole "
            "vocabulary, which is more than it has",
        ),
        Wrong(
            "        found = part.gather(-1, place[:, None])[:, 0]\n"
            "        asked = asked + torch.where(mine, found, 0.0)\n",
            "        asked[mine] = part[:, place[mine]]\n",
            "the target's column is taken of all positions; each position has a "
            "target of its own",
        ),
        Wrong(
            "(part - top[:, None])",
            "(part - top)",
            "the largest logits get no axis for the tokens: [:, None] is missing",
        ),
        Wrong(
            "        mass = mass + (part - top[:, None]).exp().sum(dim=-1)\n",
            "        top = torch.maximum(top, part.amax(-1)) if n else part.amax(-1)\n"
            "        mass = mass + (part - top[:, None]).exp().sum(dim=-1)\n",
            "the largest logit grows from machine to machine, and the sum so far "
            "is not rescaled to it",
        ),
        Wrong(
            "targets < (n + 1) * V",
            "targets < (n + 1) * V - 1",
            "nobody answers for the last token of a machine",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return top - mass.log() - asked",
            "the logarithm of the sum is subtracted; it should be added",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return top + mass - asked",
            "the sum of exponentials is added, and not its logarithm",
        ),
        Wrong(
            "        found = part.gather(-1, place[:, None])[:, 0]\n",
            "        found = part.gather(-1, place[:, None])\n",
            "the axis that gather keeps is not taken away, so that each position "
            "meets the logits of all",
        ),
        Wrong(
            "part.gather(-1, place[:, None])[:, 0]",
            "part.gather(-1, place)",
            "gather is given places without an axis for the tokens; it needs as "
            "many axes as the logits have",
        ),
        Wrong(
            ".exp().sum(dim=-1)",
            ".exp().sum()",
            "exponentials are added over the positions as well",
        ),
        Wrong(
            "(part - top[:, None]).exp()",
            "part.exp()",
            "the largest logit is added back without having been subtracted, and "
            "large ones overflow",
        ),
        Wrong(
            "(part - top[:, None]).exp()",
            "(part - top[:, None])",
            "the exponential is forgotten",
        ),
        Wrong(
            "    top = torch.stack([part.amax(dim=-1) for part in "
            "parts]).amax(dim=0)\n",
            "    top = torch.zeros_like(parts[0][:, 0])\n"
            "    for part in parts:\n"
            "        top = torch.maximum(top, part.amax(dim=-1))\n",
            "the largest logit is looked for from zero on, so that where all lie "
            "far below zero every exponential is zero",
        ),
        Wrong(
            "asked = asked + torch.where(mine, found, 0.0)",
            "asked = torch.maximum(asked, torch.where(mine, found, 0.0))",
            "what the machines say of the target is joined by the largest, so "
            "that a logit below zero loses against a zero",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return (asked - top).exp() / mass",
            "the share of the target is given; minus its logarithm should be",
        ),
        Wrong(
            "return top + mass.log() - asked",
            "return (top + mass.log() - asked).sum()",
            "the sum over all positions is given, and not the loss of each",
        ),
    ],
    stars=3,
    minutes=30,
)
