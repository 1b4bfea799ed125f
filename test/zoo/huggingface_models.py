# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The 46 Hugging Face models that PyTorch's own benchmarks train, narrow, with two layers and random weights."""

import torch

from wrapping import Model

# Model of the benchmark -> class of transformers, if it has another name.
_CLASSES = {
    "AllenaiLongformerBase": "LongformerForMaskedLM",
    "CamemBert": "CamembertForMaskedLM",
    "DistillGPT2": "GPT2LMHeadModel",
    "GoogleFnet": "FNetForMaskedLM",
    "T5Small": "T5ForConditionalGeneration",
    "YituTechConvBert": "ConvBertForMaskedLM",
}

# Settings of single models beside SMALL.
MODELS: dict[str, dict] = {
    "AlbertForMaskedLM": {},
    "AlbertForQuestionAnswering": {},
    "AllenaiLongformerBase": dict(attention_window=[4, 4]),
    "BartForCausalLM": {},
    "BartForConditionalGeneration": {},
    "BertForMaskedLM": {},
    "BertForQuestionAnswering": {},
    "BlenderbotForCausalLM": {},
    "BlenderbotSmallForCausalLM": {},
    "BlenderbotSmallForConditionalGeneration": {},
    "CamemBert": {},
    "DebertaForMaskedLM": dict(relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=16),
    "DebertaForQuestionAnswering": {},
    "DebertaV2ForMaskedLM": dict(relative_attention=True, pos_att_type=["c2p", "p2c"], position_buckets=8),
    "DebertaV2ForQuestionAnswering": {},
    "DistilBertForMaskedLM": {},
    "DistilBertForQuestionAnswering": {},
    "DistillGPT2": {},
    "ElectraForCausalLM": {},
    "ElectraForQuestionAnswering": {},
    "GPT2ForSequenceClassification": {},
    "GoogleFnet": {},
    "LayoutLMForMaskedLM": {},
    "LayoutLMForSequenceClassification": {},
    "M2M100ForConditionalGeneration": {},
    "MBartForCausalLM": {},
    "MBartForConditionalGeneration": {},
    "MT5ForConditionalGeneration": {},
    "MegatronBertForCausalLM": {},
    "MegatronBertForQuestionAnswering": {},
    "MobileBertForMaskedLM": dict(embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32),
    "MobileBertForQuestionAnswering": dict(embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32),
    "OPTForCausalLM": dict(word_embed_proj_dim=32),
    "PLBartForCausalLM": {},
    "PLBartForConditionalGeneration": {},
    "PegasusForCausalLM": {},
    "PegasusForConditionalGeneration": {},
    "RobertaForCausalLM": {},
    "RobertaForQuestionAnswering": {},
    "Speech2Text2ForCausalLM": {},
    "T5ForConditionalGeneration": {},
    "T5Small": {},
    "TrOCRForCausalLM": {},
    "XGLMForCausalLM": {},
    "XLNetLMHeadModel": dict(d_inner=64, d_head=16),
    "YituTechConvBert": {},
}

BATCH, TIME, WORDS, WIDTH = 2, 16, 100, 32

# What makes a configuration small, under every name that some class has for it. Weights are larger than usual:
# with 0.02 and this width, nothing of the input would reach the output.
SMALL = dict(
    vocab_size=WORDS,
    pad_token_id=1,
    use_cache=False,
    **dict.fromkeys(("initializer_range", "init_std"), 0.2),
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "embedding_size"), WIDTH),
    **dict.fromkeys(("cross_attention_hidden_size",), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers"), 2),
    **dict.fromkeys(("encoder_layers", "decoder_layers", "num_decoder_layers"), 2),
    **dict.fromkeys(("num_attention_heads", "num_heads", "n_head", "n_heads", "attention_heads"), 2),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 2),
    **dict.fromkeys(("intermediate_size", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim", "d_ff"), 64),
    **dict.fromkeys(("hidden_dim", "d_inner"), 64),
    **dict.fromkeys(("max_position_embeddings", "n_positions"), 64),
    d_kv=16,
)


def build(name: str, seed: int = 0) -> Model:
    import transformers

    kind = getattr(transformers, _CLASSES.get(name, name), None)
    if kind is None:
        raise ValueError(f"transformers {transformers.__version__} has no {name} any more")
    torch.manual_seed(seed)
    module = kind(configuration(kind.config_class, MODELS[name]))
    return Model(module, _inputs(name, seed))


def configuration(kind, own: dict):
    """The class's defaults, made small, without dropout."""
    default = kind()
    known = default.to_dict()
    settings = {key: value for key, value in SMALL.items() if key in known}
    for key, value in known.items():
        if "drop" in key and isinstance(value, float):
            settings[key] = 0.0
        elif key.endswith("_token_id") and isinstance(value, int) and value >= WORDS:
            settings[key] = 2
    return kind(**{**settings, **own})


def _inputs(name: str, seed: int) -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed + 2)

    def words():  # from 4 on: none of the words with a meaning of their own, such as padding
        return torch.randint(4, WORDS, (BATCH, TIME), generator=generator)

    inputs = {"input_ids": words()}
    if name.endswith("ForConditionalGeneration") or name == "T5Small":
        inputs["decoder_input_ids"] = words()
    return inputs
