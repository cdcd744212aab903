"""Tensor parallelism: each process has some of the heads, and all add up."""

import contextlib
import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, distributed, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.func import functional_call

from headway import _dropout, _require
from headway.basics.multi_head_attention import Cache, MultiHeadAttention
from headway.decoding.grouped_query import GroupedQueryAttention
from headway.distributed._gather import content, gather_objects


def shard_heads(
    attention: MultiHeadAttention | GroupedQueryAttention, rank: int, processes: int
) -> MultiHeadAttention | GroupedQueryAttention:
    r"""Build one process's part of a module; the results of all parts add up to it.

    $$\operatorname{Concat}(A, B)
    \begin{bmatrix} C \\ D \end{bmatrix} = A C + B D$$

    A head is some rows of the first three weights, and some columns of `out_proj`; so a
    part is a module with fewer heads, and its result is one term of a sum. The bias of
    `out_proj` is in the part of rank zero alone, and so in the sum once.

    If there are more processes than `num_kv_heads`, several have a copy of the same
    head of keys and values, for different heads of queries. The gradient of such a head
    is the sum over all its copies.

    Args:
        attention: The whole module; it is left as it is.
        rank: Which part, from zero.
        processes: Number of parts; must divide `num_heads`, and divide `num_kv_heads`
            or be a multiple of it.

    Returns:
        A module of the same class and mode, from `d_in` to the whole `d_out`, with
        copies of its weights.

    Raises:
        ValueError: If `attention` is of another class, `processes` is not a positive
            integer or does not fit the heads, or `rank` is not in [0, `processes`).

    Examples:
        >>> whole = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> x = torch.randn(7, 3)
        >>> parts = [shard_heads(whole, rank, 5) for rank in range(5)]
        >>> torch.allclose(sum(part(x) for part in parts), whole(x), atol=1e-6)
        True

    References:
        Shoeybi et al. (2019), section 3,
        [arXiv:1909.08053](https://arxiv.org/abs/1909.08053).
    """
    _require.has_heads((MultiHeadAttention, GroupedQueryAttention), attention)
    _require.positive(processes=processes)
    _require_rank(rank, processes)
    H, G = attention.num_heads, _groups(attention)
    _require_parts(processes=processes, num_heads=H, num_kv_heads=G)
    D = attention.W_query.out_features // H
    first, heads = rank * H // processes, H // processes
    group, groups = rank * G // processes, max(G // processes, 1)
    own = slice(first * D, (first + heads) * D)
    shared = slice(group * D, (group + groups) * D)
    kind: type[MultiHeadAttention | GroupedQueryAttention] = MultiHeadAttention
    options: dict[str, Any] = {}
    if isinstance(attention, GroupedQueryAttention):
        kind = GroupedQueryAttention
        options = {"num_kv_heads": groups, "window": attention.window}
    part = kind(
        attention.W_query.in_features,
        heads * D,
        attention.context_length,
        attention.dropout.p,
        heads,
        causal=attention.causal,
        rotate=attention.rotate,
        bias=None if attention.bias is None else _OwnBias(attention.bias, first, heads),
        attend=attention.attend,
        device="meta",  # nothing is drawn: the weights are those of the whole
        **options,
    )
    part.W_query = _rows(attention.W_query, own)
    part.W_key = _rows(attention.W_key, shared)
    part.W_value = _rows(attention.W_value, shared)
    part.out_proj = _columns(attention.out_proj, own, bias=rank == 0)
    return part.train(attention.training)


def _groups(attention: MultiHeadAttention | GroupedQueryAttention) -> int:
    """Count the heads of keys and values."""
    if isinstance(attention, GroupedQueryAttention):
        return attention.num_kv_heads
    return attention.num_heads


def _rows(linear: nn.Linear, rows: slice) -> nn.Linear:
    bias = None if linear.bias is None else _copy(linear.bias, rows)
    return _linear(_copy(linear.weight, rows), bias)


def _columns(linear: nn.Linear, columns: slice, *, bias: bool) -> nn.Linear:
    weight = _copy(linear.weight, slice(None), columns)
    return _linear(weight, _copy(linear.bias) if bias else None)


