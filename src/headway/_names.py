"""The public names, in reading order; `headway` hands them on when one is asked for."""

from headway.examples import (
    Example,
    six_tokens,
    nine_words,
    six_by_rows,
    he_finds_boy,
    quick_brown_fox,
)
from headway.basics.embedding import Vocabulary, embed
from headway.basics.simple_attention import (
    similarity_scores,
    naive_softmax,
    stable_softmax,
    context_vectors,
)
from headway.basics.scaled_dot_product import (
    attention_scores,
    masked_softmax,
    attention_weights,
    attention,
)
from headway.basics.fused import fused_attention
from headway.basics.self_attention import SelfAttentionV1, SelfAttentionV2
from headway.basics.training import eight_guests, recall_task, weight_of
from headway.basics.masks import (
    causal_mask,
    padding_mask,
    hide_by_renormalising,
    hide_by_minus_infinity,
)
from headway.basics.causal_attention import CausalAttention
from headway.basics.stacked_heads import MultiHeadAttentionWrapper
from headway.basics.multi_head_attention import (
    AttentionFunction,
    Cache,
    split_heads,
    merge_heads,
    MultiHeadAttention,
)
from headway.basics.pytorch import from_heads, to_torch, from_torch, from_gpt2
from headway.basics.cross_attention import CrossAttention
from headway.basics.packing import pack, document_mask, unpack
from headway.positions.sinusoidal import sinusoidal_positions, LearnedPositions
from headway.positions.rotary import (
    rotary_frequencies,
    Rotary,
    pairs_to_halves,
    halves_to_pairs,
    pairs_to_halves_weight,
    halves_to_pairs_weight,
)
from headway.positions.rotary_scaling import (
    linear_frequencies,
    ntk_frequencies,
    yarn_frequencies,
    yarn_magnitude,
    llama3_frequencies,
)
from headway.positions.relative_bias import (
    alibi_slopes,
    ALiBi,
    relative_buckets,
    T5Bias,
)
from headway.decoding.kv_cache import KeyValueCache, bytes_per_token
from headway.decoding.grouped_query import repeat_heads, GroupedQueryAttention
from headway.decoding.sliding_window import sliding_window_mask, RingCache
from headway.decoding.paged_cache import PagePool, PagedCache
from headway.decoding.latent_attention import LatentAttention
from headway.kernels.online_softmax import attention_with_lse, merge_attention
from headway.kernels.flash import flash_forward
from headway.kernels.flash_backward import flash_backward, flash_attention
from headway.kernels.flex import (
    causal_mod,
    window_mod,
    prefix_mod,
    document_mod,
    padding_mod,
    alibi_mod,
    relative_mod,
    shift_queries,
    count_blocks,
    FlexAttend,
)
from headway.variants.sinks import (
    sink_attention,
    LearnedSinks,
    sink_window_mask,
    softcap_attention,
)
from headway.variants.norms_and_gates import (
    QKNorm,
    add_qk_norm,
    GatedAttention,
    differential_attention,
    lambda_init,
    DifferentialAttention,
    halves_to_neighbours_weight,
)
from headway.variants.sparse_attention import (
    block_scores,
    indexer_scores,
    topk_mask,
    block_topk_mask,
    sparse_attention,
)
from headway.variants.linear_attention import positive_features, linear_attention
from headway.variants.delta_rule import delta_rule
from headway.distributed.launch import run_processes
from headway.distributed.tensor_parallel import shard_heads, TensorParallelAttention
from headway.distributed.ring import (
    contiguous_rows,
    striped_rows,
    zigzag_rows,
    count_pairs,
    ring_attention,
)
from headway.models.transformer_block import (
    RMSNorm,
    FeedForward,
    SwiGLU,
    TransformerBlock,
    count_parameters,
)
from headway.models.small_gpt import (
    Characters,
    LanguageModel,
    small_text,
    small_gpt,
    draw_passages,
    passage_loss,
    bigram_loss,
    generate,
)
from headway.models.induction import (
    words_task,
    words_guessing_loss,
    repeat_task,
    guessing_loss,
    copying_loss,
    attention_only_model,
    train_induction,
    induction_model,
    recorded_weights,
    previous_token_score,
    induction_score,
)
from headway.models.attention_maps import (
    two_head_model,
    silenced_heads,
    weighted_norms,
    rollout,
)

