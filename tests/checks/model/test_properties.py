"""Each property is held by a right model, and broken by one wrong line."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from checks.model import models
from checks.model.test_check_model import build
from headway.checks.model.discover import discover
from headway.checks.model.evidence import Evidence
from headway.checks.model.properties import PROPERTIES, visibility
from headway.checks.model.subject import Options
from headway.checks.outcome import Outcome

Change = Callable[[Any, Tensor], Tensor]
ASK = {one.name: one.ask for one in PROPERTIES}


def evidence(model: Any, **options: Any) -> Evidence:
    return Evidence(discover(model, Options(**options)))


def ask(name: str, model: Any, **options: Any) -> Outcome:
    if isinstance(model, type):
        model = build(model)
    return ASK[name](evidence(model, **options))


def embeds(change: Change) -> nn.Module:
    """Build a model whose embedded tokens are changed."""

    class Changed(models.Plain):
        def embed(self, ids: Tensor) -> Tensor:
            self.ids = ids
            return change(self, super().embed(ids))

    return build(Changed)


def without_attention(change: Change) -> nn.Module:
    model = embeds(change)
    model.blocks = nn.ModuleList()
    return model


def with_mask(make: Callable[[int], Tensor]) -> nn.Module:
    class Masked(models.Plain):
        class attention(models.Attention):  # noqa: N801
            def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
                weights = q @ k.mT / q.shape[-1] ** 0.5 + make(q.shape[-2])
                return weights.softmax(-1) @ v

    return build(Masked)


def refuse(raised: str, when: Callable[[Tensor], bool]) -> nn.Module:
    class Refusing(models.Plain):
        def forward(self, ids: Tensor) -> Tensor:
            if when(ids):
                raise RuntimeError(raised)
            return super().forward(ids)

    return build(Refusing)


# ---- Who sees whom ----


def future(T: int, fill: float) -> Tensor:
    return torch.full((T, T), fill).triu(1)


def test_a_finite_fill_is_a_note() -> None:
    outcome = ask("no leak from the future", with_mask(lambda T: future(T, -20.0)))
    assert outcome.verdict == "note"
    assert "a finite number" in outcome.sentence
    outcome = ask("no leak from the future", with_mask(lambda T: future(T, -4.0)))
    assert outcome.verdict == "failed"
    outcome = ask("no leak from the future", with_mask(lambda T: future(T, -1e4)))
    assert outcome.verdict == "passed"


def test_what_other_texts_do_is_no_leak() -> None:
    model = embeds(lambda m, x: x + x.mean(0, keepdim=True))
    assert ask("no leak from the future", model).verdict == "passed"
    outcome = ask("texts do not move each other", model)
    assert outcome.verdict == "failed"
    assert "over the batch" in outcome.sentence


T = 11
ALL = torch.ones(T, T)


@pytest.mark.parametrize(
    ("later", "says"),
    [
        (torch.zeros(T, T), "No single token does it"),
        (ALL.tril(-1) - ALL.tril(-2), "off by one"),
        (ALL.tril(-1) - ALL.tril(-4), "Each sees up to 3 tokens ahead."),
        (torch.block_diag(*[torch.ones(5, 5)] * 3)[:T, :T].tril(-1), "block of 5"),
        (torch.eye(T)[T - 1 :].T @ ALL[:1] - torch.eye(T), "wraps round"),
        (torch.eye(T)[3:4].T @ torch.eye(T)[:1], "1 of 55 pairs see ahead."),
        (ALL.tril(-1), "no mask acts"),
    ],
)
def test_who_sees_ahead_tells_the_cause(later: Tensor, says: str) -> None:
    found = evidence(build(models.Plain))
    seen = (later.tril(-1).clamp(min=0) + ALL.triu()).double()
    found.__dict__["influence"] = seen
    assert says in visibility._pattern(found)


def test_training_may_leave_the_mask_out() -> None:
    class Trains(models.Plain):
        class attention(models.Attention):  # noqa: N801
            def attend(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
                return nn.functional.scaled_dot_product_attention(
                    q, k, v, is_causal=not self.training
                )

    outcome = ask("no leak in training", Trains)
    assert outcome.verdict == "failed"
    assert "in training, and not in eval" in outcome.sentence
    assert ask("no leak from the future", Trains).verdict == "passed"
    assert ask("no leak in training", Trains, causal=False).verdict == "not applicable"
    assert (
        ask("no leak in a long text", Trains, causal=False).verdict == "not applicable"
    )


def test_a_long_text_may_be_refused() -> None:
    model = refuse("too long", lambda ids: ids.shape[1] > 40)
    outcome = ask("no leak in a long text", model)
    assert outcome.verdict == "not applicable"
    assert outcome.sentence == "A text of 131 tokens raised RuntimeError: too long."
    assert ask("no leak in a long text", model, context_length=160).verdict == "failed"


def near(T: int) -> Tensor:
    seen = torch.ones(T, T).tril().triu(-3)
    return torch.zeros(T, T).masked_fill(seen == 0, -torch.inf)


def hides_first(T: int) -> Tensor:
    hidden = torch.ones(T, T).triu(1)
    hidden[1:, 0] = 1
    return torch.zeros(T, T).masked_fill(hidden == 1, -torch.inf)


@pytest.mark.parametrize(
    ("model", "says"),
    [
        (with_mask(near), "the last 7 tokens alone: a window is in use"),
        (with_mask(hides_first), "a mask hides what it should show"),
        (
            embeds(lambda m, x: nn.functional.pad(x, (0, 0, 1, 0))[:, :-1]),
            "a token does not see itself",
        ),
        (without_attention(lambda m, x: x), "tokens do not meet"),
        (embeds(lambda m, x: torch.zeros_like(x)), "the ids do not arrive"),
    ],
)
def test_every_past_token_counts(model: nn.Module, says: str) -> None:
    outcome = ask("every past token counts", model)
    assert outcome.verdict == "failed"
    assert says in outcome.sentence


def test_a_window_that_is_named_may_reach_so_far() -> None:
    model = with_mask(near)
    model.blocks[0].window = nn.Identity()
    outcome = ask("every past token counts", model)
    assert outcome.verdict == "passed"
    assert outcome.figure == 7


# ---- Texts ----


def test_the_number_of_texts_must_not_count() -> None:
    model = embeds(lambda m, x: x * len(x))
    assert ask("the same alone as in a batch", model).verdict == "failed"
    outcome = ask(
        "the same alone as in a batch", refuse("full", lambda ids: len(ids) > 4)
    )
    assert outcome.verdict == "note"
    assert outcome.sentence == "8 texts at once raised RuntimeError: full."


def test_the_length_must_not_count() -> None:
    model = embeds(lambda m, x: x * x.shape[1])
    outcome = ask("a longer text keeps its logits", model)
    assert outcome.verdict == "failed"
    assert "depends on how long it is" in outcome.sentence
    outcome = ask(
        "a longer text keeps its logits", refuse("one", lambda ids: ids.shape[1] == 1)
    )
    assert outcome.verdict == "note"


# ---- Padding ----


def padded(joined: Callable[..., Tensor], kind: type[nn.Module] = models.Padded) -> Any:
    return build(type("Joined", (kind,), {"joined": joined}))


@pytest.mark.parametrize(
    ("joined", "says"),
    [
        (lambda m, mask, real: mask, "it changes nothing"),
        (
            lambda m, mask, real: real[:, None, None].expand(-1, 1, *mask.shape),
            "a mask that hides nothing changes the logits",
        ),
        (
            lambda m, mask, real: (mask & real.roll(1, 1)[:, None])[:, None],
            "logits move with the tokens that it hides",
        ),
    ],
)
def test_a_mask_that_does_not_hide(joined: Callable[..., Tensor], says: str) -> None:
    outcome = ask("padding before a text", padded(joined))
    assert outcome.verdict == "failed"
    assert outcome.sentence == f"attention_mask does not hide padding: {says}."


def raises(m: nn.Module, mask: Tensor, real: Tensor) -> Tensor:
    raise RuntimeError("no masks")


def test_a_mask_that_raises_is_not_asked() -> None:
    outcome = ask("padding before a text", padded(raises))
    assert outcome.verdict == "not applicable"
    assert "RuntimeError: no masks" in outcome.sentence


class Counting(models.Padded):
    """The number of tokens that are no padding is added."""

    def forward(
        self, ids: Tensor, attention_mask: Any = None, position_ids: Any = None
    ) -> Tensor:
        logits = super().forward(ids, attention_mask, position_ids)
        if attention_mask is None:
            return logits
        return logits + (attention_mask == 0).sum(-1)[:, None, None]


class WithoutPositions(Counting):
    """The same, and positions cannot be told."""

    def forward(self, ids: Tensor, attention_mask: Any = None) -> Tensor:
        return super().forward(ids, attention_mask)


class Marking(models.Padded):
    """Logits of padding are nan."""

    def forward(
        self, ids: Tensor, attention_mask: Any = None, position_ids: Any = None
    ) -> Tensor:
        logits = super().forward(ids, attention_mask, position_ids)
        if attention_mask is None:
            return logits
        return logits.masked_fill(attention_mask[..., None] == 0, torch.nan)


class ReadsPadding(models.Padded):
    """It wants True for padding."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return super().joined(mask, ~real)


