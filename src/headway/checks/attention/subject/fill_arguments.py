"""What is filled in for needed arguments that are no tokens, by their names.

Arguments that must fit each other, such as the cosine and the sine of a rotation, are
of one family and change together: a family has forms, which are tried in turn.
"""

import itertools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from headway.checks.core.signature import SAYS_WHAT_IS_SEEN


class Room(NamedTuple):
    """What a value has to fit.

    Attributes:
        B: Number of texts.
        T: Number of tokens in a text.
        D: Width of a head.
        heads: Number of heads.
        like: A tensor of the type, and on the device, of the tokens.
        base: The base of a rotation by positions.
        causal: Whether the future is to be hidden, if that was told.
        start: The position of the first token.
        S: Number of keys.
        time_first: Whether tokens come before texts.
    """

    B: int
    T: int
    D: int
    heads: int
    like: Tensor
    base: float = 10_000.0
    causal: bool = False
    start: int = 0
    S: int = 0
    time_first: bool = False

    @property
    def positions(self) -> Tensor:
        """Where the tokens stand, as whole numbers."""
        return torch.arange(self.start, self.start + self.T, device=self.like.device)

    @property
    def angles(self) -> Tensor:
        """The angle of each position and pair, of shape (T, D / 2)."""
        powers = torch.arange(0, self.D - 1, 2, device=self.like.device).double()
        rates = self.base ** (-powers / self.D)
        return torch.outer(self.positions.double(), rates).to(self.like.dtype)

    def ones(self, shape: str) -> Tensor:
        """Make a mask that marks everything."""
        sizes = {"B": self.B, "T": self.T, "S": self.S or self.T, "1": 1}
        return self.like.new_ones([sizes[axis] for axis in shape.split(", ")])


Make = Callable[[Room], Any]


class Form(NamedTuple):
    """One way in which the arguments of a family may want their values.

    Attributes:
        make: Makes the value of an argument, by its name.
        shown: How the values are shown in a call; `None` for the arguments' names.
        meaning: What the values are, if what is shown does not say it.
    """

    make: Callable[[str], Make]
    shown: str | None = None
    meaning: str = ""


class Family(NamedTuple):
    """Arguments that are filled in together.

    Attributes:
        names: A pattern of their names.
        forms: The likeliest first.
        doubt: What to look at when a call with such values works: `positions`, which
            must matter by their distance alone, or `rows`, which must differ.
    """

    names: re.Pattern[str]
    forms: Sequence[Form]
    doubt: str = ""


# How a table of angles, (T, D / 2), becomes one of the shape that code wants. Where it
# is as wide as a head, a number is turned with the one half a head away, or the next.
_SPREADS: dict[str, Callable[[Tensor], Tensor]] = {
    "(T, D / 2)": lambda a: a,
    "(T, D) by halves": lambda a: torch.cat([a, a], dim=-1),
    "(T, D) by pairs": lambda a: a.repeat_interleave(2, dim=-1),
}
_AXES: dict[str, Callable[[Tensor], Tensor]] = {
    "": lambda a: a,
    ", after an axis of texts": lambda a: a[None],
    ", after axes of texts and heads": lambda a: a[None, None],
    ", with an axis of heads": lambda a: a[:, None],
    ", with axes of texts and heads": lambda a: a[None, :, None],
}


def _complex(angles: Tensor) -> Tensor:
    if angles.dtype.itemsize == 2:  # complex numbers of so few bits multiply nothing
        angles = angles.float()
    return torch.polar(torch.ones_like(angles), angles)


_ROTATIONS: dict[str, Callable[[Tensor], Any]] = {
    "complex": _complex,
    "real": lambda a: torch.stack([a.cos(), a.sin()], dim=-1),
    "flat": lambda a: torch.cat([a.cos(), a.sin()], dim=-1),
    "matrices": lambda a: torch.stack(
        [a.cos(), -a.sin(), a.sin(), a.cos()], dim=-1
    ).unflatten(-1, (2, 2)),
    "angles": lambda a: a,
}


def _of_angles(name: str, rotation: str) -> Callable[[Tensor], Any]:
    """Choose what an argument wants of the angles."""
    cosine, sine = (re.search(one, name, re.IGNORECASE) for one in ("cos", "sin"))
    if bool(cosine) != bool(sine):
        return torch.cos if cosine else torch.sin
    if cosine or re.search("embed|emb$|rope", name, re.IGNORECASE):
        return lambda a: (a.cos(), a.sin())
    return _ROTATIONS[rotation]


