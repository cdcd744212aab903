"""Tokens for heads

There is another way to spread one text over N machines (Ulysses). Each machine has a
piece of the text, with all heads. Before attention the machines trade: each gives away
its tokens' numbers of all heads but its own, and gets those of its own heads for all
tokens. It attends with whole rows. Then they trade back.

Write `trade_heads(queries, keys, values)`, which plays all N machines. Each list has N
tensors (T, H, D), piece n of the text for machine n; N divides H, and machine n gets
block n of the heads. The future is hidden. Give the list of what each machine has in
the end: (T, H, D), its own tokens with all heads. `attention(query, key, value,
causal=True)` takes (heads, tokens, D).
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor

from headway import attention


def trade_heads(
    queries: list[Tensor], keys: list[Tensor], values: list[Tensor]
) -> list[Tensor]:
    """Give each machine's rows (T, H, D) for lists of N pieces (T, H, D)."""
    # --- write ---
    N = len(queries)

    def trade(parts: list[Tensor], split: int, join: int) -> list[Tensor]:
        blocks = [part.chunk(N, dim=split) for part in parts]
        return [torch.cat([one[m] for one in blocks], dim=join) for m in range(N)]

    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]
    found = []
    for m in range(N):
        query, key, value = (parts[m].transpose(0, 1) for parts in own)
        found.append(attention(query, key, value, causal=True).transpose(0, 1))
    return trade(found, 0, 1)
    # --- written ---


if __name__ == "__main__":
    # Two machines, one token each, two heads. The second token sees both.
    same = [torch.zeros(1, 2, 1), torch.zeros(1, 2, 1)]
    values = [torch.tensor([[[1.0], [10.0]]]), torch.tensor([[[3.0], [30.0]]])]
    for rows in trade_heads(same, same, values):
        print(rows.flatten().tolist())
    # [1.0, 10.0]
    # [2.0, 20.0]
# --- end of your file ---


def run(trade_heads, query, key, value):  # type: ignore[no-untyped-def]
    return trade_heads([*query], [*key], [*value])


