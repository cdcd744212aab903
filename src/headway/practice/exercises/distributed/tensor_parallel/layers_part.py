"""The layers after attention, in parts

Behind attention come two linear layers, with GELU between them. Write
`layers_part(x, first, second, rank, processes)`: the part of one process. The sum over
all processes is what the two layers give together.

x is (T, E), `first` an `nn.Linear` from E to F, and `second` one from F to E, both with
a bias. F can be divided by the number of processes. A process may use 1/processes of
each weight: part `rank` of the F numbers in between, counted from zero. A bias that
belongs to the sum goes into the part of rank zero alone. The part has shape (T, E).
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor, nn


def layers_part(
    x: Tensor, first: nn.Linear, second: nn.Linear, rank: int, processes: int
) -> Tensor:
    """Give one process's part (T, E) of two layers; weights are (F, E) and (E, F)."""
    # --- write ---
    width = first.out_features // processes
    own = slice(rank * width, (rank + 1) * width)
    hidden = x @ first.weight[own].T + first.bias[own]
    part = nn.functional.gelu(hidden) @ second.weight[:, own].T
    return part + second.bias if rank == 0 else part
    # --- written ---


if __name__ == "__main__":
    torch.manual_seed(7)
    first, second = nn.Linear(5, 12), nn.Linear(12, 5)
    x = torch.randn(8, 5)
    parts = [layers_part(x, first, second, rank, 3) for rank in range(3)]
    whole = second(nn.functional.gelu(first(x)))
    print(torch.allclose(sum(parts), whole, atol=1e-6))
    # True
# --- end of your file ---


def run(layers_part, x, up, up_bias, down, down_bias):  # type: ignore[no-untyped-def]
    first, second = nn.Linear(1, 1), nn.Linear(1, 1)
    for layer, weight, bias in ((first, up, up_bias), (second, down, down_bias)):
        layer.out_features, layer.in_features = weight.shape
        layer.weight, layer.bias = nn.Parameter(weight), nn.Parameter(bias)
    return [layers_part(x, first, second, rank, 3) for rank in range(3)]


def keeps_to_its_part(layers_part, x, up, up_bias, down, down_bias):  # type: ignore[no-untyped-def]
    from torch.overrides import TorchFunctionMode

    shapes, factors = [], []

    class Watch(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            if isinstance(result, Tensor):
                shapes.append({*result.shape})
            if any(name in func.__name__ for name in ("matmul", "linear", "einsum")):
                given = (*args, *(kwargs or {}).values())
                factors.extend({*one.shape} for one in given if isinstance(one, Tensor))
            return result

    F, E = up.shape
    rows = F + E  # as many as no weight has
    x = x[:1].expand(rows, -1)
    first, second = nn.Linear(E, F).double(), nn.Linear(F, E).double()
    with Watch():
        layers_part(x, first, second, 1, 3)
    return E == F or not (any({rows, F} <= one for one in shapes) or {E, F} in factors)


EXERCISE = Exercise(
    answer="layers_part",
    read=(
        "distributed/tensor_parallel/#a-product-in-two-halves-by-eye",
        "A product in two halves, by eye",
    ),
    hints=(
        "GELU handles each number by itself. Which numbers can two people share out "
        "between them, then: those before the two layers, between them, or behind?",
        "The numbers in between are rows of the first weight, as PyTorch keeps it, and "
        "columns of the second.",
        "One slice does for three things: rows of first.weight, entries of first.bias, "
        "and columns of second.weight. Which bias is added once?",
    ),
    draw=lambda d: (
        d.normal(d.T, d.E),
        d.normal(3 * d.W, d.E) / d.loud,
        d.normal(3 * d.W) / d.loud,
        d.normal(d.E, 3 * d.W),
        d.normal(d.E),
    ),
    # In the second one all matrices are square.
    trials=({"W": 5}, {"T": 12, "E": 12, "W": 4}, {"loud": 30.0}, {"T": 1}),
    ask=run,
    properties=[
        Property(
            "a process makes no more than its part of the numbers between the layers",
            keeps_to_its_part,
        )
    ],
    law="Columns of the first product and rows of the second are cut alike, and one "
    "sum is left to do.",
    right=[
        """
        # chunk cuts weights and biases alike; linear takes a bias or None.
        rows = first.weight.chunk(processes)[rank], first.bias.chunk(processes)[rank]
        hidden = nn.functional.gelu(nn.functional.linear(x, *rows))
        columns = second.weight.chunk(processes, dim=1)[rank]
        return nn.functional.linear(hidden, columns, None if rank else second.bias)
        """,
        """
        # einsum, with weights seen as a table of processes: one index picks a part.
        F, E = first.weight.shape
        up = first.weight.view(processes, -1, E)[rank]
        bias = first.bias.view(processes, -1)[rank]
        down = second.weight.view(E, processes, -1)[:, rank]
        hidden = nn.functional.gelu(torch.einsum("te,fe->tf", x, up) + bias)
        return torch.einsum("tf,ef->te", hidden, down) + second.bias * (rank == 0)
        """,
    ],
    stars=2,
    minutes=12,
)
