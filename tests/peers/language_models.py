"""Language models that others have published, small and of random weights.

Each is built of a configuration with two layers by a class of transformers, or of
x-transformers.
"""

import importlib
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
FEW: dict[str, Any] = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "max_position_embeddings": 256,
}
# As most of today's models name their sizes.
MODERN = COMMON | FEW | {"num_key_value_heads": 2, "head_dim": 6}
# As those do that come from BERT.
BERT = COMMON | FEW | {"pad_token_id": 0, "is_decoder": True}
GPT = COMMON | {"n_embd": 24, "n_layer": 2, "n_head": 4, "n_positions": 256}
EXPERTS = {"num_local_experts": 4, "num_experts_per_tok": 2}
WINDOW = {"sliding_window": 4}
NEO = {
    "hidden_size": 24,
    "num_layers": 2,
    "num_heads": 4,
    "attention_types": [[["global", "local"], 1]],
    "window_size": 4,
    "max_position_embeddings": 256,
}
OPT = FEW | {"pad_token_id": 1, "ffn_dim": 40, "word_embed_proj_dim": 24}
XGLM = {
    "pad_token_id": 1,
    "d_model": 24,
    "ffn_dim": 40,
    "num_layers": 2,
    "attention_heads": 4,
    "max_position_embeddings": 256,
}
QWEN3_NEXT = {
    "num_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 6,
    "linear_value_head_dim": 6,
    "layer_types": ["linear_attention", "full_attention"],
}
DEEPSEEK = {
    "moe_intermediate_size": 16,
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
}
BART = {
    "pad_token_id": 1,
    "decoder_start_token_id": 2,
    "forced_eos_token_id": None,
    "d_model": 24,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 256,
}
T5 = {
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
    "d_model": 24,
    "d_kv": 6,
    "d_ff": 40,
    "num_layers": 2,
    "num_heads": 4,
}
XLNET = {"d_model": 24, "n_layer": 2, "n_head": 4, "d_inner": 40}
MPT = {"d_model": 24, "n_layers": 2, "n_heads": 4, "max_seq_len": 256}
# By the class of the model: that of its configuration, and its sizes.
OF_TRANSFORMERS: dict[str, tuple[str, dict[str, Any]]] = {
    "BartForConditionalGeneration": ("BartConfig", COMMON | BART),
    "BertLMHeadModel": ("BertConfig", BERT),
    "BigBirdForCausalLM": ("BigBirdConfig", BERT),
    "BloomForCausalLM": ("BloomConfig", GPT | {"hidden_size": 24}),
    "CodeGenForCausalLM": ("CodeGenConfig", GPT | {"rotary_dim": 4}),
    "CohereForCausalLM": ("CohereConfig", MODERN),
    "DeepseekV3ForCausalLM": ("DeepseekV3Config", COMMON | FEW | DEEPSEEK),
    "DogeForCausalLM": ("DogeConfig", MODERN),
    "FalconForCausalLM": ("FalconConfig", COMMON | FEW | {"alibi": True}),
    "GPT2LMHeadModel": ("GPT2Config", GPT),
    "GPTBigCodeForCausalLM": ("GPTBigCodeConfig", GPT),
    "GPTJForCausalLM": ("GPTJConfig", GPT | {"rotary_dim": 4}),
    "GPTNeoForCausalLM": ("GPTNeoConfig", COMMON | NEO),
    "GPTNeoXForCausalLM": ("GPTNeoXConfig", MODERN),
    "Gemma2ForCausalLM": ("Gemma2Config", MODERN | WINDOW),
    "Gemma3ForCausalLM": ("Gemma3TextConfig", MODERN | WINDOW),
    "GemmaForCausalLM": ("GemmaConfig", MODERN),
    "GptOssForCausalLM": ("GptOssConfig", MODERN | EXPERTS | WINDOW),
    "GraniteForCausalLM": ("GraniteConfig", MODERN),
    "LlamaForCausalLM": ("LlamaConfig", MODERN),
    "MambaForCausalLM": ("MambaConfig", COMMON | FEW | {"state_size": 8}),
    "MegatronBertForCausalLM": ("MegatronBertConfig", BERT),
    "MistralForCausalLM": ("MistralConfig", MODERN | WINDOW),
    "MixtralForCausalLM": ("MixtralConfig", MODERN | EXPERTS),
    "MptForCausalLM": ("MptConfig", COMMON | MPT),
    "NanoChatForCausalLM": ("NanoChatConfig", MODERN),
    "OPTForCausalLM": ("OPTConfig", COMMON | OPT),
    "Olmo2ForCausalLM": ("Olmo2Config", MODERN),
    "OlmoForCausalLM": ("OlmoConfig", MODERN),
    "Phi3ForCausalLM": ("Phi3Config", MODERN),
    "PhiForCausalLM": ("PhiConfig", MODERN | {"hidden_size": 32, "head_dim": 8}),
    "Qwen2ForCausalLM": ("Qwen2Config", MODERN),
    "Qwen3ForCausalLM": ("Qwen3Config", MODERN),
    "Qwen3NextForCausalLM": ("Qwen3NextConfig", MODERN | QWEN3_NEXT),
    "RemBertForCausalLM": (
        "RemBertConfig",
        BERT | {"input_embedding_size": 24, "output_embedding_size": 24},
    ),
    "RoFormerForCausalLM": ("RoFormerConfig", BERT),
    "RobertaForCausalLM": ("RobertaConfig", BERT | {"pad_token_id": 1}),
    "RobertaForMaskedLM": (
        "RobertaConfig",
        BERT | {"pad_token_id": 1, "is_decoder": False},
    ),
    "SmolLM3ForCausalLM": ("SmolLM3Config", MODERN),
    "StableLmForCausalLM": ("StableLmConfig", MODERN),
    "Starcoder2ForCausalLM": ("Starcoder2Config", MODERN),
    "T5ForConditionalGeneration": ("T5Config", COMMON | T5),
    "XGLMForCausalLM": ("XGLMConfig", COMMON | XGLM),
    "XLNetLMHeadModel": ("XLNetConfig", COMMON | XLNET),
}
OF_X_TRANSFORMERS: dict[str, dict[str, Any]] = {
    "TransformerWrapper, absolute": {},
    "TransformerWrapper, rotary": {"rotary_pos_emb": True},
    "TransformerWrapper, ALiBi": {"alibi_pos_bias": True},
}
NAMES = [*OF_TRANSFORMERS, *OF_X_TRANSFORMERS]


def build(name: str) -> nn.Module:
    """Build a model, the same each time."""
    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    if name in OF_TRANSFORMERS:
        config, sizes = OF_TRANSFORMERS[name]
        return getattr(transformers, name)(getattr(transformers, config)(**sizes))
    x_transformers = importlib.import_module("x_transformers")  # it warns
    layers = x_transformers.Decoder(
        dim=24, depth=2, heads=4, attn_dim_head=6, **OF_X_TRANSFORMERS[name]
    )
    return x_transformers.TransformerWrapper(
        num_tokens=VOCABULARY, max_seq_len=256, attn_layers=layers
    )
