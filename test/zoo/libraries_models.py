# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of other libraries, made small: diffusers, PyTorch Geometric, segmentation_models_pytorch, MONAI, x-transformers, vit-pytorch."""

import importlib

import torch
from torch import nn

from wrapping import Model


def build(name: str, seed: int = 0) -> Model:
    torch.manual_seed(seed)
    module, inputs = MODELS[name]()
    return Model(module, inputs)


def _made(library, kind, arguments, inputs):
    return lambda: (getattr(importlib.import_module(library), kind)(**arguments), inputs())


def _image(*shape):
    return lambda: {"x": torch.randn(shape)}


# ---- diffusers ----


def _denoiser(kind, channels, size, arguments, *, key="sample", text=None, **more):
    """Of noisy images, times, and what describes them."""

    def inputs():
        given = {key: torch.randn(1, channels, *size), "timestep": torch.tensor([3])}
        if text:
            given["encoder_hidden_states"] = torch.randn(1, *text)
        return given | {name: make() for name, make in more.items()}

    return _made("diffusers", kind, arguments, inputs)


def _sequences(kind, arguments, positions):
    """Of images as a sequence of patches, with where each of them is."""

    def inputs():
        given = {"hidden_states": torch.randn(1, 16, 4), "encoder_hidden_states": torch.randn(1, 5, 16), "timestep": torch.tensor([0.3])}
        given |= {"img_ids": torch.randint(0, 4, (16, positions)).float(), "txt_ids": torch.zeros(5, positions)}
        return given | ({"pooled_projections": torch.randn(1, 16)} if "pooled_projection_dim" in arguments else {})

    return _made("diffusers", kind, {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, **arguments}, inputs)


_UNET = {"layers_per_block": 1, "block_out_channels": (16, 32), "norm_num_groups": 8}
_CROSS = {"down_block_types": ("CrossAttnDownBlock2D", "DownBlock2D"), "cross_attention_dim": 16, "attention_head_dim": 4}
_HEADS = {"num_layers": 2, "num_attention_heads": 2, "attention_head_dim": 8}
_ENCODER = {"block_out_channels": (8, 16), "norm_num_groups": 4, "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2}
_ATTENDED = {"down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D"), "attention_head_dim": 8}
_PIXART = {"sample_size": 8, "patch_size": 2, "in_channels": 4, "out_channels": 8, "cross_attention_dim": 16, "caption_channels": 12, **_HEADS}

DIFFUSERS = {
    "UNet2DModel": _denoiser("UNet2DModel", 3, (16, 16), {"sample_size": 16, **_UNET, **_ATTENDED}),
    "UNet2DConditionModel": _denoiser(
        "UNet2DConditionModel", 4, (8, 8), {"sample_size": 8, **_UNET, **_CROSS, "up_block_types": ("UpBlock2D", "CrossAttnUpBlock2D")}, text=(5, 16)
    ),
    "ControlNetModel": _denoiser(
        "ControlNetModel",
        4,
        (8, 8),
        {"in_channels": 4, **_UNET, **_CROSS, "conditioning_embedding_out_channels": (16, 32)},
        text=(5, 16),
        controlnet_cond=lambda: torch.randn(1, 3, 16, 16),
    ),
    "PixArtTransformer2DModel": _denoiser("PixArtTransformer2DModel", 4, (8, 8), _PIXART, key="hidden_states", text=(5, 12)),
    "SD3Transformer2DModel": _denoiser(
        "SD3Transformer2DModel",
        4,
        (8, 8),
        {"sample_size": 8, "patch_size": 1, "in_channels": 4, "out_channels": 4, "joint_attention_dim": 16, "caption_projection_dim": 16, "pooled_projection_dim": 24, **_HEADS},
        key="hidden_states",
        text=(5, 16),
        pooled_projections=lambda: torch.randn(1, 24),
    ),
    "SanaTransformer2DModel": _denoiser(
        "SanaTransformer2DModel",
        4,
        (8, 8),
        {"patch_size": 1, "in_channels": 4, "out_channels": 4, "num_cross_attention_heads": 2, "cross_attention_head_dim": 8, "cross_attention_dim": 16, "caption_channels": 8, "sample_size": 8, **_HEADS},
        key="hidden_states",
        text=(5, 8),
    ),
    "WanTransformer3DModel": _denoiser(
        "WanTransformer3DModel",
        4,
        (2, 8, 8),
        {"patch_size": (1, 2, 2), "in_channels": 4, "out_channels": 4, "text_dim": 16, "freq_dim": 32, "ffn_dim": 32, "cross_attn_norm": True, "rope_max_seq_len": 32, **_HEADS, "attention_head_dim": 12},
        key="hidden_states",
        text=(5, 16),
    ),
    "MochiTransformer3DModel": _denoiser(
        "MochiTransformer3DModel",
        4,
        (2, 8, 8),
        {"patch_size": 2, "in_channels": 4, "pooled_projection_dim": 16, "text_embed_dim": 16, "time_embed_dim": 4, "max_sequence_length": 16, **_HEADS},
        key="hidden_states",
        text=(5, 16),
        encoder_attention_mask=lambda: torch.tensor([[True, True, True, False, False]]),
    ),
    "FluxTransformer2DModel": _sequences(
        "FluxTransformer2DModel", {"attention_head_dim": 16, "num_attention_heads": 2, "joint_attention_dim": 16, "pooled_projection_dim": 16, "axes_dims_rope": [4, 4, 8]}, 3
    ),
    "ChromaTransformer2DModel": _sequences(
        "ChromaTransformer2DModel",
        {"attention_head_dim": 16, "num_attention_heads": 2, "joint_attention_dim": 16, "axes_dims_rope": (4, 4, 8), "approximator_num_channels": 8, "approximator_hidden_dim": 16, "approximator_layers": 1},
        3,
    ),
    "AutoencoderKL": _made("diffusers", "AutoencoderKL", {**_ENCODER, "sample_size": 16}, lambda: {"sample": torch.randn(1, 3, 16, 16)}),
    "VQModel": _made("diffusers", "VQModel", {**_ENCODER, "sample_size": 16, "num_vq_embeddings": 12}, lambda: {"sample": torch.randn(1, 3, 16, 16)}),
    "AutoencoderKLWan": _made(
        "diffusers",
        "AutoencoderKLWan",
        {"base_dim": 3, "z_dim": 16, "dim_mult": [1] * 4, "num_res_blocks": 1, "temperal_downsample": [False, True, True]},
        lambda: {"sample": torch.randn(1, 3, 5, 16, 16)},
    ),
}

