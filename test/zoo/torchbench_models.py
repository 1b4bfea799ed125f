# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of TorchBench, and networks like its own where their packages are not on hand (nets/), made small."""

import torch
from torch import nn

from wrapping import Model

WORDS = 50


def build(name: str, seed: int = 0) -> Model:
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed + 2)
    return MODELS[name](generator)


def _floats(generator, *shape):
    return torch.randn(shape, generator=generator)


def _whole(generator, most, *shape, least=0):
    return torch.randint(least, most, shape, generator=generator)


def _torchvision(name, size=64, **options):
    def make(generator):
        import torchvision

        module = torchvision.models.get_model(name, weights=None, num_classes=10, **options)
        return Model(module, {"x": _floats(generator, 4, 3, size, size)})

    return make


def _narrow(name, size):
    """A torchvision model whose classifier is narrow: most of its values, and none of its operators, are there."""

    def make(generator):
        import torchvision

        module = torchvision.models.get_model(name, weights=None, num_classes=10, dropout=0.0)
        linear = [part for part in module.classifier if isinstance(part, nn.Linear)]
        for part, inputs, outputs in zip(linear, (linear[0].in_features, 32, 32), (32, 32, 10)):
            part.__init__(inputs, outputs)
        return Model(module, {"x": _floats(generator, 4, 3, size, size)})

    return make


def _resnet(block, layers, **options):
    """torchvision's ResNet with fewer blocks."""

    def make(generator):
        from torchvision.models import resnet

        module = resnet.ResNet(getattr(resnet, block), layers, num_classes=10, **options)
        return Model(module, {"x": _floats(generator, 4, 3, 64, 64)})

    return make


def _densenet(generator):
    from torchvision.models import DenseNet

    return Model(DenseNet(12, (2, 3, 3, 2), 16, num_classes=10), {"x": _floats(generator, 4, 3, 64, 64)})


def _timm(name, **settings):
    def make(generator):
        import timm_models

        module = timm_models.create(name, 64, settings)
        return Model(module, {"x": _floats(generator, 4, 3, 64, 64)})

    return make


def _transformers(name, own=None, **inputs):
    """A model of Hugging Face; inputs are functions of the generator, by name."""

    def make(generator):
        import huggingface_models
        import transformers

        kind = getattr(transformers, name)
        module = kind(huggingface_models.configuration(kind.config_class, own or {}))
        return Model(module, {key: value(generator) for key, value in inputs.items()})

    return make


def _words(time=16):
    return lambda generator: _whole(generator, 100, 2, time, least=4)


def _own(place, kind, *arguments, **inputs):
    """A network of nets/; inputs are functions of the generator, by name."""

    def make(generator):
        import importlib

        module = getattr(importlib.import_module(f"nets.{place}"), kind)(*arguments)
        name = {nn.Sequential: "input"}.get(type(module))
        return Model(module, {name or key: value(generator) for key, value in inputs.items()})

    return make


def _group_norms(generator):
    from nets.images import group_norm, resnet

    return Model(resnet(norm=group_norm), {"input": _floats(generator, 4, 3, 32, 32)})


def _clip(generator):
    from transformers import CLIPConfig, CLIPModel

    small = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    text = dict(small, vocab_size=100, max_position_embeddings=32, eos_token_id=2, bos_token_id=1, pad_token_id=1)
    vision = dict(small, image_size=32, patch_size=8)
    module = CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16))
    inputs = {"input_ids": _words()(generator), "pixel_values": _floats(generator, 2, 3, 32, 32)}
    return Model(module, inputs)


def _clip_text(generator):
    from transformers import CLIPTextConfig, CLIPTextModel

    small = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    config = CLIPTextConfig(
        vocab_size=100, max_position_embeddings=32, eos_token_id=2, bos_token_id=1, pad_token_id=1, **small
    )
    return Model(CLIPTextModel(config), {"input_ids": _words()(generator)})


