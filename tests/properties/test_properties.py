"""Each property holds of all in the package that it is about."""

import pytest

import headway
from tests.properties.of_attention import PROPERTIES, Property
from tests.properties.of_masks import MASK_PROPERTIES, MASKED, MaskProperty
from tests.properties.subjects import SUBJECTS

NO_ATTENTION = {
    "Example",
    "six_tokens",
    "nine_words",
    "six_by_rows",
    "quick_brown_fox",
    "he_finds_boy",
    "eight_guests",
    "recall_task",
    "weight_of",
    "Vocabulary",
    "embed",
    "causal_mask",
    "padding_mask",
    "AttentionFunction",
    "Cache",
    "pack",
    "document_mask",
    "unpack",
    "sinusoidal_positions",
    "LearnedPositions",
    "PagePool",
    "PagedCache",
    "rotary_frequencies",
    "Rotary",
    "pairs_to_halves",
    "halves_to_pairs",
    "pairs_to_halves_weight",
    "halves_to_pairs_weight",
    "alibi_slopes",
    "ALiBi",
    "relative_buckets",
    "T5Bias",
    "linear_frequencies",
    "ntk_frequencies",
    "yarn_frequencies",
    "yarn_magnitude",
    "llama3_frequencies",
    "KeyValueCache",
    "bytes_per_token",
    "sliding_window_mask",
    "RingCache",
    "sink_window_mask",
    "causal_mod",
    "window_mod",
    "prefix_mod",
    "document_mod",
    "padding_mod",
    "alibi_mod",
    "relative_mod",
    "shift_queries",
    "count_blocks",
    "FlexAttend",  # attention, but without gradients: its own tests compare it
    "flash_backward",
    "contiguous_rows",
    "striped_rows",
    "zigzag_rows",
    "run_processes",
    "shard_heads",  # a part of an attention, which alone is none
    "TensorParallelAttention",  # asked with several processes in its own tests
    "count_pairs",
    # It needs processes, and so has tests of its own.
    "ring_attention",
    "RMSNorm",
    "FeedForward",
    "SwiGLU",
    "TransformerBlock",
    "count_parameters",
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
    "Characters",
    "LanguageModel",
    "small_text",
    "small_gpt",
    "draw_passages",
    "passage_loss",
    "bigram_loss",
    "generate",
    "block_scores",
    "indexer_scores",
    "topk_mask",
    "block_topk_mask",
    "QKNorm",  # other scores than those of the properties: tests of its own
    "add_qk_norm",
    "lambda_init",
    "DifferentialAttention",  # a norm behind the weights: tests of its own
    "halves_to_neighbours_weight",
    # Their weights are not those of a softmax, so they have tests of their own.
    "positive_features",
    "linear_attention",
    "delta_rule",
    "two_head_model",
    "silenced_heads",
    "weighted_norms",
    "rollout",
}


def test_every_public_name_is_tested_or_has_no_attention() -> None:
    tested = {name.split(":")[0] for name in SUBJECTS}
    assert not tested & NO_ATTENTION
    assert tested | NO_ATTENTION == set(headway.__all__)


@pytest.mark.parametrize(
    ("holds", "name"),
    [
        pytest.param(holds, name, id=f"{holds.__name__}: {name}")
        for holds, applies in PROPERTIES.items()
        for name, subject in SUBJECTS.items()
        if applies(subject)
    ],
)
def test_property(holds: Property, name: str) -> None:
    holds(SUBJECTS[name])


@pytest.mark.parametrize("name", MASKED)
@pytest.mark.parametrize("holds", MASK_PROPERTIES, ids=lambda holds: holds.__name__)
def test_property_of_masks(holds: MaskProperty, name: str) -> None:
    holds(MASKED[name])
