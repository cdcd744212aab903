"""What a check leaves alone, what one can say to it, and what it says of errors."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headway import MultiHeadAttention
from headway._paths import shown
from headway.checks import Fact, check
from headway.checks.attention.found_facts import facts
from tests.checks.support.asking import evidence_of, refused, row, said
from tests.checks.support.right import MASKED, NAMED
from tests.support.attention_in_steps import SIZES, Attention, function, past
from tests.support.mistakes.mistake import EQUATION, LEAK, SUM
from tests.support.sizes import CONTEXT, D_IN, E, H

LONG = "context-length"

ATTEND = Attention(SIZES["five heads"], p=0.2)


# What is given is left as it was.


def everything(module: nn.Module) -> dict[str, Any]:
    kept = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    gradients = {name: p.grad for name, p in module.named_parameters()}
    plain = {
        f"{place}.{name}": value
        for place, part in module.named_modules()
        for name, value in vars(part).items()
        if not name.startswith("_")
    }
    return kept | {"gradients": gradients} | plain


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_module_is_left_as_it_was(dtype: torch.dtype, training: bool) -> None:
    module = MultiHeadAttention(D_IN, E, CONTEXT, 0.1, H).to(dtype).train(training)
    module(torch.randn(2, 7, D_IN, dtype=dtype)).sum().backward()
    gradients = {name: p.grad.clone() for name, p in module.named_parameters()}
    before = everything(module)
    assert check(module).ok
    after = everything(module)
    assert before.keys() == after.keys()
    for name, old in before.items():
        same = torch.equal if isinstance(old, Tensor) else lambda a, b: a == b
        if name != "gradients":
            assert same(old, after[name]), name
    for name, p in module.named_parameters():
        assert p.dtype == dtype
        assert torch.equal(p.grad, gradients[name])


def test_random_numbers_and_threads_are_left_as_they_were() -> None:
    threads = torch.get_num_threads()
    torch.manual_seed(5)
    state = torch.get_rng_state()
    torch.set_num_threads(2)
    try:
        check(ATTEND)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.is_grad_enabled()


def test_threads_are_put_back_after_an_error() -> None:
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        with pytest.raises(ValueError, match=r"division by zero at .*test_check\.py:"):
            check(lambda x: 1 / 0, d_in=3)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore:The .grad attribute")  # torch.compile reads it
def test_compiled_code_is_compiled_for_every_size() -> None:
    compiled = torch.compile(
        scaled_dot_product_attention, backend="eager", fullgraph=True, dynamic=False
    )

    def attend(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return compiled(query, key, value, is_causal=True)

    before = torch._dynamo.config.recompile_limit
    assert check(attend, d_in=D_IN, causal=True).ok
    assert torch._dynamo.config.recompile_limit == before


@pytest.mark.parametrize("mistaken", [True, False])
def test_two_checks_say_the_same(mistaken: bool) -> None:
    steps = {"drop": lambda m, w: m.dropout(w) + torch.rand(())} if mistaken else {}
    module = Attention(SIZES["two heads"], p=0.2, **steps)
    one = check(module)
    torch.manual_seed(77)
    other = check(copy.deepcopy(module))
    assert one == other
    assert one.ok is not mistaken


def test_the_weights_do_not_matter() -> None:
    torch.manual_seed(1)
    one = check(Attention(SIZES["two heads"]))
    assert one == check(Attention(SIZES["two heads"]))


def test_a_module_that_begins_with_zeros_is_seen_through() -> None:
    module = Attention(SIZES["two heads"], hide=lambda m, scores, mask: scores)
    for parameter in module.parameters():
        nn.init.zeros_(parameter)
    assert said(module, LEAK)[0] == "failed"


# What one can say to it.


def unnamed(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1) @ v


def test_the_future_can_be_told() -> None:
    assert check(unnamed).ok
    report = check(unnamed, causal=True)
    assert report.facts["future"] == Fact("hidden", "declared")
    assert row(report, LEAK).verdict == "failed"
    assert row(report, EQUATION).sentence == (
        "It is exactly what comes out when nothing is hidden."
    )


def test_what_behaves_as_if_it_hid_the_future_is_asked_to() -> None:
    def behaves(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        hidden = ~past(q.shape[2])
        scores = q @ k.mT / q.shape[-1] ** 0.5
        return scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v

    report = check(behaves)
    assert report.facts["future"] == Fact("hidden", "measured")
    assert report.ok


def test_a_function_of_pytorch_passes() -> None:
    report = check(scaled_dot_product_attention)
    assert report.ok
    assert {name: str(fact) for name, fact in report.facts.items()} == {
        "called": "f(query, key, value) (guessed)",
        "future": "seen (measured; say causal=True if that is wrong)",
        "sizes": "3 texts of 7 tokens, 42 wide",
        "type": "float64 on cpu",
        "heads": "2",
        "masks": "attn_mask (T, S), True may look (measured)",
    }


def test_facts_of_a_module() -> None:
    shown = facts(evidence_of(MASKED["both"](SIZES["five heads"])))
    assert {name: str(fact) for name, fact in shown.items()} == {
        "called": "m(x) (guessed)",
        # Its flag is read by a step that it holds, and by none of its methods.
        "future": "hidden (measured)",
        "sizes": "2 texts of 7 tokens, 17 wide",
        "type": "float64 on cpu",
        "heads": "5 (guessed)",
        "weights": "W_query.weight, W_key.weight, W_value.weight, out_proj.weight "
        "(guessed)",
        "masks": "attn_mask (T, S), True may look; "
        "key_padding_mask (B, S), True is hidden (measured)",
    }
    rotary = NAMED["rotary"](SIZES["five heads"])
    assert facts(evidence_of(rotary))["positions"] == Fact("inside", "guessed")
    windowed = facts(evidence_of(NAMED["window"](SIZES["five heads"])))
    assert windowed["window"] == Fact("3", "measured")


def test_a_context_can_be_told() -> None:
    options = {"context_length": 5, "causal": True}
    shown = facts(evidence_of(function(causal=True), **options))
    assert shown["sizes"].value.startswith("3 texts of 4 tokens")
    assert said(function(causal=True), LONG, **options) == (
        "passed",
        "It takes 6 tokens, one more than its context, correctly.",
    )


def test_a_context_that_is_very_long_is_not_tried() -> None:
    module = Attention(SIZES["two heads"])
    module.context_length = 100_000
    assert said(module, LONG) == (
        "not applicable",
        "A text of 100001 tokens would take too long.",
    )


def test_any_call_can_be_told() -> None:
    report = check(ATTEND, call="m(x)")
    assert report.ok
    assert report.facts["called"] == Fact("m(x)", "declared")


# What cannot be checked.


class Refusing(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(5, 5)

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("it does not want to")


HERE = shown(Path(__file__), Path.cwd())
LINE = Refusing.forward.__code__.co_firstlineno + 1


class Counting(Refusing):
    def forward(self, x: Tensor) -> Tensor:
        return x.long()


class Single(Attention):
    """It does not know 64 bits."""

    def forward(self, x: Tensor) -> Any:
        if x.dtype == torch.float64:
            raise NotImplementedError("no 64 bits here")
        return super().forward(x)


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (
            Refusing(),
            "Refusing must take tokens of shape (3, 7, 5), called as m(x); got "
            "RuntimeError: it does not want to at "
            f"{HERE}:{LINE}. If it takes another width, say d_in; "
            "if it wants another call, say call.",
        ),
        (
            Counting(),
            "call must say how Counting takes tokens of shape (texts, tokens, d_in), "
            'such as call="m(x, x, x)[0]"; '
            "got call=None, and m(x) raised no error, but returned torch.int64.",
        ),
    ],
    ids=["refuses", "no numbers"],
)
def test_what_cannot_be_checked_is_refused(target: Any, sentence: str) -> None:
    with refused(sentence):
        check(target)


def test_a_module_without_64_bits_is_checked_in_32() -> None:
    module = Single(SIZES["two heads"])
    assert facts(evidence_of(module))["type"] == Fact("float32 on cpu")
    assert said(module, EQUATION)[0] == "passed"


def test_an_error_within_a_property_is_a_failure() -> None:
    def call(m: Any, run: Any, x: Tensor) -> Tensor:
        if x.shape[1] == 1:
            raise IndexError("one token is too few.")
        return run(x)

    assert said(Attention(SIZES["two heads"], call=call), SUM) == (
        "failed",
        "It raised IndexError: one token is too few.",
    )


def test_what_is_random_is_said_once() -> None:
    module = Attention(
        SIZES["two heads"], call=lambda m, run, x: run(x) + torch.rand(()).to(x)
    )
    report = check(module)
    assert [one.id for one in report.failed] == ["eval"]
    assert row(report, EQUATION).sentence == (
        "Its answers are random, so they cannot be compared."
    )