def _table(spread: str, axes: str, rotation: str) -> Form:
    def make(name: str) -> Make:
        of_angles = _of_angles(name, rotation)
        return lambda room: of_angles(_AXES[axes](_SPREADS[spread](room.angles)))

    matrices = ", as matrices of 2 by 2" if rotation == "matrices" else ""
    return Form(make, None, f"rotations, {spread}{axes}{matrices}")


def _tables() -> Iterator[Form]:
    for axes, spread in itertools.product(_AXES, _SPREADS):
        yield _table(spread, axes, "complex" if spread == "(T, D / 2)" else "angles")
    yield from (_table("(T, D / 2)", axes, "real") for axes in _AXES)
    yield _table("(T, D) by halves", "", "flat")
    yield _table("(T, D / 2)", "", "matrices")


_FRAMES = ("T", "t", "F", "f", "frames", "num_frames")


def _side(height: int, name: str) -> Make:
    """Give the height of an image that all tokens make up, or its width.

    Of a video they make up one frame.
    """
    if name in _FRAMES:
        return lambda room: 1
    return lambda room: room.T // height if name in ("W", "w", "width") else height


_HIGH = {1: "one pixel", 4: "4 pixels", 8: "8 pixels", 7: "7 pixels"}


def _sides_of(height: int, name: str) -> Make:
    """Give the height and the width of an image that all tokens make up."""
    return lambda room: (height, room.T // height)


def _same(make: Make, shown: str | None = None, meaning: str = "") -> Form:
    return Form(lambda name: make, shown, meaning)


def _masks() -> Iterator[Form]:
    """Give masks that hide nothing, whatever a one in them means."""
    shapes = ("T, S", "B, T, S", "B, 1, T, S", "B, S", "B, 1, S", "B, 1, 1, S")
    for shape, number in itertools.product(shapes, (1, 0)):
        meaning = f"{'ones' if number else 'zeros'} ({shape})"
        for dtype in (torch.bool, torch.long):
            yield _same(partial(_mask, number, shape, dtype), None, meaning)


def _mask(number: int, shape: str, dtype: torch.dtype, room: Room) -> Tensor:
    return (number * room.ones(shape)).to(dtype)


def _sinusoids(room: Room, first: int, count: int) -> Tensor:
    """Make vectors of places or distances, as wide as tokens, (count, width)."""
    width = room.like.shape[-1]
    places = torch.arange(first, first + count, device=room.like.device).double()
    powers = torch.arange(0, width, 2, device=room.like.device).double() / width
    angles = torch.outer(places, room.base**-powers)
    rows = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1)[:, :width]
    return rows.to(room.like.dtype)


def _of_places(room: Room) -> Tensor:
    return _sinusoids(room, room.start, room.T)


def _of_keys(room: Room) -> Tensor:
    return _sinusoids(room, room.start, room.S or room.T)


def _of_distances(room: Room) -> Tensor:
    """Make vectors of how far keys are behind, the farthest first."""
    return _sinusoids(room, 1 - room.T, 2 * room.T - 1).flip(0)


_VECTORS: dict[str, Callable[[Room], Tensor]] = {
    "places 0, ..., T - 1": _of_places,
    "distances T - 1, ..., 1 - T": _of_distances,
}


def _vectors() -> Iterator[Form]:
    for (words, make), texts in itertools.product(_VECTORS.items(), ("one", "each")):
        meaning = f"sinusoids of {words}, with an axis of {texts} text"
        yield Form(partial(_named_vectors, make, texts), None, meaning)
    for words, make in _VECTORS.items():
        meaning = f"sinusoids of {words}, with an axis of one text behind"
        yield _same(partial(_before_texts, make), None, meaning)


def _named_vectors(make: Callable[[Room], Tensor], texts: str, name: str) -> Make:
    of_keys = make is _of_places and name.startswith(("key", "memory"))
    return partial(_for_texts, _of_keys if of_keys else make, texts)


def _for_texts(make: Callable[[Room], Tensor], texts: str, room: Room) -> Tensor:
    return make(room).repeat(room.B if texts == "each" else 1, 1, 1)


