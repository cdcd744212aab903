"""What must hold of every function that takes a mask from its caller."""

from collections.abc import Callable

import torch
from torch import Tensor

from headway import (
    attention,
    attention_weights,
    causal_mask,
    fused_attention,
    masked_softmax,
)
from tests.properties.subjects import WIDTH, scaled
from tests.support.compare import close
from tests.support.sizes import B, H, S, T, V, draw

MASKED = {
    "attention": attention,
    "fused_attention": fused_attention,
    "attention_weights": lambda q, k, v, mask: attention_weights(q, k, mask=mask) @ v,
    "masked_softmax": lambda q, k, v, mask: masked_softmax(scaled(q, k), mask) @ v,
}
Attend = Callable[..., Tensor]
MaskProperty = Callable[[Attend], None]


def the_last_query_belongs_to_the_last_key(attend: Attend) -> None:
    """The newest queries alone get what they get among all."""
    q, k, v = draw(B, H, S, WIDTH), draw(B, H, S, WIDTH), draw(B, H, S, V)
    full = attend(q, k, v, mask=causal_mask(S))
    for newest in (1, T):
        some = attend(q[..., -newest:, :], k, v, mask=causal_mask(newest, S))
        close(some, full[..., -newest:, :])


def who_sees_nothing_gets_nothing(attend: Attend) -> None:
    """Rows without a key are zero, the others are as without those rows."""
    q, k, v = (draw(B, H, n, WIDTH).requires_grad_() for n in (T, S, S))
    mask = causal_mask(T, S).clone()
    full = attend(q, k, v, mask=mask)
    mask[3] = False
    context = attend(q, k, v, mask=mask)
    assert context[..., 3, :].eq(0).all()
    others = torch.arange(T) != 3
    close(context[..., others, :], full[..., others, :])
    context.sum().backward()
    assert q.grad[..., 3, :].eq(0).all()
    for tensor in (q, k, v):
        assert tensor.grad.isfinite().all()


def a_hidden_key_might_as_well_not_exist(attend: Attend) -> None:
    q, k, v = (draw(B, H, n, WIDTH).requires_grad_() for n in (T, S, S))
    mask = torch.arange(S) % 3 != 1
    context = attend(q, k, v, mask=mask.unsqueeze(0))
    few = mask[mask].unsqueeze(0)
    close(context, attend(q, k[..., mask, :], v[..., mask, :], mask=few))
    context.sum().backward()
    for tensor in (k, v):
        assert tensor.grad[..., ~mask, :].eq(0).all()
        assert tensor.grad[..., mask, :].ne(0).all()


MASK_PROPERTIES: list[MaskProperty] = [
    the_last_query_belongs_to_the_last_key,
    who_sees_nothing_gets_nothing,
    a_hidden_key_might_as_well_not_exist,
]
