"""Weights are brought to (out, in), however they are stored."""

import torch
from torch import nn

from headway.checks.attention.evidence.weights.layouts import (
    bias_of,
    biases,
    layouts,
    matrices,
)
from tests.support.sizes import D, E, H, draw


def weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(draw(*shape))


class Conv1D(nn.Module):
    """A layer that stores its matrix the other way round, as GPT-2 does."""

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        self.weight = weight(d_in, d_out)


def test_a_matrix_that_fits_both_ways_is_read_both_ways() -> None:
    module = nn.ParameterDict({"wide": weight(D, E), "square": weight(E, E)})
    wide, square = module["wide"].detach(), module["square"].detach()
    assert [*layouts(module, "wide", E)] == ["out, in"]
    assert [*layouts(module, "wide", D)] == ["in, out"]
    assert layouts(module, "wide", H) == {}
    forms = layouts(module, "square", E)
    assert torch.equal(forms["in, out"], square.T)
    assert torch.equal(forms["out, in"], square)
    both = matrices(module, ["wide", "square"], E)
    assert [*both] == ["out, in"]
    assert torch.equal(both["out, in"], torch.cat([wide, square]))
    turned = matrices(module, ["square", "wide"], E)
    assert [*turned] == ["out, in"]
    assert torch.equal(turned["out, in"], torch.cat([square, wide]))
    assert matrices(module, [], E) == {}


def test_a_layer_says_which_way_its_matrix_is() -> None:
    module = nn.ModuleDict({"linear": nn.Linear(E, E), "gpt2": Conv1D(E, E)})
    assert [*layouts(module, "linear.weight", E)] == ["out, in"]
    assert [*layouts(module, "gpt2.weight", E)] == ["in, out"]


def test_other_axes_have_no_form() -> None:
    module = nn.ParameterDict({"four": weight(E, E, 1, 1)})
    assert layouts(module, "four", E) == {}


def test_a_bias_stands_beside_its_weight() -> None:
    assert bias_of("W_query.weight") == "W_query.bias"
    assert bias_of("in_proj_weight") == "in_proj_bias"
    assert bias_of("W_query") == "W_query.bias"
    module = nn.ModuleDict({"a": nn.Linear(2, 3), "b": nn.Linear(2, 5, bias=False)})
    found = biases(module, ["a.weight", "b.weight", "a.weight"])
    assert found is not None
    assert torch.equal(found, torch.cat([module["a"].bias] * 2).detach().double())
    assert biases(module, ["b.weight"]) is None


def test_a_kernel_of_one_pixel_is_a_matrix() -> None:
    module = nn.ModuleDict(
        {
            "one": nn.Conv2d(12, 20, 1),
            "line": nn.Conv1d(12, 20, 1),
            "wide": nn.Conv2d(12, 20, 3),
            "parted": nn.Conv2d(12, 20, 1, groups=2),
        }
    )
    for name in ("one", "line"):
        weight = module[name].weight
        [(form, found)] = layouts(module, f"{name}.weight", 12).items()
        assert form == "out, in"
        assert torch.equal(found, weight.detach().flatten(1))
    assert layouts(module, "wide.weight", 12) == {}
    assert layouts(module, "parted.weight", 12) == {}
