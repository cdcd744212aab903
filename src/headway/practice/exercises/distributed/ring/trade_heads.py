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

from headway.practice import Exercise

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
    stars=2,
    minutes=25,
)
