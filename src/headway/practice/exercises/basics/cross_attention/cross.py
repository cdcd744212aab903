"""One text asks another

Write `cross(x, memory, W_query, W_key, W_value)`: cross-attention of one head.

The T tokens of a text, `x` (B, T, E), ask; the S tokens of another, `memory`
(B, S, M), answer. The weights multiply from the right: W_query is (E, D), W_key is
(M, D), W_value is (M, V). The result is (B, T, V). Nothing is hidden. Scores may be
large.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor

from headway import attention


def cross(
    x: Tensor, memory: Tensor, W_query: Tensor, W_key: Tensor, W_value: Tensor
) -> Tensor:
    """Let x (B, T, E) ask memory (B, S, M), which gives (B, T, V)."""
    # --- write ---
    query = x @ W_query
    key = memory @ W_key
    value = memory @ W_value
    return attention(query, key, value)
    # --- written ---


if __name__ == "__main__":
    x, memory = torch.ones(1, 3, 2), torch.ones(1, 5, 4)
    weights = torch.ones(2, 6), torch.ones(4, 6), torch.ones(4, 7)
    print(cross(x, memory, *weights).shape)
    # torch.Size([1, 3, 7])
# --- end of your file ---


EXERCISE = Exercise(
    answer="cross",
    read=("basics/cross_attention/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Which text decides how many rows come out, and which one what is in them?",
        "Queries are made of the one that asks; keys and values of the other.",
        "Three products, then attention: two of the products begin with memory.",
    ),
    # Both texts are equally wide, so that a wrong one of the two is no error.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E),
        d.normal(d.B, d.S, d.E),
        d.normal(d.E, d.D) / d.E,
        d.normal(d.E, d.D) / d.E,
        d.normal(d.E, d.V),
    ),
    trials=({}, dict.fromkeys("BHGTSDVEW", 4), {"loud": 2.0}, {"loud": 12.0, "T": 1}),
    law="The order of the memory does not matter; that of the text that asks decides "
    "the order of the rows.",
    right=[
        """
        # Each step by hand; the memory is mixed first, and projected last.
        scores = (x @ W_query) @ (memory @ W_key).mT / W_query.shape[1] ** 0.5
        return torch.softmax(scores, dim=-1) @ memory @ W_value
        """,
        """
        # PyTorch's own function: fast, and its scale is the same.
        query, key, value = x @ W_query, memory @ W_key, memory @ W_value
        return torch.nn.functional.scaled_dot_product_attention(query, key, value)
        """,
        """
        # einsum names what is summed: b texts, t who ask, s who answer.
        scores = torch.einsum("btd,bsd->bts", x @ W_query, memory @ W_key)
        weights = (scores / W_key.shape[-1] ** 0.5).softmax(dim=-1)
        return torch.einsum("bts,bsv->btv", weights, memory @ W_value)
        """,
    ],
    wrong=[
        Wrong(
            "key = memory @ W_key",
            "key = x @ W_key",
            "keys are made of the text that asks",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = x @ W_value",
            "values are made of the text that asks",
        ),
        Wrong(
            "query = x @ W_query", "query = memory @ W_query", "the memory asks itself"
        ),
        Wrong(
            "query = x @ W_query\n    key = memory",
            "query = memory @ W_query\n    key = x",
            "the memory asks the text",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, causal=True)",
            "a causal mask is left in: a query may not see all of the memory",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=1.0)",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "key = memory @ W_key\n    value = memory @ W_value",
            "key = x @ W_key\n    value = x @ W_value",
            "the text asks itself, and the memory is not used",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-2) "
            "@ value",
            "the softmax runs over the queries",
            exhibit="softmax/#softmax-over-queries",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return query @ key.mT / key.shape[-1] ** 0.5 @ value",
            "there is no softmax",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(query, key, value, scale=1 / key.shape[-1])",
            "scores are divided by D, and not by its root, or scaled twice",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(query, key, value, scale=x.shape[-1] ** -0.5)",
            "the scale is that of the tokens' width, and not of the keys'",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = memory",
            "the values are not projected",
        ),
        Wrong(
            "value = memory @ W_value",
            "value = memory @ W_key",
            "the keys' weights make the values too",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(x, memory, memory)",
            "nothing is projected",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, dim=-1)",
            "the weights are given, and not the rows",
        ),
        Wrong(
            "    key = memory @ W_key",
            "    memory = torch.cat([memory, x], dim=1)\n    key = memory @ W_key",
            "the text is put behind the memory, so that it sees itself too",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "query = x @ W_query.T\n"
            "    key = memory @ W_key.T\n"
            "    value = memory @ W_value.T",
            "weights are transposed; that is for weights of nn.Linear, and these "
            "multiply from the right as they are",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "query = W_query(x)\n    key = W_key(memory)\n    value = W_value(memory)",
            "weights are called like layers; they are tensors",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "memory = memory[:1].expand_as(memory)\n"
            "    query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "all texts ask the memory of the first",
        ),
        Wrong(
            "query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "x = x[:1].expand_as(x)\n"
            "    query = x @ W_query\n"
            "    key = memory @ W_key\n"
            "    value = memory @ W_value",
            "the first text asks in place of all",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=memory.shape[1] ** -0.5)",
            "the scale is that of the number of tokens in the memory; it should be "
            "that of the width of keys",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=x.shape[1] ** -0.5)",
            "the scale is that of the number of tokens that ask; it should be that "
            "of the width of keys",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=value.shape[-1] ** -0.5)",
            "the scale is that of the width of values; it should be that of keys",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=key.shape[-1] ** 0.5)",
            "scores are multiplied by sqrt(D), not divided",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(key, query, value)",
            "keys and queries are handed over in the opposite order",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, value, key)",
            "values and keys are handed over in the opposite order",
        ),
        Wrong(
            "key = memory @ W_key\n    value = memory @ W_value",
            "key = memory @ W_value\n    value = memory @ W_key",
            "the weights of keys and values are exchanged",
            same_as="values and keys are handed over in the opposite order",
        ),
        Wrong(
            "query = x @ W_query\n    key = memory @ W_key",
            "query = x @ W_key\n    key = memory @ W_query",
            "the weights of queries and keys are exchanged",
        ),
        Wrong(
            "query = x @ W_query",
            "query = x @ W_key",
            "the keys' weights make the queries too",
        ),
        Wrong(
            "key = memory @ W_key",
            "key = memory @ W_query",
            "the queries' weights make the keys too",
        ),
        Wrong(
            "query = x @ W_query",
            "query = x",
            "the queries are not projected",
        ),
        Wrong(
            "key = memory @ W_key",
            "key = memory",
            "the keys are not projected",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, "
            "dim=0) @ value",
            "the softmax runs over the texts",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT, dim=-1) @ value / "
            "key.shape[-1] ** 0.5",
            "the scale comes after the softmax",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return x + attention(query, key, value)",
            "the text is added to what it gets, as in a block; attention gives "
            "what it gets alone",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return value.mean(dim=1, keepdim=True).expand(-1, x.shape[1], -1)",
            "the mean of the memory's values is given, as if all weights were equal",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query[:1], key[:1], value[:1]).expand(len(x), -1, -1)",
            "the first text's rows are given for all texts",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / x.shape[-1] ** 0.5, dim=-2) @ value",
            "the softmax runs over the queries, and the scale is that of the tokens' "
            "width",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT, dim=-2) @ value",
            "the softmax runs over the queries, and scores are not scaled",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return torch.softmax(query @ key.mT / key.shape[-1], dim=-2) @ value",
            "the softmax runs over the queries, and scores are divided by D, not by "
            "its root",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return attention(query, key, value).mT",
            "the last two axes of the result are swapped",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    key, value = key.flatten(0, 1), value.flatten(0, 1)\n"
            "    return attention(query, key.expand(len(x), -1, -1), "
            "value.expand(len(x), -1, -1))",
            "the memories of all texts are joined, so that a text asks those of others",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return attention(query, key, value).mean(dim=1)",
            "the mean over the tokens that ask is given; each should have a row",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return attention(query[:, -1:], key, value)",
            "only the last token asks",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return value[:, : x.shape[1]]",
            "each token gets the value at its own place of the memory, and nothing is "
            "asked",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    T = x.shape[1]\n    return attention(query, key[:, :T], value[:, :T])",
            "only as many tokens of the memory are seen as ask",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    may = torch.ones(x.shape[1], memory.shape[1], "
            "dtype=torch.bool).tril()\n"
            "    return attention(query, key, value, mask=may)",
            "a triangle from the upper left corner hides tokens of the memory",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    scores = query @ key.mT / key.shape[-1] ** 0.5\n"
            "    return scores.flatten(1).softmax(dim=-1).view_as(scores) @ value",
            "one softmax runs over the whole table; each query should have its own",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, "
            "dim=-1).mT @ value",
            "the weights are transposed before they mix",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    scores = query @ key.reshape(len(key), key.shape[2], -1) / "
            "key.shape[-1] ** 0.5\n"
            "    return torch.softmax(scores, dim=-1) @ value",
            "the keys are reshaped; they should be transposed",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    scores = query @ key.mT / key.shape[-1] ** 0.5\n"
            "    return scores / scores.sum(dim=-1, keepdim=True) @ value",
            "scores are divided by their sum, without the exponential",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    best = (query @ key.mT).argmax(dim=-1)\n"
            "    return torch.stack([one[at] for one, at in zip(value, best)])",
            "the best token's value alone is taken",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return torch.softmax(query @ key / key.shape[-1] ** 0.5, dim=-1) @ "
            "value",
            "the keys are not transposed",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return torch.softmax(query @ key.permute(2, 1, 0) / key.shape[-1] ** "
            "0.5, dim=-1) @ value",
            ".T turns all axes of the keys around, those of the texts too",
        ),
        Wrong(
            "    query = x @ W_query",
            "    query = W_query @ x",
            "W_query stands on the left; it multiplies from the right",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return attention(query, key, value), (query @ key.mT).softmax(dim=-1)",
            "the weights are given as well; the rows alone are asked for",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    attention(query, key, value)",
            "nothing is returned: the function ends without a return",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    return attention(query, key, value) / key.shape[-1] ** 0.5",
            "the rows are divided by the root of D as well",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    weights = torch.softmax(query @ key.mT / key.shape[-1] ** 0.5, "
            "dim=-1)\n"
            "    return torch.softmax(weights, dim=-1) @ value",
            "the softmax is taken twice",
        ),
        Wrong(
            "    return attention(query, key, value)",
            "    e = (query @ key.mT / key.shape[-1] ** 0.5).exp()\n"
            "    return e / e.sum(dim=-1, keepdim=True) @ value",
            "exponentials are taken of scores without their largest, and overflow",
        ),
        Wrong(
            "attention(query, key, value)",
            "attention(query, key, value, scale=2 / key.shape[-1])",
            "scores are divided by half of D, since * stands where ** should",
        ),
        Wrong(
            "return attention(query, key, value)",
            "return attention(query, key, value).squeeze()",
            "axes of length one are squeezed away",
        ),
    ],
    stars=2,
    minutes=6,
)
