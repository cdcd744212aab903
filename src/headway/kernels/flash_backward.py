"""FlashAttention's backward pass: the weights are computed again."""
