"""Ring attention: each process has some of the tokens, and keys and values go round."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from headway import _require
from headway.distributed._gather import gather_objects
from headway.kernels.online_softmax import attention_with_lse, merge_attention

Block = tuple[Tensor, ...]  # each has its rows on the last but one axis
Arriving = Callable[[], Block]
Shapes = tuple[tuple[int, ...], ...]


def contiguous_rows(T: int, processes: int) -> list[Int[Tensor, " _"]]:
    """Give each process one piece of the text.

    The first pieces are longer by one if `processes` does not divide `T`. In causal
    attention the last process has the most to do, and the first the least.

    Args:
        T: Number of tokens of the text.
        processes: Number of processes.

    Returns:
        For each process, the positions of its tokens.

    Raises:
        ValueError: If one of them is not a positive integer.

    Examples:
        >>> contiguous_rows(6, 3)
        [tensor([0, 1]), tensor([2, 3]), tensor([4, 5])]

    References:
        Liu, Zaharia and Abbeel (2023), section 3,
        [arXiv:2310.01889](https://arxiv.org/abs/2310.01889).
    """
    _require.positive(T=T, processes=processes)
    return [*torch.arange(T).tensor_split(processes)]


def striped_rows(T: int, processes: int) -> list[Int[Tensor, " _"]]:
    """Deal the tokens out like cards, one to each process in turn.

    In causal attention the last process has a little more to do than the first.

    Args:
        T: Number of tokens of the text.
        processes: Number of processes.

    Returns:
        For each process, the positions of its tokens.

    Raises:
        ValueError: If one of them is not a positive integer.

    Examples:
        >>> striped_rows(6, 3)
        [tensor([0, 3]), tensor([1, 4]), tensor([2, 5])]

    References:
        Brandon et al. (2023),
        [arXiv:2311.09431](https://arxiv.org/abs/2311.09431).
    """
    _require.positive(T=T, processes=processes)
    return [torch.arange(T)[rank::processes].clone() for rank in range(processes)]


def zigzag_rows(T: int, processes: int) -> list[Int[Tensor, " _"]]:
    """Give each process two pieces of the text, one early and one late.

    The text is cut into twice as many pieces as there are processes; the first and the
    last go to one process, the second and the last but one to the next. In causal
    attention all have the same to do, if twice `processes` divides `T`.

    Args:
        T: Number of tokens of the text.
        processes: Number of processes.

    Returns:
        For each process, the positions of its tokens.

    Raises:
        ValueError: If one of them is not a positive integer.

    Examples:
        >>> zigzag_rows(6, 3)
        [tensor([0, 5]), tensor([1, 4]), tensor([2, 3])]

    References:
        Grattafiori et al. (2024), section 3.3.2,
        [arXiv:2407.21783](https://arxiv.org/abs/2407.21783).
    """
    _require.positive(T=T, processes=processes)
    pieces = torch.arange(T).tensor_split(2 * processes)
    return [torch.cat([pieces[rank], pieces[-1 - rank]]) for rank in range(processes)]


def count_pairs(rows: Sequence[Int[Tensor, " _"]]) -> list[int]:
    """Count the pairs of a query and a key that each process has in causal attention.

    Args:
        rows: For each process, the positions of its tokens.

    Returns:
        For each process, how many keys its queries see: all that are not in the future,
        with whichever process they begin.

    Raises:
        ValueError: If a row does not hold integers, or if there is none.

    Examples:
        >>> count_pairs([torch.tensor([0, 1]), torch.tensor([2, 3])])
        [3, 7]
    """
    _require_rows(rows)
    keys = torch.cat([*rows]).sort().values
    return [
        int(torch.searchsorted(keys, row.contiguous(), right=True).sum())
        for row in rows
    ]


def ring_attention(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B T D"],
    value: Float[Tensor, "*#B T V"],
    positions: Int[Tensor, " T"],
    *,
    causal: bool = True,
    scale: float | None = None,
    group: dist.ProcessGroup | None = None,
) -> Float[Tensor, "*B T V"]:
    r"""Attend to the tokens of all processes, each of which has some of them.

    $$(z, \ell) = (z_0, \ell_0) \oplus \dots \oplus (z_{P-1}, \ell_{P-1})$$

    Every process calls this with its own tokens. Its queries stay; keys and values go
    from each process to the next, until all have been everywhere. What a process gets
    from each block is put together by `merge_attention`, $\oplus$. The result is that
    of `attention` over all tokens, whichever process has which, up to rounding. In the
    backward pass the blocks go round again, with the gradients of their keys and
    values, and weights are computed anew from the log-sum-exp $\ell$. A block that is
    wholly in the future is passed on and not computed.

    While a block is computed, it is on its way to the next process. The processes may
    have different numbers of tokens, or none: they tell each other the shapes first. A
    negative position marks padding, which sees nothing, is seen by nobody, and gets
    zeros. All processes must take part in each forward and in each backward pass.

    Args:
        query: What each token of this process looks for.
        key: What each token of this process offers to be found by. It may have fewer
            heads than `query`, of size one where they are shared: then less is sent.
        value: What each token of this process hands over when it is found.
        positions: Where the tokens of this process stand in the text.
        causal: Whether a query sees only keys whose position is not after its own.
        scale: Factor of the scores; `None` means $1/\sqrt{D}$.
        group: The processes; `None` means all of them.

    Returns:
        One context vector for each query of this process.

    Raises:
        ValueError: In all processes, if in one the tensors do not fit, or do not fit
            those of others, `positions` does not hold one integer for each row, or
            `scale` is not positive.

    Examples:
        >>> store = dist.HashStore()
        >>> dist.init_process_group("gloo", store=store, rank=0, world_size=1)
        >>> query, value = torch.zeros(2, 5), torch.tensor([[2.0], [4.0]])
        >>> ring_attention(query, query, value, torch.tensor([0, 1]))
        tensor([[2.],
                [3.]])
        >>> dist.destroy_process_group()

    References:
        Liu, Zaharia and Abbeel (2023), section 3,
        [arXiv:2310.01889](https://arxiv.org/abs/2310.01889).
    """
    refusal = _refusal(query, key, value, positions, scale)
    if scale is None and refusal is None:
        scale = query.shape[-1] ** -0.5
    options = f"{query.dtype}, causal={causal}, scale={scale}"
    shapes = _agree(key, value, options, refusal, group)
    ring = _Ring(group, shapes)
    look = _Look(causal, cast(float, scale))
    positions = positions.long().unsqueeze(-1)  # of one type in all processes
    return _RingAttention.apply(query, key, value, positions, look, ring)


class _Look(NamedTuple):
    """What is the same for all blocks."""

    causal: bool
    scale: float

    def mask(  # noqa: DOC101, DOC103, DOC201
        self, query_positions: Tensor, key_positions: Tensor
    ) -> Tensor | None:
        """Say who sees whom; `None` if nobody sees anybody."""
        visible = (query_positions >= 0) & (key_positions.mT >= 0)
        if self.causal:
            visible &= key_positions.mT <= query_positions
        return visible if visible.any() else None


class _Ring:
    """The processes, each of which sends to the next and receives from the one before.

    Args:
        group: The processes.
        shapes: For each of them, the shapes of the tensors of its block.
    """

    def __init__(
        self, group: dist.ProcessGroup | None, shapes: Sequence[Shapes]
    ) -> None:
        self.group, self.shapes = group, shapes
        self.rank, self.processes = dist.get_rank(group), len(shapes)

    def neighbour(self, step: int) -> int:  # noqa: DOC101, DOC103, DOC201
        """Give a process by its number among all, which is what a send asks for."""
        rank = (self.rank + step) % self.processes
        return rank if self.group is None else dist.get_global_rank(self.group, rank)

    def pass_on(  # noqa: DOC101, DOC103, DOC201
        self, block: Block, hop: int
    ) -> Arriving:
        """Begin to send a block, and to receive one; the call that it gives ends both.

        Nobody waits before all have begun: so none waits for ever.
        """
        if self.processes == 1:
            return lambda: block
        origin = (self.rank - 1 - hop) % self.processes
        away = [x.contiguous() for x in block]
        come = [
            x.new_empty(shape)
            for x, shape in zip(block, self.shapes[origin], strict=False)
        ]
        following, previous = self.neighbour(1), self.neighbour(-1)
        # Who has no tokens sends none, and all know it.
        work = [
            dist.P2POp(dist.isend, x, following, self.group) for x in away if x.numel()
        ]
        work += [
            dist.P2POp(dist.irecv, x, previous, self.group) for x in come if x.numel()
        ]
        under_way = dist.batch_isend_irecv(work) if work else []

        def arriving() -> Block:
            for one in under_way:
                one.wait()
            away.clear()  # until now it had to stay
            return tuple(come)

        return arriving


def _refusal(
    query: Tensor, key: Tensor, value: Tensor, positions: Tensor, scale: float | None
) -> ValueError | None:
    """Check what this process has; say, and do not raise, what is wrong."""
    try:
        _require.matching(query, key)
        _require.one_value_per_key(query, key, value)
        _require_one_type(query=query, key=key, value=value)
        _require_one_position_each(positions, query, key)
        _require.scale(scale)
    except ValueError as error:
        return error
    return None


def _agree(
    key: Tensor,
    value: Tensor,
    options: str,
    refusal: ValueError | None,
    group: dist.ProcessGroup | None,
) -> list[Shapes]:
    """Tell each other the shapes; refuse, in all processes, what does not fit."""
    own = (tuple(key.shape), tuple(value.shape), options)
    # Nobody raises before all have heard: so none is left waiting.
    told = gather_objects((own, None if refusal is None else str(refusal)), group)
    if refusal is not None:
        raise refusal
    _require_no_refusal([said for _, said in told])
    of_all = [of_one for of_one, _ in told]
    _require_alike_but_for_length(of_all)
    return [(key, value, (key[-2], 1)) for key, value, _ in of_all]


def _forward(
    query: Tensor, block: Block, look: _Look, ring: _Ring
) -> tuple[Tensor, Tensor]:
    """Attend to one's own block, and then to all that come."""
    positions = block[2]
    leading = torch.broadcast_shapes(*(x.shape[:-2] for x in (query, *block[:2])))
    wide = torch.promote_types(query.dtype, torch.float32)
    lse = query.new_full((*leading, query.shape[-2]), -torch.inf, dtype=wide)
    result = query.new_zeros(*lse.shape, block[1].shape[-1]), lse  # nothing was seen
    for hop in range(ring.processes):
        # First send, then compute: the block is on its way meanwhile.
        on_the_way = hop < ring.processes - 1 and ring.pass_on(block, hop)
        mask = look.mask(positions, block[2])
        if mask is not None:
            piece = attention_with_lse(
                query, block[0], block[1], mask=mask, scale=look.scale
            )
            result = merge_attention(result, piece)
        if on_the_way:
            block = on_the_way()
    return result


class _Kept(NamedTuple):
    """What the backward pass finds."""

    query: Tensor
    key: Tensor
    value: Tensor
    positions: Tensor
    context: Tensor
    lse: Tensor


def _backward(
    kept: _Kept, grad: Tensor, look: _Look, ring: _Ring
) -> tuple[Tensor, Tensor, Tensor]:
    """Send one's own block around once more, with what all make of its gradients."""
    wide = kept.lse.dtype  # many small terms are added up: at least 32 bits
    inner = (grad.to(wide) * kept.context).sum(dim=-1, keepdim=True)
    grad_query = torch.zeros_like(kept.query, dtype=wide)
    block: Block = (kept.key, kept.value, kept.positions)
    grads: Block = tuple(torch.zeros_like(x, dtype=wide) for x in block[:2])
    for hop in range(ring.processes):
        on_the_way = hop < ring.processes - 1 and ring.pass_on(block, hop)
        mask = look.mask(kept.positions, block[2])
        if mask is not None:
            parts = _gradients(kept, block, mask, (grad, inner), look.scale)
            grad_query = grad_query + parts[0]
            grads = (grads[0] + parts[1], grads[1] + parts[2])
        # They follow their block; the last step brings them home.
        grads = ring.pass_on(grads, hop)()
        if on_the_way:
            block = on_the_way()
    dtype = kept.query.dtype
    return grad_query.to(dtype), grads[0].to(dtype), grads[1].to(dtype)


def _gradients(
    kept: _Kept, block: Block, mask: Tensor, above: tuple[Tensor, Tensor], scale: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Find what one block adds to the gradients of queries, keys and values."""
    (key, value, _), (grad, inner) = block, above
    query = kept.query * scale
    # Who sees nothing has a log-sum-exp of minus infinity, and no weights.
    lse = kept.lse.masked_fill(kept.lse == -torch.inf, 0.0).unsqueeze(-1)
    scores = (query @ key.mT).masked_fill(~mask, -torch.inf)
    weights = (scores - lse).exp()
    change = weights * (grad @ value.mT - inner)
    # Products of matrices are in the type of the inputs.
    weights, change = weights.to(query.dtype), change.to(query.dtype)
    # Axes along which a head was shared are summed over.
    return (
        (change @ key * scale).sum_to_size(query.shape),
        (change.mT @ query).sum_to_size(key.shape),
        (weights.mT @ grad).sum_to_size(value.shape),
    )


class _RingAttention(torch.autograd.Function):
    """The way around, there and back."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        positions: Tensor,
        look: _Look,
        ring: _Ring,
    ) -> Tensor:
        context, lse = _forward(query, (key, value, positions), look, ring)
        ctx.save_for_backward(query, key, value, positions, context, lse)
        ctx.look, ctx.ring = look, ring
        return context

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        kept = _Kept(*ctx.saved_tensors)
        return *_backward(kept, grad, ctx.look, ctx.ring), None, None, None


# ---- What is refused ----


def _require_rows(rows: Sequence[Tensor]) -> None:
    """Check the positions of each process's tokens."""
    if len(rows) == 0:
        raise ValueError("rows must be of at least one process; got rows=[].")
    for number, row in enumerate(rows):
        if row.ndim != 1 or row.is_floating_point() or row.dtype == torch.bool:
            raise ValueError(
                "rows must hold one list of integers for each process; "
                f"got rows[{number}] of {_require.shape(row)}, {row.dtype}."
            )


def _require_one_type(**tensors: Tensor) -> None:
    if len({x.dtype for x in tensors.values()}) > 1:
        *names, last = tensors
        types = ", ".join(f"{name}.dtype={x.dtype}" for name, x in tensors.items())
        raise ValueError(
            f"{', '.join(names)} and {last} must have one type; got {types}."
        )


def _require_no_refusal(sentences: Sequence[str | None]) -> None:
    """Raise what another process has found wrong with what it was given."""
    for number, sentence in enumerate(sentences):
        if sentence is not None:
            raise ValueError(
                "query, key, value, positions and scale must fit in all processes; "
                f"got in process {number}: {sentence}"
            )


def _require_one_position_each(positions: Tensor, query: Tensor, key: Tensor) -> None:
    """Check that queries and keys are of the same tokens, each with its position."""
    _require.integers(positions=positions)
    if key.shape[-2] != query.shape[-2]:
        raise ValueError(
            "key must have the length of query; "
            f"got key.shape={_require.shape(key)}, query.shape={_require.shape(query)}."
        )
    if positions.shape != query.shape[-2:-1]:
        raise ValueError(
            "positions must have one number for each query; "
            f"got positions.shape={_require.shape(positions)}, "
            f"query.shape={_require.shape(query)}."
        )


def _require_alike_but_for_length(
    of_all: Sequence[tuple[tuple[int, ...], tuple[int, ...], str]],
) -> None:
    """Check what each process says of its keys, its values and its options."""

    def but_for_length(of_one: tuple[tuple[int, ...], tuple[int, ...], str]) -> object:
        key, value, options = of_one
        return key[:-2], key[-1], value[:-2], value[-1], options

    for number, of_one in enumerate(of_all):
        if but_for_length(of_one) != but_for_length(of_all[0]):
            raise ValueError(
                "key and value must be alike in all processes but for their length; "
                f"got key of {of_all[0][0]}, value of {of_all[0][1]}, {of_all[0][2]} "
                f"in process 0, and key of {of_one[0]}, value of {of_one[1]}, "
                f"{of_one[2]} in process {number}."
            )
