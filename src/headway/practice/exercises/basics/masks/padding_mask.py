"""Hide the padding

Texts of a batch are filled up to S tokens, so that they make one tensor. Write
`padding_mask(lengths, S)`: which tokens are real.

`lengths` has B whole numbers, from 0 to S: text b has lengths[b] tokens, and padding
stands behind them. The mask has shape (B, 1, S), boolean, True where a token is real.
The axis of size one is for the queries: all queries of a text may look at the same
keys.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor


def padding_mask(lengths: Tensor, S: int) -> Tensor:
    """Give a mask (B, 1, S) for lengths (B): True where a token is real."""
    # --- write ---
    places = torch.arange(S)
    return (places < lengths[:, None])[:, None, :]
    # --- written ---


if __name__ == "__main__":
    print(padding_mask(torch.tensor([2, 3]), 3).int())
    # tensor([[[1, 1, 0]],
    #
    #         [[1, 1, 1]]], dtype=torch.int32)
# --- end of your file ---


def drawn_lengths(d):  # type: ignore[no-untyped-def]
    """Draw lengths: a full text, or with more axes none; and one that is empty."""
    lengths = d.integers(d.S + (d.axes < 2), d.B)
    if d.axes < 2 and d.B > 1:
        lengths[0], lengths[-1] = d.S, 0
    return lengths


EXERCISE = Exercise(
    answer="padding_mask",
    read=("basics/masks/#two-more-masks", "Two more masks"),
    hints=(
        "At which place, counted from zero, does the padding of a text begin?",
        "Compare the places 0, 1, ..., S - 1 with the length of each text.",
        "Put an axis behind the lengths, so that each text is compared with all "
        "places; then put the axis of the queries between the two.",
    ),
    draw=lambda d: (drawn_lengths(d), d.S),
    law="A row has as many True as its text has tokens, and they stand first.",
    right=[
        """
        # Two loops in one line, and the shape at the end.
        rows = [[s < n for s in range(S)] for n in lengths.tolist()]
        return torch.tensor(rows, dtype=torch.bool).reshape(len(lengths), 1, S)
        """,
        """
        # Text by text: slow, but each slice is the text itself.
        mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)
        for b, length in enumerate(lengths.tolist()):
            mask[b, :, :length] = True
        return mask
        """,
        """
        # Both axes at once: lengths of shape (B, 1, 1) meet places of shape (S).
        return torch.arange(S) < lengths.view(-1, 1, 1)
        """,
    ],
    wrong=[
        Wrong(
            "[:, None, :]",
            "[:, :, None]",
            "it hides queries; it should hide keys",
            exhibit="padding/#mask-hides-queries",
        ),
        Wrong(
            "places < lengths",
            "places >= lengths",
            "True means padding, and not a real token",
            exhibit="padding/#key-padding-mask-inverted",
        ),
        Wrong(
            "places < lengths",
            "places <= lengths",
            "one token of padding counts as real",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places + 1 < lengths[:, None]",
            "the last real token is hidden",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places >= S - lengths[:, None]",
            "padding is taken to stand before the text",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.roll(1)[:, None])[",
            "each text gets the length of another",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "places < lengths[:, None]",
            "the axis of the queries is missing",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.max())[None][",
            "all texts are as long as the longest",
        ),
        Wrong(
            "places < lengths",
            "places == lengths",
            "only the first place of the padding is True",
        ),
        Wrong(
            "places < lengths[:, None])[:, None, :]",
            "places < lengths[:, None])[:, None, :] & "
            "(places < lengths[:, None])[:, :, None]",
            "queries that are padding are hidden too, which takes an axis of size S",
            hint="What is padding may ask, because its answer is not read. The axis of "
            "the queries has size one.",
        ),
        Wrong(
            "[:, None, :]",
            "[:, None, :].expand(-1, S, -1)",
            "the axis of the queries has size S; it should have size one",
        ),
        Wrong(
            "[:, None, :]",
            "[None]",
            "the axis of size one stands before the texts, and not behind them",
        ),
        Wrong(
            "places < lengths",
            "places > lengths",
            "True means padding, without its first place",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places < lengths",
            "the lengths get no axis of their own, so that they are laid "
            "along the places",
        ),
        Wrong(
            "places < lengths[:, None])[:, None, :]",
            "places[:, None] < lengths)[:, None, :]",
            "places are rows and texts are columns; it should be the other way around",
        ),
        Wrong(
            "[:, None, :]",
            "[:, None, None, :]",
            "there is one axis too many, as for heads",
        ),
        Wrong(
            "[:, None, :]",
            "[..., None]",
            "the axis of size one stands behind the places",
            same_as="it hides queries; it should hide keys",
        ),
        Wrong(
            "torch.arange(S)",
            "torch.arange(int(lengths.max()))",
            "the mask is as wide as the longest text; it should be S wide",
        ),
        Wrong(
            "torch.arange(S)",
            "torch.arange(1, S + 1)",
            "places are counted from one",
            same_as="the last real token is hidden",
        ),
        Wrong(
            "torch.arange(S)",
            "torch.arange(S - 1)",
            "the last place is missing",
        ),
        Wrong(
            "torch.arange(S)",
            "torch.arange(S + 1)",
            "there is one place too many",
        ),
        Wrong(
            "places < lengths[:, None]",
            "places < lengths[0]",
            "all texts are as long as the first",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.min())[None][",
            "all texts are as long as the shortest",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.sort().values[:, None])[",
            "the lengths are sorted, so that texts get those of others",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.flip(0)[:, None])[",
            "the lengths are read backwards, so that texts get those of others",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "torch.where(places < lengths[:, None], 0.0, -torch.inf)[:, None, :]",
            "a table to be added is given, with zeros and minus infinity; "
            "it should be of True and False",
        ),
        Wrong(
            "places < lengths",
            "places != lengths",
            "only the first place of the padding is False",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places < lengths[:, None])[:, None, :] & torch.ones(S, S).tril().bool()",
            "the future is hidden too; padding alone is asked for",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.ones(len(lengths), 1, S, dtype=torch.bool)\n"
            "    for b, length in enumerate(lengths.tolist()):\n"
            "        mask[b, :, -(S - length) :] = False\n"
            "    return mask",
            "the last S - length places are cut off by a slice from -0 "
            "where a text is full, and that is the whole row",
            hint="A slice from -n begins n places before the end; what does -0 mean?",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)\n"
            "    for b, length in enumerate(lengths.tolist()):\n"
            "        mask[b, :, length] = True\n"
            "    return mask",
            "one place of each text is set, and there may be none of this number",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)\n"
            "    for b, length in enumerate(lengths.tolist()):\n"
            "        mask[b, :length] = True\n"
            "    return mask",
            "the axis of the queries is cut, which has size one, and not "
            "that of the places",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)\n"
            "    mask[:, :, : lengths.max()] = True\n"
            "    return mask",
            "one slice is made for all texts",
            same_as="all texts are as long as the longest",
        ),
        Wrong(
            "torch.arange(S)",
            "torch.arange(len(lengths))",
            "there are as many places as texts; there should be S",
        ),
        Wrong(
            "lengths[:, None])[",
            "lengths.cumsum(0)[:, None])[",
            "lengths are added up from text to text",
        ),
        Wrong(
            "    return (places < lengths[:, None])[:, None, :]",
            "    return (places >= lengths[:, None])[:, None, :] * -1e9",
            "large negative numbers are given, to be added to scores; it should be "
            "True and False",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "torch.ones(S, S, dtype=torch.bool).tril()[lengths - 1][:, None, :]",
            "a row of a triangle is taken by length - 1, which for an empty text is "
            "the last row",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)\n"
            "    mask[:, :, :lengths] = True\n"
            "    return mask",
            "one slice is cut by all lengths at once; each text needs its own",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    return torch.tensor([[s < n for s in range(S)] for n in "
            "lengths.tolist()])",
            "two loops make (B, S), and the axis of the queries is missing",
            same_as="the axis of the queries is missing",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    return [[[s < n for s in range(S)]] for n in lengths.tolist()]",
            "lists are given; torch.tensor makes a tensor of them",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "torch.ones(len(lengths), 1, S, dtype=torch.bool).tril()",
            "a triangle is cut, and the lengths are not used",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "places <= lengths[:, None]",
            "one token of padding counts as real, and the axis of the queries is "
            "missing",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "places >= lengths[:, None]",
            "True means padding, and the axis of the queries is missing",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places >= lengths[:, None])[:, :, None]",
            "True means padding, and queries are hidden; it should be keys",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places <= lengths[:, None])[:, :, None]",
            "one token of padding counts as real, and queries are hidden; it should "
            "be keys",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places > lengths[:, None])[:, :, None]",
            "True means padding, without its first place, and queries are hidden; it "
            "should be keys",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places < lengths[:, None] - 1)",
            "the last real token is hidden, and the axis of the queries is missing",
        ),
        Wrong(
            "    places = torch.arange(S)\n"
            "    return (places < lengths[:, None])[:, None, :]",
            "    mask = torch.zeros(len(lengths), 1, S, dtype=torch.bool)\n"
            "    for b, length in enumerate(lengths.tolist()):\n"
            "        mask[b, :, : length - 1] = True\n"
            "    return mask",
            "a slice ends at length - 1: the last real token is hidden, and of an "
            "empty text all places but the last are True",
        ),
        Wrong(
            "places < lengths[:, None])[:, None, :]",
            "places[None] < lengths[None])[:, None, :]",
            "lengths and places both get an axis in front; the lengths need theirs "
            "behind",
        ),
        Wrong(
            "(places < lengths[:, None])[:, None, :]",
            "(places < lengths)[:, None]",
            "the lengths get no axis of their own, and the axis of the queries is put "
            "behind the places",
            same_as="the lengths get no axis of their own, so that they are laid "
            "along the places",
        ),
    ],
    minutes=5,
)
