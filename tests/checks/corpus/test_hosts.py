"""Hosts are right, and each mutant is wrong where it says; no check is asked."""

import re
import tomllib
import zlib
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.checks.corpus import host_oracles
from tests.checks.corpus.host_oracles import context
from tests.checks.corpus.mutants import CAUSES, HOSTS, Change, changes

NEAR = 5e-5  # tables are made in 32 bits, and some hosts take softmax in them
FAR = 2e-4  # what no rounding explains
# Sentences that say that something is wrong, and not what.
PLAIN = (
    "It differs from the equation by 1.13, and no known mistake explains it.",
    "Largest difference 0.0356 at text 0, row 3.",
    "It raises RuntimeError: shapes do not match.",
)
Model = Any
Result = Tensor | str


@dataclass(frozen=True)
class Host:
    """How a host is called.

    Args:
        width: Width of its tokens.
        call: Its plain call.
        masked: The call with `keep`: (texts, keys), False where a text is padded.
        cached: The call of one part of a text: rows, and what to hand on.
        long: Whether a text may be as long as one likes.
    """

    width: int
    call: Callable[[Model, Tensor], Tensor] = lambda m, x: m(x)
    masked: Callable[[Model, Tensor, Tensor], Tensor] | None = None
    cached: Callable[[Model, Tensor, Any, int], tuple[Tensor, Any]] | None = None
    long: bool = False


def lowest(x: Tensor, keep: Tensor) -> Tensor:
    """Turn padding into what is added to scores, for each query."""
    hidden = ~keep[:, None, None, :].expand(-1, 1, x.shape[1], -1)
    return x.new_zeros(hidden.shape).masked_fill(hidden, torch.finfo(x.dtype).min)


ASKED = {
    "gpt2": Host(30),
    "llama": Host(48, cached=lambda m, x, past, start: (m(x, start_pos=start), None)),
    "qwen3": Host(
        40,
        lambda m, x: m(x)[0],
        lambda m, x, keep: m(x, attention_mask=keep.long())[0],
        lambda m, x, past, start: m(x, past_key_value=past, use_cache=True),
        long=True,
    ),
    "mistral": Host(48, masked=lambda m, x, keep: m(x, lowest(x, keep))),
    "gpt_oss": Host(40, long=True),
    "bert": Host(48, masked=lambda m, x, keep: m(x, attention_mask=keep.long())),
    "cross": Host(
        24,
        lambda m, x: m(x, context(x)),
        lambda m, x, keep: m(x, context(x, keep.shape[1]), key_padding_mask=~keep),
    ),
    "bloom": Host(
        48,
        cached=lambda m, x, past, start: m(x, layer_past=past, use_cache=True),
        long=True,
    ),
    "t5": Host(40),
    "gemma2": Host(40),
    "complex_llama": Host(48),
}


def program(name: str, source: str | None = None) -> ModuleType:
    """Run a host, or what was made of it."""
    path = HOSTS / f"{name}.py"
    module = ModuleType(f"host_{name}")
    exec(compile(source or path.read_text("utf-8"), path, "exec"), module.__dict__)  # noqa: S102
    return module


def model(name: str, source: str | None = None) -> Model:
    """Build a host with weights that depend on their names alone."""
    made = program(name, source).make()
    for key, weight in made.named_parameters():
        generator = torch.Generator().manual_seed(zlib.crc32(key.encode()))
        drawn = torch.randn(weight.shape, generator=generator)
        spread = 1.5 * weight.shape[-1] ** -0.5 if weight.dim() > 1 else 0.7
        norm = "norm" in key.lower() and key.endswith("weight")
        weight.data.copy_(norm + spread * drawn)
    return made.double().eval()


def tokens(host: Host, texts: int, length: int) -> Tensor:
    generator = torch.Generator().manual_seed(texts * 100 + length)
    drawn = torch.randn(texts, length, host.width, generator=generator)
    return drawn.double()