def _copy(parameter: Tensor, *part: slice) -> nn.Parameter:
    """Copy a part of a parameter, which is trained if the whole is."""
    part_of_it = parameter.detach()[part].clone()
    return nn.Parameter(part_of_it, requires_grad=parameter.requires_grad)


def _linear(weight: nn.Parameter, bias: nn.Parameter | None) -> nn.Linear:
    rows, columns = weight.shape
    layer = nn.Linear(columns, rows, bias is not None, device="meta")
    layer.weight = weight
    if bias is not None:
        layer.bias = bias
    return layer


class _OwnBias(nn.Module):
    """Ask for the bias of all heads, and keep that of some."""

    def __init__(  # noqa: DOC101, DOC103
        self, bias: Callable[[Tensor, Tensor], Tensor], first: int, heads: int
    ) -> None:
        super().__init__()
        # It may have parameters.
        self.bias = copy.deepcopy(bias) if isinstance(bias, nn.Module) else bias
        self.first, self.heads = first, heads

    def forward(
        self, query_positions: Int[Tensor, "*B T"], key_positions: Int[Tensor, "*B S"]
    ) -> Tensor:
        bias = self.bias(query_positions, key_positions)
        if bias.ndim < 3 or bias.shape[-3] == 1:  # the same for all
            return bias
        return bias.narrow(-3, self.first, self.heads)


class TensorParallelAttention(nn.Module):
    r"""Let each process attend with its heads, and add up their results.

    $$Z = \sum_{r=0}^{P-1} Z_r$$

    Each process has its part, from `shard_heads`, and the same tokens. One all-reduce
    adds up the results, so that each process has the whole; in the backward pass
    another adds up the gradients of the tokens. Results and gradients are those of one
    process. Weights are cut, and so are keys and values in a cache; tokens are not.

    The gradient of a head of keys and values of which several processes have a copy is
    added up over them, and that of the parameters of `bias` over all; so copies stay
    alike while they are trained.

    With dropout each process draws for its own heads, from a seed that it makes of its
    rank and of one number from torch's default generator. That generator is left alike
    in all processes if it was alike before, and what is dropped outside of this module
    must be alike.

    Args:
        attention: The whole module, the same in all processes; it is left as it is.
        group: The processes; `None` means all.

    Raises:
        ValueError: If `attention` is of another class than those which `shard_heads`
            takes, the number of processes does not fit its heads, or its weights are
            not the same in all processes.

    Examples:
        >>> store = distributed.HashStore()  # a group of one process, to try it
        >>> distributed.init_process_group(
        ...     "gloo", store=store, rank=0, world_size=1
        ... )
        >>> whole = MultiHeadAttention(3, 10, 7, 0.0, num_heads=5)
        >>> TensorParallelAttention(whole)(torch.randn(7, 3)).shape
        torch.Size([7, 10])
        >>> distributed.destroy_process_group()

    References:
        Shoeybi et al. (2019), section 3 and figure 3 (b), whose $f$ and $g$ are what
        happens to the tokens and to the sum,
        [arXiv:1909.08053](https://arxiv.org/abs/1909.08053).
    """

    def __init__(
        self,
        attention: MultiHeadAttention | GroupedQueryAttention,
        group: "distributed.ProcessGroup | None" = None,
    ) -> None:
        super().__init__()
        self.group = group
        self.rank = distributed.get_rank(group)
        processes = distributed.get_world_size(group)
        self.part = shard_heads(attention, self.rank, processes)
        _require_alike(_differ(attention, group))
        self.copies = processes // _groups(attention)
        if self.copies > 1:
            _with_the_same_head(self.copies, group)  # made once, by all of them

    def forward(
        self,
        x: Float[Tensor, "*B T d_in"],
        *,
        mask: Bool[Tensor, "*#B #T #S"] | None = None,
        positions: Int[Tensor, "*#B #T"] | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "*B T d_out"]:
        """Give each token its context vector, the same in all processes.

        Args:
            x: The tokens, the same in all processes.
            mask: As the whole module has it.
            positions: As the whole module has them.
            cache: What keeps the keys and values of the heads of this process.

        Returns:
            One context vector for each token.

        Raises:
            ValueError: As the whole module does.
        """
        with self._own_seed(x):
            part = functional_call(
                self.part,
                self._in_common(),
                (_SumBackward.apply(x, self.group),),
                {"mask": mask, "positions": positions, "cache": cache},
            )
        return _SumForward.apply(part, self.group)

    def _in_common(self) -> dict[str, Tensor]:
        """Give the parameters that others have, too, with gradients that add up."""
        of_all, of_some = ("bias.",), ("W_key.", "W_value.") if self.copies > 1 else ()
        found = {}
        for name, parameter in self.part.named_parameters():
            if name.startswith(of_all):
                found[name] = _SumBackward.apply(parameter, self.group)
            elif name.startswith(of_some):
                group = _with_the_same_head(self.copies, self.group)
                found[name] = _SumBackward.apply(parameter, group)
        return found

    @contextlib.contextmanager
    def _own_seed(self, x: Tensor) -> Iterator[None]:
        """Draw as no other process does, and go on as all do."""
        if not _dropout.probability(self.part.dropout):
            yield
            return
        seed = int(torch.randint(2**62, ()))
        with torch.random.fork_rng([x.device] if x.is_cuda else []):
            torch.manual_seed(seed + self.rank)
            yield