__all__ = [
    "Example",
    "six_tokens",
    "nine_words",
    "six_by_rows",
    "he_finds_boy",
    "quick_brown_fox",
    "Vocabulary",
    "embed",
    "similarity_scores",
    "naive_softmax",
    "stable_softmax",
    "context_vectors",
    "attention_scores",
    "masked_softmax",
    "attention_weights",
    "attention",
    "fused_attention",
    "SelfAttentionV1",
    "SelfAttentionV2",
    "eight_guests",
    "recall_task",
    "weight_of",
    "causal_mask",
    "padding_mask",
    "hide_by_renormalising",
    "hide_by_minus_infinity",
    "CausalAttention",
    "MultiHeadAttentionWrapper",
    "AttentionFunction",
    "Cache",
    "split_heads",
    "merge_heads",
    "MultiHeadAttention",
    "from_heads",
    "to_torch",
    "from_torch",
    "from_gpt2",
    "CrossAttention",
    "pack",
    "document_mask",
    "unpack",
    "sinusoidal_positions",
    "LearnedPositions",
    "rotary_frequencies",
    "Rotary",
    "pairs_to_halves",
    "halves_to_pairs",
    "pairs_to_halves_weight",
    "halves_to_pairs_weight",
    "linear_frequencies",
    "ntk_frequencies",
    "yarn_frequencies",
    "yarn_magnitude",
    "llama3_frequencies",
    "alibi_slopes",
    "ALiBi",
    "relative_buckets",
    "T5Bias",
    "KeyValueCache",
    "bytes_per_token",
    "repeat_heads",
    "GroupedQueryAttention",
    "sliding_window_mask",
    "RingCache",
    "PagePool",
    "PagedCache",
    "LatentAttention",
    "attention_with_lse",
    "merge_attention",
    "flash_forward",
    "flash_backward",
    "flash_attention",
    "causal_mod",
    "window_mod",
    "prefix_mod",
    "document_mod",
    "padding_mod",
    "alibi_mod",
    "relative_mod",
    "shift_queries",
    "count_blocks",
    "FlexAttend",
    "sink_attention",
    "LearnedSinks",
    "sink_window_mask",
    "softcap_attention",
    "QKNorm",
    "add_qk_norm",
    "GatedAttention",
    "differential_attention",
    "lambda_init",
    "DifferentialAttention",
    "halves_to_neighbours_weight",
    "block_scores",
    "indexer_scores",
    "topk_mask",
    "block_topk_mask",
    "sparse_attention",
    "positive_features",
    "linear_attention",
    "delta_rule",
    "run_processes",
    "shard_heads",
    "TensorParallelAttention",
    "contiguous_rows",
    "striped_rows",
    "zigzag_rows",
    "count_pairs",
    "ring_attention",
    "RMSNorm",
    "FeedForward",
    "SwiGLU",
    "TransformerBlock",
    "count_parameters",
    "Characters",
    "LanguageModel",
    "small_text",
    "small_gpt",
    "draw_passages",
    "passage_loss",
    "bigram_loss",
    "generate",
    "words_task",
    "words_guessing_loss",
    "repeat_task",
    "guessing_loss",
    "copying_loss",
    "attention_only_model",
    "train_induction",
    "induction_model",
    "recorded_weights",
    "previous_token_score",
    "induction_score",
    "two_head_model",
    "silenced_heads",
    "weighted_norms",
    "rollout",
]
