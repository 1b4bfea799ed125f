# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""transformers' models of images and words, small and with random weights; the loss is that of the next word.

Features of an image stand in place of as many words of one kind. What a processor knows of a batch before it, how large its images are and
which positions words have, is known here, too.
"""

import torch
from torch import nn

from wrapping import Model

BATCH, IMAGE, PIXELS, PATCH = 2, 100, 16, 4
WORDS = dict(
    vocab_size=120, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
    max_position_embeddings=64, pad_token_id=0, bos_token_id=1, eos_token_id=2,
)
IMAGES = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, image_size=PIXELS, patch_size=PATCH)
PATCHES = (PIXELS // PATCH) ** 2
TOWER = dict(depth=2, hidden_size=32, out_hidden_size=32, intermediate_size=48)
MERGED = dict(num_heads=2, patch_size=PATCH, spatial_merge_size=2, temporal_patch_size=2)


class Known(nn.Module):
    """A model with more arguments, some of which are known, and others computed of the words."""

    def __init__(self, model, known=None, computed=None):
        super().__init__()
        self.model, self.names, self.computed = model, list(known or ()), computed or {}
        for name, x in (known or {}).items():
            self.register_buffer(name, x, persistent=False)

    def forward(self, input_ids, pixel_values):
        more = {name: getattr(self, name) for name in self.names}
        more |= {name: compute(input_ids) for name, compute in self.computed.items()}
        return self.model(input_ids=input_ids, pixel_values=pixel_values, labels=input_ids, use_cache=False, **more).loss


def _words(places):
    """A sentence for each image, with so many places for its features behind the second word."""
    words = torch.randint(10, 90, (BATCH, places + 6))
    words[:, 2 : 2 + places] = IMAGE
    return words


def _images(*more):
    return torch.randn(BATCH, *more, 3, PIXELS, PIXELS)


def _is_image(words):
    return (words == IMAGE).long()


def _places_along(words):
    return torch.arange(words.shape[1]).expand(3, len(words), -1)


def _paligemma(t):
    text = dict(model_type="gemma", head_dim=8, **WORDS)
    images = dict(model_type="siglip_vision_model", projection_dim=32, **IMAGES)
    made = t.PaliGemmaConfig(text_config=text, vision_config=images, image_token_index=IMAGE, projection_dim=32, vocab_size=120, hidden_size=32)
    follows = lambda words: (torch.arange(words.shape[1]) > PATCHES + 3).long().expand(len(words), -1)  # noqa: E731
    return Known(t.PaliGemmaForConditionalGeneration(made), computed={"token_type_ids": follows}), PATCHES, _images()


def _gemma3(t):
    text = dict(head_dim=8, sliding_window=8, **WORDS)
    ends = dict(boi_token_index=101, eoi_token_index=102)
    made = t.Gemma3Config(text_config=text, vision_config=IMAGES, image_token_index=IMAGE, mm_tokens_per_image=4, **ends)
    return Known(t.Gemma3ForConditionalGeneration(made), computed={"token_type_ids": _is_image}), 4, _images()


def _internvl(t):
    images = IMAGES | dict(image_size=[PIXELS] * 2, patch_size=[PATCH] * 2)
    made = t.InternVLConfig(text_config=dict(model_type="qwen2", **WORDS), vision_config=images, image_token_id=IMAGE, downsample_ratio=0.5)
    return Known(t.InternVLForConditionalGeneration(made)), 4, _images()


def _idefics3(t):
    made = t.Idefics3Config(text_config=dict(model_type="llama", **WORDS), vision_config=IMAGES, image_token_id=IMAGE, scale_factor=2, pad_token_id=0)
    return Known(t.Idefics3ForConditionalGeneration(made)), 4, _images(1)


def _blip2(t):
    seen = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=2, encoder_hidden_size=32, vocab_size=50)
    seen |= dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    text = dict(model_type="opt", vocab_size=120, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)
    text |= dict(word_embed_proj_dim=32, dropout=0.0, attention_dropout=0.0)
    made = t.Blip2Config(vision_config=IMAGES, qformer_config=seen, text_config=text, num_query_tokens=4, image_token_index=IMAGE)
    return Known(t.Blip2ForConditionalGeneration(made)), 4, _images()


def _llava_next(t):
    images = dict(model_type="clip_vision_model", projection_dim=32, **IMAGES)
    made = t.LlavaNextConfig(
        text_config=dict(model_type="llama", **WORDS), vision_config=images, image_token_index=IMAGE, image_grid_pinpoints=[[PIXELS, 2 * PIXELS]],
        vision_feature_layer=-1, image_seq_length=PATCHES,
    )
    sizes = torch.tensor([[PIXELS, 2 * PIXELS]] * BATCH)  # the whole image, its halves, and the ends of their rows
    return Known(t.LlavaNextForConditionalGeneration(made), {"image_sizes": sizes}), 3 * PATCHES + 4, _images(3)


def _mllama(t):
    text = WORDS | dict(cross_attention_layers=[1])
    images = dict(
        hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_global_layers=1, attention_heads=2, image_size=PIXELS, patch_size=PATCH,
        max_num_tiles=1, supported_aspect_ratios=[[1, 1]], intermediate_layers_indices=[0], vision_output_dim=64,
    )
    made = t.MllamaConfig(text_config=text, vision_config=images, image_token_index=IMAGE)
    ones = lambda *shape: torch.ones(BATCH, *shape, dtype=torch.int64)  # noqa: E731
    known = {"aspect_ratio_ids": ones(1), "aspect_ratio_mask": ones(1, 1), "cross_attention_mask": ones(7, 1, 1)}
    return Known(t.MllamaForConditionalGeneration(made), known), 1, _images(1, 1)


def _qwen(name, text=None, **images):
    """Its images are rows of patches, as large as `image_grid_thw` says."""

    def make(t):
        words = WORDS | dict(rope_parameters={"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10000.0}, **(text or {}))
        kinds = dict(image_token_id=IMAGE, video_token_id=101, vision_start_token_id=102, vision_end_token_id=103)
        made = getattr(t, f"{name}Config")(text_config=words, vision_config=MERGED | images, **kinds)
        grid = torch.tensor([[1, PIXELS // PATCH, PIXELS // PATCH]] * BATCH)
        model = getattr(t, f"{name}ForConditionalGeneration")(made)
        return Known(model, {"image_grid_thw": grid}, {"position_ids": _places_along}), PATCHES // 4, torch.randn(BATCH * PATCHES, 2 * 3 * PATCH**2)

    return make


MODELS = {
    "PaliGemma": _paligemma,
    "Gemma3": _gemma3,
    "InternVL": _internvl,
    "Idefics3": _idefics3,
    "Blip2": _blip2,
    "LlavaNext": _llava_next,
    "Mllama": _mllama,
    "Qwen2VL": _qwen("Qwen2VL", depth=2, embed_dim=32, hidden_size=32, mlp_ratio=2),
    "Qwen2_5_VL": _qwen("Qwen2_5_VL", window_size=PIXELS, fullatt_block_indexes=[1], **TOWER),
    "Qwen3VL": _qwen("Qwen3VL", {"head_dim": 8}, num_position_embeddings=16, deepstack_visual_indexes=[0], **TOWER),
}


def build(name: str, seed: int = 0) -> Model:
    import transformers

    torch.manual_seed(seed)
    module, places, images = MODELS[name](transformers)
    return Model(module, {"input_ids": _words(places), "pixel_values": images})