def _whisper(name, **own):
    settings = dict(num_mel_bins=8, max_source_positions=8, max_target_positions=16, **own)
    spectrum = lambda generator: _floats(generator, 2, 8, 16)  # noqa: E731
    if name.endswith("Classification"):
        return _transformers(name, settings, input_features=spectrum)
    return _transformers(name, settings, input_features=spectrum, decoder_input_ids=_words(8))


def _sam(generator):
    from transformers import SamConfig, SamModel

    vision = dict(
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        image_size=64,
        patch_size=16,
        output_channels=16,
        mlp_dim=64,
        window_size=2,
        global_attn_indexes=[1],
        num_pos_feats=8,
    )
    prompt = dict(hidden_size=16, image_size=64, patch_size=16, image_embedding_size=4, mask_input_channels=8)
    mask = dict(
        hidden_size=16, mlp_dim=32, num_hidden_layers=2, num_attention_heads=2, iou_head_hidden_dim=16, iou_head_depth=2
    )
    module = SamModel(SamConfig(vision_config=vision, prompt_encoder_config=prompt, mask_decoder_config=mask))
    points = torch.tensor([[[[20.0, 30.0]]], [[[40.0, 10.0]]]])
    labels = torch.ones(2, 1, 1, dtype=torch.int64)
    return Model(
        module, {"pixel_values": _floats(generator, 2, 3, 64, 64), "input_points": points, "input_labels": labels}
    )


def _llava(generator):
    from transformers import CLIPVisionConfig, LlamaConfig, LlavaConfig, LlavaForConditionalGeneration

    small = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    vision = CLIPVisionConfig(image_size=32, patch_size=16, **small)
    text = LlamaConfig(vocab_size=100, max_position_embeddings=64, use_cache=False, **small)
    config = LlavaConfig(vision_config=vision, text_config=text, image_token_index=99, vision_feature_layer=-1)
    words = _whole(generator, 90, 2, 16, least=4)
    words[:, 2:6] = 99  # a picture's four patches
    return Model(
        LlavaForConditionalGeneration(config), {"input_ids": words, "pixel_values": _floats(generator, 2, 3, 32, 32)}
    )


def _maskrcnn(generator):
    from torchvision.models.detection import maskrcnn_resnet50_fpn

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = maskrcnn_resnet50_fpn(
                weights=None, weights_backbone=None, num_classes=3, min_size=64, max_size=64
            )

        def forward(self, images, boxes, labels, masks):
            targets = [dict(boxes=b, labels=c, masks=m) for b, c, m in zip(boxes, labels, masks)]
            return self.body(list(images), targets)

    boxes = torch.tensor([[[4.0, 4.0, 40.0, 40.0]], [[10.0, 8.0, 60.0, 50.0]]])
    masks = torch.ones(2, 1, 64, 64, dtype=torch.uint8)
    inputs = {"images": _floats(generator, 2, 3, 64, 64), "boxes": boxes, "labels": torch.ones(2, 1, dtype=torch.int64)}
    return Model(Detector(), {**inputs, "masks": masks})


def _edges(generator):
    return torch.stack([_whole(generator, 12, 40), torch.cat([torch.arange(12), _whole(generator, 12, 28)])])


def _f(*shape):
    return lambda generator: _floats(generator, *shape)


def _w(most, *shape, least=0):
    return lambda generator: _whole(generator, most, *shape, least=least)


_IMAGE = _f(4, 3, 32, 32)
_GRAPH = dict(x=_f(12, 8), edges=_edges)
_ENCODER_DECODER = dict(input_ids=_words(), decoder_input_ids=_words())

