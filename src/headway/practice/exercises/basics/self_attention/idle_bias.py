"""One bias does nothing

With biases, queries, keys and values each get a constant vector added. One of the three
has no influence on the result, whatever its numbers are.

Write `idle_biases(attend, x)`: the names, among `W_query`, `W_key` and `W_value`, of
the layers of a module whose bias does not move the result, in this order, whatever
numbers it gets. Find out by trying; leave the module as it was. Biases may be zero.
"""

from headway.practice import Exercise

# --- your file ---
import torch
from torch import Tensor, nn


def idle_biases(attend: nn.Module, x: Tensor) -> list[str]:
    """Name the layers whose bias does not move attend(x), of shape (T, d_out)."""
    # --- write ---
    before = attend(x)
    idle = []
    for name in ("W_query", "W_key", "W_value"):
        bias = getattr(attend, name).bias
        kept = bias.detach().clone()
        with torch.no_grad():
            bias.add_(torch.arange(len(bias)) + 1.0)
            if torch.allclose(attend(x), before):
                idle.append(name)
            bias.copy_(kept)
    return idle
    # --- written ---


if __name__ == "__main__":
    from headway import SelfAttentionV2

    attend = SelfAttentionV2(5, 3, qkv_bias=True).double()
    print(idle_biases(attend, torch.randn(11, 5, dtype=torch.float64)))
    # ['W_key']
# --- end of your file ---


class Linear(nn.Module):
    """a module without a softmax, where every bias counts, but not in the first row"""

    def __init__(self) -> None:
        super().__init__()
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Linear(5, 3))

    def forward(self, x: Tensor) -> Tensor:
        rows = self.W_query(x) @ self.W_key(x).T @ self.W_value(x)
        return rows * torch.arange(len(x))[:, None]


class Mean(Linear):
    """a module that takes the mean of the values, where only their bias counts"""

    def forward(self, x: Tensor) -> Tensor:
        return self.W_value(x).mean(0).expand(len(x), -1)


class Centred(Linear):
    """a module whose rows have a mean of zero, where every bias counts"""

    def forward(self, x: Tensor) -> Tensor:
        result = super().forward(x)
        return result - result.mean(dim=-1, keepdim=True)


def cases():  # type: ignore[no-untyped-def]
    from headway import SelfAttentionV2

    zero = SelfAttentionV2(5, 3, qkv_bias=True)
    for layer in (zero.W_query, zero.W_key, zero.W_value):
        nn.init.zeros_(layer.bias)
    return SelfAttentionV2(5, 3, qkv_bias=True), Linear(), Mean(), zero, Centred()


CASES = (
    "SelfAttentionV2",
    "a module without a softmax, whose first row is zero",
    "a module that takes the mean of the values",
    "SelfAttentionV2 whose biases are zero",
    "a module without a softmax, whose rows have a mean of zero",
)


def run(idle_biases, attend, x):  # type: ignore[no-untyped-def]
    torch.default_generator.manual_seed(3)
    attend = cases()[CASES.index(attend)].double()
    with torch.no_grad():
        for one in attend.parameters():
            one.div_(3.0)  # so that all digits of 64 bits are in use
    before = [p.clone() for p in attend.parameters()]
    found = idle_biases(attend, x)
    after = [*attend.parameters()]
    if not all(one.requires_grad for one in after):
        return [*found], "frozen"
    same = all(map(torch.equal, before, after))
    return [*found], "left as it was" if same else "changed"


EXERCISE = Exercise(
    answer="idle_biases",
    read=(
        "basics/self_attention/#the-same-with-linear-layers",
        "The same with linear layers",
    ),
    hints=(
        "What do you compare, if you want to know whether a number matters?",
        "Change one bias, call again, compare, and put the bias back before the next.",
        "Keep a copy of the bias (detach and clone), write under torch.no_grad(), and "
        "copy it back at the end of each turn of the loop.",
    ),
    draw=lambda d: (CASES[d.case], d.normal(d.T, 5)),
    trials=[{"case": n} for n in range(5)],
    ask=run,
    law="A bias of the keys adds the same to all scores of a query, and the softmax "
    "does not see what all scores share.",
    right=[
        """
        # A copy of the module: nothing has to be put back.
        import copy

        found = []
        for name in ("W_query", "W_key", "W_value"):
            other = copy.deepcopy(attend)
            torch.nn.init.normal_(getattr(other, name).bias)
            if torch.allclose(other(x), attend(x)):
                found.append(name)
        return found
        """,
        """
        # A call with other numbers: the module itself is never written to.
        from torch.func import functional_call

        found = []
        for name in ("W_query", "W_key", "W_value"):
            bias = getattr(attend, name).bias
            other = {f"{name}.bias": bias + torch.randn_like(bias)}
            if torch.allclose(functional_call(attend, other, (x,)), attend(x)):
                found.append(name)
        return found
        """,
    ],
    survivors={
        "1.0 -> 3.0": "any other change of the bias does as well",
        "torch.arange(len(bias)) + 1.0 -> torch.arange(len(bias)) - 1.0": "any other "
        "change of the bias does as well",
        "bias.detach() -> bias": "a clone that remembers its history holds the same "
        "numbers",
    },
    stars=3,
    minutes=20,
)
