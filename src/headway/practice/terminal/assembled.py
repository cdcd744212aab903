"""The small model of chapter 7.2, put together from what a reader wrote.

It is run in a process of its own, which `headway.practice.terminal.ending` starts.
"""

import json
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import torch
from torch import Tensor, nn

from headway.models.small_gpt import Characters, LanguageModel, small_gpt, small_text
from headway.practice.judging.judge import made
from headway.practice.judging.worker import answer_one
from headway.practice.task.library import Library, Task

# The exercises whose answers have a place in the model, and what each does there.
PARTS: Mapping[str, str] = {
    "lookup": "gives each character its vector",
    "split_heads": "cuts queries, keys and values into heads",
    "angles": "gives each position its angles",
    "rotate": "turns queries and keys by their positions",
    "repeat_groups": "lets four heads share two heads of keys and values",
    "keep_tail": "cuts off the keys that have left the window",
    "multi_head_attention": "is the attention of the first block",
    "causal_attention": "is head 1 of the second block, for the beginning",
    "attention": "is head 1 for each character after it",
    "causal_mask": "hides the future from head 2, in the beginning",
    "padding_mask": "hides its empty slots from head 2, later",
    "softmax": "makes the weights of head 2",
    "next_chunk": "is head 3, with a cache",
    "online": "is head 4, in blocks of 16 keys",
    "merge_heads": "puts the heads side by side",
    "block": "adds what each half of a block gives",
    "leaks": "looks whether the future gets through",
    "write_on": "draws one character after another",
}
_WIDTH, _HEADS, _WINDOW, _BLOCK = 64, 4, 64, 16
Parts = Mapping[str, Callable[..., Any]]