def test_padding_moves_nothing() -> None:
    assert ask("padding behind a text", Counting).verdict == "failed"
    assert ask("padding before a text", Counting).verdict == "failed"
    assert ask("padding before a text", WithoutPositions).verdict == "note"
    assert ask("padding before a text", Marking).verdict == "note"
    for name in ("padding before a text", "padding behind a text"):
        assert ask(name, models.Padded).verdict == "passed"
        assert ask(name, ReadsPadding).verdict == "passed"


class Documents(models.Padded):
    """Which text a token is of can be told."""

    def forward(
        self, ids: Tensor, document_ids: Any = None, position_ids: Any = None
    ) -> Tensor:
        self.which = document_ids
        real = None if document_ids is None else torch.ones_like(ids)
        return super().forward(ids, real, position_ids)

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        same = self.which[:, None, :] == self.which[..., None]
        return (mask & same)[:, None]


class Ends(Documents):
    """The same, by where texts end."""

    def forward(
        self, ids: Tensor, cu_seqlens: Any = None, position_ids: Any = None
    ) -> Tensor:
        if cu_seqlens is None:
            return super().forward(ids, None, position_ids)
        places = torch.arange(ids.shape[1])
        which = torch.bucketize(places, cu_seqlens[1:], right=True)[None]
        return super().forward(ids, which, position_ids)


