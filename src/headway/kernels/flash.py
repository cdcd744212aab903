"""FlashAttention's forward pass: attention in tiles."""

from jaxtyping import Bool, Float
from torch import Tensor

from headway import _require
from headway.kernels.online_softmax import attention_with_lse


def flash_forward(
    query: Float[Tensor, "*#B T D"],
    key: Float[Tensor, "*#B S D"],
    value: Float[Tensor, "*#B S V"],
    *,
    mask: Bool[Tensor, "*#B #T #S"] | None = None,
    bias: Float[Tensor, "*#B #T #S"] | None = None,
    causal: bool = False,
    dropout_p: float = 0.0,
    seed: int = 0,
    scale: float | None = None,
    query_tile: int = 64,
    key_tile: int = 64,
) -> tuple[Float[Tensor, "*B T V"], Float[Tensor, "*B T"]]:
    """Attend in tiles (a draft with the final signature: not in tiles yet)."""
    _require.positive(query_tile=query_tile, key_tile=key_tile)
    return attention_with_lse(
        query, key, value, mask=mask, bias=bias, causal=causal, scale=scale
    )
