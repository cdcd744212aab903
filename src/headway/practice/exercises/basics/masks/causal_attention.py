"""Causal attention, one head

Write `forward(x)` of the module `CausalAttention`. Tokens x have shape (..., T, d_in),
with any number of axes in front; the result has shape (..., T, d_out).

Project, score, scale, hide the future, take the softmax, drop with `self.dropout`, and
mix the values. A text may have any length up to `context_length`, and no token may ever
see a later one. Scores may be large. The module must store no mask.
"""

from headway.practice import Exercise, Wrong

# --- your file ---
import torch
from torch import Tensor, nn


class CausalAttention(nn.Module):
    """One head of causal attention, with dropout on its weights in training."""

    def __init__(
        self, d_in: int, d_out: int, context_length: int, dropout: float
    ) -> None:
        super().__init__()
        self.context_length = context_length
        self.W_query = nn.Linear(d_in, d_out, bias=False)
        self.W_key = nn.Linear(d_in, d_out, bias=False)
        self.W_value = nn.Linear(d_in, d_out, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Give (..., T, d_out) for tokens (..., T, d_in)."""
        # --- write ---
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        T = x.shape[-2]
        future = torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)
        scores = scores.masked_fill(future, -torch.inf)
        weights = self.dropout(torch.softmax(scores, dim=-1))
        return weights @ value
        # --- written ---


if __name__ == "__main__":
    from headway import six_tokens

    words, inputs = six_tokens()
    torch.manual_seed(123)
    attend = CausalAttention(3, 2, context_length=6, dropout=0.0)
    print(attend(inputs).data)
    # tensor([[-0.4519,  0.2216],
    #         [-0.5874,  0.0058],
    #         [-0.6300, -0.0632],
    #         [-0.5675, -0.0843],
    #         [-0.5526, -0.0981],
    #         [-0.5299, -0.1081]])
# --- end of your file ---


def trained(rows, attend):  # type: ignore[no-untyped-def]
    """Count the weights that gradients reach."""
    if not isinstance(rows, Tensor) or not rows.requires_grad:
        return 0
    weights = [*attend.parameters()]
    try:
        found = torch.autograd.grad(rows.sum(), weights, allow_unused=True)
    except RuntimeError:  # what the way back needs was written over
        return 0
    return sum(one is not None for one in found)


def run(cls, x, W_query, W_key, W_value):  # type: ignore[no-untyped-def]
    attend = cls(*W_query.shape, x.shape[-2] + 2, 0.5).double()
    attend.W_query.weight.data = W_query.T.contiguous()
    attend.W_key.weight.data = W_key.T.contiguous()
    attend.W_value.weight.data = W_value.T.contiguous()
    torch.default_generator.manual_seed(2)
    drops = attend(x)
    learns = trained(drops, attend)
    attend.eval()
    kept = [one for one in vars(attend).values() if isinstance(one, Tensor)]
    kept += [*attend.buffers()]
    return {
        "the rows in eval": attend(x),
        "the rows in eval of one text without a batch": attend(x[0, :2]),
        "the rows in eval behind two axes": attend(torch.stack([x, x.flip(-1)])),
        "the row in eval of a single token": attend(x[:1, :1]),
        "the rows in training": drops,
        "what is trained": f"{learns} weights",
        "what is stored besides weights": "a tensor" if kept else "nothing",
        "what is saved": f"{len(attend.state_dict())} tensors",
    }


_FILL = "scores = scores.masked_fill(future, -torch.inf)"
_WEIGHTS = "weights = self.dropout(torch.softmax(scores, dim=-1))"

EXERCISE = Exercise(
    answer="CausalAttention",
    read=("basics/masks/#the-module-by-hand", "The module, by hand"),
    hints=(
        "Which section gave each step, and which of the steps depends on the length of "
        "the text that came in, and not on the longest that is allowed?",
        "triu(1) of a square of True is the future. masked_fill gives a new table of "
        "scores; dropout acts on weights, after the softmax.",
        "Make the square with torch.ones(T, T, dtype=torch.bool) for the T of this "
        "text, fill the scores with -torch.inf there, and keep what masked_fill gives.",
    ),
    # One token is all zeros, as padding may be, so that some scores are zero.
    draw=lambda d: (
        d.normal(d.B, d.T, d.E) * (torch.arange(d.T)[:, None] != 2),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
        d.normal(d.E, d.D),
    ),
    ask=run,
    law="No earlier row moves when a token changes, every later one does, texts do not "
    "mix, and a text may be cut short.",
    covers=("scaled_weights", "attention", "parameters"),
    right=[
        """
        # The book's own function, told what to do; dropout_p is zero in eval.
        from headway import attention

        return attention(
            self.W_query(x),
            self.W_key(x),
            self.W_value(x),
            causal=True,
            dropout_p=self.dropout.p if self.training else 0.0,
        )
        """,
        """
        # Row by row: slow, but the future of each query can be seen being cut off.
        T = x.shape[-2]
        scores = torch.einsum("...td,...sd->...ts", self.W_query(x), self.W_key(x))
        scores = scores * self.W_key.out_features ** -0.5
        for t in range(T):
            scores[..., t, t + 1 :] = -torch.inf
        weights = torch.nn.functional.dropout(
            scores.softmax(-1), self.dropout.p, self.training
        )
        return torch.einsum("...ts,...sd->...td", weights, self.W_value(x))
        """,
        """
        # Positions compared: the form that also fits a window, or tokens out of order.
        query, key, value = self.W_query(x), self.W_key(x), self.W_value(x)
        places = torch.arange(x.shape[-2], device=x.device)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        scores = torch.where(places <= places[:, None], scores, -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ value
        """,
    ],
    wrong=[
        Wrong(
            "scores = scores.masked_fill(future",
            "scores.masked_fill(future",
            "the result of masked_fill is lost, so nothing is hidden",
            exhibit="masks/#masked-fill-without-assignment",
            hint="masked_fill leaves its table alone and gives a new one. Where does "
            "the new one go?",
        ),
        Wrong(
            "        scores = scores.masked_fill",
            "        if self.training:\n            scores = scores.masked_fill",
            "the future is hidden in training only",
            exhibit="masks/#is-causal-only-in-training",
        ),
        Wrong(
            "T = x.shape[-2]",
            "T = self.context_length",
            "the mask is made for the longest text, and fits no shorter one",
            exhibit="triangles/#mask-not-cut-to-the-text",
            hint="The mask must be as large as the scores. How many tokens has this "
            "text?",
        ),
        Wrong(
            "T = x.shape[-2]",
            "T = x.shape[0]",
            "the first axis is taken for the tokens; it may be the texts",
        ),
        Wrong(
            "T = x.shape[-2]",
            "T = x.shape[1]",
            "x.shape[1] is taken for the tokens; in one text without a batch it is "
            "their width",
            hint="x.shape[-2] is the number of tokens, however many axes stand in "
            "front.",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(1, 2)",
            "transpose(1, 2) counts axes from the front; one text has only two",
            hint="Axes counted from the end are the same with a batch and without.",
        ),
        Wrong(
            "        future = torch.ones",
            "        self.future = future = torch.ones",
            "the module keeps its mask in an attribute or buffer; it should store none",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))",
            "torch.softmax(self.dropout(scores), dim=-1)",
            "scores are dropped, and not weights",
            exhibit="dropout/#dropout-before-softmax",
        ),
        Wrong(
            f"{_FILL}\n        {_WEIGHTS}",
            "scores = self.dropout(scores).masked_fill(future, -torch.inf)\n"
            "        weights = torch.softmax(scores, dim=-1)",
            "scores are dropped before the future is hidden, and no weights are",
            exhibit="dropout/#dropout-before-softmax",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))",
            "torch.softmax(scores, dim=-1)",
            "nothing is ever dropped",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))",
            "nn.functional.dropout(torch.softmax(scores, dim=-1), self.dropout.p)",
            "weights are dropped outside of training too",
            exhibit="dropout/#dropout-p-in-eval",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))\n"
            "        return weights @ value",
            "torch.softmax(scores, dim=-1)\n"
            "        return self.dropout(weights @ value)",
            "the result is dropped, and not the weights",
        ),
        Wrong(
            "return weights @ value",
            "return self.dropout(weights @ value)",
            "the result is dropped too, after the weights have been",
        ),
        Wrong(
            "return weights @ value",
            "return self.dropout(weights) @ value",
            "weights are dropped twice",
        ),
        Wrong(
            "triu(1)",
            "triu()",
            "a token does not see itself, and the first sees nothing",
            exhibit="triangles/#mask-hides-itself",
        ),
        Wrong("triu(1)", "triu(2)", "each token sees the next one too"),
        Wrong(
            "triu(1)",
            "tril()",
            "the mask says what may be seen, and masked_fill hides just that",
            exhibit="masks/#boolean-mask-inverted",
            hint="masked_fill fills where its mask is True. What should be True there?",
        ),
        Wrong(
            f"        {_FILL}\n        {_WEIGHTS}",
            "        weights = self.dropout(torch.softmax(scores, dim=-1).tril())",
            "weights are hidden after the softmax, and their sum is not one",
            exhibit="masks/#mask-after-softmax",
        ),
        Wrong(
            f"        {_FILL}\n        {_WEIGHTS}",
            "        weights = torch.softmax(scores, dim=-1).tril()\n"
            "        weights = weights / weights.sum(dim=-1, keepdim=True)\n"
            "        weights = self.dropout(weights)",
            "weights are hidden after the softmax and divided by their sum, which is "
            "zero where the future took it all",
            hint="If a later score is larger by a thousand, what is left of the "
            "weights before it? Hide scores, before the softmax.",
        ),
        Wrong("-torch.inf", "0.0", "hidden scores are set to zero, which is a score"),
        Wrong(
            "-torch.inf",
            "-1e4",
            "hidden scores are set to a number like -10000; others can be lower still",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=-2)",
            "the softmax goes down the columns, so that keys share out queries",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.permute(*range(key.ndim)[::-1])",
            ".T turns all axes around, those of the texts too; .mT turns the last two",
        ),
        Wrong(
            "triu(1)",
            "tril(-1)",
            "the triangle of the mask is flipped",
            exhibit="triangles/#mask-flipped",
        ),
        Wrong(
            " / key.shape[-1] ** 0.5",
            "",
            "scores are not scaled",
            exhibit="softmax/#no-scale",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ x.shape[-1] ** 0.5",
            "scores are scaled by the width of the tokens, and not of the keys",
            exhibit="softmax/#scaled-by-root-of-d-in",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "/ key.shape[-2] ** 0.5",
            "scores are divided by the root of the number of tokens, and not of the "
            "width of a key",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ x",
            "the tokens are mixed; their values should be",
        ),
        Wrong(
            "return weights @ value",
            "return nn.functional.scaled_dot_product_attention(\n"
            "            query, key, value, attn_mask=future\n        )",
            "PyTorch's function is given the future as attn_mask, in which True means "
            "that a key may be seen",
            exhibit="masks/#boolean-mask-inverted",
        ),
        Wrong(
            "scores = query @ key.mT",
            "query, key = key, query\n        scores = query @ key.mT",
            "queries and keys are swapped",
            exhibit="heads/#queries-and-keys-swapped",
        ),
        Wrong(
            "T = x.shape[-2]",
            "B, T, E = x.shape",
            "x is taken to have three axes; a single text has two",
            hint="x.shape[-2] is the number of tokens, however many axes stand in "
            "front.",
        ),
        Wrong(
            "        future = torch.ones",
            "        self.register_buffer('future', torch.ones(T, "
            "T).triu(1).bool())\n"
            "        future = torch.ones",
            "the mask is registered as a buffer that is saved; the module "
            "should store none",
        ),
        Wrong(
            "        future = torch.ones",
            "        self.register_buffer('future', torch.ones(1), "
            "persistent=False)\n"
            "        future = torch.ones",
            "the mask is registered as a buffer that is not saved",
            same_as="the module keeps its mask in an attribute or buffer; it "
            "should store none",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=1)",
            "the softmax runs over axis 1, which is the last of a single text only",
            hint="The last axis is -1, however many there are.",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=0)",
            "the softmax runs over the first axis, which are the texts",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores, dim=2)",
            "axes are counted from the front: axis 2 is the last of three only",
            same_as="transpose(1, 2) counts axes from the front; one text has only two",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(torch.softmax(scores, dim=-1), dim=-1)",
            "the softmax is taken twice, in which a weight of zero counts",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))",
            "self.dropout(scores)",
            "there is no softmax",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "scores.exp() / scores.exp().sum(dim=-1, keepdim=True)",
            "the largest score is not subtracted before the exponential, "
            "so that large ones overflow",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "torch.tensor(key.shape[-1]).sqrt()",
            "the root of D is taken of a tensor of 32 bits, which rounds "
            "the scores; D is a number of Python",
            hint="math.sqrt and ** 0.5 make numbers of Python.",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "key.shape[-1]",
            "scores are divided by D, and not by its root",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "key.shape[1] ** 0.5",
            "scores are divided by the root of axis 1, which is the width "
            "of a single text only",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "key.shape[0] ** 0.5",
            "scores are divided by the root of the first axis, which may be the texts",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "self.context_length ** 0.5",
            "scores are divided by the root of the longest length; it "
            "should be that of the width of a key",
        ),
        Wrong(
            "/ key.shape[-1] ** 0.5",
            "* key.shape[-1] ** 0.5",
            "scores are multiplied by sqrt(D), not divided",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "key.shape[-1] ** 1 / 2",
            "D ** 1 / 2 is read as (D ** 1) / 2, so that scores are "
            "divided by D and by 2",
        ),
        Wrong(
            "value = self.W_query(x), self.W_key(x), self.W_value(x)",
            "value = self.W_query(x), self.W_key(x), self.W_key(x)",
            "the keys' weights make the values too",
        ),
        Wrong(
            "value = self.W_query(x), self.W_key(x), self.W_value(x)",
            "value = self.W_query(x), self.W_query(x), self.W_value(x)",
            "the queries' weights make the keys too",
        ),
        Wrong(
            "value = self.W_query(x), self.W_key(x), self.W_value(x)",
            "value = self.W_key(x), self.W_key(x), self.W_value(x)",
            "the keys' weights make the queries too",
        ),
        Wrong(
            "value = self.W_query(x), self.W_key(x), self.W_value(x)",
            "value = self.W_query(x), self.W_value(x), self.W_key(x)",
            "keys and values are swapped",
        ),
        Wrong(
            "value = self.W_query(x), self.W_key(x), self.W_value(x)",
            "value = x, x, x",
            "the tokens themselves are queries, keys and values",
        ),
        Wrong(
            "        query, key, value = self",
            "        x = self.dropout(x)\n        query, key, value = self",
            "the tokens are dropped too, before the weights",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ self.dropout(value)",
            "the values are dropped too",
        ),
        Wrong(
            "return weights @ value",
            "return weights",
            "the weights are given, and nothing is mixed",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value, weights",
            "the weights are given besides the result; the result alone is asked for",
        ),
        Wrong(
            "return weights @ value",
            "return weights.mT @ value",
            "the weights are transposed before they mix",
        ),
        Wrong(
            "return weights @ value",
            "return weights @ value + x.mean()",
            "something is added to the result",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key",
            "the keys are not turned around by .mT, so that the product does not fit",
        ),
        Wrong(
            "query @ key.mT",
            "query @ key.transpose(0, 1)",
            "the first two axes of the keys are swapped, which are the "
            "last of a single text only",
        ),
        Wrong(
            "query @ key.mT",
            "torch.bmm(query, key.mT)",
            "torch.bmm takes three axes; a single text has two",
        ),
        Wrong(
            "query @ key.mT",
            "query @ query.mT",
            "queries are compared with each other; they should be with the keys",
            same_as="the queries' weights make the keys too",
        ),
        Wrong(
            _FILL,
            "scores = scores + future * -torch.inf",
            "a mask of zeros and ones is multiplied by minus infinity, and "
            "zero times infinity is nan",
        ),
        Wrong(
            _FILL,
            "scores = scores + future",
            "a mask with ones for the future is added",
        ),
        Wrong(
            _FILL,
            "scores = scores + ~future",
            "a mask of zeros and ones is added to the scores",
        ),
        Wrong(
            _FILL,
            "scores = scores - 1e4 * future",
            "10000 is taken off hidden scores, which may be larger still by more",
        ),
        Wrong(
            _FILL,
            "pass",
            "nothing is hidden",
            same_as="the result of masked_fill is lost, so nothing is hidden",
        ),
        Wrong(
            "-torch.inf",
            "torch.inf",
            "hidden scores are set to plus infinity; minus is missing",
        ),
        Wrong(
            "T = x.shape[-2]",
            "T = x.shape[-1]",
            "the width of the tokens is taken for their number",
        ),
        Wrong(
            "T = x.shape[-2]",
            "T, E = x.shape",
            "x is taken to have two axes; a batch has three",
        ),
        Wrong(
            "return weights @ value",
            "return nn.functional.scaled_dot_product_attention(\n"
            "            query, key, value, is_causal=True\n"
            "        )",
            "PyTorch's function is not told the rate of dropout",
            same_as="nothing is ever dropped",
        ),
        Wrong(
            "return weights @ value",
            "return nn.functional.scaled_dot_product_attention(\n"
            "            query, key, value\n"
            "        )",
            "PyTorch's function is told neither to hide the future nor to drop",
        ),
        Wrong(
            "return weights @ value",
            "return nn.functional.scaled_dot_product_attention(\n"
            "            query, key, value, attn_mask=~future, "
            "is_causal=True\n"
            "        )",
            "PyTorch's function is told of the mask and of is_causal, "
            "which it refuses together",
        ),
        Wrong(
            f"        {_FILL}\n        {_WEIGHTS}",
            "        weights = torch.softmax(self.dropout(scores), dim=-1).tril()",
            "scores are dropped, and weights are hidden after the softmax, "
            "where their sum is not one",
        ),
        Wrong(
            f"        {_FILL}\n        {_WEIGHTS}",
            "        weights = torch.softmax(scores, dim=-1).tril()",
            "weights are hidden after the softmax, so that their sum is "
            "not one, and nothing is dropped",
        ),
        Wrong(
            f"        {_FILL}\n        {_WEIGHTS}",
            "        weights = self.dropout(torch.softmax(scores.tril(), dim=-1))",
            "scores of the future are set to zero by tril, and zero is a score",
            same_as="hidden scores are set to zero, which is a score",
        ),
        Wrong(
            "        scores = scores.masked_fill",
            "        if not self.training:\n            scores = scores.masked_fill",
            "the future is hidden outside of training only",
        ),
        Wrong(
            "self.dropout(torch.softmax(scores, dim=-1))",
            "torch.softmax(scores, dim=-1)\n"
            "        if self.training:\n"
            "            weights = weights * (torch.rand_like(weights) > "
            "self.dropout.p)",
            "weights are dropped by hand, and what is kept does not grow",
        ),
        Wrong(
            "        return weights @ value",
            "        rows = weights @ value\n        self.train()\n        return rows",
            "the module is put back into training after the first call",
        ),
        Wrong(
            "        T = x.shape[-2]",
            "        B, T, E = x.shape if x.ndim == 3 else (1, *x.shape)",
            "x is taken to have two axes or three, and no more",
        ),
        Wrong(
            "        query, key, value = self.W_query(x), self.W_key(x), "
            "self.W_value(x)",
            "        x = x if x.ndim == 3 else x[None]\n"
            "        query, key, value = self.W_query(x), self.W_key(x), "
            "self.W_value(x)",
            "a single text gets an axis of texts, and keeps it in the result",
        ),
        Wrong(
            "        weights = self.dropout(torch.softmax(scores, dim=-1))",
            "        weights = nn.functional.dropout(torch.softmax(scores, dim=-1), "
            "0.1, self.training)",
            "weights are dropped at a rate of 0.1; it should be that of self.dropout",
        ),
        Wrong(
            "        return weights @ value",
            "        weights = weights / weights.sum(dim=-1, keepdim=True)\n"
            "        return weights @ value",
            "what dropout leaves is divided by its sum",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ value.flip(-2)",
            "values are given in reverse order",
        ),
        Wrong(
            "        return weights @ value",
            "        weights @ value",
            "nothing is returned: forward ends without a return",
        ),
        Wrong(
            "        return weights @ value",
            "        return (weights @ value).squeeze()",
            "axes of length one are squeezed away",
        ),
        Wrong(
            "        return weights @ value",
            "        return (weights @ value).mean(dim=-2)",
            "the mean over the tokens is given; each should have a row",
        ),
        Wrong(
            "        return weights @ value",
            "        return (weights @ value)[..., -1, :]",
            "only the row of the last token is given",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ value + value",
            "the values are added to the rows",
        ),
        Wrong(
            "        return weights @ value",
            "        return (weights @ value).mT",
            "the last two axes of the result are swapped",
        ),
        Wrong(
            "        scores = query @ key.mT",
            "        query, key = self.dropout(query), self.dropout(key)\n"
            "        scores = query @ key.mT",
            "queries and keys are dropped too",
        ),
        Wrong(
            "        weights = self.dropout(torch.softmax(scores, dim=-1))",
            "        weights = self.dropout(torch.softmax(scores, dim=-1)) / "
            "key.shape[-1] ** 0.5",
            "the weights are divided by the root of D as well",
        ),
        Wrong(
            "torch.ones(T, T, dtype=torch.bool, device=x.device).triu(1)",
            "torch.ones(T, T).triu(1)",
            "the mask holds numbers; masked_fill takes True and False",
        ),
        Wrong(
            "        scores = scores.masked_fill(future, -torch.inf)",
            "        for t in range(T):\n"
            "            scores[:, t, t + 1 :] = -torch.inf",
            "scores are taken to have three axes; those of a single text have two",
        ),
        Wrong(
            "        scores = scores.masked_fill(future, -torch.inf)",
            "        scores = scores.tril()\n"
            "        scores = scores.masked_fill(scores == 0, -torch.inf)",
            "all scores that are zero are hidden; a token that may be seen can have "
            "the score zero, too",
        ),
        Wrong(
            "        scores = scores.masked_fill(future, -torch.inf)",
            "        scores = scores.tril() + torch.full_like(scores, "
            "-torch.inf).tril(-1)",
            "a triangle of minus infinities is made by tril, which hides the past",
        ),
        Wrong(
            "        T = x.shape[-2]",
            "        T = self.context_length - 2",
            "the number of tokens is made of the longest length; it is that of x",
        ),
        Wrong(
            "        return weights @ value",
            "        F = nn.functional\n"
            "        p = self.dropout.p\n"
            "        return F.scaled_dot_product_attention(query, key, value, "
            "dropout_p=p, is_causal=True)",
            "PyTorch's function is told the rate of dropout outside of training too",
        ),
        Wrong(
            "        return weights @ value",
            "        F = nn.functional\n"
            "        p = self.dropout.p if self.training else 0.0\n"
            "        return F.scaled_dot_product_attention(query, key, value, "
            "dropout_p=p)",
            "PyTorch's function is not told to hide the future",
        ),
        Wrong(
            "        return weights @ value",
            "        F = nn.functional\n"
            "        p = self.dropout.p if self.training else 0.0\n"
            "        return F.scaled_dot_product_attention(query, key, value, "
            "dropout_p=p, is_causal=True, scale=1.0)",
            "PyTorch's function is told a scale of one",
        ),
        Wrong(
            "        return weights @ value",
            "        return weights @ self.W_value(value)",
            "values are projected twice",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores.flatten(-2), dim=-1).view_as(scores)",
            "one softmax runs over the whole table; each row should have its own",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "torch.softmax(scores.float(), dim=-1).to(value.dtype)",
            "the softmax is computed in 32 bits",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "(scores - scores.max()).exp() / (scores - "
            "scores.max()).exp().sum(dim=-1, keepdim=True)",
            "the largest of all scores is subtracted, so that rows of small ones "
            "vanish",
        ),
        Wrong(
            "torch.softmax(scores, dim=-1)",
            "(scores - scores.amax(-1, keepdim=True)).exp() / (scores - "
            "scores.amax(-1, keepdim=True)).exp().sum(dim=-1)",
            "the sums lie along the wrong axis: keepdim is missing",
        ),
        Wrong(
            "key.shape[-1] ** 0.5",
            "(key.shape[-1] * 0.5)",
            "scores are divided by half of D, since * stands where ** should",
        ),
        Wrong(
            "return weights @ value",
            "return (weights @ value).detach()",
            "rows are cut off from the weights, as by detach or no_grad, so that "
            "nothing is trained",
        ),
        Wrong(
            "return weights @ value",
            "return weights.detach() @ value",
            "the weights of attention are detached, so that only values are trained",
        ),
    ],
    minutes=15,
)