def padded(texts: int, length: int) -> Tensor:
    keep = torch.ones(texts, length, dtype=torch.bool)
    for text in range(1, texts):
        keep[text, length - text :] = False
    return keep


def flat(*results: Tensor) -> Tensor:
    return torch.cat([one.detach().double().flatten() for one in results])


def output(host: Host, m: Model) -> Tensor:
    sizes = ((2, 7), (5, 3), (1, 9))
    return flat(*(host.call(deepcopy(m), tokens(host, *size)) for size in sizes))


def small(host: Host, m: Model) -> Tensor:
    x = tokens(host, 2, 5)
    x[:, 1] *= 1e-3
    x[:, 2] = 0.0
    return host.call(m, x)


def masked(host: Host, m: Model) -> Tensor:
    assert host.masked is not None
    return flat(host.masked(m, tokens(host, 3, 6), padded(3, 6)))


def parts(host: Host, m: Model, x: Tensor, cuts: list[int]) -> Tensor:
    assert host.cached is not None
    rows, past, start = [], None, 0
    with torch.no_grad():
        for part in x.split(cuts, dim=1):
            made, past = host.cached(m, part, past, start)
            rows.append(made)
            start += part.shape[1]
    return torch.cat(rows, dim=1)


CUTS = ([3, 1, 3], [1] * 7, [5, 2], [7])


def cached(host: Host, m: Model) -> Tensor:
    return flat(*(parts(host, m, tokens(host, 2, 7), cuts) for cuts in CUTS))


def training(host: Host, m: Model) -> Tensor:
    torch.manual_seed(0)
    return host.call(m.train(), tokens(host, 2, 7))


def masked_training(host: Host, m: Model) -> Tensor:
    torch.manual_seed(0)
    return masked(host, m.train())


def gradient(host: Host, m: Model) -> Tensor:
    x = tokens(host, 2, 7).requires_grad_()
    rows = host.call(m, x)
    aim = torch.linspace(-1, 1, rows.numel()).double().reshape(rows.shape)
    wanted = [x, *m.parameters()]
    got = torch.autograd.grad((rows * aim).sum(), wanted, allow_unused=True)
    return flat(
        *(
            torch.zeros_like(w) if g is None else g
            for w, g in zip(wanted, got, strict=True)
        )
    )


def state(host: Host, m: Model) -> Tensor:
    """Call with long and short texts and a mask, again, and give tokens too."""
    x, short = tokens(host, 3, 9), tokens(host, 3, 2)
    with torch.no_grad():
        rows = [host.call(m, x), host.call(m, short)]
        if host.masked is not None:
            rows.append(host.masked(m, x, padded(3, 9)))
        rows += [host.call(m, x), host.call(m, tokens(host, 3, 9) + 1)]
    return flat(*rows, x)


def long(host: Host, m: Model) -> Tensor:
    with torch.no_grad():
        return host.call(m, tokens(host, 1, 400))


def half(host: Host, m: Model) -> Tensor:
    rows = []
    for kind in (torch.bfloat16, torch.float16):
        short, x = deepcopy(m).to(kind), tokens(host, 2, 7).to(kind)
        rows.append(host.call(short, x))
        if host.masked is not None:
            rows.append(host.masked(short, x, padded(2, 7)))
    return flat(*rows)


# The plainest first.
PROBES: dict[str, Callable[[Host, Model], Tensor]] = {
    "output": output,
    "small": small,
    "masked": masked,
    "state": state,
    "cached": cached,
    "training": training,
    "masked training": masked_training,
    "gradient": gradient,
    "long": long,
    "half": half,
}


def results(name: str, source: str | None = None) -> Iterator[tuple[str, Result]]:
    """Give what each way of asking gives, or the error, one after the other."""
    host, m = ASKED[name], model(name, source)
    for key, probe in PROBES.items():
        if not getattr(host, key.split()[0], True):
            continue
        try:
            yield key, probe(host, deepcopy(m))
        except (RuntimeError, ValueError, IndexError) as error:
            yield key, str(error)


@cache
def right(name: str) -> dict[str, Result]:
    return dict(results(name))


