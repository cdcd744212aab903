"""The layers after attention, in parts

Behind attention come two linear layers, with GELU between them. Write
`layers_part(x, first, second, rank, processes)`: the part of one process. The sum over
all processes is what the two layers give together.

x is (T, E), `first` an `nn.Linear` from E to F, and `second` one from F to E, both with
a bias. F can be divided by the number of processes. A process may use 1/processes of
each weight: part `rank` of the F numbers in between, counted from zero. A bias that
belongs to the sum goes into the part of rank zero alone. The part has shape (T, E).
"""

from headway.practice import Exercise, Property, Wrong

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
    wrong=[
        Wrong(
            "return part + second.bias if rank == 0 else part",
            "return part + second.bias",
            "each process adds the second bias, so that the sum has it several times",
            exhibit="processes/#a-bias-from-everybody",
        ),
        Wrong(
            "return part + second.bias if rank == 0 else part",
            "return part + second.bias / processes",
            "each process adds its share of the second bias: the sum is right, but "
            "rank zero should have all of it",
        ),
        Wrong(
            "rank == 0",
            "rank == processes - 1",
            "the last process adds the second bias: the sum is right, but it belongs "
            "to rank zero",
        ),
        Wrong(
            "return part + second.bias if rank == 0 else part",
            "return second(nn.functional.gelu(first(x))) / processes",
            "each process computes the whole, and divides it",
        ),
        Wrong(
            "second.weight[:, own].T",
            "second.weight.chunk(processes)[rank].T",
            "the second weight is cut into parts of its rows, which make the results; "
            "it should be cut into parts of its columns",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            "hidden.relu()",
            "ReLU stands in the place of GELU",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            'nn.functional.gelu(hidden, approximate="tanh")',
            "GELU is approximated by tanh; it should be the exact one",
            exhibit="models/#the-other-gelu",
        ),
        Wrong(
            "first.out_features // processes",
            "first.in_features // processes",
            "the width of the tokens is divided, and not the width between the layers",
        ),
        Wrong(
            "return part + second.bias if rank == 0 else part",
            "return part",
            "nobody adds the second bias",
        ),
        Wrong(
            " + first.bias[own]",
            "",
            "the first bias is left out",
        ),
        Wrong(
            "first.weight[own].T + first.bias[own]",
            "first.weight[own].T + (first.bias[own] if rank == 0 else 0.0)",
            "the first bias is in the part of rank zero alone; each process should add "
            "the entries of its own rows",
        ),
        Wrong(
            "second.weight[:, own].T",
            "second.weight[own].T",
            "the second weight is cut along its rows, which make the results; it "
            "should be cut along its columns",
        ),
        Wrong(
            "x @ first.weight[own].T",
            "x[:, own] @ first.weight[own][:, own].T",
            "the tokens are cut, too: each process must read all of them",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(rank, None, processes)",
            "the numbers in between are dealt out in turn, and not in blocks: the sum "
            "is right, but each part is that of other numbers",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            "hidden",
            "GELU is left out between the layers",
        ),
        Wrong(
            "part = nn.functional.gelu(hidden) @ second.weight[:, own].T",
            "part = nn.functional.gelu(hidden @ second.weight[:, own].T)",
            "GELU comes behind the second product; it should stand between the two",
        ),
        Wrong(
            "first.weight[own].T",
            "first.weight[:, own]",
            "columns of the first weight are taken: PyTorch keeps it transposed",
        ),
        Wrong(
            "(rank + 1) * width",
            "None",
            "a part goes on to the end, and numbers are counted more than once",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice((rank - 1) * width, rank * width)",
            "ranks are counted from one",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(0, width)",
            "each process takes the first part, whatever its rank",
        ),
        Wrong(
            "    return part + second.bias if rank == 0 else part",
            "    return second(nn.functional.gelu(first(x)))",
            "each process gives the whole, and not its part",
        ),
        Wrong(
            "    hidden = x @ first.weight[own].T + first.bias[own]\n"
            "    part = nn.functional.gelu(hidden) @",
            "    hidden = nn.functional.gelu(x @ first.weight[own].T)\n"
            "    hidden = hidden + first.bias[own]\n"
            "    part = hidden @",
            "the first bias is added behind GELU, and not before it",
        ),
        Wrong(
            "(rank + 1) * width)",
            "(rank + 1) * width - 1)",
            "the last number of each part is left out: the end of a slice is not in it",
        ),
        Wrong(
            "(rank + 1) * width)",
            "(rank + 1) * width + 1)",
            "each part has one number too many: the end of a slice is not in it",
        ),
        Wrong(
            "x @ first.weight[own].T + first.bias[own]",
            "x @ first.weight[own].T + first.bias",
            "the whole first bias is added; it should be cut with its rows",
        ),
        Wrong(
            "x @ first.weight[own].T + first.bias[own]",
            "x @ first.weight[own].T + first.bias[own] / processes",
            "the first bias is divided among the processes; each should add "
            "the whole entries of its own rows",
        ),
        Wrong(
            "x @ first.weight[own].T",
            "x.chunk(processes)[rank] @ first.weight[own].T",
            "the tokens are shared out, too: each process should read all of them",
        ),
        Wrong(
            "rank == 0 else part",
            "rank != 0 else part",
            "all processes but rank zero add the second bias",
        ),
        Wrong(
            "rank == 0 else part",
            "rank == 1 else part",
            "ranks are counted from one where the second bias is added; they "
            "begin with zero",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            "nn.functional.silu(hidden)",
            "SiLU stands in the place of GELU",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            "hidden.tanh()",
            "tanh stands in the place of GELU",
        ),
        Wrong(
            "second.weight[:, own].T",
            "second.weight[:, own]",
            "the second weight is not transposed: PyTorch keeps it as "
            "(results, numbers in between)",
        ),
        Wrong(
            "first.weight[own].T",
            "first.weight[own]",
            "the first weight is not transposed: PyTorch keeps it as (results, "
            "numbers of a token)",
        ),
        Wrong(
            "    hidden = x @ first.weight[own].T + first.bias[own]\n"
            "    part = nn.functional.gelu(hidden) @ second.weight[:, own].T\n"
            "    return part + second.bias if rank == 0 else part",
            "    x = nn.functional.gelu(first(x)) @ second.weight.T\n"
            "    return x / processes + second.bias if rank == 0 else x / "
            "processes",
            "each process computes the whole product, and divides it",
        ),
        Wrong(
            "    hidden = x @ first.weight[own].T + first.bias[own]\n",
            "    hidden = nn.functional.gelu(x @ first.weight[own].T + "
            "first.bias[own])\n",
            "GELU is taken twice",
        ),
        Wrong(
            "    hidden = x @ first.weight[own].T + first.bias[own]\n"
            "    part = nn.functional.gelu(hidden) @ second.weight[:, own].T\n",
            "    hidden = x @ first.weight[own].T + first.bias[own]\n"
            "    part = nn.functional.gelu(hidden) @ second.weight[:, own].T\n"
            "    part = nn.functional.gelu(part)\n",
            "GELU is taken once more behind the second product",
        ),
        Wrong(
            "    return part + second.bias if rank == 0 else part",
            "    return part + second.bias * processes if rank == 0 else part",
            "the second bias is added once for each process, by rank zero alone",
        ),
        Wrong(
            "    return part + second.bias if rank == 0 else part",
            "    return part + second.bias if rank == 0 else part - second.bias",
            "the other processes take the second bias off again",
        ),
        Wrong(
            "    return part + second.bias if rank == 0 else part",
            "    return part + second.bias[own] if rank == 0 else part",
            "the second bias is cut with the numbers in between; it belongs to "
            "the results",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(rank, rank + width)",
            "a part begins at the rank itself; it should begin at the rank "
            "times the width of a part",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(rank * width, rank * width + 1)",
            "each process has one number of its part alone",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice((processes - 1 - rank) * width, (processes - rank) * width)",
            "parts are counted from the end: the sum is right, but rank zero "
            "has the last part",
        ),
        Wrong(
            "first.weight[own].T + first.bias[own]",
            "first.weight[rank::processes].T + first.bias[rank::processes]",
            "the first layer is dealt out in turn, and the second in blocks, so that "
            "they do not fit",
        ),
        Wrong(
            "second.weight[:, own]",
            "second.weight[:, rank::processes]",
            "the second layer is dealt out in turn, and the first in blocks, so that "
            "they do not fit",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(rank * processes, (rank + 1) * processes)",
            "parts are as long as there are processes; each should be F / processes "
            "long",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(0, (rank + 1) * width)",
            "each part begins at zero, so that it holds those of the ranks before it, "
            "too",
        ),
        Wrong(
            "first.out_features // processes",
            "first.out_features / processes",
            "the width of a part is a fraction, by /; places are whole numbers, by //",
        ),
        Wrong(
            "second.weight[:, own].T",
            "second.weight.view(processes, len(second.weight), -1)[rank].T",
            "the second weight is viewed with the processes in front, which mixes its "
            "columns",
        ),
        Wrong(
            "first.weight[own].T",
            "first.weight.chunk(processes, dim=1)[rank].T",
            "the first weight is cut into parts of its columns, which read the "
            "tokens; it should be its rows",
        ),
        Wrong(
            "    return part + second.bias if rank == 0 else part",
            "    return part + second.bias if rank == 0 else None",
            "only rank zero gives its part, and the others give nothing",
        ),
        Wrong(
            "    part = nn.functional.gelu(hidden) @ second.weight[:, own].T\n"
            "    return part + second.bias if rank == 0 else part",
            "    return nn.functional.gelu(hidden)",
            "the second layer is left out",
        ),
        Wrong(
            "nn.functional.gelu(hidden)",
            "(hidden * torch.sigmoid(1.702 * hidden))",
            "GELU is approximated by a sigmoid; it should be the exact one",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice(rank * width, width)",
            "a part ends at its width; it should end at the next rank times the width",
        ),
        Wrong(
            "slice(rank * width, (rank + 1) * width)",
            "slice((rank + 1) * width, (rank + 2) * width)",
            "each process takes the part of the next rank",
        ),
        Wrong(
            "part + second.bias if",
            "part - second.bias if",
            "the second bias is taken off; it should be added",
        ),
    ],
    stars=2,
    minutes=12,
)