class _SumBackward(Function):
    """Hand the same numbers to all processes; add up what they say about them."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, group: "distributed.ProcessGroup | None"
    ) -> Tensor:
        ctx.group = group
        return x.view_as(x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return _sum(grad, ctx.group), None


class _SumForward(Function):
    """Add up the parts; what is said about the sum is said about each."""

    @staticmethod
    def forward(
        ctx: Any, part: Tensor, group: "distributed.ProcessGroup | None"
    ) -> Tensor:
        return _sum(part, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return grad, None


def _sum(x: Tensor, group: "distributed.ProcessGroup | None") -> Tensor:
    total = x.clone(memory_format=torch.contiguous_format)
    distributed.all_reduce(total, group=group)
    return total


_GROUPS: "WeakKeyDictionary[Any, dict[int, Any]]" = WeakKeyDictionary()


def _with_the_same_head(
    copies: int, group: "distributed.ProcessGroup | None"
) -> "distributed.ProcessGroup | None":
    """Find the processes that have a copy of the same head of keys and values."""
    if copies == distributed.get_world_size(group):
        return group
    whole = group or distributed.group.WORLD
    made = _GROUPS.setdefault(whole, {})  # one for all modules
    if copies not in made:
        first = distributed.get_rank(group) // copies * copies
        made[copies] = distributed.new_group(
            distributed.get_process_group_ranks(whole)[first : first + copies],
            use_local_synchronization=True,
        )
    return made[copies]


def _differ(
    attention: nn.Module, group: "distributed.ProcessGroup | None"
) -> list[str]:
    """List the weights that are not the same, bit for bit, in all processes."""
    own = {name: _digest(x) for name, x in attention.named_parameters()}
    of_all = gather_objects(own, group)
    names = dict.fromkeys(name for of_one in of_all for name in of_one)
    return [name for name in names if len({of_one.get(name) for of_one in of_all}) > 1]


def _digest(parameter: Tensor) -> str:
    """Give a short name to these numbers, their shape and their type."""
    bits = hashlib.sha256(f"{parameter.shape} {parameter.dtype}".encode())
    bits.update(content(parameter))
    return bits.hexdigest()


# ---- What is refused ----


def _require_rank(rank: int, processes: int) -> None:
    if not 0 <= rank < processes:
        raise ValueError(
            f"rank must be in [0, processes); got rank={rank}, processes={processes}."
        )


def _require_parts(*, processes: int, num_heads: int, num_kv_heads: int) -> None:
    """Check that each process has as many heads, and those of queries their keys."""
    if num_heads % processes:
        raise ValueError(
            "processes must divide num_heads; "
            f"got processes={processes}, num_heads={num_heads}."
        )
    if num_kv_heads % processes and processes % num_kv_heads:
        raise ValueError(
            "processes must divide num_kv_heads, or be a multiple of it; "
            f"got processes={processes}, num_kv_heads={num_kv_heads}."
        )


def _require_alike(differ: Sequence[str]) -> None:
    """Check that the weights of a module are the same in all processes."""
    if differ:
        raise ValueError(
            "attention must have the same weights in all processes; "
            f"got different ones for {', '.join(differ)}."
        )