def differs(one: Result, two: Result, far: float = NEAR) -> bool:
    if isinstance(one, str) or isinstance(two, str) or one.shape != two.shape:
        return True
    return not torch.allclose(one, two, rtol=0.0, atol=far, equal_nan=True)


def differing(name: str, source: str, far: float) -> Iterator[str]:
    """Say where a change shows, the plainest first."""
    for key, one in results(name, source):
        if differs(one, right(name)[key], 0.5 if key == "half" else far):
            yield f"{key} ({one})" if isinstance(one, str) else key


def shown(name: str, change: Change) -> str:
    """Say where a mutant shows; nothing if it does not."""
    source = change.apply((HOSTS / f"{name}.py").read_text("utf-8"), name)
    if change.equivalent:
        return next(differing(name, source, NEAR), "")
    if change.shows != "half":
        return next(differing(name, source, FAR), "")
    x = tokens(ASKED[name], 2, 7).float()  # nobody sees it in 32 bits
    rows = ASKED[name].call(model(name, source).float(), x)
    if differs(rows, ASKED[name].call(model(name).float(), x)):
        return "32 bits"
    last = list(differing(name, source, FAR))[-1:]
    return "half" if last and last[0].startswith("half") else ""


@pytest.mark.parametrize("name", ASKED)
def test_host_is_right(name: str) -> None:
    host, m, oracle = ASKED[name], model(name), getattr(host_oracles, name)
    assert not [key for key, one in right(name).items() if isinstance(one, str)]
    with torch.no_grad():
        for texts, length in ((2, 7), (1, 9), (5, 3)):
            x = tokens(host, texts, length)
            assert not differs(host.call(m, x), oracle(m, x))
        x = tokens(host, 3, 6)
        if host.masked is not None:
            keep = padded(3, 6)
            assert not differs(host.masked(m, x, keep), oracle(m, x, keep))
        if host.cached is not None:
            for cuts in ([2, 1, 3], [1] * 6, [4, 2], [6]):
                assert not differs(parts(host, m, x, cuts), oracle(m, x))


@pytest.mark.parametrize("name", ASKED)
def test_mutants_show_where_they_say(name: str) -> None:
    wrong = {}
    for one in changes(name):
        found = shown(name, one)
        if found != one.shows:
            wrong[one.name] = found
    assert wrong == {}


@pytest.mark.parametrize("name", ASKED)
def test_mutants_are_told_apart(name: str) -> None:
    told = changes(name)
    assert len({one.name for one in told}) == len(told)
    assert len({(one.old, one.new) for one in told}) == len(told)
    for one in told:
        assert one.equivalent != bool(one.shows) == bool(one.named)


def test_names_fit_their_own_cause_and_hardly_another() -> None:
    told = [one for name in ASKED for one in changes(name) if one.named]
    for one in told:
        wanted = re.compile(one.named, re.IGNORECASE)
        assert wanted.search(one.why), one.name
        assert not any(wanted.search(sentence) for sentence in PLAIN), one.name
        others = {other.why for other in told if other.named != one.named}
        assert sum(bool(wanted.search(why)) for why in others) < len(others) / 16


def test_a_cause_is_that_of_several_changes() -> None:
    told = [one.named for name in ASKED for one in changes(name) if one.named]
    causes = tomllib.loads(CAUSES.read_text("utf-8")).values()
    assert {*causes} == {one for one in told if told.count(one) > 1}


def test_mutants_are_enough() -> None:
    told = [one for name in ASKED for one in changes(name)]
    same = sum(one.equivalent for one in told)
    assert {path.stem for path in HOSTS.glob("*.toml")} == set(ASKED)
    assert len(told) >= 150
    assert 1 / 16 <= same / len(told) <= 1 / 8


def test_weights_are_not_at_their_defaults() -> None:
    assert all(
        weight.std() > 0.1
        for name in ASKED
        for weight in model(name).parameters()
        if isinstance(weight, nn.Parameter)
    )
