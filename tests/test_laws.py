"""What every attention must obey, and wrong attention that each law finds out.

A leak, a wrong axis or a lost scale changes no shape and seldom a training curve. So
each law is a function that asks one question of any subject, and below it stand small
mistakes, most of them found in published code, that the laws must catch.
"""

import copy
import itertools
import math
from collections.abc import Callable
from typing import NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, scaled_dot_product_attention

import headway
from compare import close
from headway import (
    CausalAttention,
    MultiHeadAttention,
    MultiHeadAttentionWrapper,
    SelfAttentionV1,
    SelfAttentionV2,
    attention,
    attention_scores,
    attention_weights,
    causal_mask,
    context_vectors,
    from_gpt2,
    from_heads,
    from_torch,
    fused_attention,
    hide_by_minus_infinity,
    hide_by_renormalising,
    masked_softmax,
    merge_heads,
    naive_softmax,
    similarity_scores,
    split_heads,
    stable_softmax,
    to_torch,
)
from sizes import B, H, S, T, V, draw

WIDTH = 17  # of a head; wide enough to write every token's number into it twice
D_IN = 23
Weights = tuple[Tensor, Tensor, Tensor]  # queries, keys, values: (heads, d_in, WIDTH)


class Subject(NamedTuple):
    """Something that attends, and what is to be expected of it."""

    build: Callable[[Weights, float], nn.Module]
    causal: bool = False
    heads: int = 1
    d_in: int = D_IN
    drops: bool = False
    tied: bool = False  # the tokens are queries, keys and values; there are no weights
    exact: bool = True  # the future cancels to the last bit, however loud it is


# How to build each subject from given matrices.


class OnWeights(nn.Module):
    """Any function of queries, keys and values, with weights, as a module."""

    def __init__(self, function: Callable[..., Tensor], weights: Weights, p: float):
        super().__init__()
        self.function, self.p = function, p
        self.weights = nn.ParameterList(weights)

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        p = self.p if self.training else 0.0
        return torch.cat(self.function(q, k, v, p).unbind(-3), dim=-1)


class Tied(nn.Module):
    """Any function of tokens alone, as a module."""

    def __init__(self, function: Callable[[Tensor], Tensor]):
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Tensor:
        return self.function(x)


class CausalPyTorch(nn.Module):
    """PyTorch's module, told not to look ahead."""

    def __init__(self, inner: nn.MultiheadAttention):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        mask = ~causal_mask(x.shape[-2])
        return self.inner(x, x, x, attn_mask=mask, need_weights=False)[0]


def function(attend: Callable[..., Tensor], **expected: bool) -> Subject:
    """Make a subject of a function of (query, key, value, dropout_p)."""
    return Subject(lambda w, p: OnWeights(attend, w, p), **{"heads": H} | expected)


def in_layers(module: nn.Module, weights: Weights, bias: bool = False) -> None:
    """Write the matrices, heads below each other, into the module's layers."""
    for name, matrices in zip(("W_query", "W_key", "W_value"), weights, strict=True):
        layer = module.get_submodule(name)
        layer.weight = nn.Parameter(torch.cat([*matrices.mT]))
    if hasattr(module, "out_proj"):
        nn.init.eye_(module.out_proj.weight)
        nn.init.zeros_(module.out_proj.bias)


def v1(weights: Weights, p: float) -> nn.Module:
    module = SelfAttentionV1(D_IN, WIDTH).double()
    for name, matrices in zip(("W_query", "W_key", "W_value"), weights, strict=True):
        setattr(module, name, nn.Parameter(matrices[0].clone()))
    return module


def v2(weights: Weights, p: float) -> nn.Module:
    module = SelfAttentionV2(D_IN, WIDTH).double()
    in_layers(module, weights)
    return module


def one_head(weights: Weights, p: float) -> CausalAttention:
    module = CausalAttention(D_IN, WIDTH, T, p).double()
    in_layers(module, weights)
    return module


def stacked(weights: Weights, p: float) -> MultiHeadAttentionWrapper:
    module = MultiHeadAttentionWrapper(D_IN, WIDTH, T, p, num_heads=H).double()
    for h, head in enumerate(module.heads):
        in_layers(head, tuple(matrices[h : h + 1] for matrices in weights))
    return module


def split(**options) -> Callable[[Weights, float], MultiHeadAttention]:
    def build(weights: Weights, p: float) -> MultiHeadAttention:
        d_in = weights[0].shape[1]
        module = MultiHeadAttention(d_in, H * WIDTH, T, p, H, **options).double()
        in_layers(module, weights)
        return module

    return build


