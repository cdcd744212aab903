"""Language models that others have published, small and of random weights.

Each is built by a class of transformers from a configuration with two layers.
"""

from typing import Any

import torch
import transformers
from torch import nn

VOCABULARY = 31
COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
# As most of today's models name their sizes.
MODERN = COMMON | {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "max_position_embeddings": 256,
}
# As those do that come from BERT.
BERT = COMMON | {
    "pad_token_id": 0,
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
    "is_decoder": True,
}
GPT = COMMON | {"n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 256}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
# By the name of the class: its configuration.
CONFIGS: dict[str, tuple[str, dict[str, Any]]] = {
    "GPT2LMHeadModel": ("GPT2Config", GPT),
    "GPTNeoForCausalLM": (
        "GPTNeoConfig",
        COMMON
        | {
            "hidden_size": 24,
            "num_layers": 2,
            "num_heads": 4,
            "attention_types": [[["global", "local"], 1]],
            "window_size": 4,
            "max_position_embeddings": 256,
        },
    ),
    "GPTJForCausalLM": ("GPTJConfig", GPT | {"rotary_dim": 4}),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", MODERN),
    "GPTBigCodeForCausalLM": ("GPTBigCodeConfig", GPT),
    "CodeGenForCausalLM": ("CodeGenConfig", GPT | {"rotary_dim": 4}),
    "OPTForCausalLM": (
        "OPTConfig",
        COMMON
        | {
            "pad_token_id": 1,
            "hidden_size": 24,
            "ffn_dim": 40,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "word_embed_proj_dim": 24,
            "max_position_embeddings": 256,
        },
    ),
    "BloomForCausalLM": (
        "BloomConfig",
        COMMON | {"hidden_size": 24, "n_layer": 2, "n_head": 4},
    ),
    "FalconForCausalLM": (
        "FalconConfig",
        COMMON
        | {
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "alibi": True,
        },
    ),
    "MptForCausalLM": (
        "MptConfig",
        COMMON | {"d_model": 24, "n_layers": 2, "n_heads": 4, "max_seq_len": 256},
    ),
    "LlamaForCausalLM": ("LlamaConfig", MODERN),
    "MistralForCausalLM": ("MistralConfig", MODERN | {"sliding_window": 4}),
    "MixtralForCausalLM": (
        "MixtralConfig",
        MODERN | EXPERTS | {"sliding_window": None},
    ),
    "Qwen2ForCausalLM": ("Qwen2Config", MODERN),
    "Qwen3ForCausalLM": ("Qwen3Config", MODERN),
    "GemmaForCausalLM": ("GemmaConfig", MODERN),
    "Gemma2ForCausalLM": ("Gemma2Config", MODERN | {"sliding_window": 4}),
    "Gemma3ForCausalLM": ("Gemma3TextConfig", MODERN | {"sliding_window": 4}),
    "PhiForCausalLM": ("PhiConfig", MODERN | {"hidden_size": 32, "head_dim": 8}),
    "Phi3ForCausalLM": ("Phi3Config", MODERN),
    "StableLmForCausalLM": ("StableLmConfig", MODERN),
    "Starcoder2ForCausalLM": ("Starcoder2Config", MODERN),
    "OlmoForCausalLM": ("OlmoConfig", MODERN),
    "Olmo2ForCausalLM": ("Olmo2Config", MODERN),
    "CohereForCausalLM": ("CohereConfig", MODERN),
    "GraniteForCausalLM": ("GraniteConfig", MODERN),
    "GptOssForCausalLM": ("GptOssConfig", MODERN | EXPERTS | {"sliding_window": 4}),
    "SmolLM3ForCausalLM": ("SmolLM3Config", MODERN),
    "NanoChatForCausalLM": ("NanoChatConfig", MODERN),
    "DogeForCausalLM": ("DogeConfig", MODERN),
    "XGLMForCausalLM": (
        "XGLMConfig",
        COMMON
        | {
            "pad_token_id": 1,
            "d_model": 24,
            "ffn_dim": 40,
            "num_layers": 2,
            "attention_heads": 4,
            "max_position_embeddings": 256,
        },
    ),
    "BertLMHeadModel": ("BertConfig", BERT),
    "RoFormerForCausalLM": ("RoFormerConfig", BERT),
    "BigBirdForCausalLM": ("BigBirdConfig", BERT),
    "RemBertForCausalLM": (
        "RemBertConfig",
        BERT | {"input_embedding_size": 24, "output_embedding_size": 24},
    ),
    "MegatronBertForCausalLM": ("MegatronBertConfig", BERT),
    "MambaForCausalLM": (
        "MambaConfig",
        COMMON | {"hidden_size": 24, "num_hidden_layers": 2, "state_size": 8},
    ),
    "Qwen3NextForCausalLM": (
        "Qwen3NextConfig",
        MODERN
        | {
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "linear_key_head_dim": 6,
            "linear_value_head_dim": 6,
            "layer_types": ["linear_attention", "full_attention"],
        },
    ),
    "DeepseekV3ForCausalLM": (
        "DeepseekV3Config",
        COMMON
        | {
            "hidden_size": 24,
            "intermediate_size": 40,
            "moe_intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 4,
            "n_routed_experts": 4,
            "num_experts_per_tok": 2,
            "n_group": 2,
            "topk_group": 1,
            "q_lora_rank": 12,
            "kv_lora_rank": 8,
            "qk_rope_head_dim": 4,
            "qk_nope_head_dim": 6,
            "v_head_dim": 6,
            "first_k_dense_replace": 1,
            "max_position_embeddings": 256,
        },
    ),
}


def build(name: str) -> nn.Module:
    """Build a model, the same each time."""
    torch.manual_seed(0)
    config, sizes = CONFIGS[name]
    return getattr(transformers, name)(getattr(transformers, config)(**sizes))