class Open(Documents):
    """The second text sees the first."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        return mask


class CountsOn(Documents):
    """The texts are kept apart, and positions count on."""

    def forward(self, ids: Tensor, document_ids: Any = None) -> Tensor:
        return super().forward(ids, document_ids)


class CannotPack(Documents):
    """A number for each text is refused."""

    def joined(self, mask: Tensor, real: Tensor) -> Tensor:
        raise RuntimeError("one text only")


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Documents, "passed", "With document_ids"),
        (Ends, "passed", "With cu_seqlens"),
        (Open, "failed", "see each other and are not as alone"),
        (CountsOn, "failed", "do not see each other, and yet are"),
        (CannotPack, "not applicable", "RuntimeError: one text only"),
        (models.Padded, "not applicable", "position_ids that begin anew"),
        (models.Plain, "not applicable", "It takes nothing that tells"),
    ],
)
def test_texts_in_one_row(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("texts in one row stay apart", kind)
    assert outcome.verdict == verdict
    assert says in outcome.sentence


# ---- A cache ----


class Handed(models.Cached):
    """What is kept comes as a part of an object, or of a mapping."""

    form: Any = SimpleNamespace

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        logits, kept = super().forward(ids, past, True)
        return self.form(logits=logits, past=kept)


class Mapped(Handed):
    """The same in a mapping."""

    form = dict


class Keeping(models.Cached):
    """What came before is kept inside; a call tells how many these are."""

    kept: Any = None

    def forward(self, ids: Tensor, start_pos: int) -> Tensor:
        past = self.kept if start_pos else None
        logits, self.kept = super().forward(ids, past, True)
        return logits


class ReturnsNothing(models.Cached):
    """No cache is returned."""

    def forward(self, ids: Tensor, past: Any = None) -> Tensor:
        return super().forward(ids, past)


class ReturnsLogitsAlone(ReturnsNothing):
    """No cache is returned, in a tuple."""

    def forward(self, ids: Tensor, past: Any = None) -> Any:
        return (super().forward(ids, past), None)


class OneByOne(models.Cached):
    """Behind a cache it takes single tokens only."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        if past is not None and ids.shape[1] > 1:
            raise RuntimeError("one by one")
        return super().forward(ids, past, use_cache)


