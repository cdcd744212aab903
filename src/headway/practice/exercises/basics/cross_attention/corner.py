"""Cross-attention by a mask alone

Put the memory and the text into one row, the memory first, and call `attention` once,
on all of them. Write `corner(S, T)`: the mask that makes the last T rows of the result
what cross-attention gives.

The mask is boolean, True where a query may look. Its shape is (S + T, S + T), queries
and keys, or broadcasts to that. What the first S rows get does not matter.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def corner(S: int, T: int) -> Tensor:
    """Give a mask for a row of S tokens of memory and T of text."""
    # --- write ---
    is_memory = torch.arange(S + T) < S
    return is_memory.expand(S + T, -1)
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    x, memory = torch.randn(6, 5).double(), torch.randn(11, 5).double()
    row = torch.cat([memory, x])
    rows = attention(row, row, row, mask=corner(11, 6))[11:]
    print(torch.allclose(rows, attention(x, memory, memory)))
    # True
# --- end of your file ---


def run(corner, memory, x):  # type: ignore[no-untyped-def]
    from headway import attention

    S, T = len(memory), len(x)
    row = torch.cat([memory, x])
    mask = torch.broadcast_to(corner(S, T), (S + T, S + T))
    return attention(row, row, row, mask=mask)[S:]


EXERCISE = Exercise(
    answer="corner",
    read=("basics/cross_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Of whom may a key be, if cross-attention is to come out?",
        "The mask depends on the key alone: a key may be seen if it is of the memory.",
        "Number the S + T places, and compare the numbers with S.",
    ),
    draw=lambda d: (d.normal(d.S, d.E), d.normal(d.T, d.E)),
    ask=run,
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}, {"S": 3, "T": 8}),
    law="Cross-attention is self-attention in a longer row, of which a mask leaves one "
    "corner.",
    right=[
        """
        # One row for all queries: the shortest, as all may see the same keys.
        return (torch.arange(S + T) < S)[None]
        """,
        """
        # Blocks: longer, and good where the memory is to see itself, too, as here.
        mask = torch.zeros(S + T, S + T, dtype=torch.bool)
        mask[:, :S] = True
        return mask
        """,
        """
        # The corner alone; a token of the memory sees itself, so no row is empty.
        mask = torch.eye(S + T, dtype=torch.bool)
        mask[S:, :S] = True
        mask[S:, S:] = False
        return mask
        """,
    ],
    survivors={
        "is_memory.expand(S + T, -1) -> is_memory": "it broadcasts to the same",
    },
    wrong=[
        Wrong("< S\n", ">= S\n", "the text sees itself, and not the memory"),
        Wrong(
            "torch.arange(S + T) < S",
            "torch.ones(S + T, dtype=torch.bool)",
            "the text sees itself besides the memory",
        ),
        Wrong("< S\n", "<= S\n", "the first token of the text is seen too"),
        Wrong("< S\n", "< S - 1\n", "the last token of the memory is hidden"),
        Wrong(
            "< S\n",
            "< T\n",
            "T columns are seen; it should be S, the tokens of the memory",
        ),
        Wrong(
            "is_memory.expand(S + T, -1)",
            "is_memory[:, None].expand(-1, S + T)",
            "rows are hidden, and not columns: the text sees nothing",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T)\n"
            "    mask[S:, :S] = 1.0\n"
            "    return mask",
            "the mask holds numbers; it should hold True and False",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).tril()",
            "the future is hidden, and nothing else: the text sees itself",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).tril(-T)",
            "a diagonal cuts the corner, so that some of the memory is hidden",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(T, S, dtype=torch.bool)",
            "the mask is (T, S), that of cross-attention; here all S + T ask and "
            "are asked",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return (torch.arange(S + T) < S).expand(T, -1)",
            "the mask has rows for the text alone; the memory's tokens ask too",
        ),
        Wrong(
            "torch.arange(S + T) < S",
            "torch.arange(S + T) >= T",
            "the text is taken to stand before the memory",
        ),
        Wrong(
            "torch.arange(S + T) < S",
            "torch.arange(S + T) > S",
            "the text sees itself but for its first token, and not the memory",
        ),
        Wrong(
            "torch.arange(S + T) < S",
            "torch.arange(1, S + T) < S",
            "there is one column too few: the numbers begin at one",
        ),
        Wrong(
            "torch.arange(S + T) < S",
            "(torch.arange(S + T) < S) & (torch.arange(S + T) > 0)",
            "the first token of the memory is hidden",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T, dtype=torch.bool)\n"
            "    mask[S + 1 :, :S] = True\n"
            "    return mask",
            "the first row of the text sees nothing: the corner begins one row too "
            "late",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T, dtype=torch.bool)\n"
            "    mask[S:-1, :S] = True\n"
            "    return mask",
            "the last row of the text sees nothing: the corner ends one row too early",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T, dtype=torch.bool)\n"
            "    mask[T:, :T] = True\n"
            "    return mask",
            "S and T are exchanged in both axes, so that the corner begins at T",
            same_as="T columns are seen; it should be S, the tokens of the memory",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S, dtype=torch.bool)",
            "the mask has columns for the memory alone; the text is asked too, and "
            "must be hidden",
        ),
        Wrong(
            "torch.arange(S + T) < S",
            "(torch.arange(S + T) < S).int()",
            "the mask holds whole numbers; it should hold True and False",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T)\n"
            "    mask[:, S:] = -torch.inf\n"
            "    return mask",
            "the mask holds zeros and minus infinity; it should hold True and False",
            same_as="the mask holds numbers; it should hold True and False",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T)\n"
            "    mask[:, S:] = 1.0\n"
            "    return mask",
            "the mask holds ones for what is hidden; it should hold True for what "
            "is seen",
            same_as="the mask holds numbers; it should hold True and False",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).triu(1)",
            "the past is hidden, and with it all of the memory",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.eye(S + T, dtype=torch.bool)",
            "each token sees itself alone",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T, dtype=torch.bool)\n"
            "    mask[T:, :S] = True\n"
            "    return mask",
            "the rows begin at T; they should begin at S, where the text does",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    memory = torch.arange(S + T) < S\n"
            "    return memory | torch.eye(S + T, dtype=torch.bool)",
            "each token of the text sees itself besides the memory",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.zeros(S + T, S + T, dtype=torch.bool)\n"
            "    mask[:T, :S] = True\n"
            "    return mask",
            "the rows of the text are taken to be the first; they are the last",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).triu(S)",
            "the triangle is moved to the right by S; no triangle is needed, since "
            "all of the memory is seen",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).tril(-S)",
            "the triangle is moved down by S, so that a token of the text sees but "
            "the beginning of the memory",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S + T, S + T, dtype=torch.bool).tril(-1)",
            "each token sees those before it, and not itself: the text sees itself",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return (torch.arange(S + T) < S).expand(1, S + T, -1)",
            "the mask has an axis for the texts; it should have two axes",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S, T, dtype=torch.bool)",
            "the mask is (S, T); here all S + T ask and are asked",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return torch.ones(S, S, dtype=torch.bool)",
            "the mask is (S, S); here all S + T ask and are asked",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    return [[j < S for j in range(S + T)] for i in range(S + T)]",
            "a list of lists is given; it should be a tensor, as torch.tensor makes "
            "one",
        ),
        Wrong(
            "    is_memory = torch.arange(S + T) < S\n"
            "    return is_memory.expand(S + T, -1)",
            "    mask = torch.ones(S + T, S + T, dtype=torch.bool)\n"
            "    mask[S:, S:] = ~torch.eye(T, dtype=torch.bool)\n"
            "    return mask",
            "of the text only a token itself is hidden; it should be all of the text",
        ),
    ],
    minutes=6,
)
