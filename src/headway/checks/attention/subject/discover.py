"""Make a subject of what a reader hands over."""

import itertools
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import nn

from headway.checks.attention.subject.calls import (
    Call,
    Packing,
    first_tensor,
    guessed_calls,
    pooled_calls,
    possible_calls,
)
from headway.checks.attention.subject.refusals import (
    Failure,
    explain,
    name_of,
    what_is_called,
)
from headway.checks.attention.subject.subject import Options, Subject
from headway.checks.core import intent
from headway.checks.core.cannot_check import CannotCheckError
from headway.checks.core.copies import duplicate, refuse_empty, uncompiled
from headway.checks.core.errors import at_the_border, theirs
from headway.checks.core.signature import Target
from headway.checks.core.tolerance import max_difference, tolerance

# The most precise comes first; some kernels take sixteen bits alone.
_TYPES = (torch.float64, torch.float32, torch.bfloat16, torch.float16)
_LENGTHS = (7, 5, 11, 13, 9, 8, 6, 4, 3)
_FIXED = (16, 49, 64, 9, 197)  # tokens of windows and of images, which may be fixed
_SQUARE = 25  # another one, if no window tells a size
_SIZES = 6 + len(_FIXED)
_FURTHER = 6  # widths that no name tells
_GUESSES = 600  # further calls and widths
_SECONDS = 4.5  # of the processor, in which calls are tried
_KNOWN = 0.45  # of it for those that names tell; guesses get the rest
_ONE_ROW = re.compile(r"it returned shape \((\d+), (1, )?\d+\) for \(\1, ")
_FURTHER_AXIS = re.compile(r"m\(x(\.unsqueeze\(2\)|\[:, :, None, None\])\)")
_LIKELIEST = 24  # calls and widths that are tried in further sizes
_CALLS = 24  # that are tried however long they take


def discover(target: Target, options: Options) -> Subject:
    """Copy the code, draw new weights, and find out how it is called.

    Where no call of the declared layout works, it is called in another, and the
    subject says so.

    Raises:
        ValueError: If it cannot be called in any way that is known.
    """
    try:
        return _discover(target, options)
    except ValueError:
        if options.layout is None:
            raise
        found = _discover(target, replace(options, layout=None))
        return replace(found, options=options, refused=True)


class _Budget:
    """Some seconds in which calls are tried, and some calls that are tried anyway."""

    def __init__(self, share: float) -> None:
        self.end = time.process_time() + share * _SECONDS
        self.calls = 0

    @property
    def is_spent(self) -> bool:
        """Whether no further call is to be tried."""
        return self.calls >= _CALLS and time.process_time() > self.end

    def spend(self) -> bool:
        """Ask whether one more call may be tried."""
        may = not self.is_spent
        self.calls += 1
        return may


def _discover(target: Target, options: Options) -> Subject:
    target = uncompiled(what_is_called(target))
    _refuse_numbers(options)
    name = name_of(target)
    refuse_empty(target, name)
    failures: list[Failure] = []
    in_half = _is_in_half(target)
    copies: list[tuple[Target, torch.dtype]] = []
    of_one_token: Subject | None = None  # or of tokens that never meet
    budget = _Budget(_KNOWN)
    for dtype in _TYPES:
        try:
            copied = _copy_with_new_weights(target, dtype)
        except theirs() as raised:
            failures.append(Failure("copying it", None, raised))
            continue
        copies.append((copied, dtype))
        budget.calls = 0  # some are tried in each type, as a kernel may take one alone
        ways = [*_ways(copied, name, dtype, options, in_half, _named(options))]
        pooled = _ways(copied, name, dtype, options, in_half, pooled_calls)
        found = _first_that_works(ways, failures, budget, pooled)
        if found is not None and found.T > 1 and _is_told_apart(found):
            return _with_axes_in_order(found)
        if found is not None and not _fits_by_accident(found):
            of_one_token = of_one_token or found  # fewer bits may take more tokens
    further = _Budget(1 - _KNOWN)
    for copied, dtype in copies[:2] if options.call is None else ():
        guessed = _ways(copied, name, dtype, options, in_half, guessed_calls)
        if convincing := _first_that_convinces(guessed, further):
            return convincing
    if of_one_token is not None:
        return _with_axes_in_order(of_one_token)
    sentence = explain(target, options, failures)
    if budget.is_spent or further.is_spent:
        sentence += f" No call was found in {_SECONDS:g} seconds."
    raise CannotCheckError(sentence)