class OtherFirst(models.Cached):
    """With a cache, even an empty one, something else is computed."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        result = super().forward(ids, past, use_cache)
        return (2 * result[0], result[1]) if use_cache else result


class OtherSingle(models.Cached):
    """Behind a cache, a single token takes another way."""

    def forward(self, ids: Tensor, past: Any = None, use_cache: bool = False) -> Any:
        result = super().forward(ids, past, use_cache)
        single = past is not None and ids.shape[1] == 1
        return (2 * result[0], result[1]) if single else result


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Handed, "passed", ""),
        (Mapped, "passed", ""),
        (Keeping, "passed", ""),
        (ReturnsNothing, "not applicable", "it returned no cache; cached= says how."),
        (ReturnsLogitsAlone, "not applicable", "it returned no cache"),
        (OneByOne, "note", "raised RuntimeError: one by one"),
        (OtherFirst, "failed", "With an empty cache"),
        (OtherSingle, "failed", "Single tokens behind a cache get other logits"),
    ],
)
def test_a_cache(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("cached equals uncached", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_a_cache_that_is_told() -> None:
    def cached(m: nn.Module, ids: Tensor, past: Any, start: int) -> Any:
        return m(ids, past, True)

    told = "m(ids, past, True)"
    for option in (cached, told):
        outcome = ask("cached equals uncached", models.Cached, cached=option)
        assert outcome.verdict == "passed", outcome.sentence
    wrong = "m(ids, None, True)"
    assert (
        ask("cached equals uncached", models.Cached, cached=wrong).verdict == "failed"
    )
    outcome = ask("cached equals uncached", models.Cached, cached="m(past)")
    assert outcome.verdict == "failed"
    assert outcome.sentence.startswith("m(past) raised")


# ---- Writing ----


class Writes(models.Plain):
    """The likeliest tokens are written, in one of the common ways."""

    def generate(
        self, ids: Tensor, max_tokens: int, temperature: float = 1.0
    ) -> Tensor:
        assert temperature == 0.0
        start = ids.shape[1]
        for _ in range(max_tokens):
            ids = torch.cat([ids, self.next(ids)], dim=1)
        return ids[:, start:]

    def next(self, ids: Tensor) -> Tensor:
        return self(ids)[:, -1:].argmax(-1)


class WritesSecond(Writes):
    """From the third new token on, the least likely is taken."""

    def next(self, ids: Tensor) -> Tensor:
        likely = self(ids)[:, -1:]
        return likely.argmin(-1) if ids.shape[1] > 6 else likely.argmax(-1)


class WritesOne(Writes):
    """One token is written, whatever is asked for."""

    def generate(self, ids: Tensor, length: int) -> Tensor:
        return super().generate(ids, 1, 0.0)


class WritesChosen(Writes):
    """Sampling can be turned off."""

    def generate(self, ids: Tensor, n: int, do_sample: bool = True) -> Tensor:
        assert not do_sample
        return super().generate(ids, n, 0.0)


class WritesOdd(Writes):
    """No argument tells how many."""

    def generate(self, ids: Tensor) -> Tensor:
        return ids


class Transformers(models.Padded):
    """Writes as models of transformers are asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.generation_config = SimpleNamespace(eos_token_id=2, pad_token_id=None)

    def generate(
        self,
        ids: Tensor,
        *,
        attention_mask: Tensor,
        max_new_tokens: int,
        do_sample: bool,
        use_cache: bool,
    ) -> Tensor:
        assert not do_sample
        assert self.generation_config.eos_token_id is None
        real = attention_mask
        for _ in range(max_new_tokens):
            places = self.where(real)
            new = self(ids, real, places)[:, -1:].argmax(-1)
            ids = torch.cat([ids, new], dim=1)
            real = torch.cat([real, torch.ones_like(new)], dim=1)
        return ids

    def where(self, real: Tensor) -> Tensor:
        return (real.cumsum(-1) - 1).clamp(min=0)


