"""One causal head: equal to the loops, to the figures, and to old checkpoints."""

import copy
import pickle

import pytest
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

import oracles
from compare import close, printed
from headway import CausalAttention, six_tokens
from sizes import CONTEXT, D_IN, B, H, T, V, draw

LEADING = pytest.mark.parametrize("leading", [(), (B,), (B, H), (B, 1, H)], ids=str)


def build(qkv_bias: bool = False, dropout: float = 0.0) -> CausalAttention:
    return CausalAttention(D_IN, V, CONTEXT, dropout, qkv_bias).double()


def saved_by_the_sources(module: CausalAttention, context: int) -> dict[str, Tensor]:
    """Make the checkpoint of a class that keeps its mask, one above the diagonal."""
    mask = {"mask": torch.triu(torch.ones(context, context), diagonal=1)}
    return mask | {
        name: draw(*weight.shape) for name, weight in module.named_parameters()
    }


@pytest.mark.parametrize("qkv_bias", [False, True])
@LEADING
def test_it_equals_the_loops(leading, qkv_bias) -> None:
    attend, x = build(qkv_bias), draw(*leading, T, D_IN)
    close(attend(x), oracles.self_attention(x, attend.state_dict(), causal=True))


@LEADING
def test_it_equals_pytorch_with_gradients(leading) -> None:
    attend, x = build(True), draw(*leading, T, D_IN).requires_grad_()
    query, key, value = attend.W_query(x), attend.W_key(x), attend.W_value(x)
    theirs = scaled_dot_product_attention(query, key, value, is_causal=True)
    ours = attend(x)
    close(ours, theirs)
    weight = draw(*ours.shape)
    inputs = (x, *attend.parameters())
    for a, b in zip(
        torch.autograd.grad((ours * weight).sum(), inputs),
        torch.autograd.grad((theirs * weight).sum(), inputs),
        strict=True,
    ):
        close(a, b)


@pytest.mark.parametrize("length", [1, T, CONTEXT])
def test_any_length_up_to_the_context(length: int) -> None:
    attend, x = build(), draw(length, D_IN)
    close(attend(x), oracles.self_attention(x, attend.state_dict(), causal=True))


def test_a_mask_is_built_where_the_tokens_are() -> None:
    attend, x = build(), draw(B, T, D_IN)
    with torch.device("meta"):
        assert attend(x).device == x.device


def test_the_dropout_is_the_one_that_was_asked_for() -> None:
    assert build(dropout=0.25).dropout.p == 0.25
    assert build(dropout=0.25).training


def test_the_dropout_layer_says_whether_it_acts() -> None:
    attend = CausalAttention(D_IN, V, CONTEXT, 0.5).double().eval()
    x = draw(B, T, D_IN)
    expected = attend(x)
    attend.dropout.train()
    assert not torch.equal(attend(x), attend(x))
    attend.train()
    attend.dropout.eval()
    assert torch.equal(attend(x), expected)


def test_no_mask_is_saved() -> None:
    assert [*build(True).state_dict()] == [
        "W_query.weight",
        "W_query.bias",
        "W_key.weight",
        "W_key.bias",
        "W_value.weight",
        "W_value.bias",
    ]


@pytest.mark.parametrize("qkv_bias", [False, True])
def test_a_checkpoint_with_a_mask_loads_and_is_left_alone(qkv_bias: bool) -> None:
    attend = build(qkv_bias)
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    before = {name: tensor.clone() for name, tensor in checkpoint.items()}
    assert str(attend.load_state_dict(checkpoint)) == "<All keys matched successfully>"
    assert [*checkpoint] == [*before]
    for name, tensor in checkpoint.items():
        assert torch.equal(tensor, before[name])
    x = draw(B, T, D_IN)
    close(attend(x), oracles.self_attention(x, checkpoint, causal=True))


def test_a_checkpoint_of_a_larger_model_loads() -> None:
    attend = build()
    model = torch.nn.Sequential(torch.nn.Identity(), attend)
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    inside = {f"1.{name}": tensor for name, tensor in checkpoint.items()}
    assert str(model.load_state_dict(inside)) == "<All keys matched successfully>"
    assert torch.equal(attend.W_key.weight, checkpoint["W_key.weight"])


