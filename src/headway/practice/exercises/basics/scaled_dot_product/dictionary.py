"""A puzzle: an exact dictionary

Choose queries and keys, so that attention looks up values exactly: query t must get
the value at place `wanted[t]`, to nine digits, and nothing of the others.

Write `dictionary(wanted, S)`: give queries (T, D) and keys (S, D), of any width D
that you like. S is at most 100. Attention is that of the book: softmax of scores over
the root of D.
"""

from headway.practice import Exercise, Property, Wrong
from headway.practice.task.definition import EQUAL

# --- your file ---
import torch
from torch import Tensor


def dictionary(wanted: Tensor, S: int) -> tuple[Tensor, Tensor]:
    """Choose queries (T, D) and keys (S, D), so that query t finds key wanted[t]."""
    # --- write ---
    key = torch.eye(S)
    query = 100.0 * S**0.5 * key[wanted]
    return query, key
    # --- written ---


if __name__ == "__main__":
    from headway import attention

    query, key = dictionary(torch.tensor([2, 0]), 3)
    value = torch.tensor([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    print(attention(query.float(), key.float(), value))
    # tensor([[ 3., 30.],
    #         [ 1., 10.]])
# --- end of your file ---


def found(dictionary, wanted, S, value):  # type: ignore[no-untyped-def]
    query, key = (one.to(value.dtype)[None] for one in dictionary(wanted, S))
    return torch.nn.functional.scaled_dot_product_attention(query, key, value[None])[0]


def far_above(dictionary, wanted, S, value):  # type: ignore[no-untyped-def]
    query, key = dictionary(wanted, S)
    if query.shape[0] != len(wanted) or key.shape != (S, query.shape[-1]):
        return True  # the shape is told already
    shares = found(dictionary, wanted, S, torch.eye(S, dtype=torch.float64))
    largest, places = shares.max(dim=-1)
    return not bool((places == wanted).all()) or bool((largest > 1 - 1e-9).all())


EXERCISE = Exercise(
    answer="dictionary",
    read=(
        "basics/scaled_dot_product/#a-property-attention-is-a-soft-dictionary",
        "A property: attention is a soft dictionary",
    ),
    hints=(
        "When does a softmax give all to one place?",
        "The score of the wanted key must be far above all others; keys at right "
        "angles make the other scores zero.",
        "Rows of torch.eye are at right angles. How large must a query be, so that "
        "the exponential of its score, after the division, drowns the rest?",
    ),
    draw=lambda d: (d.integers(d.S, d.T), d.S, d.normal(d.S, d.V)),
    trials=({}, EQUAL, {"S": 100, "T": 7}, {"S": 100, "T": 1}),
    ask=found,
    properties=[
        Property(
            "the scores are so large that what is not wanted gets less than a "
            "billionth of the weight",
            far_above,
        ),
    ],
    law="A soft dictionary becomes a hard one when scores grow apart.",
    right=[
        """
        # Two numbers are enough: keys on a circle, and a large factor.
        angles = torch.arange(S, dtype=torch.float64) * 2 * torch.pi / S
        key = torch.stack([angles.cos(), angles.sin()], dim=-1)
        return 1e6 * key[wanted], key
        """,
        """
        # Places on a parabola: 2 w s - s * s is largest where s is w, by one at least.
        places = torch.arange(S, dtype=torch.float64)
        key = torch.stack([places, places**2], dim=-1)
        query = torch.stack([2 * places[wanted], -torch.ones(len(wanted))], dim=-1)
        return 100 * query, key
        """,
    ],
    wrong=[
        Wrong(
            "100.0 * S**0.5 * ",
            "",
            "the scores are too small, so that other values come in",
        ),
        Wrong(
            "torch.eye(S)",
            "torch.ones(S, S)",
            "all keys are equal, so that no query can tell them apart",
        ),
        Wrong("key[wanted]", "key[wanted - 1]", "each query finds the place before"),
        Wrong(
            "100.0 * S**0.5",
            "-100.0 * S**0.5",
            "the sign is turned, so that a query finds all but its key",
        ),
        Wrong(
            "key[wanted]",
            "key[: len(wanted)]",
            "query t finds place t, whatever is wanted; it should find wanted[t]",
        ),
        Wrong(
            "key[wanted]",
            "key",
            "there is a query for each key; there should be one for each place that is "
            "wanted",
        ),
        Wrong(
            "return query, key",
            "return key, query",
            "queries and keys are exchanged",
            hint="Which of the two is given first, and how many rows must it have?",
        ),
        Wrong(
            "query = 100.0 * S**0.5 * key[wanted]",
            "query = torch.zeros(len(wanted), S)\n"
            "    for t in wanted:\n"
            "        query[t, wanted[t]] = 1000",
            "the loop goes over the places that are wanted, and not over the queries",
            hint="for t in wanted gives the numbers in wanted. What gives the number "
            "of each query, together with the place it wants?",
        ),
        Wrong(
            "torch.eye(S)",
            "torch.arange(S)[:, None].float()",
            "each key is its number, so that the largest key has the largest score "
            "with every query",
            hint="Keys of one number lie on a line. For which query is a key in the "
            "middle the best?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "5 * ",
            "queries are 5 times their keys, which is too little for many "
            "keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "10 * ",
            "queries are 10 times their keys, which is too little for many "
            "keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "20 * ",
            "queries are 20 times their keys, which is too little for many "
            "keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "30 * ",
            "queries are 30 times their keys, which is too little for many "
            "keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "50 * ",
            "queries are 50 times their keys, which is too little for many "
            "keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "100 * ",
            "queries are 100 times their keys, which is too little for "
            "many keys: scores are divided by the root of D, and D is S here",
            hint="By what is a score divided, if keys have as many numbers as "
            "there are keys?",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "1 * S**0.5 * ",
            "the wanted score is 1, which leaves others more than a billionth each",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "5 * S**0.5 * ",
            "the wanted score is 5, which leaves others more than a billionth each",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "10 * S**0.5 * ",
            "the wanted score is 10, which leaves others more than a billionth each",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "15 * S**0.5 * ",
            "the wanted score is 15, which leaves others more than a billionth each",
        ),
        Wrong(
            "100.0 * S**0.5 * ",
            "20 * S**0.5 * ",
            "the wanted score is 20, which leaves others more than a billionth each",
        ),
        Wrong(
            "100.0 * S**0.5",
            "torch.inf",
            "a query is infinite times a row with zeros, and infinity "
            "times zero is nan",
        ),
        Wrong(
            "key[wanted]",
            "key[wanted + 1]",
            "each query asks for the place after the wanted one, and there "
            "is none after the last",
        ),
        Wrong(
            "torch.eye(S)",
            "torch.eye(len(wanted))",
            "there are as many keys as queries; there should be S",
        ),
        Wrong(
            "100.0 * S**0.5 * key[wanted]",
            "100.0 * S**0.5 * key[wanted.unique()]",
            "each wanted place is asked for once, in order, however often it is wanted",
        ),
        Wrong(
            "100.0 * S**0.5 * key[wanted]",
            "100.0 * S**0.5 * key[wanted[0]].expand(len(wanted), -1)",
            "all queries ask for the first place that is wanted",
        ),
        Wrong(
            "key[wanted]",
            "(1 - key[wanted])",
            "zeros and ones are exchanged in the queries",
            same_as="the sign is turned, so that a query finds all but its key",
        ),
        Wrong(
            "    key = torch.eye(S)\n    query = 100.0 * S**0.5 * key[wanted]\n",
            "    angles = torch.arange(S, dtype=torch.float64) * 2 * "
            "torch.pi / S\n"
            "    key = torch.stack([angles.cos(), angles.sin()], dim=-1)\n"
            "    query = 100 * key[wanted]\n",
            "keys lie on a circle, and a factor of 100 is too small to "
            "tell neighbours apart once there are many",
        ),
        Wrong(
            "    key = torch.eye(S)\n    query = 100.0 * S**0.5 * key[wanted]\n",
            "    angles = torch.arange(S, dtype=torch.float64) * 2 * "
            "torch.pi / S\n"
            "    key = torch.stack([angles.cos(), angles.sin()], dim=-1)\n"
            "    query = 1000 * key[wanted]\n",
            "keys lie on a circle, and a factor of 1000 is too small to "
            "tell neighbours apart once there are many",
        ),
        Wrong(
            "    key = torch.eye(S)\n    query = 100.0 * S**0.5 * key[wanted]\n",
            "    angles = torch.arange(S, dtype=torch.float64) * 2 * "
            "torch.pi / S\n"
            "    key = torch.stack([angles.cos(), angles.sin()], dim=-1)\n"
            "    query = 10000 * key[wanted]\n",
            "keys lie on a circle, and a factor of 10000 is too small to "
            "tell neighbours apart once there are many",
        ),
        Wrong(
            "key[wanted]",
            "torch.nn.functional.one_hot(wanted)",
            "one_hot makes as many columns as the largest wanted place needs; it "
            "should be told S",
        ),
        Wrong(
            "    key = torch.eye(S)\n    query = 100.0 * S**0.5 * key[wanted]\n",
            "    key = (torch.arange(S)[:, None] >> torch.arange(7)) & 1\n"
            "    query = 1000 * key[wanted]\n",
            "keys are binary numbers of zeros and ones, so that a key with more "
            "ones has a score as large",
            hint="With minus one in place of zero, which key fits a query best?",
        ),
        Wrong(
            "    return query, key\n",
            "    return query\n",
            "queries are given alone; keys are asked for, too",
        ),
        Wrong(
            "    key = torch.eye(S)\n    query = 100.0 * S**0.5 * key[wanted]\n",
            "    angles = torch.linspace(0, 2 * torch.pi, S, dtype=torch.float64)\n"
            "    key = torch.stack([angles.cos(), angles.sin()], dim=-1)\n"
            "    query = 1e6 * key[wanted]\n",
            "keys lie on a circle that is closed, so that the first and the last "
            "are the same",
        ),
        Wrong(
            "S**0.5",
            "len(wanted) ** 0.5",
            "queries grow by the root of how many there are; scores are divided "
            "by the root of D",
        ),
        Wrong(
            "    query = 100.0 * S**0.5 * key[wanted]\n",
            "    query = torch.zeros(len(wanted), S)\n    query[:, wanted] = 1e4\n",
            "each query asks for all places that are wanted: [:, wanted] is every "
            "row, and not one for each place",
        ),
    ],
    survivors={
        "0.5 -> 2.0": "larger scores do as well",
        "100.0 -> 201.0": "larger scores do as well",
        "S ** 0.5 -> S * 0.5": "larger scores do as well",
    },
    minutes=15,
)