def _before_texts(make: Callable[[Room], Tensor], room: Room) -> Tensor:
    return make(room)[:, None]


_NONE = _same(lambda room: None, "None")
_FAMILIES = (
    Family(
        re.compile(
            r"(^|_)(cos|sin)(e|es|ine|ines)?(_|$)|freqs?(_|$)|freqs_?cis|^rope|_rope$"
            r"|rotary|rotation|position_embeddings?$|cos_sin|rope_cache|^pe$",
            re.IGNORECASE,
        ),
        (*_tables(), _NONE),
        "positions",
    ),
    Family(
        re.compile(
            f"mask|^adj(_|$)|adjacency|{SAYS_WHAT_IS_SEEN.pattern}", re.IGNORECASE
        ),
        (_NONE, *_masks()),
        "rows",
    ),
    Family(
        re.compile(r"^window(_size)?$"),
        (
            _NONE,
            _same(lambda room: (room.T, 0), None, "(T, 0), so all that is before"),
            _same(lambda room: room.T, None, "the number of tokens"),
        ),
    ),
    Family(
        re.compile(r"positions?(_ids?)?$|^pos(_ids?)?$|input_pos|^cache_position"),
        (
            _same(lambda room: room.positions, None, "0, 1, 2, ..."),
            _same(lambda room: room.positions[None], None, "0, 1, 2, ... (1, T)"),
            _same(
                lambda room: room.positions.repeat(room.B, 1),
                None,
                "0, 1, 2, ... (B, T)",
            ),
        ),
        "positions",
    ),
    Family(
        re.compile(r"start(_|$)|(^|_)offset|past_len|seen_tokens|cur_pos|prefix_len"),
        (_same(lambda room: 0, "0"),),
    ),
    Family(
        re.compile(r"^is_causal$|^causal$"),
        (_same(lambda room: room.causal, None, "as causal= says, or False"),),
    ),
    Family(
        re.compile(r"^(use|output|need|return|is|do)_|^training$|^train$"),
        (_same(lambda room: False, "False"),),
    ),
    Family(
        re.compile(r"(^|_)p?drop(out)?(_|$)"),
        (_same(lambda room: 0.0, "0.0"),),
    ),
    Family(
        re.compile(r"^(n_)?batch(_size)?$|^bsz$|^bs$"),
        (_same(lambda room: room.B, None, "the number of texts"), _NONE),
    ),
    Family(
        re.compile(r"^(max_)?seq_?len(gth)?$|^T$|^n_?tokens$|^num_tokens$"),
        (_same(lambda room: room.T, None, "the number of tokens"),),
    ),
    Family(
        re.compile(r"len(gth)?s$|_lens?_|len(gth)?s?_"),
        (
            _NONE,
            _same(
                lambda room: torch.full((room.B,), room.T, device=room.like.device),
                None,
                "all texts are whole",
            ),
        ),
    ),
    Family(
        re.compile(r"^temperature$|^sqrt_"),
        (_same(lambda room: room.D**0.5, None, "the root of the width of a head"),),
    ),
    Family(
        re.compile(r"(^|_)scal(e|ing)(_factor)?$"),
        (_same(lambda room: room.D**-0.5, None, "1 / the root of the width"),),
    ),
    Family(
        re.compile(
            r"^d_?[kh]$|^dim_?(k|head|per_head)$|head_?(dim|size|width)$|^d_head$"
        ),
        (_same(lambda room: room.D, None, "the width of a head"),),
    ),
    Family(
        re.compile(r"^(num|n)_?heads?$|^heads?$|^nheads?$"),
        (_same(lambda room: room.heads, None, "the number of heads"),),
    ),
    Family(
        re.compile(r"^[HW]$|^height$|^width$"),
        (
            Form(partial(_side, 1), None, "an image one pixel high"),
            *(Form(partial(_side, n), None, f"{n} pixels high") for n in (4, 8, 7)),
        ),
    ),
    Family(
        re.compile(
            r"^(x_)?size$|^hw$|^hw_shape$|^(input|patch|feat)_?(size|resolution|shape)$"
            r"|^resolution$|^spatial_shape$"
        ),
        tuple(
            Form(
                partial(_sides_of, n), None, f"height and width of an image, {one} high"
            )
            for n, one in _HIGH.items()
        ),
    ),
    Family(
        re.compile(
            r"^r$|rel_pos|pos_emb|pos_enc|positional_(emb|enc)|_pe$|^(query|key)_pos$",
            re.IGNORECASE,
        ),
        (_NONE, *_vectors(), _same(lambda room: 0, "0")),
    ),
    Family(
        re.compile(r"past|cache|^kv$|^state$|(^|_)bias|layer_idx|block_|gate"),
        (_NONE, _same(lambda room: 0, "0")),
    ),
)
_IMAGES = next(one for one in _FAMILIES if one.names.search("height"))
_OTHERS = 6  # tokens of another text


