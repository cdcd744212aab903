"""How models are found out, and what is refused."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from headway.checks import Fact, check_model
from headway.checks.model import discover_model as discovering
from headway.checks.model import memory
from headway.checks.model.discover_model import discover_model
from headway.checks.model.model_subject import ModelOptions, ModelSubject
from headway.checks.model.visible_weights import copy_as
from tests.checks.model import behind_padding, models, translators
from tests.checks.model.building import build, sentence, verdicts


def found(model: Any, **options: Any) -> ModelSubject:
    return discover_model(model, ModelOptions(**options))


@pytest.mark.refusal
@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (3, {}, "model must be a function, or a module that is built; got model=3."),
        (models.Plain, {}, "model must be a function, or a module that is built; got"),
        (
            build(models.Plain),
            {"vocab_size": 1},
            "vocab_size must be a whole number of at least 2; got vocab_size=1.",
        ),
        (
            build(models.Plain),
            {"vocab_size": 50257},
            "vocab_size must be at most 160, the rows of the embedding of Plain; "
            "got vocab_size=50257.",
        ),
        (
            lambda ids: ids,
            {},
            "vocab_size must be given for <lambda>, such as vocab_size=50257, or by "
            "--vocab 50257; got vocab_size=None.",
        ),
        (
            lambda ids: ids,
            {"vocab_size": 7},
            "call must say how <lambda> takes ids of shape (texts, tokens) and gives "
            'logits for each token, such as call="m(ids)[0]"; got call=None, and '
            "m(ids) raised TypeError: it returned a tensor of shape (3, 11), and no "
            "logits for each token.",
        ),
        (lambda ids: None, {"vocab_size": 7}, "returned NoneType, and no logits"),
        (
            lambda ids: torch.zeros(len(ids), 1, 7),
            {"vocab_size": 7},
            "it gave logits of the last token alone",
        ),
        (
            build(models.Plain),
            {"call": "m(ids"},
            "call must be an expression; got call='m(ids'.",
        ),
        (
            build(models.Cached),
            {"cached": "m(ids"},
            "cached must be an expression or a function; got cached='m(ids'.",
        ),
    ],
)
def test_bad_input_gets_one_sentence(model, options, message) -> None:
    with pytest.raises(ValueError, match=r"[.]$") as raised:
        check_model(model, **options)
    assert message in str(raised.value)


def test_a_model_that_cannot_be_copied() -> None:
    class Stuck(models.Plain):
        def __deepcopy__(self, memo: Any) -> Any:
            raise RuntimeError("no copies")

    with pytest.raises(ValueError, match="copying it raised RuntimeError: no copies"):
        check_model(build(Stuck))


def test_a_mode_that_is_set_by_a_method_of_its_own() -> None:
    class Silent(models.Plain):
        def train(self, mode: bool = True) -> None:  # type: ignore[override]
            super().train(mode)

    assert found(build(Silent)).call.text == found(build(models.Plain)).call.text


def test_a_call_that_is_told() -> None:
    model = build(models.Padded)
    report = check_model(model, call="m(ids, mask, positions)")
    assert report.ok
    assert report.facts["called"] == Fact("m(ids, mask, positions)", "declared")
    assert report.facts["mask"].value == "mask, 1 for tokens, 0 for padding"

    def call(m: nn.Module, ids: Tensor, mask: Any = None) -> Tensor:
        return m(ids, mask)

    report = check_model(model, call=call)
    assert report.facts["called"] == Fact("call", "declared")
    # Without positions those of the padding are counted.
    assert verdicts(report)["padding-left"] == "note"
    assert report.ok


def test_names_of_arguments_that_are_told() -> None:
    class Odd(models.Padded):
        def forward(self, ids: Tensor, m: Any = None, p: Any = None) -> Tensor:
            return super().forward(ids, m, p)

    report = check_model(build(Odd), mask="m", positions="p")
    assert verdicts(report)["padding-left"] == "passed"


def test_a_function_is_checked() -> None:
    model = copy_as(build(models.Plain).eval(), torch.float64)
    report = check_model(lambda ids: model(ids), vocab_size=31)
    assert report.ok
    assert sentence(report, "leak-training").startswith("A function has no")
    assert sentence(report, "half-precision").startswith("A function has no weights")


def test_the_vocabulary_is_that_of_a_table_of_any_class() -> None:
    class Embedding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.randn(17, 16))

        def forward(self, ids: Tensor) -> Tensor:
            return self.weight[ids]

    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed, self.head = Embedding(), nn.Linear(16, 17)

        def forward(self, ids: Tensor) -> Tensor:
            return self.head(self.embed(ids))

    assert found(Own()).vocab_size == 17


def test_of_masks_that_are_guessed_one_hides_the_future() -> None:
    subject = found(build(translators.Hides))
    assert "tgt_mask=torch.ones" in subject.call.text
    assert ".triu(1).bool()" in subject.call.text
    assert "None" not in found(build(translators.Shows)).call.text


def test_of_two_vocabularies_the_smaller_one_has_all_ids() -> None:
    assert found(build(translators.HidesByItself)).vocab_size == 37
    assert found(build(translators.Beside)).vocab_size == 37


def test_a_decoder_beside_an_encoder_is_given_a_mask_that_it_needs() -> None:
    assert "tgt_mask=torch.ones" in found(build(translators.BesideHides)).call.text
    told = found(build(translators.Beside)).call.text
    assert told == "m(ids.new_full((len(ids), 4), 3), decoder_input_ids=ids)"


def test_time_may_come_first() -> None:
    class TimeFirst(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            return super().forward(ids.mT).transpose(0, 1)

    report = check_model(build(TimeFirst))
    assert report.ok
    assert report.facts["called"].value == "m(ids.mT)"


def test_a_model_of_32_bits() -> None:
    class Narrow(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            if self.head.weight.dtype == torch.float64:
                raise RuntimeError("expected float")
            return super().forward(ids)

    report = check_model(build(Narrow))
    assert report.ok
    assert report.facts["type"] == Fact("float32 on cpu")


def test_a_context_that_is_short() -> None:
    model = build(models.Plain)
    model.context_length = 7
    assert found(model).T == 7
    assert found(model, context_length=3).T == 3
    report = check_model(model)
    assert sentence(report, "leak-long") == "Its context of 7 tokens is short."


class Misread(models.Plain):
    """Beside numbers of 64 bits something inside is misread."""

    def forward(self, ids: Tensor) -> Tensor:
        logits = super().forward(ids)
        return logits.flip(1) if logits.dtype == torch.float64 else logits


class Narrow(Misread):
    """In 32 bits it raises."""

    def forward(self, ids: Tensor) -> Tensor:
        logits = super().forward(ids)
        if logits.dtype == torch.float32:
            raise RuntimeError("not in 32 bits")
        return logits


def test_what_64_bits_change_is_asked_in_32() -> None:
    found = discover_model(build(Misread), ModelOptions())
    assert found.dtype == torch.float32
    assert discover_model(build(Narrow), ModelOptions()).dtype == torch.float64
    assert discover_model(build(models.Plain), ModelOptions()).dtype == torch.float64


@pytest.mark.parametrize(
    ("name", "causal"),
    [
        ("TinyBERT", False),
        ("ForMLM", False),
        ("BertLMHeadModel", True),
        ("BertDecoder", True),
        ("RemBertForCausalLM", True),
        ("TinyGPT", True),
        ("TinyXLNetModel", False),
    ],
)
def test_a_name_tells_whether_the_future_is_hidden(name: str, causal: bool) -> None:
    class Named(models.Plain):
        attention = nn.Identity  # no name in it tells

    Named.__name__ = name
    assert found(build(Named)).causal is causal


def test_the_context_is_what_is_left_behind_padding() -> None:
    model = build(behind_padding.Padded)
    model.config = {"max_position_embeddings": models.LONGEST}
    assert found(model).context_length == models.LONGEST - behind_padding.FIRST
    assert found(model, context_length=7).context_length == 7


def test_padding_that_is_the_last_of_a_table_tells_no_context() -> None:
    class ReadsAnother(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            assert self.tokens.padding_idx is None
            return super().forward(ids)

    model = build(ReadsAnother)
    last = nn.Embedding(models.LONGEST, 3, padding_idx=models.LONGEST - 1)
    model.position_embeddings = last
    assert found(model).context_length == models.LONGEST
    model.position_embeddings.padding_idx = models.LONGEST - 20
    assert found(model).context_length == 19


@pytest.mark.parametrize(
    ("name", "rows", "configured", "context"),
    [
        ("pos_emb", 19, None, 19),
        ("pos_emb", 19, 1024, 19),
        ("pos_emb", 19, 13, 13),
        ("wpe", 19, None, 19),
        ("position_embeddings", 19, 1024, 19),
        ("positional_encoding", 19, None, 19),
        ("pos", 19, None, 19),
        ("seats", 19, 1024, 1024),
        ("seats", 19, None, None),
        ("pos_tags", 19, None, None),
    ],
)
def test_the_context_is_no_longer_than_a_table_of_positions(
    name: str, rows: int, configured: int | None, context: int | None
) -> None:
    model = build(models.Plain)
    model.add_module(name, nn.Embedding(rows, 3))
    model.config = {"n_positions": configured}
    assert found(model).context_length == context


def test_of_two_tables_the_shorter_one_counts() -> None:
    model = build(models.Plain)
    model.pos_emb, model.wpe = nn.Embedding(23, 3), nn.Embedding(17, 3)
    assert found(model).context_length == 17


def bytes_of(model: nn.Module, each: int) -> float:
    """Say what five copies take, in gigabytes."""
    return 5 * each * sum(one.numel() for one in model.parameters()) / 1e9


@pytest.mark.parametrize(
    ("each", "dtype"), [(8, torch.float64), (7, torch.float32), (3, torch.bfloat16)]
)
def test_a_model_is_checked_in_a_type_that_fits(each: int, dtype: torch.dtype) -> None:
    model = build(models.Plain).bfloat16()
    assert found(model, memory=bytes_of(model, each) * 1.001).dtype == dtype


@pytest.mark.refusal
def test_a_model_that_does_not_fit_is_not_copied() -> None:
    class Stuck(models.Plain):
        def __deepcopy__(self, memo: Any) -> Any:
            raise AssertionError

    with pytest.raises(ValueError, match=r"^memory must be .* got memory=1e-06\.$"):
        found(build(Stuck), memory=1e-6)


def test_what_it_takes_is_told_before_it_is_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(discovering, "tell", steps.append)
    found(build(models.Plain))
    assert steps == []
    monkeypatch.setattr(memory, "_ENOUGH", 1)
    found(build(models.Plain))
    [step] = steps
    assert step.startswith("which takes 0.0 gigabytes at the most: 5 copies of ")


class HidesPadding(models.Plain):
    """An id is padding, by an argument of a method or by an attribute."""

    def hidden(self, ids: Tensor, pad_token_id: int = 2) -> Tensor:
        return (ids == pad_token_id)[..., None]

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        x = self.embed(ids)
        hidden = self.hidden(ids) if attention_mask is None else attention_mask == 0
        x = x.masked_fill(hidden.view(*ids.shape, 1), 0.0)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class HidesAnIndex(HidesPadding):
    def __init__(self) -> None:
        super().__init__()
        self.trg_pad_idx = 5
        self.pad_size = 7

    def hidden(self, ids: Tensor) -> Tensor:  # type: ignore[override]
        return (ids == self.trg_pad_idx)[..., None]


@pytest.mark.parametrize(("kind", "pad"), [(HidesPadding, 2), (HidesAnIndex, 5)])
def test_an_id_that_code_takes_for_padding_is_no_token(
    kind: type[nn.Module], pad: int
) -> None:
    subject = discover_model(build(kind), ModelOptions())
    assert pad in subject.padding
    drawn = subject.ids(40, 11)
    assert not bool((drawn == pad).any())
    assert set(drawn.unique().tolist()) == {*range(31)} - {*subject.padding}
    assert discover_model(build(models.Plain), ModelOptions()).padding == ()
