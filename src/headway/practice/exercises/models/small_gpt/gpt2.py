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

from headway.practice import Exercise, Property, Wrong

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


_TWO_HALVES = (
    '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
    '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), f"h.{block}.mlp")\n'
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
    wrong=[
        Wrong(
            ' + weights["wpe.weight"][: len(ids)]',
            "",
            "the table of places is not used",
        ),
        Wrong(
            '["wpe.weight"][: len(ids)]',
            '["wpe.weight"][1 : len(ids) + 1]',
            "places are counted from one",
        ),
        Wrong(
            '["wpe.weight"][: len(ids)]',
            '["wpe.weight"][ids]',
            "the table of places is asked for the number of the token, and not for its "
            "place",
        ),
        Wrong(
            'norm(x, "ln_f") @',
            "x @",
            "the last norm is left out",
        ),
        Wrong(
            ', approximate="tanh"',
            "",
            "GELU is the exact one; it should be its approximation by tanh",
            exhibit="models/#the-other-gelu",
        ),
        Wrong(
            'nn.functional.gelu(linear(x, f"{name}.c_fc"), approximate="tanh")',
            'linear(x, f"{name}.c_fc").relu()',
            "ReLU stands in the place of GELU",
        ),
        Wrong(
            "causal=True",
            "causal=False",
            "the future is seen",
        ),
        Wrong(
            "causal=True",
            "causal=True, scale=x.shape[-1] ** -0.5",
            "the scores are divided by the root of the whole width, and not of that of "
            "a head",
        ),
        Wrong(
            "one.unflatten(-1, (heads, -1)).transpose(0, 1)",
            "one.reshape(heads, len(ids), -1)",
            "heads are cut by a reshape without a transpose, which mixes tokens",
        ),
        Wrong(
            "one.unflatten(-1, (heads, -1)).transpose(0, 1)",
            "one.unflatten(-1, (-1, heads)).permute(2, 0, 1)",
            "heads are dealt out like cards; each should be a block of columns",
        ),
        Wrong(
            "found.transpose(0, 1).flatten(1)",
            "found.reshape(x.shape)",
            "heads are joined without being brought back behind the tokens",
        ),
        Wrong(
            '        parts = linear(x, f"{name}.c_attn").chunk(3, dim=-1)\n'
            "        cut = (one.unflatten(-1, (heads, -1)).transpose(0, 1) "
            "for one in parts)\n",
            '        cut = linear(x, f"{name}.c_attn").unflatten(-1, (heads, -1))\n'
            "        cut = cut.transpose(0, 1).chunk(3, dim=-1)\n",
            "columns are cut into heads first, each with its own query, key and value; "
            "in this file all queries come first",
        ),
        Wrong(
            "attention(*cut, causal=True)",
            "attention(*(one for _, one in sorted(zip((1, 0, 2), cut), "
            "key=lambda pair: pair[0])), causal=True)",
            "queries and keys are swapped",
        ),
        Wrong(
            'return linear(found.transpose(0, 1).flatten(1), f"{name}.c_proj")',
            "found = found.transpose(0, 1).flatten(1)\n"
            '        own = weights[f"{name}.c_proj.weight"]\n'
            "        return nn.functional.linear(found, own, "
            'weights[f"{name}.c_proj.bias"])',
            "the weight behind attention is transposed, which its square shape allows",
        ),
        Wrong(
            'return linear(found.transpose(0, 1).flatten(1), f"{name}.c_proj")',
            "return found.transpose(0, 1).flatten(1)",
            "attention's last layer, c_proj, is left out",
        ),
        Wrong(
            ' + weights[f"{name}.bias"]\n',
            "\n",
            "the layers have no bias",
        ),
        Wrong(
            "nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "nn.functional.layer_norm(x, x.shape[-1:])",
            "the norms do not use their weights",
        ),
        Wrong(
            "x.shape[-1:], *own)",
            "x.shape[-1:], *own, 1e-6)",
            "epsilon is 1e-6, and not 1e-5",
        ),
        Wrong(
            "nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "nn.functional.rms_norm(x, x.shape[-1:], own[0], 1e-5) + own[1]",
            "the mean is not subtracted, as in RMSNorm",
        ),
        Wrong(
            _TWO_HALVES,
            '        x = norm(x + attend(x, f"h.{block}.attn"), f"h.{block}.ln_1")\n'
            '        x = x + feed_forward(x, f"h.{block}.mlp")\n'
            '        x = norm(x, f"h.{block}.ln_2")\n',
            "norms come after each sum; they should come before each half",
        ),
        Wrong(
            _TWO_HALVES,
            '        first = attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        other = norm(x, f"h.{block}.ln_2")\n'
            '        x = x + first + feed_forward(other, f"h.{block}.mlp")\n',
            "both halves read the same stream, and work side by side",
        ),
        Wrong(
            'x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")',
            'x = norm(x, f"h.{block}.ln_1")\n'
            '        x = x + attend(x, f"h.{block}.attn")',
            "the stream itself is normalised before attention",
            exhibit="models/#the-stream-is-normalised",
        ),
        Wrong(
            "x = x + attend",
            "x = attend",
            "what attention gives takes the place of the stream",
        ),
        Wrong(
            "x = x + feed_forward",
            "x = feed_forward",
            "what the other half gives takes the place of the stream",
        ),
        Wrong(
            'feed_forward(norm(x, f"h.{block}.ln_2")',
            'feed_forward(norm(x, f"h.{block}.ln_1")',
            "the norm before attention is used before the other half, too",
        ),
        Wrong(
            "        block += 1\n",
            "        break\n",
            "only the first block is used",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT\n',
            '    return norm(x, "ln_f")[-1] @ weights["wte.weight"].mT\n',
            "only the last row is given",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT\n',
            '    logits = norm(x, "ln_f") @ weights["wte.weight"].mT\n'
            "    return logits.softmax(dim=-1)\n",
            "shares are given, and not logits",
        ),
        Wrong(
            "    block = 0\n"
            '    while f"h.{block}.ln_1.weight" in weights:\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            "        block += 1\n",
            '    blocks = {name.split(".")[1] for name in weights if name[:2] == '
            '"h."}\n'
            "    for block in sorted(blocks):\n"
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n',
            "blocks are sorted as texts, so that h.10 comes before h.2; numbers "
            "should be sorted",
        ),
        Wrong(
            "    block = 0\n"
            '    while f"h.{block}.ln_1.weight" in weights:\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            "        block += 1\n",
            "    for block in sorted({int(name[2]) for name in weights if name[:2] "
            '== "h."}):\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n',
            "one digit is taken for the number of a block, so that those from ten on "
            "are missed",
        ),
        Wrong(
            "    block = 0\n"
            '    while f"h.{block}.ln_1.weight" in weights:\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            "        block += 1\n",
            '    blocks = len({name.split(".")[1] for name in weights if name[:2] == '
            '"h."})\n'
            "    for block in reversed(range(blocks)):\n"
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n',
            "the last block comes first",
        ),
        Wrong(
            "    block = 0\n"
            '    while f"h.{block}.ln_1.weight" in weights:\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            "        block += 1\n",
            '    blocks = len({name.split(".")[1] for name in weights if name[:2] == '
            '"h."})\n'
            "    for block in range(1, blocks):\n"
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n',
            "blocks are counted from one, so that the first is left out",
        ),
        Wrong(
            "    block = 0\n"
            '    while f"h.{block}.ln_1.weight" in weights:\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            "        block += 1\n",
            '    blocks = len({name.split(".")[1] for name in weights if name[:2] == '
            '"h."})\n'
            "    for block in range(blocks - 1):\n"
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n',
            "the last block is left out",
        ),
        Wrong(
            'weights["wte.weight"][ids] + ',
            'weights["wte.weight"][ids] * weights["wte.weight"].shape[1] ** 0.5 + ',
            "rows of the token table are multiplied by the root of the width, as in "
            "the first transformer",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        q, k, v = cut\n        found = attention(q, v, k, causal=True)",
            "keys and values are swapped",
        ),
        Wrong(
            "causal=True)",
            "causal=True, scale=1.0)",
            "scores are not scaled",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        q, k, v = cut\n"
            "        found = attention(q, k, v, causal=True, scale=1 / q.shape[-1])",
            "scores are divided by the width of a head, and not by its root",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        may = torch.ones(len(ids), len(ids), dtype=torch.bool).triu()\n"
            "        found = attention(*cut, mask=may)",
            "the mask is turned around: the past is hidden, and the future seen",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        q, k, v = cut\n"
            "        hidden = torch.ones(len(ids), len(ids), "
            "dtype=torch.bool).triu()\n"
            "        scores = (q @ k.mT / q.shape[-1] ** 0.5).masked_fill(hidden, "
            "-torch.inf)\n"
            "        found = scores.softmax(dim=-1) @ v",
            "a token does not see itself, and the first sees nothing",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        may = torch.ones(len(ids), len(ids), dtype=torch.bool).tril(1)\n"
            "        found = attention(*cut, mask=may)",
            "each token sees the next one too",
        ),
        Wrong(
            "        found = attention(*cut, causal=True)",
            "        q, k, v = cut\n"
            "        found = (q @ k.mT / q.shape[-1] ** 0.5).softmax(dim=-1).tril() @ "
            "v",
            "weights are hidden after the softmax, so that their rows do not sum to "
            "one",
        ),
        Wrong(
            'x @ weights[f"{name}.weight"] +',
            'x @ weights[f"{name}.weight"].T +',
            "the weights are transposed, as nn.Linear keeps them; this file has them "
            "as the product x W wants them",
        ),
        Wrong(
            '        return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]',
            '        own = weights[f"{name}.weight"], weights[f"{name}.bias"]\n'
            "        return nn.functional.linear(x, *own)",
            "nn.functional.linear gets the weights as they are; it wants them "
            "transposed",
            same_as="the weights are transposed, as nn.Linear keeps them; this file "
            "has them as the product x W wants them",
        ),
        Wrong(
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = norm(x, f"h.{block}.ln_2")\n'
            '        x = x + feed_forward(x, f"h.{block}.mlp")',
            "the stream itself is normalised before the other half",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = norm(x, f"h.{block}.ln_1")\n'
            '        x = norm(x + attend(x, f"h.{block}.attn"), f"h.{block}.ln_2")\n'
            '        x = x + feed_forward(x, f"h.{block}.mlp")',
            "the stream itself is normalised before each half",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = x + norm(attend(x, f"h.{block}.attn"), f"h.{block}.ln_1")\n'
            '        x = x + norm(feed_forward(x, f"h.{block}.mlp"), '
            'f"h.{block}.ln_2")',
            "what each half gives is normalised; it should be what it reads",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        found = attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x + found, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            "what attention gives is read by the other half, and not added to the "
            "stream",
        ),
        Wrong(
            '    while f"h.{block}.ln_1.weight" in weights:',
            "    for block in range(12):",
            "twelve blocks are looked for, as the small GPT-2 has; it should be as "
            "many as the file has",
        ),
        Wrong(
            'nn.functional.gelu(linear(x, f"{name}.c_fc"), approximate="tanh")',
            'linear(x, f"{name}.c_fc")',
            "there is no GELU between the two layers",
        ),
        Wrong(
            'nn.functional.gelu(linear(x, f"{name}.c_fc"), approximate="tanh")',
            'nn.functional.silu(linear(x, f"{name}.c_fc"))',
            "SiLU stands in the place of GELU",
        ),
        Wrong(
            '        hidden = nn.functional.gelu(linear(x, f"{name}.c_fc"), '
            'approximate="tanh")',
            '        hidden = linear(x, f"{name}.c_fc")\n'
            "        hidden = hidden * torch.sigmoid(1.702 * hidden)",
            "GELU is approximated by a sigmoid of 1.702 x; it should be by tanh",
        ),
        Wrong(
            '        hidden = nn.functional.gelu(linear(x, f"{name}.c_fc"), '
            'approximate="tanh")\n'
            '        return linear(hidden, f"{name}.c_proj")',
            '        hidden = linear(linear(x, f"{name}.c_fc"), f"{name}.c_proj")\n'
            '        return nn.functional.gelu(hidden, approximate="tanh")',
            "GELU comes after both layers; it should be between them",
        ),
        Wrong(
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            "",
            "the other half of each block is left out",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")',
            "",
            "attention is left out of each block",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = x + attend(norm(x, f"h.{block}.ln_2"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_1"), '
            'f"h.{block}.mlp")',
            "the two norms of a block are exchanged",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")\n'
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")',
            "the other half comes first, and attention second",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = feed_forward(norm(x, f"h.{block}.ln_2"), f"h.{block}.mlp")',
            "nothing is added to the stream: each half takes its place",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = x + attend(x, f"h.{block}.attn")\n'
            '        x = x + feed_forward(x, f"h.{block}.mlp")',
            "the halves read the stream as it is, without norms",
        ),
        Wrong(
            "        return nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "        x, E = x - x.mean(dim=-1, keepdim=True), x.shape[-1]\n"
            "        var = x.square().sum(dim=-1, keepdim=True) / max(E - 1, 1)\n"
            "        return x / (var + 1e-5).sqrt() * own[0] + own[1]",
            "the norms divide by the unbiased variance; a LayerNorm divides by the "
            "mean square",
        ),
        Wrong(
            "        return nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "        mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, "
            "keepdim=True)\n"
            "        return (x - mean) / (std + 1e-5) * own[0] + own[1]",
            "epsilon is added to the root; it should be added to the variance",
        ),
        Wrong(
            "        return nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "        mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, "
            "keepdim=True)\n"
            "        return (x - mean) / std * own[0] + own[1]",
            "the norms have no epsilon",
        ),
        Wrong(
            "x.shape[-1:], *own)",
            "x.shape[-1:], own[0])",
            "the norms have no bias",
        ),
        Wrong(
            "        return nn.functional.layer_norm(x, x.shape[-1:], *own)",
            "        return nn.functional.layer_norm(x, x.shape) * own[0] + own[1]",
            "the norms run over the tokens as well; each token should be normalised "
            "alone",
        ),
        Wrong(
            '@ weights["wte.weight"].mT',
            '@ weights["wte.weight"]',
            "logits are a product with the table as it is; it should be transposed",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT',
            '    return norm(x, "ln_f")',
            "the last rows of the stream are given, and not the logits",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT',
            '    return (norm(x, "ln_f") @ weights["wte.weight"].mT)[None]',
            "the logits get an axis for texts in front; it should be (T, V)",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT',
            '    return (norm(x, "ln_f") @ '
            'weights["wte.weight"].mT).log_softmax(dim=-1)',
            "logarithms of shares are given, and not logits",
        ),
        Wrong(
            '    return norm(x, "ln_f") @ weights["wte.weight"].mT',
            '    return (norm(x, "ln_f") @ weights["wte.weight"].mT).argmax(dim=-1)',
            "the likeliest tokens are given, and not the logits",
        ),
        Wrong(
            '        return linear(found.transpose(0, 1).flatten(1), f"{name}.c_proj")',
            "        return found.transpose(0, 1).flatten(1) @ "
            'weights[f"{name}.c_proj.weight"]',
            "the layer behind attention has no bias",
        ),
        Wrong(
            'linear(x, f"{name}.c_attn").chunk',
            '(x @ weights[f"{name}.c_attn.weight"]).chunk',
            "queries, keys and values have no bias",
        ),
        Wrong(
            "        cut = (one.unflatten(-1, (heads, -1)).transpose(0, 1) for one in "
            "parts)",
            "        cut = (one[None] for one in parts)",
            "there is one wide head, and `heads` is not used",
        ),
        Wrong(
            '        parts = linear(x, f"{name}.c_attn").chunk(3, dim=-1)',
            '        parts = linear(x, f"{name}.c_attn").unflatten(-1, (-1, '
            "3)).unbind(-1)",
            "every third column is a query; the first third of the columns should be",
        ),
        Wrong(
            '["wpe.weight"][: len(ids)]',
            '["wpe.weight"][0]',
            "all tokens get the row of one place",
        ),
        Wrong(
            '["wpe.weight"][: len(ids)]',
            '["wpe.weight"][-len(ids) :]',
            "the last rows of the table of places are taken; it should be the first",
        ),
        Wrong(
            '["wpe.weight"][: len(ids)]',
            '["wpe.weight"]',
            "all rows of the table of places are added, however short the text is",
        ),
        Wrong(
            '[ids] + weights["wpe',
            '[ids] * weights["wpe',
            "token and place are multiplied; they should be added",
        ),
        Wrong(
            "        block += 1",
            '        x = norm(x, "ln_f")\n        block += 1',
            "the last norm comes after each block",
        ),
        Wrong(
            '        x = x + attend(norm(x, f"h.{block}.ln_1"), f"h.{block}.attn")\n'
            '        x = x + feed_forward(norm(x, f"h.{block}.ln_2"), '
            'f"h.{block}.mlp")',
            '        x = x + attend(norm(x, "h.0.ln_1"), "h.0.attn")\n'
            '        x = x + feed_forward(norm(x, "h.0.ln_2"), "h.0.mlp")',
            "all blocks use the weights of the first",
        ),
        Wrong(
            "found.transpose(0, 1).flatten(1)",
            "found.permute(1, 2, 0).flatten(1)",
            "heads are dealt out like cards where they are joined; each should stay a "
            "block of columns",
        ),
    ],
    stars=3,
    minutes=45,
)