def _other_tokens(room: Room) -> Tensor:
    """Draw tokens of another text, the same for all texts."""
    width = room.like.shape[-1]
    generator = torch.Generator().manual_seed(5)
    drawn = torch.randn(_OTHERS, width, generator=generator, dtype=torch.float64)
    rows = drawn.to(room.like.device, room.like.dtype).repeat(room.B, 1, 1)
    return rows.transpose(0, 1) if room.time_first else rows


_MEMORY = Family(
    re.compile(""), (_same(_other_tokens, None, f"{_OTHERS} other tokens"),)
)
_UNKNOWN = Family(re.compile(""), (_NONE,))
_MASKS = next(one for one in _FAMILIES if one.doubt == "rows")
_OF_ANY = Family(  # masks of however many tokens
    _MASKS.names,
    (
        _NONE,
        *(
            _same(
                partial(_mask, number, shape, torch.bool),
                None,
                f"{'ones' if number else 'zeros'} ({shape})",
            )
            for shape, number in itertools.product(("1, 1", "1, 1, 1"), (1, 0))
        ),
    ),
    "rows",
)
# Masks of a decoder's own tokens, by their names.
_OWN = re.compile(r"tgt|trg|target|self|first|dec", re.IGNORECASE)
_MOST = 150  # ways to fill in all needed arguments

# What is tried where names tell too little: it must convince.


def _columns() -> Iterator[Form]:
    """Give masks that are multiplied with tokens, too: each token has a column."""
    for number in (1, 0):
        meaning = f"{'ones' if number else 'zeros'} (B, S, 1)"
        for dtype in (torch.bool, torch.long):
            yield _same(partial(_mask, number, "B, S, 1", dtype), None, meaning)


def _features(width: int) -> Iterator[Form]:
    """Give equal numbers for all pairs of tokens, or for each text."""
    yield from (_ones(shape, width) for shape in ("B, T, S", "T, S", "B"))


def _ones(shape: str, width: int) -> Form:
    return _same(partial(_wide_ones, shape, width), None, f"ones ({shape}, {width})")


def _wide_ones(shape: str, width: int, room: Room) -> Tensor:
    return room.ones(shape).unsqueeze(-1).repeat_interleave(width, dim=-1)


_PLACES = Family(
    re.compile(r"pos(itions?)?$", re.IGNORECASE),
    (
        *next(one for one in _FAMILIES if one.names.search("positions")).forms,
        _same(
            lambda room: room.positions.repeat(room.B, 1)[..., None].repeat(1, 1, 2),
            None,
            "0, 1, 2, ... on two axes (B, T, 2)",
        ),
    ),
    "positions",
)
_MASKS_AND_COLUMNS = Family(_MASKS.names, (*_MASKS.forms, *_columns()), "rows")
_UNTOLD = (*_masks(), *_columns())


@dataclass(frozen=True)
class Filling:
    """What needed arguments get besides tokens.

    Attributes:
        values: What makes each value, by the name of its argument.
        shown: How each is shown in a call.
        meaning: What those are that are shown by their names; empty if there are none.
        doubts: What to look at when a call with them works.
        memory: The name of the argument that gets other tokens, if one does.
    """

    values: Mapping[str, Make] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    meaning: str = ""
    doubts: frozenset[str] = frozenset()
    memory: str = ""


def is_known(name: str, among: Collection[str] = ()) -> bool:
    """Ask whether an argument's name says what it wants, beside those of others."""
    return _family(name) is not _UNKNOWN or name in _sides(among)


def _sides(names: Collection[str]) -> set[str]:
    """Find the sides of an image among arguments, and the number of its frames."""
    if not any({height, width} <= {*names} for height, width in ("HW", "hw")):
        return set()
    return {"H", "W", "h", "w", *_FRAMES} & {*names}


