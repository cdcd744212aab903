"""Where names do not tell, shapes say what may be."""

import torch
from torch import nn

from headway.checks.attention.evidence.weights.shapes import roles_by_shape
from tests.support.sizes import D_IN, E, V


def named(**shapes: tuple[int, ...]) -> nn.ParameterDict:
    return nn.ParameterDict({name: torch.zeros(one) for name, one in shapes.items()})


def test_three_that_fit_are_taken_in_the_order_of_definition_first() -> None:
    wide = (E, D_IN)
    module = named(a_last=(V, E), first=wide, second=wide, third=wide)
    found = [*roles_by_shape(module, D_IN)]
    assert found[0] == {
        "query": ["first"],
        "key": ["second"],
        "value": ["third"],
        "out": ["a_last"],
    }
    assert found[1] == {"query": ["first"], "key": ["second"], "value": ["third"]}
    three = [one for one in found if "value" in one and "out" in one]
    assert len(three) == 6  # all orders
    assert {"query": ["first"], "key_value": ["second"]} in found
    assert {"packed": ["third"], "out": ["a_last"]} in found


def test_keys_and_values_that_cannot_be_those_of_one_head_are_left_out() -> None:
    module = named(one=(E, D_IN), two=(E, D_IN), three=(E + 1, D_IN))
    for one in roles_by_shape(module, D_IN):
        assert {*one.get("key", ()), *one.get("value", ())} in ({"one", "two"}, set())


def test_of_many_matrices_nothing_is_guessed() -> None:
    many = {f"w{n}": (E, D_IN) for n in range(9)}
    assert [*roles_by_shape(named(**many), D_IN)] == []