def in_pytorch(weights: Weights, p: float) -> nn.MultiheadAttention:
    return to_torch(split()(weights, p))


def in_gpt2(weights: Weights, p: float) -> MultiHeadAttention:
    columns = [torch.cat([*matrices], dim=-1) for matrices in weights]
    E = H * WIDTH
    state = {
        "c_attn.weight": torch.cat(columns, dim=-1),
        "c_attn.bias": torch.zeros(3 * E).double(),
        "c_proj.weight": torch.eye(E).double(),
        "c_proj.bias": torch.zeros(E).double(),
    }
    return from_gpt2(state, H, T)


def scaled(query: Tensor, key: Tensor) -> Tensor:
    return attention_scores(query / math.sqrt(WIDTH), key)


def hiding(hide: Callable[[Tensor, Tensor], Tensor]) -> Subject:
    def attend(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
        return hide(scaled(q, k), causal_mask(T)) @ v

    return function(attend, causal=True)


def sharing(softmax: Callable[[Tensor], Tensor]) -> Subject:
    return function(lambda q, k, v, p: softmax(scaled(q, k)) @ v)


def by_similarity(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Go through the tables one by one: it takes one set of inputs at a time."""
    tables = zip(*(x.reshape(-1, T, WIDTH) for x in (q, k, v)), strict=True)
    results = [
        torch.softmax(similarity_scores(q, k) / math.sqrt(WIDTH), dim=-1) @ v
        for q, k, v in tables
    ]
    return torch.stack(results).reshape(v.shape)


def without_weights(x: Tensor) -> Tensor:
    texts = [context_vectors(text, text) for text in x.reshape(-1, T, D_IN)]
    return torch.stack(texts).reshape(x.shape)


def by_hand(q: Tensor, k: Tensor, v: Tensor, p: float) -> Tensor:
    """Take the heads apart and join them by the two functions for it."""
    q, k, v = (split_heads(merge_heads(x), H) for x in (q, k, v))
    return attention(q, k, v, mask=causal_mask(T), dropout_p=p)


def masked(attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda q, k, v, p: attend(q, k, v, mask=causal_mask(T), dropout_p=p)


def unmasked(attend: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda q, k, v, p: attend(q, k, v, dropout_p=p)


# A public name stands before the colon.
SUBJECTS = {
    "similarity_scores": function(by_similarity),
    "naive_softmax": sharing(naive_softmax),
    "stable_softmax": sharing(stable_softmax),
    "context_vectors": Subject(lambda w, p: Tied(without_weights), tied=True),
    "attention_scores": sharing(lambda scores: scores.softmax(dim=-1)),
    "masked_softmax": hiding(masked_softmax),
    "masked_softmax: no mask": sharing(masked_softmax),
    "attention_weights": function(
        lambda q, k, v, p: attention_weights(q, k, mask=causal_mask(T)) @ v, causal=True
    ),
    "attention_weights: no mask": function(
        lambda q, k, v, p: attention_weights(q, k) @ v
    ),
    "attention": function(masked(attention), causal=True, drops=True),
    "attention: no mask": function(unmasked(attention), drops=True),
    "fused_attention": function(masked(fused_attention), causal=True, drops=True),
    "fused_attention: no mask": function(unmasked(fused_attention), drops=True),
    "fused_attention: causal": function(
        lambda q, k, v, p: fused_attention(q, k, v, causal=True, dropout_p=p),
        causal=True,
        drops=True,
    ),
    "attention: causal": function(
        lambda q, k, v, p: attention(q, k, v, causal=True, dropout_p=p),
        causal=True,
        drops=True,
    ),
    "SelfAttentionV1": Subject(v1),
    "SelfAttentionV2": Subject(v2),
    "hide_by_renormalising": hiding(hide_by_renormalising)._replace(exact=False),
    "hide_by_minus_infinity": hiding(hide_by_minus_infinity),
    "CausalAttention": Subject(one_head, causal=True, drops=True),
    "MultiHeadAttentionWrapper": Subject(stacked, causal=True, heads=H, drops=True),
    "split_heads": function(by_hand, causal=True, drops=True),
    "merge_heads": function(by_hand, causal=True, drops=True),
    "MultiHeadAttention": Subject(split(), causal=True, heads=H, drops=True),
    "MultiHeadAttention: plain": Subject(
        split(attend=attention), causal=True, heads=H, drops=True
    ),
    "from_heads": Subject(
        lambda w, p: from_heads(stacked(w, p)),
        causal=True,
        heads=H,
        drops=True,
    ),
    "to_torch": Subject(
        lambda w, p: CausalPyTorch(in_pytorch(w, p)),
        causal=True,
        heads=H,
        d_in=H * WIDTH,
        drops=True,
    ),
    "from_torch": Subject(
        lambda w, p: from_torch(in_pytorch(w, p), T),
        causal=True,
        heads=H,
        d_in=H * WIDTH,
        drops=True,
    ),
    "from_gpt2": Subject(in_gpt2, causal=True, heads=H, d_in=H * WIDTH),
}

NO_ATTENTION = {
    "Example",
    "six_tokens",
    "nine_words",
    "six_by_rows",
    "quick_brown_fox",
    "Vocabulary",
    "embed",
    "causal_mask",
    "padding_mask",
    "AttentionFunction",
}


def test_every_public_name_is_under_the_laws_or_has_no_attention() -> None:
    under = {name.split(":")[0] for name in SUBJECTS}
    assert not under & NO_ATTENTION
    assert under | NO_ATTENTION == set(headway.__all__)


# The laws. Each asks one question of a subject.


def weights(subject: Subject) -> Weights:
    """Draw matrices that give queries, keys and values of about unit size."""
    spread = math.sqrt(subject.d_in)
    return tuple(draw(subject.heads, subject.d_in, WIDTH) / spread for _ in range(3))


def tokens(subject: Subject, *leading: int) -> Tensor:
    # Without a scale, long tokens would each see nothing but themselves.
    return draw(*leading, T, subject.d_in) * (0.5 if subject.tied else 1.0)


def heads(subject: Subject, result: Tensor) -> Tensor:
    """Bring the heads before the tokens."""
    return result.unflatten(-1, (subject.heads, -1)).transpose(-3, -2)


def shares(subject: Subject, x: Tensor, p: float = 0.0, training: bool = False):
    """Read the weights off the result: each value says which token it is, twice.

    The first T numbers of a token are one at its own place and zero elsewhere, and the
    values copy them. Queries and keys use all numbers. Returns both copies of the
    weights and the scaled scores that they should come from.
    """
    x = x.clone()
    x[..., :T] = torch.eye(T)
    query, key, _ = weights(subject)
    value = torch.zeros_like(query)
    value[:, :T, :T] = value[:, :T, T : 2 * T] = torch.eye(T)
    module = subject.build((query, key, value), p).train(training)
    one, two, rest = heads(subject, module(x)).split([T, T, WIDTH - 2 * T], dim=-1)
    assert rest.eq(0).all()
    scores = (x.unsqueeze(-3) @ query) @ (x.unsqueeze(-3) @ key).mT
    return one, two, scores / math.sqrt(WIDTH)


def visible(subject: Subject) -> Tensor:
    everything = torch.ones(T, T, dtype=torch.bool)
    return everything.tril() if subject.causal else everything


def the_future_moves_nothing(subject: Subject) -> None:
    """Change tokens wildly; the rows before them may not move by a single bit."""
    volumes = (1, 1e3) if subject.exact else (1,)
    modes = [(True, 0.0), (True, 0.5), (False, 0.5)]
    for (training, p), before, after in itertools.product(modes, volumes, volumes):
        module = subject.build(weights(subject), p).train(training)
        x, y = before * tokens(subject, B), after * tokens(subject, B)
        result = with_the_same_luck(module, x)
        for s in range(1, T):
            changed = with_the_same_luck(module, torch.cat([x[:, :s], y[:, s:]], dim=1))
            moved = (changed[:, :s] - result[:, :s]).abs()
            assert (moved <= (0.0 if subject.exact else 1e-12)).all()


def with_the_same_luck(module: nn.Module, x: Tensor) -> Tensor:
    """Drop the same weights in each call, without spoiling what is drawn after it."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        return module(x)


def every_visible_token_counts(subject: Subject) -> None:
    """Change one token; every row that may see it moves, in every head."""
    module = subject.build(weights(subject), 0.0)
    x = tokens(subject, B)
    before = module(x)
    for s in range(T):
        changed = x.clone()
        changed[:, s] += 0.5 * tokens(subject, B)[:, s]
        moved = heads(subject, module(changed) - before).abs().amax(dim=-1)
        assert moved[..., visible(subject)[:, s]].gt(1e-6).all()


def shares_sum_to_one(subject: Subject) -> None:
    one, two, _ = shares(subject, tokens(subject, B))
    assert torch.equal(one, two)
    close(one.sum(dim=-1), torch.ones(B, subject.heads, T).double())
    assert one[..., visible(subject)].gt(0).all()
    assert one[..., ~visible(subject)].eq(0).all()


def shares_follow_the_scaled_scores(subject: Subject) -> None:
    """The log of a ratio of shares is the difference of scores over sqrt(width)."""
    one, _, scores = shares(subject, tokens(subject, B))
    for t in range(T):
        keys = visible(subject)[t]
        share, score = one[..., t, keys].log(), scores[..., t, keys]
        close(share - share[..., :1], score - score[..., :1], 1e-9)


def a_shift_of_all_scores_changes_nothing(subject: Subject) -> None:
    """Add the same to all keys: it adds the same to all scores of a query."""
    query, key, value = weights(subject)
    x = tokens(subject, B)
    x[..., 0] = 1.0  # so the first row of a matrix is added to every token
    before = subject.build((query, key, value), 0.0)(x)
    key[:, 0] += 3 * draw(subject.heads, WIDTH)
    close(subject.build((query, key, value), 0.0)(x), before, 1e-11)
    query[:, 0] += 3 * draw(subject.heads, WIDTH)
    moved = (subject.build((query, key, value), 0.0)(x) - before).abs()
    assert moved[:, 1:].amax(dim=-1).gt(1e-6).all()


def contexts_lie_between_the_values(subject: Subject) -> None:
    matrices = weights(subject)
    x = tokens(subject, B)
    values = x.unsqueeze(-3) if subject.tied else x.unsqueeze(-3) @ matrices[2]
    lowest, highest = values.cummin(dim=-2)[0], values.cummax(dim=-2)[0]
    if not subject.causal:
        lowest, highest = lowest[..., -1:, :], highest[..., -1:, :]
    context = heads(subject, subject.build(matrices, 0.0)(x))
    assert (context >= lowest - 1e-12).all()
    assert (context <= highest + 1e-12).all()


def texts_do_not_touch_each_other(subject: Subject) -> None:
    for training in (True, False):
        module = subject.build(weights(subject), 0.0).train(training)
        x = tokens(subject, 3)
        before = module(x)
        for text in range(3):
            changed = x.clone()
            changed[text] = 1e3 * tokens(subject)
            others = torch.arange(3) != text
            after = module(changed)
            assert torch.equal(after[others], before[others])
            assert not torch.equal(after[text], before[text])


def a_batch_is_each_text_alone(subject: Subject) -> None:
    module = subject.build(weights(subject), 0.0)
    x = tokens(subject, 3)
    result = module(x)
    for text in range(3):
        close(module(x[text]), result[text])
        close(module(x[text:]), result[text:])


def the_past_has_no_order(subject: Subject) -> None:
    """Without positions a query cannot know in which order its past stood."""
    module = subject.build(weights(subject), 0.0)
    x = tokens(subject, B)
    before = module(x)
    for t in range(2, T):
        shuffled = x.clone()
        shuffled[:, :t] = x[:, torch.randperm(t)]
        close(module(shuffled)[:, t], before[:, t])


def order_only_orders_the_result(subject: Subject) -> None:
    module = subject.build(weights(subject), 0.0)
    x, order = tokens(subject, B), torch.randperm(T)
    close(module(x[:, order]), module(x)[:, order])


def dropout_is_off_in_use(subject: Subject) -> None:
    matrices, x = weights(subject), tokens(subject, B)
    without = subject.build(matrices, 0.0).eval()(x)
    module = subject.build(matrices, 0.5)
    assert not torch.equal(module(x), module(x))
    state = torch.get_rng_state()
    assert torch.equal(module.eval()(x), module(x))
    assert torch.equal(state, torch.get_rng_state())
    close(module(x), without)


def dropout_drops_whole_shares(subject: Subject) -> None:
    """A share is dropped or grows by 1/(1-p), for all numbers of its value at once.

    Which ones are dropped differs between keys, queries, heads and texts.
    """
    x = tokens(subject).expand(100, T, subject.d_in)
    torch.manual_seed(1)
    full, _, _ = shares(subject, x)
    torch.manual_seed(1)
    one, two, _ = shares(subject, x, p=0.3, training=True)
    assert torch.equal(one, two)
    kept = one != 0
    close(one, torch.where(kept, full / 0.7, 0.0))
    assert kept[..., visible(subject)].any()
    assert (kept[..., -1, 1:] != kept[..., -1, :-1]).any()
    assert (kept[..., -1, :-1] != kept[..., -2, :-1]).any()
    assert (kept[1:] != kept[:-1]).any()
    if subject.heads > 1:
        assert (kept[:, 1:] != kept[:, :-1]).any()


def dropout_keeps_the_mean(subject: Subject) -> None:
    """Average n texts: within six standard deviations of the share without dropout.

    A share is kept with chance 1-p and then w/(1-p), so its variance is w^2 p/(1-p),
    and the mean of n strays by w sqrt(p / ((1-p) n)).
    """
    n, p = 2000, 0.3
    x = tokens(subject).expand(n, T, subject.d_in)
    torch.manual_seed(1)
    full, _, _ = shares(subject, x[:1])
    torch.manual_seed(1)
    one, _, _ = shares(subject, x, p=p, training=True)
    strays = (one.mean(dim=0) - full[0]).abs()
    assert (strays <= 6 * full[0] * math.sqrt(p / ((1 - p) * n))).all()


def a_call_leaves_no_trace(subject: Subject) -> None:
    for training in (True, False):
        module = subject.build(weights(subject), 0.0).train(training)
        x = tokens(subject, B)
        x_before, rng = x.clone(), torch.get_rng_state()
        state = copy.deepcopy(module.state_dict())
        held = [sorted(part.__dict__) for part in module.modules()]
        first = module(x)
        assert torch.equal(module(x), first)
        assert torch.equal(x, x_before)
        assert torch.equal(torch.get_rng_state(), rng)
        assert [sorted(part.__dict__) for part in module.modules()] == held
        assert [*module.state_dict()] == [*state]
        for name, tensor in module.state_dict().items():
            assert torch.equal(tensor, state[name])


def every_precision_works(subject: Subject) -> None:
    """The type is kept, and the error is a few roundings of the largest number."""
    matrices = weights(subject)
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        module = subject.build(matrices, 0.0).to(dtype)
        x = tokens(subject, B).to(dtype)
        result = module(x)
        assert result.dtype == dtype
        exact = copy.deepcopy(module).double()(x.double())
        error = (result.double() - exact).abs().max()
        assert error <= 8 * torch.finfo(dtype).eps * x.abs().max()


Law = Callable[[Subject], None]
LAWS: dict[Law, Callable[[Subject], bool]] = {
    the_future_moves_nothing: lambda subject: subject.causal,
    every_visible_token_counts: lambda subject: True,
    shares_sum_to_one: lambda subject: not subject.tied,
    shares_follow_the_scaled_scores: lambda subject: not subject.tied,
    a_shift_of_all_scores_changes_nothing: lambda subject: not subject.tied,
    contexts_lie_between_the_values: lambda subject: True,
    texts_do_not_touch_each_other: lambda subject: True,
    a_batch_is_each_text_alone: lambda subject: True,
    the_past_has_no_order: lambda subject: subject.causal,
    order_only_orders_the_result: lambda subject: not subject.causal,
    dropout_is_off_in_use: lambda subject: subject.drops,
    dropout_drops_whole_shares: lambda subject: subject.drops,
    dropout_keeps_the_mean: lambda subject: subject.drops,
    a_call_leaves_no_trace: lambda subject: True,
    every_precision_works: lambda subject: True,
}


@pytest.mark.parametrize(
    ("law", "name"),
    [
        pytest.param(law, name, id=f"{law.__name__}: {name}")
        for law, applies in LAWS.items()
        for name, subject in SUBJECTS.items()
        if applies(subject)
    ],
)
def test_law(law: Law, name: str) -> None:
    law(SUBJECTS[name])


# Laws of functions that take a mask of their own.


MASKED = {
    "attention": attention,
    "fused_attention": fused_attention,
    "attention_weights": lambda q, k, v, mask: attention_weights(q, k, mask=mask) @ v,
    "masked_softmax": lambda q, k, v, mask: masked_softmax(scaled(q, k), mask) @ v,
}
Attend = Callable[..., Tensor]


def the_last_query_belongs_to_the_last_key(attend: Attend) -> None:
    """The newest queries alone get what they get among all."""
    q, k, v = draw(B, H, S, WIDTH), draw(B, H, S, WIDTH), draw(B, H, S, V)
    full = attend(q, k, v, mask=causal_mask(S))
    for newest in (1, T):
        some = attend(q[..., -newest:, :], k, v, mask=causal_mask(newest, S))
        close(some, full[..., -newest:, :])


def who_sees_nothing_gets_nothing(attend: Attend) -> None:
    """Rows without a key are zero, the others are as without those rows."""
    q, k, v = (draw(B, H, n, WIDTH).requires_grad_() for n in (T, S, S))
    mask = causal_mask(T, S).clone()
    full = attend(q, k, v, mask=mask)
    mask[3] = False
    context = attend(q, k, v, mask=mask)
    assert context[..., 3, :].eq(0).all()
    others = torch.arange(T) != 3
    close(context[..., others, :], full[..., others, :])
    context.sum().backward()
    assert q.grad[..., 3, :].eq(0).all()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all()


def a_hidden_key_might_as_well_not_exist(attend: Attend) -> None:
    q, k, v = (draw(B, H, n, WIDTH).requires_grad_() for n in (T, S, S))
    mask = torch.arange(S) % 3 != 1
    context = attend(q, k, v, mask=mask.unsqueeze(0))
    few = mask[mask].unsqueeze(0)
    close(context, attend(q, k[..., mask, :], v[..., mask, :], mask=few))
    context.sum().backward()
    for tensor in (k, v):
        assert tensor.grad[..., ~mask, :].eq(0).all()
        assert tensor.grad[..., mask, :].ne(0).all()


MASK_LAWS = [
    the_last_query_belongs_to_the_last_key,
    who_sees_nothing_gets_nothing,
    a_hidden_key_might_as_well_not_exist,
]


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("law", MASK_LAWS, ids=lambda law: law.__name__)
def test_law_of_masks(law: Callable[[Attend], None], name: str) -> None:
    law(MASKED[name])


# Small mistakes. Each must be caught by the laws named beside it.


def softmax(q, k, v, *, axis: int = -1, scale: float = WIDTH**-0.5, hide=None):
    """Attend correctly, unless told otherwise."""
    scores = scale * q @ k.mT
    if hide is None:
        scores = scores.masked_fill(~causal_mask(T), -torch.inf)
    else:
        scores = hide(scores)
    return scores.softmax(dim=axis)


def drop_the_masked_scores(scores: Tensor) -> Tensor:
    scores.masked_fill(~causal_mask(T), -torch.inf)  # a new tensor, and nobody has it
    return scores


def mask_after_the_softmax(q, k, v, p):
    return (softmax(q, k, v, hide=lambda scores: scores) * causal_mask(T)) @ v


def without_own_place(scores: Tensor) -> Tensor:
    visible = causal_mask(T).tril(-1)
    visible[0, 0] = True
    return scores.masked_fill(~visible, -torch.inf)


def mistake(wrong: Callable[..., Tensor], **expected) -> Subject:
    return function(wrong, causal=True, **expected)


def hide_wrongly(hide: Callable[[Tensor], Tensor]) -> Subject:
    return mistake(lambda q, k, v, p: softmax(q, k, v, hide=hide) @ v)


def drop_wrongly(wrong: Callable[..., Tensor]) -> Subject:
    return mistake(wrong, drops=True)


def of_one_pattern(weights: Tensor, axis: int, p: float) -> Tensor:
    """Drop the same for all places along an axis."""
    return weights * dropout(torch.ones_like(weights.narrow(axis, 0, 1)), p)


def split_by_a_reshape(x: Tensor) -> Tensor:
    return merge_heads(x).reshape(x.shape)


def merged_by_a_reshape(x: Tensor) -> Tensor:
    return split_heads(x.reshape(*x.shape[:-3], T, -1), H)


class NotInEval(OnWeights):
    """The mask is on in training only, as when a flag is bound to `self.training`."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        context = scaled_dot_product_attention(q, k, v, is_causal=self.training)
        return torch.cat(context.unbind(-3), dim=-1)


class KeepsItsWeights(OnWeights):
    """The weights stay on the module, to be looked at, and in memory."""

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = (x.unsqueeze(-3) @ matrix for matrix in self.weights)
        self.last = softmax(q, k, v)
        return torch.cat((self.last @ v).unbind(-3), dim=-1)


class ScalesItsInput(OnWeights):
    """An operation in place reaches the caller's tensor."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.mul_(0.5))


class CountsCalls(OnWeights):
    """A buffer that changes with each call."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.calls += 1
        return super().forward(x)


def correct(q, k, v, p):
    return dropout(softmax(q, k, v), p) @ v


def subclass(kind: type[OnWeights]) -> Subject:
    return Subject(lambda w, p: kind(correct, w, p), causal=True, heads=H)


MISTAKES: dict[str, tuple[Subject, list[Law]]] = {
    "the result of masked_fill is dropped": (
        hide_wrongly(drop_the_masked_scores),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "True means hidden": (
        hide_wrongly(lambda s: s.masked_fill(causal_mask(T), -torch.inf)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "the mask is transposed": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T).mT, -torch.inf)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "a float mask is added": (
        hide_wrongly(lambda s: s + causal_mask(T)),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "hidden is only -1e4": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T), -1e4)),
        [the_future_moves_nothing],
    ),
    "hidden is zero": (
        hide_wrongly(lambda s: s.masked_fill(~causal_mask(T), 0.0)),
        [shares_sum_to_one],
    ),
    "one's own place is hidden": (
        hide_wrongly(without_own_place),
        [every_visible_token_counts, shares_sum_to_one],
    ),
    "the past is forgotten after three tokens": (
        hide_wrongly(
            lambda s: s.masked_fill(~causal_mask(T).triu(-2), -torch.inf),
        ),
        [every_visible_token_counts, shares_sum_to_one],
    ),
    "the mask comes after the softmax": (
        mistake(mask_after_the_softmax),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "the mask is off in eval": (
        subclass(NotInEval),
        [the_future_moves_nothing],
    ),
    "softmax over the queries": (
        mistake(lambda q, k, v, p: softmax(q, k, v, axis=-2) @ v),
        [the_future_moves_nothing, shares_sum_to_one],
    ),
    "softmax over the heads": (
        mistake(
            lambda q, k, v, p: (
                (softmax(q, k, v, axis=-3, hide=lambda s: s) * causal_mask(T)) @ v
            )
        ),
        [
            shares_sum_to_one,
            a_shift_of_all_scores_changes_nothing,
            contexts_lie_between_the_values,
        ],
    ),
    "no scale": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1.0) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled twice": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1 / WIDTH) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled by the width of all heads": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=(H * WIDTH) ** -0.5) @ v),
        [shares_follow_the_scaled_scores],
    ),
    "scaled after the softmax": (
        mistake(lambda q, k, v, p: softmax(q, k, v, scale=1.0) @ v / WIDTH**0.5),
        [shares_sum_to_one, shares_follow_the_scaled_scores],
    ),
    "heads merged without the transpose": (
        mistake(lambda q, k, v, p: merged_by_a_reshape(correct(q, k, v, p))),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "heads split by a reshape": (
        mistake(lambda q, k, v, p: correct(*map(split_by_a_reshape, (q, k, v)), p)),
        [the_future_moves_nothing, every_visible_token_counts],
    ),
    "all heads use the first queries": (
        mistake(lambda q, k, v, p: correct(q[..., :1, :, :].expand_as(q), k, v, p)),
        [shares_follow_the_scaled_scores],
    ),
    "keys and values swapped": (
        mistake(lambda q, k, v, p: correct(q, v, k, p)),
        [shares_sum_to_one, contexts_lie_between_the_values],
    ),
    "the mean of the batch leaks in": (
        mistake(
            lambda q, k, v, p: correct(
                q, k, v if v.ndim == 3 else v - v.mean(0, keepdim=True), p
            )
        ),
        [texts_do_not_touch_each_other, a_batch_is_each_text_alone],
    ),
    "a position is added to the keys": (
        mistake(lambda q, k, v, p: correct(q, k + torch.arange(T)[:, None], v, p)),
        [the_past_has_no_order, shares_follow_the_scaled_scores],
    ),
    "a position is added, no mask": (
        function(
            lambda q, k, v, p: unmasked(attention)(
                q, k + torch.arange(T)[:, None], v, p
            )
        ),
        [order_only_orders_the_result],
    ),
    "values grow with the text": (
        mistake(lambda q, k, v, p: T * correct(q, k, v, p)),
        [contexts_lie_between_the_values],
    ),
    "always in 32 bits": (
        mistake(
            lambda q, k, v, p: correct(q.float(), k.float(), v.float(), p).double()
        ),
        [every_precision_works],
    ),
    "the type is not kept": (
        mistake(lambda q, k, v, p: correct(q, k, v, p).float()),
        [every_precision_works],
    ),
    "dropout in eval": (
        drop_wrongly(lambda q, k, v, p: dropout(softmax(q, k, v), 0.5) @ v),
        [dropout_is_off_in_use, a_call_leaves_no_trace],
    ),
    "no dropout at all": (
        drop_wrongly(lambda q, k, v, p: softmax(q, k, v) @ v),
        [dropout_is_off_in_use],
    ),
    "dropout of the context": (
        drop_wrongly(lambda q, k, v, p: dropout(softmax(q, k, v) @ v, p)),
        [dropout_drops_whole_shares],
    ),
    "dropout of the values": (
        drop_wrongly(lambda q, k, v, p: softmax(q, k, v) @ dropout(v, p)),
        [dropout_drops_whole_shares],
    ),
    "dropout of the scores": (
        drop_wrongly(
            lambda q, k, v, p: softmax(q, k, v, hide=lambda s: dropout(s, p)) @ v
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout without growth": (
        drop_wrongly(
            lambda q, k, v, p: (
                (softmax(q, k, v) * dropout(torch.ones(T, T), p).sign()) @ v
            )
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout, then renormalised": (
        drop_wrongly(
            lambda q, k, v, p: (
                nn.functional.normalize(dropout(softmax(q, k, v), p), p=1, dim=-1) @ v
            )
        ),
        [dropout_drops_whole_shares, dropout_keeps_the_mean],
    ),
    "dropout by the rate kept": (
        drop_wrongly(
            lambda q, k, v, p: dropout(softmax(q, k, v), 1 - p if p else p) @ v
        ),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all heads": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -3, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all queries": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -2, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all keys": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), -1, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "one dropout for all texts": (
        drop_wrongly(lambda q, k, v, p: of_one_pattern(softmax(q, k, v), 0, p) @ v),
        [dropout_drops_whole_shares],
    ),
    "weights are kept": (subclass(KeepsItsWeights), [a_call_leaves_no_trace]),
    "the input is changed": (subclass(ScalesItsInput), [a_call_leaves_no_trace]),
    "calls are counted": (subclass(CountsCalls), [a_call_leaves_no_trace]),
}


def test_without_a_mistake_every_law_holds() -> None:
    subject = function(correct, causal=True, drops=True)
    for law, applies in LAWS.items():
        if applies(subject):
            law(subject)


@pytest.mark.parametrize(
    ("law", "name"),
    [
        pytest.param(law, name, id=f"{law.__name__}: {name}")
        for name, (_, laws) in MISTAKES.items()
        for law in laws
    ],
)
def test_law_finds_the_mistake(law: Law, name: str) -> None:
    with pytest.raises(AssertionError):
        law(MISTAKES[name][0])


def test_every_law_finds_a_mistake() -> None:
    assert {law for _, laws in MISTAKES.values() for law in laws} == set(LAWS)


MASK_MISTAKES: dict[str, tuple[Attend, Callable[[Attend], None]]] = {
    "aligned to the first key": (
        lambda q, k, v, mask: attention(
            q,
            k,
            v,
            mask=mask if q.shape[-2] == S else torch.ones_like(mask).tril(),
        ),
        the_last_query_belongs_to_the_last_key,
    ),
    "nan for an empty row": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v
        ),
        who_sees_nothing_gets_nothing,
    ),
    "the mean for an empty row": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -1e300).softmax(dim=-1) @ v
        ),
        who_sees_nothing_gets_nothing,
    ),
    "nan hidden afterwards, still in the gradient": (
        lambda q, k, v, mask: (
            scaled(q, k).masked_fill(~mask, -torch.inf).softmax(dim=-1) @ v
        ).masked_fill(~mask.any(dim=-1, keepdim=True), 0.0),
        who_sees_nothing_gets_nothing,
    ),
    "hidden keys are counted": (
        lambda q, k, v, mask: (scaled(q, k).softmax(dim=-1) * mask) @ v,
        a_hidden_key_might_as_well_not_exist,
    ),
    "the mask hides queries": (
        lambda q, k, v, mask: attention(q, k, v, mask=mask.all(-1, keepdim=True)),
        a_hidden_key_might_as_well_not_exist,
    ),
}


@pytest.mark.parametrize("name", MASK_MISTAKES)
def test_law_of_masks_finds_the_mistake(name: str) -> None:
    wrong, law = MASK_MISTAKES[name]
    with pytest.raises(AssertionError):
        law(wrong)


def test_every_law_of_masks_finds_a_mistake() -> None:
    assert {law for _, law in MASK_MISTAKES.values()} == set(MASK_LAWS)
