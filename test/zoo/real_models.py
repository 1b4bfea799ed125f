# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models in their published configurations, with random weights: two images or two sequences a batch, without dropout."""

import torch

from wrapping import Model

BATCH = 2

# timm's names; images of the size that each was published for.
_TIMM = """
    resnet50 resnet152 densenet121 hrnet_w18 dpn107 dla102 pnasnet5large inception_v3 vgg16 regnety_032
    tf_efficientnet_b0 mobilenetv3_large_100 rexnet_100 ghostnet_100
    convnext_base vit_base_patch16_224 deit_base_patch16_224 beit_base_patch16_224 swin_base_patch4_window7_224 mixer_b16_224
""".split()

_TORCHVISION = {"shufflenet_v2_x1_0": (3, 224, 224), "deeplabv3_resnet50": (3, 224, 224), "r3d_18": (3, 8, 112, 112)}

_BASE = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)
_DISENTANGLED = dict(relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False)

# Name -> class of transformers, words in a sequence, and what the published model has beside the class's defaults.
_TRANSFORMERS = {
    "bert_base": ("BertForMaskedLM", 128, {}),
    "roberta_base": ("RobertaForMaskedLM", 128, dict(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)),
    "distilbert_base": ("DistilBertForMaskedLM", 128, {}),
    "albert_base": ("AlbertForMaskedLM", 128, _BASE),
    "electra_base": ("ElectraForMaskedLM", 128, dict(_BASE, embedding_size=768)),
    "deberta_base": ("DebertaForMaskedLM", 128, dict(_DISENTANGLED, vocab_size=50265, type_vocab_size=0)),
    "gpt2": ("GPT2LMHeadModel", 256, {}),
    "opt_125m": ("OPTForCausalLM", 256, {}),
    "llama_134m": (
        "LlamaForCausalLM",
        512,
        dict(_BASE, intermediate_size=2048, max_position_embeddings=512, tie_word_embeddings=False),
    ),
    "t5_small": ("T5ForConditionalGeneration", 128, dict(num_layers=6, num_heads=8)),
    "t5_base": ("T5ForConditionalGeneration", 128, dict(d_model=768, d_ff=3072, num_layers=12, num_heads=12)),
    "whisper_small": (
        "WhisperForConditionalGeneration",
        64,
        dict(
            d_model=768,
            **dict.fromkeys(("encoder_layers", "decoder_layers"), 12),
            **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 12),
            **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim"), 3072),
        ),
    ),
}

MODELS = {name: None for name in (*_TIMM, *_TORCHVISION, *_TRANSFORMERS)}


def build(name: str, seed: int = 0) -> Model:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed + 2)
    if name in _TRANSFORMERS:
        return _language(generator, *_TRANSFORMERS[name])
    if name in _TORCHVISION:
        return _torchvision(generator, name)
    import timm

    module = timm.create_model(name, pretrained=False)
    return Model(module, {"x": torch.randn(BATCH, *module.default_cfg["input_size"], generator=generator)})


def _torchvision(generator, name):
    import torchvision

    options = dict(weights_backbone=None) if name.startswith("deeplab") else {}
    module = torchvision.models.get_model(name, weights=None, **options)
    return Model(module, {"x": torch.randn(BATCH, *_TORCHVISION[name], generator=generator)})


def _language(generator, kind, time, own):
    import transformers

    kind = getattr(transformers, kind)
    known = kind.config_class().to_dict()
    still = {key: 0.0 for key, value in known.items() if "drop" in key and isinstance(value, float)}
    caching = dict(use_cache=False) if "use_cache" in known else {}
    module = kind(kind.config_class(**{**still, **caching, **own}))

    def words():  # from 10 on: none of the words with a meaning of their own
        return torch.randint(10, module.config.vocab_size, (BATCH, time), generator=generator)

    if kind.__name__.startswith("Whisper"):
        sound = torch.randn(BATCH, module.config.num_mel_bins, 2 * module.config.max_source_positions, generator=generator)
        return Model(module, {"input_features": sound, "decoder_input_ids": words(), "labels": words()})
    decoded = {"decoder_input_ids": words()} if module.config.is_encoder_decoder else {}
    return Model(module, {"input_ids": words(), **decoded, "labels": words()})
