"""What must hold of every attention. Each function asks one question of a subject."""

import copy
import itertools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from tests.properties.subjects import WIDTH, Subject, Weights
from tests.support.compare import close
from tests.support.sizes import B, T, draw


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
    weights, and what computes the scaled scores that they should come from.
    """
    x = x.clone()
    x[..., :T] = torch.eye(T)
    query, key, _ = weights(subject)
    value = torch.zeros_like(query)
    value[:, :T, :T] = value[:, :T, T : 2 * T] = torch.eye(T)
    module = subject.build((query, key, value), p).train(training)
    one, two, rest = heads(subject, module(x)).split([T, T, WIDTH - 2 * T], dim=-1)
    assert rest.eq(0).all()

    def scores() -> Tensor:
        return (x.unsqueeze(-3) @ query) @ (x.unsqueeze(-3) @ key).mT / math.sqrt(WIDTH)

    return one, two, scores


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
        result = with_the_same_seed(module, x)
        for s in range(1, T):
            changed = with_the_same_seed(module, torch.cat([x[:, :s], y[:, s:]], dim=1))
            moved = (changed[:, :s] - result[:, :s]).abs()
            assert (moved <= (0.0 if subject.exact else 1e-12)).all()


def with_the_same_seed(module: nn.Module, x: Tensor) -> Tensor:
    """Drop the same weights in each call, without spoiling what is drawn after it."""
    generator = torch.default_generator
    state = generator.get_state()
    try:
        generator.manual_seed(1)
        return module(x)
    finally:
        generator.set_state(state)


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
    one, _, of_all = shares(subject, tokens(subject, B))
    scores = of_all()
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
    torch.default_generator.manual_seed(1)
    full, _, _ = shares(subject, x)
    torch.default_generator.manual_seed(1)
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
    torch.default_generator.manual_seed(1)
    full, _, _ = shares(subject, x[:1])
    torch.default_generator.manual_seed(1)
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


Property = Callable[[Subject], None]
PROPERTIES: dict[Property, Callable[[Subject], bool]] = {
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
