"""A memory that overwrites: what a key held is taken out before the new is put in."""

import torch
from jaxtyping import Float
from torch import Tensor

from headway import _require


def delta_rule(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B T D"],
    value: Float[Tensor, "*#B T V"],
    beta: Float[Tensor, "*#B T"],
    *,
    decay: Float[Tensor, "*#B T"] | None = None,
    chunk: int | None = None,
    state: Float[Tensor, "*#B D V"] | None = None,
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*_ D V"]]:
    r"""Read from a memory in which each token corrects what its key holds.

    $$r_t = \beta_t \left(v_t - \alpha_t S_{t-1}^\top k_t\right), \qquad
    S_t = \alpha_t S_{t-1} + k_t r_t^\top, \qquad z_t = S_t^\top q_t$$

    The memory first fades by $\alpha_t$. Then it is read under the key, and the share
    $\beta_t$ of what is missing from the value is written. A token is in the memory
    when its own query reads. With all $\alpha_t = 1$ this is the delta rule, with decay
    the gated delta rule.

    Inside of a chunk of length $C$ the corrections of all tokens are the solution of
    one triangular system, so that there is no loop over tokens. The result is the same
    for each length of chunks, up to rounding.

    Queries and keys are taken as they are. Keys should have length one: then a token
    with $\beta_t = 1$ reads back its own value, and with $0 \le \beta_t \le 2$ and
    $0 \le \alpha_t \le 1$ nothing in the memory grows that is not written. Where
    $\beta_t = 0$ and $\alpha_t = 1$, as for padding, a token changes nothing. Numbers
    of 16 bits are computed with in 32, and so is the state.

    Args:
        query: What each position looks for.
        key: Where each position writes, one for each query.
        value: What each position writes.
        beta: Share of the difference that is written.
        decay: Factors $\alpha$ by which the memory fades before each token; `None`
            means one.
        chunk: Number of tokens that are read at a time; `None` means all.
        state: What the call before it returned; `None` means that nothing was before.

    Returns:
        What each query reads, and the memory after the last token.

    Raises:
        ValueError: If the tensors or the state do not fit, there is no token, or
            `chunk` is not a positive integer.

    Examples:
        >>> key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
        >>> value = torch.tensor([[5.0], [7.0], [9.0]])
        >>> delta_rule(key, key, value, torch.ones(3))[1]
        tensor([[9.],
                [7.]])

    References:
        Schlag, Irie and Schmidhuber (2021),
        [arXiv:2102.11174](https://arxiv.org/abs/2102.11174), for the rule; Yang et al.
        (2024), [arXiv:2406.06484](https://arxiv.org/abs/2406.06484), for chunks; Yang,
        Kautz and Hatamizadeh (2024), eq. 10,
        [arXiv:2412.06464](https://arxiv.org/abs/2412.06464), for the decay.
    """
    _require.one_key_and_value_per_query(query, key, value)
    decay = torch.ones_like(beta) if decay is None else decay
    _require_one_factor_per_key(key, beta=beta, decay=decay)
    dtype, wide = query.dtype, torch.promote_types(query.dtype, torch.float32)
    chunk = query.shape[-2] if chunk is None else chunk
    _require.positive(chunk=chunk)
    # Factors are columns, so that they multiply rows.
    tensors = (query, key, value, beta.unsqueeze(-1), decay.unsqueeze(-1))
    query, key, value, beta, decay = (x.to(wide) for x in tensors)
    if state is None:
        state = value.new_zeros(key.shape[-1], value.shape[-1])
    _require.state_fits(state, key, value)
    contexts = []
    pieces = (x.split(chunk, dim=-2) for x in (query, key, value, beta, decay))
    for q, k, v, b, a in zip(*pieces, strict=True):
        context, state = _read_chunk(q, k, v, b, a, state)
        contexts.append(context)
    return torch.cat(contexts, dim=-2).to(dtype), state


def _read_chunk(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    beta: Tensor,
    decay: Tensor,
    state: Tensor,
) -> tuple[Tensor, Tensor]:
    """Give what the queries of one chunk read, and the state behind it."""
    before = decay.cumprod(dim=-2)  # what is left of the state when a token comes
    left = _left_of_each_write(decay)
    overlap = (key @ key.transpose(-2, -1)) * left
    wanted = beta * (value - before * (key @ state))
    # Each token takes out what those before it in the chunk have written.
    corrections = torch.linalg.solve_triangular(
        (beta * overlap).tril(-1), wanted, upper=False, unitriangular=True
    )
    weights = (query @ key.transpose(-2, -1)) * left
    context = before * (query @ state) + weights @ corrections
    # The last row says what is left at the end.
    written = key.transpose(-2, -1) * left[..., -1:, :] @ corrections
    return context, before[..., -1:, :] * state + written


def _left_of_each_write(decay: Tensor) -> Tensor:
    """Multiply the factors between a write (column) and a reader (row), by no division.

    So a factor may be zero, which forgets all that was before.
    """
    C = decay.shape[-2]
    later = torch.ones(C, C, dtype=torch.bool, device=decay.device).tril(-1)
    return torch.where(later, decay, 1.0).cumprod(dim=-2).tril()


# ---- What is refused ----


def _require_one_factor_per_key(key: Tensor, **factors: Tensor) -> None:
    _require.floating(**factors)
    for name, factor in factors.items():
        fits = factor.ndim >= 1 and factor.shape[-1] == key.shape[-2]
        if not fits or not _require.leading_axes_broadcast(factor.unsqueeze(-1), key):
            raise ValueError(
                f"{name} must have one number for each key, and leading axes that "
                f"broadcast; got {name}.shape={_require.shape(factor)}, "
                f"key.shape={_require.shape(key)}."
            )
