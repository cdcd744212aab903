"""All properties, asked one after another."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from headway.checks import diagnosis, hides, mixes, modes, numbers, sees, sizes
from headway.checks.calling import Calling
from headway.checks.examined import Examined, examine
from headway.checks.finding import find
from headway.checks.outcomes import Outcome, failed, unasked
from headway.checks.report import Report, Row
from headway.checks.subject import Told, explain

# The name of each property, its question, and the chapter that explains it.
PROPERTIES: list[tuple[str, Callable[[Examined], Outcome], str]] = [
    ("equals the equation", diagnosis.equation, "scaled_dot_product"),
    ("no leak from the future", sees.leak, "masks"),
    ("every allowed token counts", sees.past, "masks"),
    ("equal tokens, equal rows", mixes.shares, "simple_attention"),
    ("the order seen does not matter", mixes.order, "simple_attention"),
    ("texts do not move each other", sees.texts, "causal_attention"),
    ("the same alone as in a batch", sizes.alone, "causal_attention"),
    ("earlier rows stay", sizes.longer, "causal_attention"),
    ("any sizes", sizes.sizes, "causal_attention"),
    ("longer than the context", sizes.context, "causal_attention"),
    ("a call leaves nothing behind", modes.again, "causal_attention"),
    ("eval is not random", modes.in_eval, "dropout"),
    ("training computes the same", modes.in_training, "dropout"),
    ("dropout keeps the mean", modes.dropout, "dropout"),
    ("masks are obeyed", hides.obeyed, "masks"),
    ("padding is not seen", hides.padding, "masks"),
    ("empty rows harm nobody", hides.empty, "masks"),
    ("gradients arrive", numbers.gradients, "self_attention"),
    ("large scores", numbers.large, "simple_attention"),
    ("types and half precision", numbers.half, "scaled_dot_product"),
]


# What can be asked of code whose answers are random.
_ANYWAY = {"eval is not random", "a call leaves nothing behind", "any sizes"}


def check(
    module_or_function: Callable[..., Any],
    *,
    d_in: int | None = None,
    context_length: int | None = None,
    num_heads: int | None = None,
    causal: bool | None = None,
    call: Calling | None = None,
    weights: Mapping[str, str] | None = None,
) -> Report:
    r"""Ask of any attention code what must hold of attention.

    It works on a copy, in 64 bits, with weights drawn anew: what is given is left as it
    is. What is not told is found out, and the report says what was found. The oracle is

    $$\operatorname{Attention}(Q, K, V)
    = \operatorname{softmax}\left(\frac{Q K^\top}{\sqrt{D}}\right) V$$

    with the weights found in the module, or the arguments of the function.

    Args:
        module_or_function: A module that is called with tokens of shape (texts, tokens,
            width), or with queries, keys and values; or a function of either.
        d_in: Width of the tokens. It must be told for a function of tokens.
        context_length: The largest number of tokens in a text.
        num_heads: Number of heads.
        causal: Whether the future is to be hidden. Tell it if no name in the code does:
            a mask that does nothing looks like attention without a mask.
        call: How to call it, if in no common way: an expression of `m`, `x` and `mask`,
            such as `"m(x, x, x, attn_mask=mask)[0]"`, or of `f`, `q`, `k`, `v` for a
            function; or a function of `(m, x)` or of `(f, q, k, v)`.
        weights: The names of the parameters that make `query`, `key`, `value` and
            `out`, or the first three at once, `packed`, if their names do not tell.

    Returns:
        A report: one row for each property.

    Raises:
        ValueError: If the code cannot be called, or `weights` names what it has not.

    Examples:
        >>> from torch.nn.functional import scaled_dot_product_attention
        >>> check(scaled_dot_product_attention).ok
        True
    """
    told = Told(d_in, context_length, num_heads, causal, call, weights)
    with _undisturbed():
        it = examine(find(module_or_function, told))
        rows = [_row(it, *one) for one in PROPERTIES]
    return Report(it.subject.name, facts(it), rows)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Leave the luck of others as it is, and use one thread: everything is small."""
    devices = range(torch.cuda.device_count()) if torch.cuda.is_available() else ()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        torch.set_num_threads(threads)


def _row(
    it: Examined, name: str, ask: Callable[[Examined], Outcome], chapter: str
) -> Row:
    try:
        if it.repeats.random and name not in _ANYWAY:
            ask = _nothing
        verdict, sentence, figure, further = ask(it)
    except Exception as raised:  # whatever a reader's code may raise
        verdict, sentence, figure, further = failed(f"It raised {explain(raised)}.")
    if figure is not None and not math.isfinite(figure):
        figure = None
    return Row(name, verdict, sentence, further or chapter, figure)


def _nothing(it: Examined) -> Outcome:
    return unasked("Its answers are random, so they cannot be compared.")


def facts(it: Examined) -> dict[str, str]:
    """Say what was told or found out."""
    subject = it.subject
    found = {
        "called": subject.call.words,
        "future": f"{'hidden' if it.causal else 'seen'}, {it.intent}",
        "sizes": f"{subject.B} texts of {subject.T} tokens, {subject.d_in} wide",
        "type": f"{subject.dtype} on {subject.device}".removeprefix("torch."),
    }
    if len({one.heads for one in it.weights}) == 1:  # and no guess
        found["heads"] = str(it.weights[0].heads)
    if it.weights and it.weights[0].names:
        found["weights"] = it.weights[0].names
    if it.masks.masks:
        found["masks"] = "; ".join(
            f"{mask.argument} {mask.shape}, {mask.meaning}" for mask in it.masks.masks
        )
    if subject.positions:
        found["positions"] = "inside"
    return found
