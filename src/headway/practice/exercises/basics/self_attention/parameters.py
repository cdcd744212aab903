"""A module that can learn

Write the class `SelfAttention(d_in, d_out)`, a module with three matrices of its own.

`W_query`, `W_key` and `W_value` have shape (d_in, d_out), can be trained, and hold
random numbers: others in each of the three, and others in each module. Called with
tokens (T, d_in), it projects them, lets them attend to each other by scaled dot
products, and gives (T, d_out).
"""

import contextlib

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor, nn

from headway import attention


class SelfAttention(nn.Module):
    """Self-attention of one head, with matrices of shape (d_in, d_out)."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        # --- write ---
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, x: Tensor) -> Tensor:
        query = x @ self.W_query
        key = x @ self.W_key
        value = x @ self.W_value
        return attention(query, key, value)
        # --- written ---


if __name__ == "__main__":
    module = SelfAttention(3, 2)
    print(sorted(name for name, _ in module.named_parameters()))
    print(module(torch.ones(6, 3)).shape)
    # ['W_key', 'W_query', 'W_value']
    # torch.Size([6, 2])
# --- end of your file ---


NAMES = ("W_query", "W_key", "W_value")


def sort_of(module, name):  # type: ignore[no-untyped-def]
    """Say what a module keeps under a name, and refuse what is no matrix to fill."""
    one, (d_in, d_out) = getattr(module, name), module.of_size
    if not isinstance(one, Tensor):
        raise TypeError(
            f"{name} must be a matrix, an nn.Parameter of shape (d_in, d_out); "
            f"got {type(one).__name__}"
        )
    if one.shape != (d_in, d_out):
        raise ValueError(
            f"{name} must have shape (d_in, d_out), here {(d_in, d_out)}; "
            f"got {tuple(one.shape)}"
        )
    if isinstance(one, nn.Parameter):
        return "parameter" if one.requires_grad else "parameter that is not trained"
    return "buffer" if name in dict(module.named_buffers()) else "plain tensor"


@contextlib.contextmanager
def empty_is_nan():  # type: ignore[no-untyped-def]
    """Let PyTorch fill torch.empty with nan, as it does where all must be the same."""
    before = torch.get_deterministic_debug_mode()
    torch.set_deterministic_debug_mode("warn")
    try:
        yield
    finally:
        torch.set_deterministic_debug_mode(before)


def first_numbers(cls, shape):  # type: ignore[no-untyped-def]
    """Say what the three matrices hold before any training."""
    with empty_is_nan():
        modules = [cls(*shape), cls(*shape)]
    one, other = ([getattr(m, name).detach() for name in NAMES] for m in modules)
    if any(bool(matrix.isnan().any()) for matrix in one):
        return "whatever stood in memory"
    if len({matrix.data_ptr() for matrix in one}) < 3:
        return "two of the three share their memory"
    if any(matrix.numel() > 1 and len(matrix.unique()) == 1 for matrix in one):
        return "one number in all places"
    if any(torch.equal(one[a], one[b]) for a, b in ((0, 1), (0, 2), (1, 2))):
        return "the same numbers in two of the three"
    if any(map(torch.equal, one, other)):
        return "the same numbers in each module"
    return "random numbers"


def run(cls, x, *weights):  # type: ignore[no-untyped-def]
    shape = weights[0].shape
    module = cls(*shape)
    module.of_size = shape
    kept = [f"{name}: {sort_of(module, name)}" for name in NAMES]
    first = first_numbers(cls, shape)
    for name, weight in zip(NAMES, weights, strict=True):
        getattr(module, name).data = weight
    result = module(x)
    if result.requires_grad:
        result.sum().backward()
    own = dict(module.named_parameters())
    learns = [name for name in sorted(own) if own[name].grad is not None]
    others = [name for name in own if name not in NAMES]
    return (
        result,
        kept,
        first,
        f"gradients reach {', '.join(learns) or 'nothing'}",
        f"other parameters: {', '.join(others) or 'none'}",
    )


def filled(made):  # type: ignore[no-untyped-def]
    """Write the lines of __init__ that make all three the same way."""
    return "\n        ".join(f"self.{name} = {made}" for name in NAMES)


THREE = filled("nn.Parameter(torch.rand(d_in, d_out))")

EXERCISE = Exercise(
    answer="SelfAttention",
    read=("basics/self_attention/#a-module-by-hand", "A module, by hand"),
    hints=(
        "How does a module know which of its tensors are to be trained?",
        "nn.Parameter wraps a tensor, so that an optimizer finds it; forward has three "
        "products and one call of attention.",
        "Give each of the three a line in __init__, of shape (d_in, d_out), and write "
        "forward(self, x) below, at the indentation of __init__.",
    ),
    draw=lambda d: (
        d.normal(d.T, d.E),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    ask=run,
    law="What an optimizer finds with parameters() is all that is ever trained.",
    right=[
        """
        # A loop over the names: shorter, but an editor finds no attribute.
        for name in ("W_query", "W_key", "W_value"):
            setattr(self, name, nn.Parameter(torch.randn(d_in, d_out)))

    def forward(self, x: Tensor) -> Tensor:
        scores = (x @ self.W_query) @ (x @ self.W_key).T
        weights = torch.softmax(scores / self.W_key.shape[1] ** 0.5, dim=-1)
        return weights @ (x @ self.W_value)
        """,
        """
        # Numbers as nn.Linear would draw them: smaller where more are added up.
        self.W_query, self.W_key, self.W_value = (
            nn.Parameter(torch.randn(d_in, d_out) / d_in**0.5) for _ in range(3)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights = (self.W_query, self.W_key, self.W_value)
        return attention(*(x @ weight for weight in weights))
        """,
    ],
    wrong=[
        Wrong(
            "self.W_key = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_key = torch.rand(d_in, d_out)",
            "W_key is a plain tensor, which nothing trains",
            exhibit="state/#attention-weights-detached",
        ),
        Wrong(
            "key = x @ self.W_key",
            "key = x @ self.W_query",
            "the queries' weights make the keys too",
        ),
        Wrong(
            "value = x @ self.W_value",
            "value = x",
            "the tokens themselves are the values",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(key, query, value)",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, value, key)",
            "keys and values are swapped",
            exhibit="heads/#keys-and-values-swapped",
        ),
        Wrong(
            "self.W_key = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_key = self.W_query",
            "queries and keys share one parameter; each should have its own",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=1.0)",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            THREE,
            filled("torch.rand(d_in, d_out)"),
            "the three are plain tensors, which no optimizer finds",
            exhibit="state/#attention-weights-detached",
        ),
        Wrong(
            THREE,
            "\n        ".join(
                f'self.register_buffer("{name}", torch.rand(d_in, d_out))'
                for name in NAMES
            ),
            "the three are buffers, which are saved and not trained",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.rand(d_in, d_out), requires_grad=False)"),
            "the three are parameters that are not trained",
        ),
        Wrong(
            THREE,
            "self.W_query = self.W_key = self.W_value = "
            "nn.Parameter(torch.rand(d_in, d_out))",
            "one parameter stands under all three names; each should have its own",
        ),
        Wrong(
            THREE,
            "w = torch.rand(d_in, d_out)\n        " + filled("nn.Parameter(w)"),
            "one tensor is wrapped three times, so that the three share their numbers",
            hint="nn.Parameter copies nothing.",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.zeros(d_in, d_out))"),
            "each matrix begins with one number in all places, such as zero",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.empty(d_in, d_out))"),
            "torch.empty holds whatever stood in memory, and no random numbers",
        ),
        Wrong(
            THREE,
            "torch.manual_seed(123)\n        " + THREE,
            "the seed is set in __init__, so that each module begins with the same "
            "numbers",
            hint="Who makes a module chooses the seed.",
        ),
        Wrong(
            "def forward(self",
            "@torch.no_grad()\n    def forward(self",
            "nothing is recorded in forward, so that no gradient reaches the matrices",
        ),
        Wrong(
            "self.W_query = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_query = nn.Parameter(torch.rand(d_out, d_in))",
            "the shape is (d_out, d_in), as in nn.Linear",
            hint="nn.Linear stores its weight the other way around; here x @ W is "
            "computed with W as it is.",
        ),
        Wrong(
            THREE,
            "self.W = nn.Parameter(torch.rand(3, d_in, d_out))\n"
            "        self.W_query, self.W_key, self.W_value = self.W",
            "the three are parts of one parameter, and so are none themselves",
        ),
        Wrong(
            THREE,
            filled("nn.Linear(d_in, d_out, bias=False).weight"),
            "the three are weights of nn.Linear, which are (d_out, d_in)",
            same_as="the shape is (d_out, d_in), as in nn.Linear",
        ),
        Wrong(
            THREE,
            filled("nn.Linear(d_in, d_out, bias=False)"),
            "the three are layers, nn.Linear; they should be matrices, nn.Parameter",
        ),
        Wrong(
            THREE,
            "self.weights = nn.ParameterList(torch.rand(d_in, d_out) for _ "
            "in range(3))",
            "the three stand in a list; they should be attributes W_query, "
            "W_key and W_value",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.rand(d_out, d_in))"),
            "all three have the shape (d_out, d_in)",
            same_as="the shape is (d_out, d_in), as in nn.Linear",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.rand(d_in, d_in))"),
            "the shape is (d_in, d_in); it should be (d_in, d_out)",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.rand(d_in))"),
            "each is a vector; it should be a matrix (d_in, d_out)",
        ),
        Wrong(
            THREE,
            filled("nn.Parameter(torch.ones(d_in, d_out))"),
            "all three hold ones",
            same_as="each matrix begins with one number in all places, such as zero",
        ),
        Wrong(
            THREE,
            "w = torch.rand(d_in, d_out)\n        " + filled("nn.Parameter(w.clone())"),
            "the three are copies of one matrix, and hold the same numbers",
        ),
        Wrong(
            THREE,
            THREE.replace("self", "torch.manual_seed(123)\n        self"),
            "the seed is set before each of the three",
            same_as="the three are copies of one matrix, and hold the same numbers",
        ),
        Wrong(
            "self.W_value = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_value = self.W_key",
            "keys and values share one parameter; each should have its own",
        ),
        Wrong(
            "self.W_value = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_value = self.W_query",
            "queries and values share one parameter; each should have its own",
        ),
        Wrong(
            "self.W_query = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_query = torch.rand(d_in, d_out)",
            "W_query is a plain tensor, which nothing trains",
        ),
        Wrong(
            "self.W_value = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_value = torch.rand(d_in, d_out)",
            "W_value is a plain tensor, which nothing trains",
        ),
        Wrong(
            THREE,
            filled("torch.rand(d_in, d_out, requires_grad=True)"),
            "requires_grad alone makes no parameter: a module finds those "
            "wrapped by nn.Parameter",
            same_as="the three are plain tensors, which no optimizer finds",
        ),
        Wrong(
            "query = x @ self.W_query",
            "query = x @ self.W_query.T",
            "the queries' matrix is turned around; it has the shape (d_in, "
            "d_out) already",
        ),
        Wrong(
            "query = x @ self.W_query\n"
            "        key = x @ self.W_key\n"
            "        value = x @ self.W_value",
            "query = x @ self.W_query.detach()\n"
            "        key = x @ self.W_key.detach()\n"
            "        value = x @ self.W_value",
            "the matrices of queries and keys are detached, so that no "
            "gradient reaches them",
        ),
        Wrong(
            "query = x @ self.W_query",
            "query = x @ self.W_query.detach()",
            "the matrix of the queries is detached, so that no gradient reaches it",
        ),
        Wrong(
            "query = x @ self.W_query\n"
            "        key = x @ self.W_key\n"
            "        value = x @ self.W_value",
            "query = x @ self.W_query.data\n"
            "        key = x @ self.W_key.data\n"
            "        value = x @ self.W_value.data",
            "the matrices are used by .data or detached, so that no "
            "gradient reaches them",
            same_as="nothing is recorded in forward, so that no gradient reaches "
            "the matrices",
        ),
        Wrong(
            "query = x @ self.W_query",
            "query = x @ self.W_key",
            "the keys' weights make the queries too",
        ),
        Wrong(
            "value = x @ self.W_value",
            "value = x @ self.W_key",
            "the keys' weights make the values too",
        ),
        Wrong(
            "value = x @ self.W_value",
            "value = x @ self.W_query",
            "the queries' weights make the values too",
        ),
        Wrong(
            "query = x @ self.W_query",
            "query = x",
            "the tokens themselves are the queries",
        ),
        Wrong(
            "key = x @ self.W_key",
            "key = x",
            "the tokens themselves are the keys",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, causal=True)",
            "the future is hidden; here each token should see all",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=x.shape[-1] ** -0.5)",
            "scores are scaled by the width of the tokens; it should be "
            "that of the keys",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=1 / key.shape[-1])",
            "scores are divided by D, and not by its root",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value), None",
            "something is given besides the result; the result alone is asked for",
        ),
        Wrong(
            "attention(query, key, value)",
            "torch.softmax(query @ key.T / key.shape[-1] ** 0.5, dim=0) @ value",
            "the softmax runs over the queries",
        ),
        Wrong(
            "attention(query, key, value)",
            "query @ key.T / key.shape[-1] ** 0.5 @ value",
            "there is no softmax",
        ),
        Wrong(
            "attention(query, key, value)",
            "torch.softmax(query @ key.T / key.shape[-1] ** 0.5, dim=-1)",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value) @ self.W_value.T",
            "the result is projected once more",
        ),
        Wrong(
            "value = x @ self.W_value",
            "value = x @ self.W_value.detach()",
            "the matrix of the values is detached, so that no gradient reaches it",
        ),
        Wrong(
            "key = x @ self.W_key",
            "key = x @ self.W_key.detach()",
            "the matrix of the keys is detached, so that no gradient reaches it",
        ),
        Wrong(
            "attention(query, key, value)",
            "torch.softmax(query @ key.T, dim=-1) / key.shape[-1] ** 0.5 @ value",
            "the scale comes after the softmax; it should be before it",
        ),
        Wrong(
            "attention(query, key, value)",
            "value + attention(query, key, value)",
            "the values are added to what attention gives",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(x, x, x)",
            "the tokens attend to each other as they are, and no matrix is used",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(self.W_query, self.W_key, self.W_value)",
            "the matrices attend to each other; it should be the tokens times each of "
            "them",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query[:1], key, value)",
            "only the first token asks; all should",
        ),
        Wrong(
            "        query = x @ self.W_query\n"
            "        key = x @ self.W_key\n"
            "        value = x @ self.W_value\n",
            "        query = self.W_query @ x\n"
            "        key = self.W_key @ x\n"
            "        value = self.W_value @ x\n",
            "the matrices stand on the left of the products; tokens x should, by x @ W",
        ),
        Wrong(
            "        query = x @ self.W_query\n"
            "        key = x @ self.W_key\n"
            "        value = x @ self.W_value\n",
            "        query = x * self.W_query\n"
            "        key = x * self.W_key\n"
            "        value = x * self.W_value\n",
            "tokens and matrices are multiplied number by number; @ is the product of "
            "matrices",
        ),
        Wrong(
            "        self.W_value = nn.Parameter(torch.rand(d_in, d_out))\n",
            "",
            "W_value is missing; there should be three matrices",
        ),
        Wrong(
            "        return attention(query, key, value)",
            "        attention(query, key, value)",
            "forward ends without a return, so that nothing is given",
        ),
        Wrong(
            "    def forward(self",
            "    def attend(self",
            "the method has another name; a module that is called looks for forward",
        ),
        Wrong(
            "self.W_value = nn.Parameter(torch.rand(d_in, d_out))",
            "self.W_value = nn.Parameter(torch.rand(d_in, d_out))\n"
            "        self.out_proj = nn.Parameter(torch.rand(d_out, d_out))",
            "there is a parameter besides the three matrices",
        ),
    ],
    survivors={},
    stars=1,
    minutes=8,
)