class Assembled:
    """The model `small_gpt`, in 64 bits, whose attention is made of parts.

    It keeps what it has read: with one more character, that one alone is read.

    Args:
        model: The model that has the weights.
        parts: A function or a class for each name of `PARTS`.
    """

    def __init__(self, model: LanguageModel, parts: Parts) -> None:
        self.model = model
        self.parts = parts
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what was read."""
        self.read = torch.empty(0, dtype=torch.long)
        self.logits = torch.empty(0, len(self.model.head.weight), dtype=torch.float64)
        none = torch.empty(_HEADS, 0, _WIDTH // _HEADS, dtype=torch.float64)
        self._kept = [(none, none), (none, none)]
        self._chunk: tuple[Tensor, Tensor] | None = None

    @torch.no_grad()
    def __call__(self, ids: Tensor) -> Tensor:
        """Give the logits, (T, V), of a text of T characters."""
        if not torch.equal(ids[: len(self.read)], self.read):
            self.begin_anew()
        if new := len(ids) - len(self.read):
            x = self.parts["lookup"](self.model.embedding.weight, ids[-new:])
            self.logits = torch.cat([self.logits, self.rows(x, len(self.read))])
            self.read = ids
        return self.logits

    @torch.no_grad()
    def rows(self, x: Tensor, start: int) -> Tensor:
        """Give logits (T, V) for vectors (T, E) of characters from a position on."""
        positions = torch.arange(start, start + len(x))
        angles = self.parts["angles"](positions, _WIDTH // _HEADS)
        for place, block in enumerate(self.model.blocks):

            def attend(x: Tensor, place: int = place, block: Any = block) -> Tensor:
                normed = block.attention_norm(x)[0]
                return self._attend(place, block.attention, normed, angles)[None]

            def feed_forward(x: Tensor, block: Any = block) -> Tensor:
                return block.feed_forward(block.feed_forward_norm(x))

            x = self.parts["block"](x[None], attend, feed_forward)[0]
        return self.model.head(self.model.final_norm(x))

    def _attend(self, place: int, weights: Any, x: Tensor, angles: Tensor) -> Tensor:
        """Let characters (T, E) look at those that are kept and at each other."""
        part = self.parts
        query = part["split_heads"](weights.W_query(x), _HEADS)
        key = part["split_heads"](weights.W_key(x), _HEADS // 2)
        value = part["split_heads"](weights.W_value(x), _HEADS // 2)
        query, key = part["rotate"](query, angles), part["rotate"](key, angles)
        key, value = (part["repeat_groups"](x[None], _HEADS)[0] for x in (key, value))
        old_key, old_value = self._kept[place]
        keys, kept_key = part["keep_tail"](old_key, key, _WINDOW)
        values, kept_value = part["keep_tail"](old_value, value, _WINDOW)
        self._kept[place] = kept_key, kept_value
        if place == 0:
            return self._all_heads(weights.out_proj, query, keys, values)
        rows = [
            self._first(query[0], keys[0], values[0]),
            self._second(query[1], keys[1], values[1]),
            self._third(query[2:3], key[2:3], value[2:3])[0],
            self._fourth(query[3], keys[3], values[3]),
        ]
        return weights.out_proj(part["merge_heads"](torch.stack(rows)))

    def _all_heads(
        self, out_proj: nn.Linear, query: Tensor, key: Tensor, value: Tensor
    ) -> Tensor:
        """Let the module with heads do it all; what it projects is there already."""
        T, S = query.shape[1], key.shape[1]
        query = nn.functional.pad(query, (0, 0, S - T, 0))  # nobody asks for these rows
        sides = [self.parts["merge_heads"](one) for one in (query, key, value)]
        attend = self.parts["multi_head_attention"](3 * _WIDTH, _WIDTH, _HEADS)
        _choose_sides(attend)
        attend.out_proj = out_proj
        return attend(torch.cat(sides, dim=-1)[None])[0, S - T :]

    def _first(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        D = query.shape[-1]
        if len(query) < len(key) or len(key) == 1:  # one that sees all there is
            return self.parts["attention"](query, key, value)
        attend = self.parts["causal_attention"](3 * D, D, len(key), 0.0)
        _choose_sides(attend)
        return attend(torch.cat([query, key, value], dim=-1))

    def _second(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        T, S = len(query), len(key)
        if T == S:
            mask = self.parts["causal_mask"](T, S)
        else:  # one that sees the slots that are filled
            mask = self.parts["padding_mask"](torch.tensor([S]), _WINDOW)[0]
            fill = (0, 0, 0, _WINDOW - S)
            key, value = nn.functional.pad(key, fill), nn.functional.pad(value, fill)
        scores = query @ key.mT / key.shape[-1] ** 0.5
        return self.parts["softmax"](scores.masked_fill(~mask, -torch.inf)) @ value

    def _third(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        rows, cache = self.parts["next_chunk"](self._chunk, query, key, value)
        keys, values = (one[:, 1 - _WINDOW :] for one in cache)
        self._chunk = keys, values
        return rows

    def _fourth(self, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        rows = []
        for place, one in enumerate(query, start=len(key) - len(query) + 1):
            scores = key[:place] @ one / len(one) ** 0.5
            blocks = [*scores.split(_BLOCK)], [*value[:place].split(_BLOCK)]
            rows.append(self.parts["online"](*blocks))
        return torch.stack(rows)


def _choose_sides(attend: Any) -> None:
    """Let a module take queries, keys and values that lie side by side."""
    sides = torch.eye(attend.W_query.in_features, dtype=torch.float64).chunk(3)
    for name, side in zip(("W_query", "W_key", "W_value"), sides, strict=True):
        getattr(attend, name).weight = nn.Parameter(side)


def write(parts: Parts, begin: str, count: int, temperature: float, seed: int) -> Any:
    """Let the model write on.

    Args:
        parts: A function or a class for each name of `PARTS`.
        begin: What the text begins with, of 1 to 64 known characters.
        count: How many characters to add.
        temperature: What divides the logits.
        seed: What the characters are drawn from.

    Returns:
        The text; what `leaks` says of the model; and how far the logits are from those
        of the book's model at most.
    """
    model, characters = small_gpt().double().eval(), Characters(small_text())
    assembled = Assembled(model, parts)
    draws = torch.Generator().manual_seed(seed)

    def attend(x: Tensor) -> Tensor:
        """Take tokens of any width, as a test of the reader's chooses it."""
        wider = torch.ones(x.shape[-1], _WIDTH, dtype=torch.float64).tril()
        rows = []
        for one in x.double() @ wider:
            assembled.begin_anew()
            rows.append(assembled.rows(one, 0))
        return torch.stack(rows)

    def pick(shares: Tensor) -> Tensor:
        return torch.multinomial(shares, 1, generator=draws)

    leaks = bool(parts["leaks"](attend))
    assembled.begin_anew()
    ids = characters.encode(begin)
    ids = parts["write_on"](assembled, pick, ids, count, temperature)
    with torch.no_grad():
        off = float((assembled(ids) - model(ids)).abs().max())
    return {"text": characters.decode(ids), "leaks": leaks, "off": off}


def parts_of(library: Library, files: Mapping[str, str]) -> Parts:
    """Give each part of the model: the reader's where there is a file, or the book's.

    Args:
        library: The exercises of the book.
        files: The reader's files, by the names of the exercises.
    """
    return {
        name: _theirs(library[name], files[name])
        if name in files
        else made(library[name], library[name].source.solution)
        for name in PARTS
    }


def _theirs(task: Task, path: str) -> Any:
    """Run a reader's file, and give the answer that it defines."""
    namespace: dict[str, Any] = {"__name__": task.name, "__file__": path}
    source = Path(path).read_text(encoding="utf-8-sig")
    exec(compile(source, path, "exec"), namespace)  # noqa: S102
    return namespace[task.exercise.answer]


def answer(request: dict[str, Any]) -> str:
    """Write what a request asks for, or say whose function it was that raised."""
    files = request["files"]
    try:
        parts = parts_of(Library(Path(request["set"])), files)
        return json.dumps(write(parts, **request["write"]))
    except Exception as error:  # whatever a reader's code may raise
        return json.dumps({"raised": _raised(error, [*files], [*files.values()])})


def _raised(error: Exception, names: Sequence[str], paths: Sequence[str]) -> str:
    seen = [one.filename for one in traceback.extract_tb(error.__traceback__)]
    whose = [names[paths.index(one)] for one in seen if one in paths]
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    return f"{whose[-1]} raised {said}" if whose else f"It raised {said}"


def main() -> NoReturn:
    """Answer one request, in a process of its own."""
    answer_one(answer)