class CountsPadding(Transformers):
    """Positions count the padding."""

    def where(self, real: Tensor) -> Tensor:
        return torch.arange(real.shape[1]).expand_as(real)


class CannotHide(Transformers):
    """No mask is taken, so no padded texts are written."""

    def forward(self, ids: Tensor, *rest: Any) -> Tensor:
        return super().forward(ids)


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Writes, "passed", ""),
        (models.Nano, "passed", ""),
        (WritesChosen, "passed", ""),
        (WritesSecond, "failed", "from new token 3 on"),
        (WritesOne, "not applicable", "it wrote shape (2, 1)"),
        (WritesOdd, "not applicable", "It has no generate"),
        (Transformers, "passed", ""),
        (CountsPadding, "failed", "generate of padded texts does not write"),
        (CannotHide, "passed", ""),
    ],
)
def test_writing(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("writing takes the likeliest", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_a_model_that_sees_both_sides_does_not_write() -> None:
    outcome = ask("writing takes the likeliest", Writes, causal=False)
    assert outcome.verdict == "not applicable"


# ---- Other code, other types ----


class Switched(models.Plain):
    """Attention has several implementations, as models of transformers have."""

    way = "sdpa"

    def set_attn_implementation(self, way: str) -> None:
        if way not in self.ways:
            raise ValueError(way)
        self.way = way

    ways = ("eager", "sdpa")

    def embed(self, ids: Tensor) -> Tensor:
        return (
            self.change(super().embed(ids))
            if self.way == "eager"
            else super().embed(ids)
        )

    def change(self, x: Tensor) -> Tensor:
        return x


class SwitchedLeaks(Switched):
    """One of them sees the future."""

    def change(self, x: Tensor) -> Tensor:
        return x + x.mean(1, keepdim=True)


class SwitchedOther(Switched):
    """One of them computes something else."""

    def change(self, x: Tensor) -> Tensor:
        return 2 * x


class OneWay(SwitchedOther):
    """The wrong one is refused."""

    ways = ("sdpa",)


class Flag(models.Plain):
    """A flag takes another way, which raises here."""

    def __init__(self) -> None:
        super().__init__()
        self.flash = True

    def embed(self, ids: Tensor) -> Tensor:
        if not self.flash:
            raise RuntimeError("no bias")
        return super().embed(ids)


@pytest.mark.parametrize(
    ("kind", "verdict", "says"),
    [
        (Switched, "passed", "eager and sdpa: the same logits."),
        (OneWay, "passed", "sdpa: the same"),
        (SwitchedLeaks, "failed", "With eager the logits are others and see later"),
        (SwitchedOther, "failed", "With eager the logits are others."),
        (Flag, "not applicable", "flash switched raised RuntimeError: no bias."),
        (models.Plain, "not applicable", "No switch"),
    ],
)
def test_other_code(kind: type[nn.Module], verdict: str, says: str) -> None:
    outcome = ask("eager equals fused", kind)
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


def test_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = []

    def same(target: nn.Module, *, backend: str) -> nn.Module:
        chosen.append(backend)
        return target

    monkeypatch.setattr(torch, "compile", same)
    name = "compiled is the same"
    assert ask(name, models.Plain).verdict == "not applicable"
    assert ask(name, models.Plain, compile=True).verdict == "passed"
    assert ask(name, models.Plain, compile="eager").verdict == "passed"
    assert chosen == ["inductor", "eager"]
    wrong = build(models.Plain).double().eval()
    monkeypatch.setattr(torch, "compile", lambda target, backend: wrong)
    assert ask(name, models.Plain, compile=True).verdict == "failed"


def in_half(change: Change) -> nn.Module:
    wide = (torch.float32, torch.float64)
    return embeds(lambda m, x: x if x.dtype in wide else change(m, x))


def raise_half(sentence: str) -> Change:
    def change(m: nn.Module, x: Tensor) -> Tensor:
        raise RuntimeError(sentence)

    return change


@pytest.mark.parametrize(
    ("change", "verdict", "says"),
    [
        (lambda m, x: x, "passed", ""),
        (lambda m, x: x * 1e4 * 1e4 / 1e8, "failed", "In float16 some logits are not"),
        (lambda m, x: x.round(decimals=0), "failed", "needs more bits inside"),
        (
            lambda m, x: x + 1e-3 * x.mean(1, keepdim=True),
            "failed",
            "In bfloat16 logits move when later tokens change.",
        ),
        (raise_half("expected Float"), "failed", "it raised RuntimeError: expected"),
        (raise_half("not implemented for 'Half'"), "not applicable", "not implemented"),
    ],
)
def test_half_precision(change: Change, verdict: str, says: str) -> None:
    outcome = ask("half precision", in_half(change))
    assert outcome.verdict == verdict, outcome.sentence
    assert says in outcome.sentence


# ---- Calls, modes, targets ----


def counts(m: Any, x: Tensor) -> Tensor:
    m.calls = getattr(m, "calls", 0) + 1
    return x * m.calls


def overwrites(m: Any, x: Tensor) -> Tensor:
    m.ids.fill_(1)
    return x


def moves_weights(m: Any, x: Tensor) -> Tensor:
    m.places.weight.add_(1e-9)
    return x


def keeps_length(m: Any, x: Tensor) -> Tensor:
    m.length = max(getattr(m, "length", 0), x.shape[1])
    if x.shape[1] < m.length:
        raise RuntimeError("shorter")
    return x


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (counts, "something is kept"),
        (overwrites, "It changes the ids that it is given."),
        (moves_weights, "A call changes places.weight."),
        (keeps_length, "After other calls it raised RuntimeError: shorter."),
    ],
)
def test_a_call_leaves_nothing_behind(change: Change, says: str) -> None:
    outcome = ask("a call leaves nothing behind", embeds(change))
    assert outcome.verdict == "failed"
    assert says in outcome.sentence