def fillings(names: Sequence[str], memory: str = "") -> Iterator[Filling]:
    """Give the ways to fill in arguments, the likeliest first.

    Args:
        names: The arguments.
        memory: Which of them is to get other tokens.
    """
    families = {name: _family(name) for name in names}
    families |= dict.fromkeys(_sides(names), _IMAGES)
    if memory in families:  # of whose tokens there are more, or fewer
        others = {n for n, f in families.items() if f is _MASKS and not _OWN.search(n)}
        families |= dict.fromkeys(others, _OF_ANY)
        families[memory] = _MEMORY
    for filling in _of_families(families):
        if memory == "x":  # which stands for the tokens in what is shown
            shown = {**filling.shown, memory: "memory"}
            meaning = filling.meaning.replace("x: ", "memory: ", 1)
            filling = replace(filling, shown=shown, meaning=meaning)
        yield replace(filling, memory=memory)


def guesses(
    names: Sequence[str], widths: Sequence[int] = (), common: Sequence[int] = ()
) -> Iterator[Filling]:
    """Give further ways, for arguments whose names tell too little.

    Args:
        names: The arguments.
        widths: How wide features of pairs, or of texts, may be.
        common: How wide features of texts may be besides.
    """
    yield from _of_families({one: _guessed(one, widths, common) for one in names})


def may_be_guessed(name: str) -> bool:
    """Ask whether there is more than one way to fill in an argument, when guessing."""
    return len(_guessed(name).forms) > 1


def together(names: Sequence[str]) -> list[list[str]]:
    """List known arguments by family, if it has more than `None` to fill in."""
    families: dict[Family, list[str]] = {}
    for name in names:
        family = _family(name)
        if len(family.forms) > 1 and family is not _MASKS:
            families.setdefault(family, []).append(name)
    return [*families.values()]


def _of_families(family: Mapping[str, Family]) -> Iterator[Filling]:
    families = [*dict.fromkeys(family.values())]
    sizes = [len(one.forms) for one in families]
    for chosen in itertools.islice(_likeliest_first(sizes), _MOST):
        form = dict(zip(families, chosen, strict=True))
        forms = {name: one.forms[form[one]] for name, one in family.items()}
        yield _fill(forms, family)


def _likeliest_first(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Give places in lists of these sizes, those near the front first.

    There may be billions, of which a few are asked for.
    """
    for total in range(sum(sizes) - len(sizes) + 1):
        yield from _of_sum(sizes, total)


def _of_sum(sizes: Sequence[int], total: int) -> Iterator[tuple[int, ...]]:
    if not sizes:
        yield from [()] if total == 0 else []
        return
    rest = sum(sizes[1:]) - len(sizes[1:])
    for first in range(max(0, total - rest), min(sizes[0] - 1, total) + 1):
        for others in _of_sum(sizes[1:], total - first):
            yield (first, *others)


def _family(name: str) -> Family:
    return next((one for one in _FAMILIES if one.names.search(name)), _UNKNOWN)


def _guessed(
    name: str, widths: Sequence[int] = (), common: Sequence[int] = ()
) -> Family:
    """Give a family with further forms; what is unknown is of a family of its own."""
    known = _family(name)
    if known is _MASKS:
        return _MASKS_AND_COLUMNS
    if known is not _UNKNOWN:
        return known
    if _PLACES.names.search(name):
        return _PLACES
    features = [*itertools.chain.from_iterable(map(_features, widths))]
    features += [_ones("B", width) for width in common]
    return Family(re.compile(re.escape(name)), (_NONE, *features, *_UNTOLD), "rows")


def _fill(forms: Mapping[str, Form], family: Mapping[str, Family]) -> Filling:
    meanings: dict[str, list[str]] = {}
    for name, form in forms.items():
        if form.meaning:
            meanings.setdefault(form.meaning, []).append(name)
    return Filling(
        {name: form.make(name) for name, form in forms.items()},
        {name: form.shown or name for name, form in forms.items()},
        "; ".join(f"{', '.join(names)}: {one}" for one, names in meanings.items()),
        frozenset(family[name].doubt for name, form in forms.items() if form.meaning)
        - {""},
    )
