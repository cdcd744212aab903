"""Arguments may be said in other words, in their order, or as fields of a config."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from torch import nn

from headway.checks.command.constructor import Settings, build, describe_arguments
from tests.checks.support.asking import refused


class Heads(nn.Module):
    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.1, *, bias=False):
        super().__init__()
        self.given = d_model, n_heads, dropout, bias


def made(found: Any, *by_place: Any, told: Any = None, **arguments: Any) -> Any:
    name = getattr(found, "__name__", "it")
    return build(name, found, told or {}, arguments, by_place)


# Other words


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"d_in": 12, "num_heads": 4}, {}),
        ({"d_in": 12}, {"nhead": 4}),
        ({}, {"embed_dim": 12, "num_attention_heads": 4}),
        ({"d_in": 99, "num_heads": 4}, {"d_model": 12}),
    ],
)
def test_a_width_and_heads_have_many_names(
    told: dict[str, int], said: dict[str, int]
) -> None:
    assert made(Heads, told=told, **said).given == (12, 4, 0.1, False)


def test_a_causal_flag_has_two() -> None:
    def attend(q: Any, is_causal: bool = False) -> Any:
        return q, is_causal

    assert made(attend, told={"causal": True}).keywords == {"is_causal": True}


def test_a_vocabulary_has_several() -> None:
    def make(ntoken: int, width: int = 3) -> Any:
        return ntoken, width

    assert made(make, told={"vocab_size": 31}, width=5) == (31, 5)


# In their order


def test_arguments_may_go_by_place() -> None:
    assert made(Heads, 12, 4).given == (12, 4, 0.1, False)
    assert made(Heads, 12, n_heads=3, bias=True).given == (12, 3, 0.1, True)
    with refused("Heads must be given --d-model, --n-heads, --dropout; got 7."):
        made(Heads, 12, 4, 0.5, 7)
    with refused("it is built already; got 12."):
        made(Heads(12, 4), 12)


# What is missing


def test_all_that_is_missing_is_named_at_once() -> None:
    with refused("Heads must be given --d-model, --n-heads; it also takes --bias."):
        made(Heads, dropout=0.5)


def test_what_is_misspelt_is_guessed() -> None:
    with refused(
        "Heads must be given --d-model, --n-heads, --dropout, --bias; got --dropot: "
        "did you mean --dropout?"
    ):
        made(Heads, 12, 4, dropot=0.5)


# Configs


class Plain(nn.Module):
    """It takes a config of no class."""

    def __init__(self, cfg: Any) -> None:
        super().__init__()
        self.given = cfg.n_embd, cfg["n_head"], getattr(cfg, "bias", None)


def test_fields_of_a_config_go_by_name() -> None:
    assert made(Plain, n_embd=12, n_head=4).given == (12, 4, None)
    assert made(Plain, told={"d_in": 12, "num_heads": 4}, bias=1).given == (12, 4, 1)
    assert made(Plain, cfg={"n_embd": 12, "n_head": 4}).given == (12, 4, None)
    assert made(Plain, cfg={"n_embd": 12}, n_head=4).given == (12, 4, None)
    assert made(Plain, Settings(n_embd=12, n_head=4)).given == (12, 4, None)


def test_fields_that_are_missing_are_named_at_once() -> None:
    with refused(
        "Plain must be given --n-embd, --n-head for its cfg; got none of them. A "
        "function in the file that builds it will do as well: file.py:make."
    ):
        made(Plain)
    with refused(
        "Plain must be given --n-head for its cfg; got --n-embd. A function in the "
        "file that builds it will do as well: file.py:make."
    ):
        made(Plain, n_embd=12)


class Captured(nn.Module):
    """Its config is read where a generator makes layers, too."""

    def __init__(self, cfg: Any) -> None:
        super().__init__()
        made = [nn.Linear(cfg.n_embd, cfg["n_inner"]) for _ in range(cfg.n_layer)]
        cfg.scale = cfg["pairs"][cfg["last"]]
        self.layers = nn.ModuleList(made)


def test_fields_are_listed_as_they_are_read() -> None:
    rows = describe_arguments("Captured", Captured).splitlines()[1:]
    fields = ["n-embd", "n-inner", "n-layer", "pairs", "last"]
    assert [row.split()[0] for row in rows] == [f"--{field}" for field in fields]


def test_without_source_fields_are_named_when_they_are_missed() -> None:
    space: dict[str, Any] = {}
    exec("class Made:\n def __init__(self, cfg):\n  self.given = cfg.width", space)  # noqa: S102
    assert made(space["Made"], width=12).given == 12
    with refused(
        "Made could not be built: AttributeError: its config has no width at "
        "<string>:3."
    ):
        made(space["Made"])


class Deeper(Plain):
    def __init__(self, cfg: Any) -> None:
        super().__init__(cfg)


def test_a_field_that_nobody_foresaw_is_named_when_it_is_read() -> None:
    with pytest.raises(
        ValueError, match=r"^Deeper could not be built: AttributeError: its config has "
    ):
        made(Deeper, n_embd_of_another_name=12)


@dataclass
class Config:
    n_embd: int
    n_head: int = 4
    names: list[str] = field(default_factory=list)


class Annotated(nn.Module):
    def __init__(self, settings_of_mine: Config, scale: float = 1.0) -> None:
        super().__init__()
        self.given = settings_of_mine, scale


class Beside(nn.Module):
    """Nothing says that its config is of the one class that has these fields."""

    def __init__(self, config) -> None:  # type: ignore[no-untyped-def]
        super().__init__()
        self.given = config, config.n_embd + config.n_head


class OfLibrary:
    def __init__(self, hidden_size: int = 12, **others: Any) -> None:
        self.hidden_size, self.others = hidden_size, others


class Foreign(nn.Module):
    def __init__(self, config: OfLibrary) -> None:
        super().__init__()
        self.given = config.hidden_size


def test_a_config_has_the_class_that_it_should() -> None:
    assert made(Annotated, n_embd=12, scale=0.5).given == (Config(12), 0.5)
    assert made(Beside, told={"d_in": 12}, n_head=3).given == (Config(12, 3), 15)
    assert made(Foreign, told={"d_in": 20}).given == 20
    assert made(Foreign).given == 12
    assert made(Foreign, OfLibrary(7)).given == 7
    with refused("Beside must be given --n-embd, --n-head, --names; got --n-layer."):
        made(Beside, n_embd=12, n_layer=3)


def test_a_config_that_may_be_left_out_is() -> None:
    def make(config: Any = None) -> Any:
        return config

    assert made(make) is None
    assert made(make, n_embd=12) == {"n_embd": 12}


def test_code_whose_annotations_cannot_be_read_is_built_too() -> None:
    class Odd(nn.Module):
        def __init__(self, width: "Nowhere") -> None:  # type: ignore[name-defined]
            super().__init__()
            self.given = width

    assert made(Odd, 12).given == 12


# What is shown


def test_arguments_are_listed() -> None:
    assert describe_arguments("Heads", Heads) == (
        "arguments of Heads:\n"
        "  --d-model          must be given\n"
        "  --n-heads          must be given\n"
        "  --dropout          0.1 if it is not given\n"
        "  --bias, --no-bias  False if it is not given\n"
    )
    assert describe_arguments("Beside", Beside).splitlines()[1:3] == [
        "  --n-embd  must be given",
        "  --n-head  4 if it is not given",
    ]
    assert describe_arguments("it", Heads(12, 4)) == (
        "it takes no arguments of its own.\n"
    )
    assert describe_arguments("five", 5) == "five takes no arguments of its own.\n"