MODELS = {
    "alexnet": _narrow("alexnet", 64),
    "attention_is_all_you_need_pytorch": _own(
        "sequences", "Translator", source=_w(WORDS, 2, 12, least=1), target=_w(WORDS, 2, 10)
    ),
    "Background_Matting": _own("generative", "Matting", image=_IMAGE, background=_IMAGE, trimap=_f(4, 1, 32, 32)),
    "basic_gnn_edgecnn": _own("various", "Graph", "edgecnn", **_GRAPH),
    "basic_gnn_gcn": _own("various", "Graph", "gcn", **_GRAPH),
    "basic_gnn_gin": _own("various", "Graph", "gin", **_GRAPH),
    "basic_gnn_sage": _own("various", "Graph", "sage", **_GRAPH),
    "BERT_pytorch": _transformers("BertForPreTraining", input_ids=_words(), token_type_ids=_w(2, 2, 16)),
    "clip": _clip,
    "dcgan": _own("generative", "dcgan", noise=_f(4, 16, 1, 1)),
    "demucs": _own("generative", "Demucs", mix=_f(2, 2, 84)),
    "densenet121": _densenet,
    "dlrm": _own("various", "Dlrm", dense=_f(4, 13), sparse=_w(20, 4, 3, 2)),
    "doctr_det_predictor": _own("images", "TextDetector", images=_IMAGE),
    "doctr_reco_predictor": _own("images", "TextRecogniser", images=_f(2, 3, 16, 24)),
    "drq": _own("various", "PixelActor", images=_f(4, 9, 32, 32)),
    "fastNLP_Bert": _transformers(
        "BertForTokenClassification", input_ids=_words(), attention_mask=_w(2, 2, 16, least=1)
    ),
    "functorch_dp_cifar10": _group_norms,
    "hf_Albert": _transformers("AlbertForMaskedLM", input_ids=_words(), labels=_words()),
    "hf_Bart": _transformers("BartForConditionalGeneration", **_ENCODER_DECODER, labels=_words()),
    "hf_Bert": _transformers("BertForMaskedLM", input_ids=_words(), labels=_words()),
    "hf_Bert_large": _transformers("BertForMaskedLM", dict(num_hidden_layers=4), input_ids=_words(), labels=_words()),
    "hf_BigBird": _transformers("BigBirdForMaskedLM", dict(attention_type="original_full"), input_ids=_words()),
    "hf_clip": _clip,
    "hf_distil_whisper": _whisper("WhisperForAudioClassification", classifier_proj_size=16),
    "hf_DistilBert": _transformers("DistilBertForMaskedLM", input_ids=_words(), labels=_words()),
    "hf_GPT2": _transformers("GPT2LMHeadModel", input_ids=_words(), labels=_words()),
    "hf_GPT2_large": _transformers("GPT2LMHeadModel", dict(n_layer=4), input_ids=_words(), labels=_words()),
    "hf_Longformer": _transformers("LongformerForMaskedLM", dict(attention_window=[4, 4]), input_ids=_words()),
    "hf_Reformer": _transformers(
        "ReformerModelWithLMHead",
        dict(
            attn_layers=["local", "local"],
            attention_head_size=16,
            feed_forward_size=64,
            axial_pos_shape=[4, 4],
            axial_pos_embds_dim=[16, 16],
            local_attn_chunk_length=4,
            is_decoder=True,
        ),
        input_ids=_words(),
    ),
    "hf_Roberta_base": _transformers("RobertaForMaskedLM", input_ids=_words(), labels=_words()),
    "hf_T5": _transformers("T5ForConditionalGeneration", **_ENCODER_DECODER, labels=_words()),
    "hf_T5_base": _transformers("T5ForConditionalGeneration", dict(num_layers=3), **_ENCODER_DECODER),
    "hf_T5_large": _transformers(
        "T5ForConditionalGeneration", dict(num_layers=4, feed_forward_proj="gated-gelu"), **_ENCODER_DECODER
    ),
    "hf_Whisper": _whisper("WhisperForConditionalGeneration"),
    "LearningToPaint": _own("images", "resnet", 9, 65, images=_f(4, 9, 32, 32)),
    "lennard_jones": _own("various", "Energy", distances=lambda generator: torch.rand(16, 1, generator=generator) + 1),
    "llama": _own("sequences", "Llama", True, words=_w(WORDS, 2, 12)),
    "llama_v2_7b_16h": _transformers(
        "LlamaForCausalLM", dict(num_key_value_heads=2), input_ids=_words(), labels=_words()
    ),
    "llava": _llava,
    "maml_omniglot": _own(
        "various",
        "Omniglot",
        support=_f(5, 1, 28, 28),
        labels=_w(5, 5),
        query=_f(6, 1, 28, 28),
        wanted=_w(5, 6),
    ),
    "mnasnet1_0": _torchvision("mnasnet1_0", dropout=0.0),
    "mobilenet_v2": _torchvision("mobilenet_v2", width_mult=0.35, dropout=0.0),
    "mobilenet_v2_quantized_qat": _own("images", "FakeQuantised", images=_IMAGE),
    "mobilenet_v3_large": _torchvision("mobilenet_v3_large", dropout=0.0),
    "moco": _own("images", "Contrast", query=_IMAGE, key=_IMAGE),
    "moondream": _transformers("PhiForCausalLM", dict(num_key_value_heads=2), input_ids=_words()),
    "nanogpt": _own("sequences", "NanoGpt", words=_w(WORDS, 2, 12), targets=_w(WORDS, 2, 12)),
    "nvidia_deeprecommender": _own("various", "deep_recommender", ratings=_f(8, 60)),
    "opacus_cifar10": _group_norms,
    "phlippe_densenet": _own("images", "densenet", images=_IMAGE),
    "phlippe_resnet": _own("images", "resnet", images=_IMAGE),
    "pytorch_CycleGAN_and_pix2pix": _own("generative", "translator", images=_f(2, 3, 24, 24)),
    "pytorch_stargan": _own("generative", "StarGan", images=_f(2, 3, 24, 24), labels=_f(2, 5)),
    "pytorch_unet": _own("generative", "UNet", images=_f(2, 3, 30, 34)),
    "resnet152": _resnet("Bottleneck", [1, 2, 3, 1]),
    "resnet18": _resnet("BasicBlock", [1, 1, 1, 1]),
    "resnet50": _resnet("Bottleneck", [1, 1, 1, 1]),
    "resnext50_32x4d": _resnet("Bottleneck", [1, 1, 1, 1], groups=32, width_per_group=4),
    "sam": _sam,
    "shufflenet_v2_x1_0": _torchvision("shufflenet_v2_x1_0"),
    "simple_gpt": _own("sequences", "Llama", False, words=_w(WORDS, 2, 12)),
    "soft_actor_critic": _own("various", "ActorCritic", states=_f(8, 6), noise=_f(8, 2)),
    "speech_transformer": _own(
        "sequences",
        "SpeechTransformer",
        frames=_f(2, 14, 40),
        lengths=lambda generator: torch.tensor([14, 9]),
        letters=_w(WORDS, 2, 8),
    ),
    "squeezenet1_1": _torchvision("squeezenet1_1", dropout=0.0),
    "stable_diffusion_text_encoder": _clip_text,
    "stable_diffusion_unet": _own(
        "generative", "DiffusionUNet", latents=_f(2, 4, 8, 8), step=_w(1000, 2), text=_f(2, 6, 12)
    ),
    "Super_SloMo": _own("generative", "SlowMotion", first=_f(2, 3, 16, 16), second=_f(2, 3, 16, 16)),
    "tacotron2": _own("sequences", "Tacotron", letters=_w(WORDS, 2, 9), mels=_f(2, 4, 8)),
    "timm_efficientnet": _timm("mixnet_s"),
    "timm_nfnet": _timm("nf_resnet26"),
    "timm_regnet": _timm("regnety_002"),
    "timm_resnest": _timm("resnest14d"),
    "timm_vision_transformer": _timm("vit_small_patch16_224", embed_dim=48, depth=2, num_heads=3),
    "timm_vision_transformer_large": _timm("vit_large_patch14_224", embed_dim=64, depth=3, num_heads=4),
    "timm_vovnet": _timm("ese_vovnet19b_dw"),
    "torch_multimodal_clip": _clip,
    "tts_angular": _own("sequences", "SpeakerEncoder", frames=_f(4, 10, 40)),
    "vgg16": _narrow("vgg16", 32),
    "vision_maskrcnn": _maskrcnn,
    "yolov3": _own("images", "Yolo", images=_IMAGE),
}
