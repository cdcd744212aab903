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

from headway.practice import Exercise, Property

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
    stars=3,
    minutes=30,
)
