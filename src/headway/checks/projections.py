"""Find the weights of queries, keys and values, by their names and shapes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from headway.checks import naming, vocabulary
from headway.checks.naming import bias_of
from headway.checks.subject import Subject


@dataclass(frozen=True)
class Projections:
    """The weights of one attention layer, each as (out, in), and the number of heads.

    Attributes:
        query: Makes the queries of all heads, one head below the other.
        key: The same for keys; fewer heads if queries share them.
        value: The same for values.
        out: Joins the heads, if there is such a layer.
        biases: By role, where there are any.
        heads: Number of heads of the queries.
        names: Which weights these are.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    out: Tensor | None
    biases: Mapping[str, Tensor]
    heads: int
    names: str

    @property
    def fits(self) -> bool:
        """Whether the shapes agree with each other and with the number of heads."""
        D = self.query.shape[0] / self.heads
        groups = self.key.shape[0] / D
        return (
            int(D) == D
            and groups == int(groups)
            and not self.heads % int(groups or 1)
            and self.query.shape[1] == self.key.shape[1] == self.value.shape[1]
            and not self.value.shape[0] % int(groups or 1)
        )


def find(subject: Subject) -> list[Projections]:
    """List what the weights may be, the likeliest first; empty if none are found.

    Raises:
        ValueError: If the reader named a role or a weight that does not exist.
    """
    if subject.call.cut is not None:
        return [_of_function(subject)]
    if subject.module is None:
        return []
    named = naming.roles(subject.module, subject.told.weights)
    return [one for one in _read(subject, subject.module, named) if one.fits]


def small(subject: Subject) -> str:
    """Name a layer that makes the queries of each head out of its part of a token."""
    if subject.module is None:
        return ""
    named = naming.roles(subject.module, subject.told.weights)
    heads = subject.told.num_heads or vocabulary.heads(subject.module) or 1
    for name in named.get("query", named.get("packed", [])) if heads > 1 else []:
        if _oriented(subject.module, name, subject.d_in // heads):
            return name
    return ""


def _of_function(subject: Subject) -> Projections:
    """Let the identity, cut into three, take queries, keys and values out of tokens."""
    cut = subject.call.cut
    if cut is None:
        raise TypeError("only a function of queries, keys and values is cut")
    eye = torch.eye(subject.d_in, dtype=torch.float64, device=subject.device)
    wide = cut.heads * cut.key_width
    query, key, value = eye.split([wide, wide, cut.heads * cut.value_width])
    return Projections(query, key, value, None, {}, cut.heads, "")


def _read(
    subject: Subject, module: nn.Module, named: dict[str, list[str]]
) -> Iterator[Projections]:
    """Read the weights in every way in which they may be stored."""
    words = ", ".join(
        named[role][0] for role in ("packed", *naming.ROLES) if role in named
    )
    told = subject.told.num_heads or vocabulary.heads(module)
    stacked = len(named.get("query", [1]))
    counts = [told or stacked] if told or stacked > 1 else [*range(1, 17)]
    for heads in counts:
        for three, biases in _threes(module, named, subject.d_in, heads):
            wide = three[2].shape[0] * three[0].shape[0] // three[1].shape[0]
            outs = _matrices(module, named.get("out", []), wide)
            bias = _bias(module, named.get("out", []))
            if bias is not None:
                biases = {**biases, "out": bias}
            joins: list[Tensor | None] = [*outs] if outs else [None]
            for out in joins:
                yield Projections(*three, out, biases, heads, words)


Three = tuple[Tensor, Tensor, Tensor]


def _threes(
    module: nn.Module, named: dict[str, list[str]], d_in: int, heads: int
) -> Iterator[tuple[Three, dict[str, Tensor]]]:
    """Give the three projections and their biases."""
    three = ("query", "key", "value")
    if set(three) <= named.keys():
        biases = {role: _bias(module, named[role]) for role in three}
        kept = {role: bias for role, bias in biases.items() if bias is not None}
        for ways in zip(
            *(_matrices(module, named[r], d_in) for r in three), strict=False
        ):
            yield ways, kept
        return
    bias = _bias(module, named.get("packed", []))
    for matrix in _matrices(module, named.get("packed", []), d_in):
        if matrix.shape[0] % (3 * heads):
            continue
        for cut in (_side_by_side, _head_by_head):
            parts = (
                {} if bias is None else dict(zip(three, cut(bias, heads), strict=True))
            )
            yield cut(matrix, heads), parts


def _side_by_side(packed: Tensor, heads: int) -> Three:
    query, key, value = packed.chunk(3)
    return query, key, value


def _head_by_head(packed: Tensor, heads: int) -> Three:
    query, key, value = packed.unflatten(0, (heads, 3, -1)).unbind(1)
    return query.flatten(0, 1), key.flatten(0, 1), value.flatten(0, 1)


def _matrices(module: nn.Module, names: list[str], d_in: int) -> list[Tensor]:
    """Bring weights to (out, in) in each way that fits, heads below each other."""
    if not names:
        return []
    ways = zip(*(_oriented(module, name, d_in) for name in names), strict=False)
    return [torch.cat(one).double() for one in ways]


def _oriented(module: nn.Module, name: str, d_in: int) -> list[Tensor]:
    weight = module.get_parameter(name).detach()
    owner = module.get_submodule(name.rpartition(".")[0])
    if weight.ndim == 3:
        forms = [weight.mT.flatten(0, 1), weight.flatten(1).T, weight.flatten(0, 1).T]
    elif isinstance(owner, nn.Linear):
        forms = [weight]
    elif type(owner).__name__ == "Conv1D":
        forms = [weight.T]
    else:
        forms = [weight.T, weight]
    return [form for form in forms if form.shape[1] == d_in]


def _bias(module: nn.Module, names: list[str]) -> Tensor | None:
    stored = dict(module.named_parameters())
    found = [stored[bias_of(name)] for name in names if bias_of(name) in stored]
    return (
        torch.cat([one.detach().flatten() for one in found]).double() if found else None
    )
