"""What all properties need to know about a subject, found out once."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from headway.checks.attention.evidence.apart import in_one_group
from headway.checks.attention.evidence.batched_changes import influence, share_a_call
from headway.checks.attention.evidence.cross_queries import (
    CrossQueries,
    find_cross_queries,
)
from headway.checks.attention.evidence.design import Design
from headway.checks.attention.evidence.find_designs import find_designs
from headway.checks.attention.evidence.influence import (
    faint_future,
    pattern_name,
    visible_tokens,
    window_size,
)
from headway.checks.attention.evidence.masks import Masks, find_masks
from headway.checks.attention.evidence.positions import (
    NO_POSITIONS,
    Positions,
    find_positions,
)
from headway.checks.attention.evidence.repeats import Repeats, repeat
from headway.checks.attention.evidence.surroundings import Bare, bare
from headway.checks.attention.evidence.weights import Weights, find_weights
from headway.checks.attention.subject import Options, Subject
from headway.checks.core import intent
from headway.checks.core.errors import describe, theirs
from headway.checks.core.names import read_names
from headway.checks.core.report import Fact, Origin
from headway.checks.core.tolerance import (
    max_difference,
    same_order_tolerance,
    tolerance,
)

_WIDE = 128
_SMALL = 0.1  # of what tokens are usually drawn as


@dataclass(frozen=True)
class Evidence:
    """A subject, and what calls of it showed.

    Attributes:
        subject: The code.
        x: Some tokens.
        output: What it gives for them in eval.
        influence: How far each row moves when a token is changed, (B, T, B, T).
        visible: Which row sees which token, (T, T).
        causal: Whether it is meant to hide the future.
        future: The same as a report shows it, and how it is known.
        positions: Whether it tells tokens by where they stand, and is meant to.
        window: How many tokens each row sees, if it forgets the others on purpose.
        masks: The masks that it takes.
        weights: Which of its parameters make queries, keys and values.
        repeats: What happens when it is called again.
        one_length: The error of all other lengths, if it takes texts of one alone.
        together: Whether texts can be put into one call: none moves another there.
        fresh: The code as it was before the first call.
        cross_queries: What other tokens for keys and values give; `None` without them.
        designs: What may be inside besides the equation, the likeliest first.
        places: What tells of positions, and whether they act.
        bare: Attention without what stands around it, if anything does.
    """

    subject: Subject
    x: Tensor
    output: Tensor
    influence: Tensor
    visible: Tensor
    causal: bool
    future: Fact
    positions: bool
    window: int | None
    masks: Masks
    weights: Weights
    repeats: Repeats
    one_length: str
    together: bool
    fresh: Subject
    cross_queries: CrossQueries | None

    @property
    def wide(self) -> bool:
        """Whether tokens are so wide that a call takes long."""
        return self.subject.d_in > _WIDE

    designs: tuple[Design, ...] = (Design(),)
    places: Positions = NO_POSITIONS
    bare: tuple[Bare, ...] = ()

    @property
    def allowed(self) -> Tensor:
        """Which row is to see which token."""
        full = torch.ones_like(self.visible)
        return full.tril() if self.causal else full

    @property
    def same_order_tolerance(self) -> float:
        """How far a row may move where nothing may move it."""
        return same_order_tolerance(self.output)

    @property
    def tolerance(self) -> float:
        """How far apart two results may be that are equal but for rounding."""
        return tolerance(self.output)

    @torch.no_grad()
    def difference_alone(self, output: Tensor, x: Tensor, keep: Tensor) -> float:
        """Compare the rows of a batch with those that each text gets alone.

        Args:
            output: What the code gives for the batch.
            x: The batch, of shape (B, T, d_in).
            keep: Which tokens are real, of shape (B, T).
        """
        return max(
            max_difference(self.subject(x[b : b + 1, real]), output[b : b + 1, real])
            for b, real in enumerate(keep)
        )


def gather(subject: Subject) -> Evidence:
    """Call the code, and write down what it shows."""
    fresh = subject.copy()
    subject, repeats = repeat(subject)
    if repeats.randomness.verdict == "failed":
        fresh = replace(fresh.with_dropout(0.0), undropped=subject.undropped)
    with torch.no_grad():
        x, output, together, moved, visible = _look(subject)
        if inside := in_one_group(subject, visible):
            fresh = replace(fresh, call=inside.call, T=inside.T)
            subject = inside
            x, output, together, moved, visible = _look(subject)
        masks = find_masks(subject, visible, together=together)
        subject = replace(subject, copy_each_call=subject.copy_each_call or masks.kept)
        cross_queries = find_cross_queries(subject, x)
    causal, future = _intent(subject, visible, moved)
    weights = find_weights(subject)
    designs = find_designs(subject, weights, visible)
    places = find_positions(subject, x, output, causal, designs)
    return Evidence(
        subject=subject,
        x=x,
        output=output,
        influence=moved,
        visible=visible,
        causal=causal,
        future=future,
        positions=places.named is not None and places.felt,
        window=_window(subject, visible),
        masks=masks,
        weights=weights,
        repeats=repeats,
        one_length=_one_length(subject),
        together=together,
        fresh=fresh,
        cross_queries=cross_queries,
        designs=designs,
        places=places,
        bare=bare(subject, _of_no_design(weights, designs), x),
    )


def _look(subject: Subject) -> tuple[Tensor, Tensor, bool, Tensor, Tensor]:
    """Look which token moves which row.

    Returns:
        Tokens, what the code gives for them, whether texts can be put into one call,
        how far each row moves, and which row sees which token.
    """
    x = subject.tokens()
    output = subject(x)
    together = share_a_call(subject, x)
    moved = influence(subject, x, together=together)
    visible = visible_tokens(moved, same_order_tolerance(output))
    if _is_nearly_full(visible) and "topk" not in read_names(subject.target):
        # A softmax of large scores hides tokens; of small ones it hides none.
        small = _SMALL * x
        limit = same_order_tolerance(subject(small))
        visible |= visible_tokens(influence(subject, small, together=together), limit)
    return x, output, together, moved, visible


def _is_nearly_full(visible: Tensor) -> bool:
    """Ask whether a few tokens are unseen, of those before and of those after a row."""
    own = torch.eye(len(visible), dtype=torch.bool)
    seen = visible | own
    halves = [float(half.sum()) for half in (seen.tril(-1), seen.triu(1))]
    return not bool(seen.all()) and min(halves) > 0.5 * float((~own).sum()) / 2


def redesigned(evidence: Evidence, options: Options) -> Evidence:
    """Look for weights and designs again, with other declarations."""
    subject = replace(evidence.subject, options=options)
    weights = find_weights(subject)
    designs = find_designs(subject, weights, evidence.visible)
    around = bare(subject, _of_no_design(weights, designs), evidence.x)
    return replace(
        evidence, subject=subject, weights=weights, designs=designs, bare=around
    )


def _of_no_design(weights: Weights, designs: tuple[Design, ...]) -> Weights:
    """Let parameters have a role that a design is made of, such as learned biases."""
    inside = {one.buckets.name for one in designs if one.buckets is not None}
    rest = tuple(one for one in weights.without_role if one not in inside)
    return replace(weights, without_role=rest)


def _one_length(subject: Subject) -> str:
    """Give the error of texts of other lengths, if all are refused."""
    T = subject.T
    first = ""
    for other in (T - 1, 1, 2, T + 1):
        if other in (0, T):
            continue
        try:
            with torch.no_grad():
                subject(subject.tokens(subject.B, other))
        except theirs() as raised:
            first = first or describe(raised)
        else:
            return ""
    return first


def _intent(subject: Subject, visible: Tensor, moved: Tensor) -> tuple[bool, Fact]:
    """Decide whether the future is to be hidden: as declared, as named or as seen."""
    if subject.options.causal is not None:
        return subject.options.causal, _future(subject.options.causal, "declared")
    if subject.is_pooled:
        return False, _future(False, "measured", "it gives one row for each text")
    named = intent.is_causal(subject.target)
    if named is not None:
        return named, _future(named, "guessed")
    if subject.T == 1:
        return False, _future(False, "measured", "a text has one token alone")
    name = pattern_name(visible)
    if subject.call.of_image:
        return False, _future(False, "measured", "its tokens are pixels of an image")
    if faint_future(moved):
        return True, _future(True, "measured", "later tokens hardly count")
    past = "the past" in name or "the future" in name
    if past or window_size(visible) is not None:
        return True, _future(True, "measured")
    return False, _future(False, "measured", "say causal=True if that is wrong")


def _window(subject: Subject, visible: Tensor) -> int | None:
    """Give how many tokens each row sees, if the code has a number or a name for it.

    Where no name tells of a window, a number of the code may, such as a kernel's size,
    or one less: how far a row looks back.
    """
    size = window_size(visible)
    if size is None or subject.has_window:
        return size
    told = subject.options.window == "none"
    return size if not told and intent.keeps(subject.target, (size, size - 1)) else None


def _future(causal: bool, origin: Origin, hint: str = "") -> Fact:
    return Fact("hidden" if causal else "seen", origin, hint)
