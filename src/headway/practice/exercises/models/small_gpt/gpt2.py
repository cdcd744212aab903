"""GPT-2 from its file

All of it at once. The file of GPT-2 is a dictionary of tensors, and what to do with
them takes about twenty lines. Write `gpt2(weights, ids, heads)`: the logits (T, V) for
a text `ids` (T).

`wte.weight` (V, E) is the table of tokens, and `wpe.weight` that of places, from zero;
a token begins as the sum of its two rows. Then come the blocks, `h.0`, `h.1` and so on,
as many as there are. Each adds to the stream what attention makes of the stream
normalised by `ln_1`, and then what the other half makes of it normalised by `ln_2`.

`attn.c_attn` (E, 3 E) makes queries, keys and values, side by side; each is cut into
heads, the future is hidden, heads are joined, and `attn.c_proj` follows. The other half
is `mlp.c_fc` (E, F), GELU in its approximation by tanh, and `mlp.c_proj` (F, E). These
layers have a `.bias`, and a `.weight` as the product x W wants it, which is not how
`nn.Linear` keeps it. Norms are LayerNorms with `.weight`, `.bias` and an epsilon of
1e-5. After the last block comes the norm `ln_f`, and the logits are products with the
rows of `wte.weight`. Names in full: `h.0.attn.c_attn.weight`, `h.0.ln_1.bias`.
"""

from headway.practice import Exercise, Property

# --- your file ---
import torch
from torch import Tensor, nn

from headway import attention


def gpt2(weights: dict[str, Tensor], ids: Tensor, heads: int) -> Tensor:
    """Give the logits (T, V) for tokens (T), by the tensors of GPT-2's file."""
    # --- write ---
    x = weights["wte.weight"][ids] + weights["wpe.weight"][: len(ids)]

    def linear(x: Tensor, name: str) -> Tensor:
        return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def norm(x: Tensor, name: str) -> Tensor:
        own = weights[f"{name}.weight"], weights[f"{name}.bias"]
        return nn.functional.layer_norm(x, x.shape[-1:], *own)

    def attend(x: Tensor, name: str) -> Tensor:
        parts = linear(x, f"{name}.c_attn").chunk(3, dim=-1)
        cut = (one.unflatten(-1, (heads, -1)).transpose(0, 1) for one in parts)
        found = attention(*cut, causal=True)
        return linear(found.transpose(0, 1).flatten(1), f"{name}.c_proj")

    def feed_forward(x: Tensor, name: str) -> Tensor:
        hidden = nn.functional.gelu(linear(x, f"{name}.c_fc"), approximate="tanh")
        return linear(hidden, f"{name}.c_proj")

    block = 0
    while f"h.{block}.ln_1.weight" in weights:
        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")
        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), f"h.{block}.mlp")
        block += 1
    return norm(x, "ln_f") @ weights["wte.weight"].mT
    # --- written ---