def _named(options: Options) -> Callable[..., Iterator[Call]]:
    """Give what lists the calls that names tell of, or that was declared."""
    return partial(possible_calls, option=options.call)


def _ways(
    copied: Target,
    name: str,
    dtype: torch.dtype,
    options: Options,
    in_half: bool,
    give: Callable[..., Iterator[Call]],
) -> Iterator[Subject]:
    """Give a subject for each way to call code, with sizes that are not yet tried."""
    for call, d_in in _candidate_calls(copied, options, give):
        yield Subject(
            name,
            copied,
            call,
            d_in,
            dtype,
            _device(copied),
            options,
            came_in_half=in_half,
        )


def _first_that_convinces(
    guessed: Iterator[Subject], budget: _Budget
) -> Subject | None:
    """Try guesses, in one size alone, since there are many."""
    sizes = _Sizes()
    for subject in itertools.islice(guessed, _GUESSES):
        if not budget.spend():
            return None
        settled = _try(subject, *sizes(subject)[0])
        if not isinstance(settled, Failure) and _convinces(settled):
            return settled
    return None


def _convinces(subject: Subject) -> bool:
    """Ask whether a guessed call gives what attention gives.

    Other tokens of a text count, and no tokens of other texts: a text alone gives the
    same. All weights are used, and what was filled in shows no sign of being wrong.
    """
    x = subject.tokens()
    changed = x.clone()
    changed[0, subject.T // 2] = x[0, subject.T // 2].flip(-1)
    try:
        with torch.no_grad():
            rows, others = (subject.copy()(one) for one in (x, changed))
            alone = subject.copy()(x[:1])
            fewer = subject.copy()(x[:, 1:]) if subject.is_pooled else rows
    except theirs():
        return False
    if {alone.shape[-1], fewer.shape[-1]} != {rows.shape[-1]}:  # so many as tokens
        return False
    if not max_difference(alone, rows[:1]) <= tolerance(rows):
        return False
    if "linspace" in subject.call.text and not _averages(subject, x, rows):
        return False
    moved = (others - rows).abs().amax(-1) > tolerance(rows)
    seen = int(moved[0].sum()) - int(moved[0, subject.T // 2])
    if not seen or moved[1:].any() or _is_doubtful(subject):
        return False
    try:
        return _uses_all_weights(subject, x)
    except theirs():
        return False


@torch.no_grad()
def _averages(subject: Subject, x: torch.Tensor, rows: torch.Tensor) -> bool:
    """Ask whether one row of equal tokens is the same, however many there are."""
    equal = x[:, :1].expand_as(x)
    try:
        one, other = (subject.copy()(some)[:, :1] for some in (equal, equal[:, 1:]))
    except theirs():
        return False
    return max_difference(one, other) <= tolerance(rows)


@torch.enable_grad()
def _uses_all_weights(subject: Subject, x: torch.Tensor) -> bool:
    """Ask whether all weights are used, and those of tokens count.

    Where features are `None`, their weights are left out. Those of scores do not count
    where a query has one key alone.
    """
    copied = subject.copy()
    weights = copied.module.parameters() if copied.module is not None else ()
    learned = [one for one in weights if one.requires_grad]
    if not learned:
        return True
    total = torch.stack([one.square().sum() for one in copied.all_results(x)]).sum()
    gradients = torch.autograd.grad(total, learned, allow_unused=True)
    used = [one for one in gradients if one is not None]
    if len(used) < len(learned):
        return False
    largest = max(float(one.abs().max()) for one in used)
    rounding = 1000 * torch.finfo(subject.dtype).eps * largest
    of_tokens = [one for one in used if one.ndim > 1 and subject.d_in in one.shape]
    return all(float(one.abs().max()) > rounding for one in of_tokens)


def _first_that_works(
    ways: Sequence[Subject],
    failures: list[Failure],
    budget: _Budget,
    pooled: Iterator[Subject],
) -> Subject | None:
    """Try all ways in sizes that tell most, then in others.

    The others are for code that is wrong in a size; a property will say so. Where
    values were filled in, a call may work and yet show that they are the wrong ones.
    Where one row came for each text, calls are tried that take it as such.
    """
    sizes = _Sizes()
    for number in range(_SIZES):
        doubtful: Subject | None = None
        for subject in ways if number == 0 else ways[:_LIKELIEST]:
            if not budget.spend():
                return doubtful
            settled = _try(subject, *sizes(subject)[number])
            if isinstance(settled, Failure):
                failures.append(settled)
            elif not _is_doubtful(settled):
                return settled
            else:
                doubtful = doubtful or settled
        if doubtful:
            return doubtful
        one_row = number == 0 and any(_ONE_ROW.search(one.said) for one in failures)
        if one_row and (convincing := _first_that_convinces(pooled, budget)):
            return convincing
    return None


def _is_told_apart(subject: Subject) -> bool:
    """Ask whether tokens meet, where code has an axis that they may stand on or not."""
    if not _FURTHER_AXIS.search(subject.call.text):
        return True
    try:
        with torch.no_grad():
            return _first_token_moves(subject) != ""
    except theirs():
        return True


@torch.no_grad()
def _fits_by_accident(subject: Subject) -> bool:
    """Ask whether values were filled in that may be right for a single token alone.

    Nor is anything known of code whose rows hang on no token.
    """
    if subject.T > 1:
        x = subject.tokens()
        rows, others = (subject.copy()(one) for one in (x, x.flip(-1)))
        return not max_difference(rows, others) > tolerance(rows)
    filled = any(word != "None" for word in subject.call.filling.shown.values())
    return filled and subject.context_length != 1


def _refuse_numbers(options: Options) -> None:
    for name in ("d_in", "context_length", "num_heads"):
        value = getattr(options, name)
        if value is not None and (not isinstance(value, int) or value < 1):
            raise CannotCheckError(
                f"{name} must be a positive whole number; got {name}={value!r}."
            )


def _candidate_calls(
    target: Target, options: Options, give: Callable[..., Iterator[Call]]
) -> Iterator[tuple[Call, int]]:
    """Give the calls and the widths of tokens that may be right."""
    widths: list[int] | None = None
    for call in give(
        target,
        num_heads=options.num_heads,
        rotary_base=options.rotary_base,
        causal=options.causal,
        layout=options.layout,
    ):
        if call.packing is not None:
            yield call, call.packing.d_in
        elif options.d_in:
            yield call, options.d_in
        else:
            if widths is None:
                widths = _widths(target, options.num_heads)
            for width in widths:
                yield call, width


def _widths(target: Target, num_heads: int | None) -> list[int]:
    """List the widths that tokens may have: as found, of all heads, of other layers."""
    found = [*_of_convolutions(target), *intent.widths(target)]
    heads = num_heads or intent.num_heads(target) or 1
    others = [heads * width for width in found]
    for part in target.modules() if isinstance(target, nn.Module) else ():
        for name in ("in_features", "num_channels", "num_features"):
            others.append(getattr(part, name, 0))
        shape = getattr(part, "normalized_shape", ())
        others += shape[-1:] if isinstance(shape, tuple) else ()
    emb = [getattr(target, name, 0) for name in ("emb", "width", "channels", "size")]
    plain = [one for one in [*found, *emb, *others] if isinstance(one, int) and one > 0]
    return [*dict.fromkeys(plain)][: len(found) + _FURTHER]


def _of_convolutions(target: Target) -> list[int]:
    """Give the channels of the first layer, if it is a convolution."""
    layers = [*target.modules()] if isinstance(target, nn.Module) else []
    kinds = (nn.Linear, nn.modules.conv._ConvNd)
    first = next((one for one in layers if isinstance(one, kinds)), None)
    return [first.in_channels] if isinstance(first, nn.modules.conv._ConvNd) else []


class _Sizes:
    """The sizes to try in ways to call the same code, found once for each width."""

    def __init__(self) -> None:
        self._known: dict[Any, list[tuple[int, int]]] = {}

    def __call__(self, subject: Subject) -> list[tuple[int, int]]:
        """List them, as numbers of texts and of tokens."""
        key = subject.d_in, subject.call.packing
        if key not in self._known:
            self._known[key] = _sizes(subject)
        return self._known[key]


def _sizes(subject: Subject) -> list[tuple[int, int]]:
    """List the sizes to try: numbers of texts and of tokens."""
    longest = subject.context_length or max(_LENGTHS)
    taken = _sizes_inside(subject)
    lengths = [n for n in _LENGTHS if n <= longest and n not in taken] or [longest]
    T = lengths[0]
    B = next((n for n in (3, 2, 5) if n not in {T, *taken}), 4)
    window = getattr(subject.target, "window_size", _SQUARE)
    size = math.prod(window) if isinstance(window, (tuple, list)) else _SQUARE
    fixed = [(B, n) for n in (size, *_FIXED)]
    return [(B, T), (1, T), (B, longest), (1, longest), *fixed, (1, 1)]


def _try(subject: Subject, B: int, T: int) -> Subject | Failure:
    """Give the subject these sizes, or the error if it does not take them.

    Only copies are called, so that no call leaves anything in the subject.
    """
    tried = subject.copy()
    x = tried.tokens(B, T)
    try:
        with torch.no_grad():
            result = tried(x)
    except theirs() as raised:
        return Failure(subject.call.text, tuple(x.shape), raised)
    if result.is_floating_point():
        if result.shape[-1] == T and _is_table(subject, B, T - 1 or 2):
            words = "no error, but returned a table of tokens by tokens"
            return Failure(subject.call.text, tuple(x.shape), words)
        if "rows" in subject.call.filling.doubts and bool(result.isnan().all()):
            words = "no error, but with what was filled in all rows are nan"
            return Failure(subject.call.text, tuple(x.shape), words)
        return replace(subject, B=B, T=T)
    words = f"no error, but returned {result.dtype}"
    return Failure(subject.call.text, tuple(x.shape), words)


def _is_table(subject: Subject, B: int, T: int) -> bool:
    """Ask whether what comes out has a number for each token, as weights have."""
    try:
        with torch.no_grad():
            tried = subject.copy()
            return tried(tried.tokens(B, T)).shape[-1] == T
    except theirs():
        return False


def _is_doubtful(subject: Subject) -> bool:
    """Ask whether a call shows that wrong values were filled in.

    A mask that hides everything makes nan, or all rows equal. A rotation that turns
    other pairs than the code makes more of positions than their distance.
    """
    doubts = subject.call.filling.doubts
    if not doubts or subject.T == 1:
        return False
    try:
        with torch.no_grad():
            x = subject.tokens()
            rows = subject.copy()(x)
            if "rows" in doubts:
                first = rows[:, :1].expand_as(rows)
                if not max_difference(rows, first) > tolerance(rows):
                    return True
                if not _queries_count(subject, x):
                    return True
            moved = rows
            if "positions" in doubts:
                moved = replace(subject.copy(), call=subject.call.moved(3))(x)
    except theirs():
        return True
    return not max_difference(rows, moved) <= tolerance(rows)


@torch.enable_grad()
def _queries_count(subject: Subject, x: torch.Tensor) -> bool:
    """Ask whether all matrices count; where all is hidden, queries do not."""
    copied = subject.copy()
    matrices = [
        one
        for one in (copied.module.parameters() if copied.module is not None else ())
        if one.ndim == 2 and one.requires_grad
    ]
    if subject.call.must_convince:  # others are of features, which are all equal
        matrices = [one for one in matrices if subject.d_in in one.shape]
    if not matrices:
        return True
    gradients = torch.autograd.grad(
        copied(x).square().sum(), matrices, allow_unused=True
    )
    return all(one is None or bool(one.any()) for one in gradients)


def _with_axes_in_order(subject: Subject) -> Subject:
    """Put tokens before heads, or before texts, if that is where the code has them."""
    packing = subject.call.packing
    told = subject.options.call or subject.options.layout
    if packing is None and subject.options.layout is None and subject.call.time_first:
        return _with_texts_first(subject)
    if packing is None or told is not None or packing.axes == 2:
        return subject
    first = 1 if packing.axes == 4 else 0
    try:
        with torch.no_grad():
            meet = [_meet(subject, packing, first), _meet(subject, packing, first + 1)]
    except theirs():
        return subject
    if meet != [True, False]:
        return subject
    other = replace(subject, call=subject.call.with_tokens_first())
    settled = _try(other, subject.B, subject.T)
    return settled if isinstance(settled, Subject) else subject


def _with_texts_first(subject: Subject) -> Subject:
    """Put texts before tokens, if a name says otherwise and what comes out does not."""
    other = replace(subject, call=subject.call.turned())
    try:
        with torch.no_grad():
            mixed, apart = (_first_token_moves(one) for one in (subject, other))
    except theirs():
        return subject
    settled = _try(other, subject.B, subject.T)
    known = isinstance(settled, Subject) and mixed == "texts" and apart == "tokens"
    return settled if known and isinstance(settled, Subject) else subject


def _first_token_moves(subject: Subject) -> str:
    """Say what the first token of the first text moves: other tokens, or texts."""
    x = subject.tokens()
    changed = x.clone()
    changed[0, 0] = x[0, 0].flip(-1) + 0.5
    rows = subject.copy()(x)
    moved = (subject.copy()(changed) - rows).abs().amax(-1) > tolerance(rows)
    tokens, texts = bool(moved[0, 1:].any()), bool(moved[1:].any())
    return {(True, False): "tokens", (False, True): "texts"}.get((tokens, texts), "")


@at_the_border
def _meet(subject: Subject, packing: Packing, axis: int) -> bool:
    """Ask whether what stands at one place of an axis moves what stands at others."""
    query, key, value = packing.unpack(subject.tokens())
    changed = value.clone()
    changed.select(axis, 0).add_(1.0)
    target = subject.copy().target
    extra = subject.extra
    one, other = (
        first_tensor(subject.call.invoke(target, query, key, v, **extra))
        for v in (value, changed)
    )
    rest = (other - one).narrow(axis, 1, one.shape[axis] - 1)
    return bool(rest.abs().max() > tolerance(one))


def _sizes_inside(subject: Subject) -> set[int]:
    """List the widths that are known, of tokens, layers and heads."""
    packing = subject.call.packing
    if packing is not None:
        return {packing.d_in, packing.heads, packing.key_width, packing.value_width}
    heads = subject.num_heads or 1
    stored = [] if subject.module is None else [*subject.module.parameters()]
    widths = {subject.d_in, *(size for one in stored for size in one.shape)}
    return {heads, *widths, *(n // heads for n in widths if not n % heads)}


def _copy_with_new_weights(target: Target, dtype: torch.dtype) -> Target:
    copied = duplicate(target, dtype)
    if isinstance(copied, nn.Module):
        draw_weights(copied)
        copied.eval()
    return copied


def draw_weights(module: nn.Module) -> None:
    """Draw new weights: new modules often have zeros, or heads that are equal."""
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in module.parameters():
            if not parameter.is_floating_point() or parameter.ndim == 0:
                continue
            drawn = torch.randn(
                parameter.shape, generator=generator, dtype=torch.float64
            )
            if parameter.ndim == 1:
                ones = bool((parameter == 1).all())
                drawn = 0.3 * drawn + float(ones)
            else:
                few = min if parameter.ndim == 2 else max
                drawn = drawn / math.sqrt(few(parameter.shape[-2:]))
            parameter.copy_(drawn)


def _is_in_half(target: Target) -> bool:
    """Ask whether all parameters of a module are numbers of 16 bits."""
    stored = target.parameters() if isinstance(target, nn.Module) else ()
    sizes = {one.dtype.itemsize for one in stored if one.is_floating_point()}
    return sizes == {2}


def _device(target: Target) -> torch.device:
    if isinstance(target, nn.Module):
        for tensor in [*target.parameters(), *target.buffers()]:
            return tensor.device
    return torch.device("cpu")