@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.float16], ids=str)
def test_a_saved_mask_may_be_of_any_type(dtype: torch.dtype) -> None:
    attend = build()
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    checkpoint["mask"] = checkpoint["mask"].to(dtype)
    attend.load_state_dict(checkpoint)
    assert torch.equal(attend.W_key.weight, checkpoint["W_key.weight"])


def test_a_saved_mask_is_compared_where_it_is() -> None:
    attend = build()
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    with torch.device("meta"):
        attend.load_state_dict(checkpoint)
    assert torch.equal(attend.W_key.weight, checkpoint["W_key.weight"])


WRONG_MASKS = {
    "of another length": (lambda: torch.ones(T, T).triu(1), T * (T - 1) // 2),
    "of the past": (
        lambda: torch.ones(CONTEXT, CONTEXT).tril(),
        CONTEXT * (CONTEXT + 1) // 2,
    ),
    "with the diagonal": (
        lambda: torch.ones(CONTEXT, CONTEXT).triu(),
        CONTEXT * (CONTEXT + 1) // 2,
    ),
    "of minus infinity": (
        lambda: torch.full((CONTEXT, CONTEXT), -torch.inf).triu(1),
        "-inf",
    ),
    "of one axis": (lambda: torch.ones(CONTEXT), CONTEXT),
    "of no axis": (lambda: torch.ones(()), 1),
}


@pytest.mark.parametrize("kind", WRONG_MASKS)
def test_any_other_saved_mask_is_refused(kind: str) -> None:
    attend = build()
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    wrong, total = WRONG_MASKS[kind]
    checkpoint["mask"] = wrong()
    with pytest.raises(RuntimeError) as refusal:
        attend.load_state_dict(checkpoint)
    assert str(refusal.value) == (
        "Error(s) in loading state_dict for CausalAttention:\n"
        f"\tmask must be torch.ones({CONTEXT}, {CONTEXT}).triu(1); "
        f"got mask.shape={tuple(checkpoint['mask'].shape)}, mask.sum()={total}."
    )


def test_a_missing_weight_is_still_missed() -> None:
    attend = build()
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    del checkpoint["W_key.weight"]
    with pytest.raises(RuntimeError, match=r"Missing key.*W_key\.weight"):
        attend.load_state_dict(checkpoint)


def test_a_copy_loads_without_its_original() -> None:
    attend = build()
    checkpoint = saved_by_the_sources(attend, CONTEXT)
    twins = [copy.deepcopy(attend), pickle.loads(pickle.dumps(attend))]  # noqa: S301
    del attend
    x = draw(B, T, D_IN)
    for twin in twins:
        twin.load_state_dict(checkpoint)
        close(twin(x), oracles.self_attention(x, checkpoint, causal=True))
        checkpoint["mask"] = checkpoint["mask"].T
        with pytest.raises(RuntimeError, match=r"\tmask must be torch\.ones"):
            twin.load_state_dict(checkpoint)
        checkpoint["mask"] = checkpoint["mask"].T


def test_what_is_saved_loads_again(tmp_path) -> None:
    ours, theirs = build(True), build(True)
    torch.save(ours.state_dict(), tmp_path / "weights.pt")
    theirs.load_state_dict(torch.load(tmp_path / "weights.pt", weights_only=True))
    x = draw(B, T, D_IN)
    assert torch.equal(theirs(x), ours(x))


def test_figure_e34_and_the_last_row_of_a21() -> None:
    rows = [
        [-0.4519, 0.2216],
        [-0.5874, 0.0058],
        [-0.6300, -0.0632],
        [-0.5675, -0.0843],
        [-0.5526, -0.0981],
        [-0.5299, -0.1081],
    ]
    inputs = six_tokens().vectors
    torch.manual_seed(123)
    attend = CausalAttention(3, 2, context_length=6, dropout=0.0)
    printed(attend(torch.stack([inputs, inputs])).detach(), [rows, rows])


def test_weights_are_made_where_and_how_one_says() -> None:
    module = CausalAttention(
        D_IN, V, CONTEXT, 0.0, True, device="meta", dtype=torch.bfloat16
    )
    for weight in module.parameters():
        assert (weight.device.type, weight.dtype) == ("meta", torch.bfloat16)