EXERCISE = Exercise(
    answer="trade_heads",
    read=("distributed/ring/#at-scale-on-paper", "At scale, on paper"),
    hints=(
        "Which block of which machine's tensor must come to machine m, and in which "
        "order does machine m lay side by side what it gets?",
        "Cut each piece into N blocks along the heads, and give block m to machine m, "
        "which joins all that it gets along the tokens. The way back swaps the axes.",
        "One small function does both ways: it chunks each part along one axis, and "
        "for each machine it joins its chunks of all parts along another.",
    ),
    draw=lambda d: (
        d.normal(d.G, d.T, d.H, d.D),
        d.normal(d.G, d.T, d.H, d.D),
        d.normal(d.G, d.T, d.H, d.D),
    ),
    trials=(
        {},
        {"G": 3, "T": 4},
        dict.fromkeys("BHGTSDVEW", 4),
        {"G": 3, "T": 2, "loud": 3.0},
    ),
    ask=run,
    law="Heads do not need each other, and a head needs all tokens: so two trades make "
    "the attention of a long text an ordinary one.",
    right=[
        """
        # One tensor for all machines: to trade is to move two axes. All-to-all does it.
        def traded(parts):
            whole = torch.stack(parts)  # (N, T, H, D)
            N, T, H, D = whole.shape
            blocks = whole.view(N, T, N, H // N, D).permute(2, 3, 0, 1, 4)
            return blocks.reshape(N, H // N, N * T, D)

        N, T = len(queries), len(queries[0])
        own = (traded(parts) for parts in (queries, keys, values))
        found = attention(*own, causal=True)  # (N, H / N, N T, D)
        return [*found.flatten(0, 1).transpose(0, 1).split(T)]
        """,
        """
        # By slices, with the positions written out: the easiest to put into MPI calls.
        N, (T, H, D) = len(queries), queries[0].shape
        n = H // N
        home = [torch.empty_like(one) for one in values]
        for machine in range(N):
            own = slice(machine * n, machine * n + n)
            rows = [
                torch.cat([piece[:, own] for piece in pieces]).permute(1, 0, 2)
                for pieces in (queries, keys, values)
            ]
            found = attention(*rows, causal=True)
            for other in range(N):
                back = found[:, other * T : other * T + T]
                home[other][:, own] = back.permute(1, 0, 2)
        return home
        """,
    ],
    wrong=[
        Wrong(
            "causal=True)",
            "causal=False)",
            "the future is seen",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    own = [queries, keys, values]\n",
            "nothing is traded, so that each machine attends to its own tokens, and "
            "its result is cut by tokens for the way back",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return found\n",
            "nothing is traded back: each machine keeps all tokens of its own heads",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    rows = zip(queries, keys, values, strict=True)\n"
            "    rows = [[x.transpose(0, 1) for x in one] for one in rows]\n"
            "    rows = [attention(*one, causal=True) for one in rows]\n"
            "    return [one.transpose(0, 1) for one in rows]\n",
            "each machine attends to its own tokens alone, and nothing is traded",
        ),
        Wrong(
            "        query, key, value = (parts[m].transpose(0, 1) for parts in own)\n"
            "        found.append(attention(query, key, value, causal=True)"
            ".transpose(0, 1))\n",
            "        heads = (parts[m] for parts in own)\n"
            "        found.append(attention(*heads, causal=True))\n",
            "the axes of tokens and heads are not swapped, so that heads look at heads",
        ),
        Wrong(
            "value, causal=True).transpose(0, 1))",
            "value, causal=True))",
            "the axes are not swapped back before the way home",
        ),
        Wrong(
            "        query, key, value = (parts[m].transpose(0, 1) for parts in own)\n",
            "        T, n, D = own[0][m].shape\n"
            "        query, key, value = (x[m].reshape(n, T, D) for x in own)\n",
            "tokens and heads are swapped by a reshape, which mixes their numbers",
        ),
        Wrong(
            "blocks = [part.chunk(N, dim=split) for part in parts]",
            "blocks = [[part.transpose(0, split)[n::N].transpose(0, split) "
            "for n in range(N)] for part in parts]",
            "heads are dealt out like cards, and tokens too on the way back; they "
            "should go in blocks",
        ),
        Wrong(
            "trade(parts, 1, 0)",
            "trade(parts, 0, 1)",
            "the two ways are confused: tokens are cut, and heads are joined, before "
            "attention",
        ),
        Wrong(
            "return trade(found, 0, 1)",
            "return trade(found, 0, 1)[::-1]",
            "results go home to the wrong machines, in reverse order",
        ),
        Wrong(
            "one[m] for one in blocks]",
            "one[m] for one in blocks[::-1]]",
            "a machine joins what it gets in reverse order",
        ),
        Wrong(
            "trade(parts, 1, 0) for parts in (queries, keys, values)]",
            "trade(parts, 1, 0) for parts in (queries, values, keys)]",
            "keys and values are swapped",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return [torch.cat(found, dim=1)] * N\n",
            "each machine ends with all tokens, and not with its own",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    home = [*torch.cat(found, dim=1).chunk(N)]\n"
            "    return [part.transpose(0, 1) for part in home]\n",
            "the results have heads before tokens",
        ),
        Wrong(
            "attention(query, key, value, causal=True)",
            "attention(query, key, value, causal=True, scale=1.0)",
            "the scores are not divided by the root of D",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return torch.stack(trade(found, 0, 1))\n",
            "one tensor of all machines is given, and not a list",
        ),
        Wrong(
            "[trade(parts, 1, 0) for parts in (queries, keys, values)]",
            "[\n"
            "        [torch.cat([one[:, m::N] for one in parts]) for m in range(N)]\n"
            "        for parts in (queries, keys, values)\n"
            "    ]",
            "heads are dealt out like cards, and come home as blocks",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return [torch.cat([one[m::N] for one in found], dim=1) for m in "
            "range(N)]\n",
            "tokens are dealt out like cards on the way home; each machine should "
            "get a block of them",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    key, value = (torch.cat(x).transpose(0, 1) for x in (keys, values))\n"
            "    heads = [x.transpose(0, 1) for x in queries]\n"
            "    found = [attention(x, key, value, causal=True) for x in heads]\n"
            "    return [x.transpose(0, 1) for x in found]\n",
            "keys and values of all tokens are gathered and the queries stay, so "
            "that each piece is taken for the end of the text and sees the future",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return trade(found[::-1], 0, 1)\n",
            "the heads come home in the reverse order of the machines",
        ),
        Wrong(
            "return trade(found, 0, 1)",
            "return trade(found, 0, 0)",
            "what comes home is joined along the tokens; it should be along the heads",
        ),
        Wrong(
            "trade(parts, 1, 0)",
            "trade(parts, 1, 1)",
            "what a machine gets is joined along the heads; it should be along "
            "the tokens",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return torch.cat(trade(found, 0, 1))\n",
            "one tensor of all tokens is given, and not a list of the machines' pieces",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    back = trade(found, 0, 1)\n"
            "    return [x.unflatten(1, (N, -1)).transpose(1, 2).flatten(1, 2) "
            "for x in back]\n",
            "the heads come home interleaved, one of each machine in turn, and "
            "not in blocks",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    T, H, D = queries[0].shape\n"
            "    heads = [\n"
            "        torch.stack(x).reshape(N, H // N, N * T, D) for x in "
            "(queries, keys, values)\n"
            "    ]\n"
            "    return [*attention(*heads, causal=True).reshape(N, T, H, D)]\n",
            "a reshape alone is to trade, without an exchange of axes, and mixes "
            "tokens and heads",
        ),
        Wrong(
            "[part.chunk(N, dim=split) for part in parts]",
            "[part.split(N, dim=split) for part in parts]",
            "split(N) cuts blocks of N, where N blocks are wanted, as chunk(N) makes",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    own = [\n"
            "        [torch.cat([one[:, m * N : m * N + N] for one in parts]) for "
            "m in range(N)]\n"
            "        for parts in (queries, keys, values)\n"
            "    ]\n",
            "each machine takes N heads, from m times N on; it should be H / N heads",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    own = [\n"
            "        [torch.cat([one[:, m : m + 1] for one in parts]) for m in "
            "range(N)]\n"
            "        for parts in (queries, keys, values)\n"
            "    ]\n",
            "machine m takes head m alone; it should take a block of H / N heads",
        ),
        Wrong(
            "attention(query, key, value, causal=True)",
            "attention(key, query, value, causal=True)",
            "queries and keys are swapped",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    rows = [\n"
            "        attention(*(x[m].transpose(0, 1) for x in (queries, keys, "
            "values)))\n"
            "        for m in range(N)\n"
            "    ]\n"
            "    return [one.transpose(0, 1) for one in rows]\n"
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "nothing is traded: each machine attends to its own tokens alone, and "
            "the future is seen",
        ),
        Wrong(
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "    rows = []\n"
            "    for m in range(N):\n"
            "        own = [x[m].chunk(N, dim=1)[m] for x in (queries, keys, "
            "values)]\n"
            "        own = [x.transpose(0, 1) for x in own]\n"
            "        rows.append(attention(*own, causal=True).transpose(0, 1))\n"
            "    return rows\n"
            "    own = [trade(parts, 1, 0) for parts in (queries, keys, values)]\n",
            "each machine takes its heads of its own tokens alone; it should get "
            "those of all tokens",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    return [torch.cat(one.chunk(N), dim=1) for one in found]\n",
            "each machine cuts up its own result, and gets nothing of the others'",
        ),
        Wrong(
            "    return trade(found, 0, 1)\n",
            "    heads = [torch.cat([one.chunk(N)[m].transpose(0, 1) for one in "
            "found]) for m in range(N)]\n"
            "    return [one.reshape(queries[0].shape) for one in heads]\n",
            "heads and tokens are swapped back by a reshape, which mixes them",
        ),
        Wrong(
            "for parts in (queries, keys, values)",
            "for parts in (queries, values, values)",
            "the values are taken for keys as well",
        ),
    ],
    stars=2,
    minutes=25,
)