# ---- PyTorch Geometric ----


def _graph(kind, *arguments, **options):
    """Of six nodes and nine edges, one of which leads to the node that it comes from."""

    def make():
        module = getattr(importlib.import_module("torch_geometric.nn"), kind)(*arguments, **options)
        edges = [[0, 1, 2, 3, 4, 5, 0, 2, 4], [1, 2, 3, 4, 5, 0, 3, 5, 4]]
        return module, {"x": torch.randn(6, 8), "edge_index": torch.tensor(edges)}

    return make


GEOMETRIC = {
    kind: _graph(kind, 8, 4, **options)
    for kind, options in {
        "GCNConv": {},
        "SAGEConv": {},
        "GATConv": {"heads": 2},
        "GATv2Conv": {"heads": 2},
        "TransformerConv": {"heads": 2},
        "ChebConv": {"K": 3},
        "GraphConv": {},
        "TAGConv": {},
        "SGConv": {"K": 2},
        "ResGatedGraphConv": {},
        "EGConv": {"num_heads": 2},
    }.items()
} | {kind: _graph(kind, 8, 6, 2, 4) for kind in ("GCN", "GAT", "GraphSAGE", "GIN")}

# ---- images ----

SEGMENTATION = {
    f"{kind}_{encoder}".replace("-", "_"): _made("segmentation_models_pytorch", kind, {"encoder_name": encoder, "encoder_weights": None, "classes": 3}, _image(2, 3, 64, 64))
    for kind, encoder in (
        ("Unet", "resnet18"),
        ("PSPNet", "resnet18"),
        ("Segformer", "mit_b0"),
    )
}
_NET = {"spatial_dims": 2, "in_channels": 1, "out_channels": 2}
MONAI = {
    kind: _made("monai.networks.nets", kind, {**_NET, **options}, _image(1, 1, 32, 32))
    for kind, options in {
        "UNet": {"channels": (4, 8, 16), "strides": (2, 2), "num_res_units": 2},
        "AttentionUnet": {"channels": (4, 8, 16), "strides": (2, 2)},
        "SegResNet": {"init_filters": 8, "blocks_down": (1, 1), "blocks_up": (1,)},
        "VNet": {},
        "HighResNet": {},
    }.items()
}
_VIT = {"image_size": 32, "patch_size": 8, "num_classes": 5, "dim": 16, "depth": 2, "heads": 2, "mlp_dim": 24}
VIT = {
    f"{kind}_{module}": _made(f"vit_pytorch.{module}", kind, {**_VIT, **options}, lambda: {"img": torch.randn(2, 3, 32, 32)})
    for module, kind, options in (
        ("simple_vit", "SimpleViT", {}),
        ("deepvit", "DeepViT", {}),
        ("rvt", "RvT", {}),
        ("xcit", "XCiT", {"cls_depth": 1}),
        ("parallel_vit", "ViT", {"num_parallel_branches": 2}),
    )
}

# ---- text ----


def _decoder(**options):
    def make():
        library = importlib.import_module("x_transformers")
        layers = library.Decoder(dim=16, depth=2, heads=2, attn_dim_head=8, **options)
        return library.TransformerWrapper(num_tokens=40, max_seq_len=16, attn_layers=layers), {"x": torch.randint(0, 40, (2, 12))}

    return make


DECODERS = {
    f"decoder_{name}": _decoder(**options)
    for name, options in {
        "rotary": {"rotary_pos_emb": True},
        "t5": {"rel_pos_bias": True},
        "kv_heads": {"attn_kv_heads": 1},
        "talking": {"attn_pre_talking_heads": True, "attn_post_talking_heads": True},
        "sparse": {"attn_sparse_topk": 4},
        "cosine": {"attn_qk_norm": True, "attn_qk_norm_scale": 10},
        "macaron": {"macaron": True, "sandwich_norm": True},
        "streams": {"num_residual_streams": 2},
        "mish": {"ff_custom_activation": nn.Mish()},
    }.items()
}

MODELS = DIFFUSERS | GEOMETRIC | SEGMENTATION | MONAI | VIT | DECODERS