def noise(m: nn.Module, x: Tensor) -> Tensor:
    return x + torch.rand_like(x)


def test_eval_is_not_random() -> None:
    assert ask("eval is not random", embeds(noise)).verdict == "failed"
    outcome = ask("eval is not random", embeds(lambda m, x: (torch.rand(1), x)[1]))
    assert outcome.verdict == "note"


def test_training_computes_the_same() -> None:
    name = "training computes the same"
    double = embeds(lambda m, x: 2 * x if m.training else x)
    assert ask(name, double).verdict == "failed"
    drawing = embeds(lambda m, x: noise(m, x) if m.training else x)
    assert ask(name, drawing).verdict == "not applicable"
    model = build(models.Plain)
    assert ask(name, lambda ids: model(ids), vocab_size=31).verdict == "not applicable"


class Shifts(models.Nano):
    """The logits that the loss is of are those of the token before."""

    def forward(self, idx: Tensor, targets: Any = None) -> Any:
        logits, loss = super().forward(idx, targets)
        return logits if targets is None else (logits.roll(1, 1), loss)


class Labels(models.Plain):
    """Logits are given in any case; with labels they are doubled."""

    def forward(self, ids: Tensor, labels: Any = None) -> Tensor:
        logits = super().forward(ids)
        return logits if labels is None else self.told(logits)

    def told(self, logits: Tensor) -> Tensor:
        return 2 * logits


class LossAlone(Labels):
    """With labels it gives a loss."""

    def told(self, logits: Tensor) -> Tensor:
        return logits.sum()


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        (models.Nano, "passed"),
        (Shifts, "failed"),
        (Labels, "failed"),
        (LossAlone, "not applicable"),
    ],
)
def test_targets_change_no_logits(kind: type[nn.Module], verdict: str) -> None:
    assert ask("targets change no logits", kind).verdict == verdict


# ---- The vocabulary ----


def test_the_vocabulary_fits() -> None:
    name = "the vocabulary fits"
    outcome = ask(name, models.Plain, vocab_size=30)
    assert outcome.verdict == "note"
    assert "the last 1 are no tokens" in outcome.sentence
    model = build(models.Plain)
    model.head = nn.Linear(models.WIDTH, 29)
    outcome = ask(name, model, vocab_size=31)
    assert outcome.verdict == "failed"
    assert "2 tokens can never be predicted" in outcome.sentence
    outcome = ask(name, refuse("an end", lambda ids: ids.shape[1] == 2))
    assert outcome.sentence == "The ids 0 and 30 raised RuntimeError: an end."