if __name__ == "__main__":
    # Without blocks: each token and its place, normalised, beside each token's row.
    weights = {
        "wte.weight": torch.tensor([[4.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
        "wpe.weight": torch.tensor([[0.0, 0.0], [-1.0, 5.0]]),
        "ln_f.weight": torch.ones(2),
        "ln_f.bias": torch.zeros(2),
    }
    print(gpt2(weights, torch.tensor([0, 0]), 1).round(decimals=2))
    # tensor([[ 4., -2.,  0.],
    #         [-4.,  2.,  0.]])
# --- end of your file ---


def read(seed, E, blocks):  # type: ignore[no-untyped-def]
    """Give weights that are drawn from a seed, in place of a file."""
    generator = torch.Generator().manual_seed(seed)

    def drawn(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64)

    def layer(name: str, into: int, out: int) -> None:
        weights[f"{name}.weight"] = 1.5 * drawn(into, out) / into**0.5
        weights[f"{name}.bias"] = drawn(out) / 2

    def norm(name: str) -> None:
        weights[f"{name}.weight"] = 1 + drawn(E) / 2
        weights[f"{name}.bias"] = drawn(E) / 2

    weights = {"wte.weight": drawn(7, E) / 8, "wpe.weight": drawn(9, E) / 8}
    for block in range(blocks):
        norm(f"h.{block}.ln_1")
        layer(f"h.{block}.attn.c_attn", E, 3 * E)
        layer(f"h.{block}.attn.c_proj", E, E)
        norm(f"h.{block}.ln_2")
        layer(f"h.{block}.mlp.c_fc", E, 4 * E)
        layer(f"h.{block}.mlp.c_proj", 4 * E, E)
    norm("ln_f")
    return weights


def run(gpt2, seed, heads, width, ids, blocks):  # type: ignore[no-untyped-def]
    """Ask for logits by weights that are drawn from a seed, for `width` of a head."""
    return gpt2(read(seed, heads * width, blocks), ids, heads)


def keeps_them(gpt2, seed, heads, width, ids, blocks):  # type: ignore[no-untyped-def]
    weights = read(seed, heads * width, blocks)
    gpt2(weights, ids, heads)
    before = read(seed, heads * width, blocks)
    return weights.keys() == before.keys() and all(
        torch.equal(one, before[name]) for name, one in weights.items()
    )


EXERCISE = Exercise(
    answer="gpt2",
    read=("models/small_gpt/#the-model", "The model"),
    hints=(
        "Which four small functions would make the rest read like the task itself?",
        "A linear layer by its name, a norm by its name, and by these the two halves "
        "of a block. Then a loop over blocks, until a name is missing.",
        "Attention: chunk what c_attn gives into three along the last axis, unflatten "
        "the heads out of each and bring them to the front; afterwards, the same "
        "backwards. Only the order in which all this happens is left.",
    ),
    draw=lambda d: (
        int(d.integers(1000, 1)),
        d.H,
        d.D,
        d.integers(7, min(d.T, 9)),
        d.W,
    ),
    # The last has more than ten blocks, whose numbers are in another order as texts.
    trials=(
        {"H": 2, "D": 5, "T": 6},
        {"H": 4, "D": 4, "T": 4},
        {"H": 3, "D": 2},
        {"H": 1, "D": 3, "T": 3, "W": 13},
    ),
    ask=run,
    properties=[Property("the tensors that are given stay as they are", keeps_them)],
    covers=("lookup", "split_heads", "merge_heads", "block"),
    survivors={"-1 -> 1": "each table has two axes"},
    law="Twenty lines and a file of numbers: with the published file, these lines are "
    "GPT-2.",
    right=[
        """
        # As one flat loop, with PyTorch's fused kernel: what fast programs look like.
        F = nn.functional
        table, E = weights["wte.weight"], weights["wte.weight"].shape[1]
        x = F.embedding(ids, table) + weights["wpe.weight"][torch.arange(len(ids))]
        for n in range(sum(name.endswith("ln_1.bias") for name in weights)):
            own = {
                name.removeprefix(f"h.{n}."): one
                for name, one in weights.items()
                if name.startswith(f"h.{n}.")
            }
            y = F.layer_norm(x, (E,), own["ln_1.weight"], own["ln_1.bias"])
            y = torch.addmm(own["attn.c_attn.bias"], y, own["attn.c_attn.weight"])
            q, k, v = y.view(len(ids), 3, heads, E // heads).permute(1, 2, 0, 3)
            rows = (one[None] for one in (q, k, v))
            y = F.scaled_dot_product_attention(*rows, is_causal=True)
            y = y[0].transpose(0, 1).reshape(len(ids), E)
            x = x + y @ own["attn.c_proj.weight"] + own["attn.c_proj.bias"]
            y = F.layer_norm(x, (E,), own["ln_2.weight"], own["ln_2.bias"])
            y = F.linear(y, own["mlp.c_fc.weight"].T, own["mlp.c_fc.bias"])
            y = F.gelu(y, approximate="tanh")
            x = x + F.linear(y, own["mlp.c_proj.weight"].T, own["mlp.c_proj.bias"])
        x = F.layer_norm(x, (E,), weights["ln_f.weight"], weights["ln_f.bias"])
        return F.linear(x, table)
        """,
        """
        # Head by head and without a library's functions: each formula can be seen.
        def normed(x, name):
            x = x - x.mean(dim=-1, keepdim=True)
            x = x / (x.square().mean(dim=-1, keepdim=True) + 1e-5).sqrt()
            return x * weights[name + ".weight"] + weights[name + ".bias"]

        T, E = len(ids), weights["wte.weight"].shape[1]
        D = E // heads
        hidden = torch.ones(T, T, dtype=torch.bool).triu(1)
        x = weights["wte.weight"][ids] + weights["wpe.weight"][:T]
        for n in range(len([one for one in weights if "ln_2.weight" in one])):
            at = f"h.{n}."
            qkv = normed(x, at + "ln_1") @ weights[at + "attn.c_attn.weight"]
            qkv = qkv + weights[at + "attn.c_attn.bias"]
            rows = []
            for h in range(heads):
                q, k, v = (qkv[:, p * E + h * D :][:, :D] for p in range(3))
                scores = (q @ k.T / D**0.5).masked_fill(hidden, -torch.inf)
                rows.append(torch.softmax(scores, dim=-1) @ v)
            rows = torch.cat(rows, dim=-1) @ weights[at + "attn.c_proj.weight"]
            x = x + rows + weights[at + "attn.c_proj.bias"]
            wide = normed(x, at + "ln_2") @ weights[at + "mlp.c_fc.weight"]
            wide = wide + weights[at + "mlp.c_fc.bias"]
            root = (2 / torch.pi) ** 0.5
            wide = wide * (1 + torch.tanh(root * (wide + 0.044715 * wide**3))) / 2
            x = x + wide @ weights[at + "mlp.c_proj.weight"]
            x = x + weights[at + "mlp.c_proj.bias"]
        return normed(x, "ln_f") @ weights["wte.weight"].T
        """,
    ],
    stars=3,
    minutes=45,
)
