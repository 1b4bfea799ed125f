# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The 61 image classifiers of timm that PyTorch's own benchmarks train, with few blocks and small images."""

import contextlib
import sys

import torch

from wrapping import Model

# With the smallest images that these take, the last batch norms have one value of each image.
LARGER = dict.fromkeys(("adv_inception_v3", "gluon_inception_v3", "inception_v3"), 128)
SIZES = (64, 96, 128, 160, 192, 224, 240, 256)
CLASSES = 10
_BUILD = "build_model_with_cfg"
BATCH = 4  # two images of 2x2 values leave too little to a batch norm's variance

# What the model's class takes, to make a published architecture small.
_VIT = dict(embed_dim=48, depth=2, num_heads=3)
_RESNET = dict(layers=(1, 1, 1, 1))
MODELS: dict[str, dict] = {
    "adv_inception_v3": {},
    "beit_base_patch16_224": _VIT,
    "botnet26t_256": {},
    "cait_m36_384": dict(embed_dim=48, depth=2, num_heads=3, depth_token_only=1),
    "coat_lite_mini": dict(embed_dims=(16, 32, 48, 64), serial_depths=(1, 1, 1, 1)),
    "convit_base": dict(embed_dim=48, depth=2, num_heads=3, local_up_to_layer=1),
    "convmixer_768_32": dict(dim=32, depth=3),
    "convnext_base": dict(depths=(1, 1, 2, 1), dims=(16, 32, 48, 64)),
    "crossvit_9_240": dict(embed_dim=(32, 48), depth=((1, 1, 0), (1, 1, 0)), num_heads=(2, 2)),
    "cspdarknet53": {},
    "deit_base_distilled_patch16_224": _VIT,
    "dla102": dict(levels=(1, 1, 1, 2, 2, 1), channels=(16, 16, 32, 32, 64, 64)),
    "dm_nfnet_f0": {},
    "dpn107": dict(k_sec=(1, 1, 2, 1)),
    "eca_botnext26ts_256": {},
    "eca_halonext26ts": {},
    "ese_vovnet19b_dw": {},
    "fbnetc_100": {},
    "fbnetv3_b": {},
    "gernet_l": {},
    "ghostnet_100": {},
    "gluon_inception_v3": {},
    "gmixer_24_224": dict(embed_dim=48, num_blocks=2),
    "gmlp_s16_224": dict(embed_dim=48, num_blocks=2),
    "hrnet_w18": {},
    "inception_v3": {},
    "jx_nest_base": dict(embed_dims=(16, 32, 48), num_heads=(2, 2, 2), depths=(1, 1, 2)),
    "lcnet_050": {},
    "levit_128": dict(depth=(1, 1, 1)),
    "mixer_b16_224": dict(embed_dim=48, num_blocks=2),
    "mixnet_l": {},
    "mnasnet_100": {},
    "mobilenetv2_100": {},
    "mobilenetv3_large_100": {},
    "mobilevit_s": {},
    "nfnet_l0": {},
    "pit_b_224": dict(base_dims=(16, 16, 16), depth=(1, 1, 1), heads=(2, 4, 4)),
    "pnasnet5large": {},
    "poolformer_m36": dict(depths=(1, 1, 2, 1), dims=(16, 32, 48, 64)),
    "regnety_002": {},
    "repvgg_a2": {},
    "res2net101_26w_4s": _RESNET,
    "res2net50_14w_8s": _RESNET,
    "res2next50": _RESNET,
    "resmlp_12_224": dict(embed_dim=48, num_blocks=2),
    "resnest101e": dict(layers=(1, 1, 2, 1)),
    "rexnet_100": {},
    "sebotnet33ts_256": {},
    "selecsls42b": {},
    "spnasnet_100": {},
    "swin_base_patch4_window7_224": dict(embed_dim=24, depths=(1, 1, 2, 1), num_heads=(2, 2, 4, 4)),
    "swsl_resnext101_32x16d": _RESNET,
    "tf_efficientnet_b0": {},
    "tf_mixnet_l": {},
    "tinynet_a": {},
    "tnt_s_patch16_224": dict(embed_dim=48, inner_dim=16, depth=2, num_heads_inner=2, num_heads_outer=3),
    "twins_pcpvt_base": dict(depths=(1, 1, 1, 1)),
    "visformer_small": dict(depth=(1, 2, 1), embed_dim=96),
    "vit_base_patch16_224": _VIT,
    "volo_d1_224": dict(layers=(1, 1, 1, 1), embed_dims=(32, 48, 48, 48), num_heads=(2, 3, 3, 3)),
    "xcit_large_24_p8_224": dict(embed_dim=48, depth=2, num_heads=3, cls_attn_layers=1),
}


def build(name: str, seed: int = 0) -> Model:
    size = _first_size(name)
    torch.manual_seed(seed)
    images = torch.randn(BATCH, 3, size, size, generator=torch.Generator().manual_seed(seed + 2))
    return Model(create(name, size, MODELS[name]), {"x": images})


def _first_size(name: str) -> int:
    """The smallest images that the model takes in training mode."""
    if name in LARGER:
        return LARGER[name]
    reason = None
    for size in SIZES:
        try:
            create(name, size, MODELS[name]).train()(torch.zeros(2, 3, size, size))
            return size
        except (RuntimeError, ValueError, AssertionError, IndexError, ZeroDivisionError) as error:
            reason = error
    raise ValueError(f"{name} takes none of the sizes {SIZES}: {reason}")


def create(name: str, size: int, settings: dict) -> torch.nn.Module:
    """A model of timm for images of this size, with settings in place of the published ones."""
    import timm

    options = dict(pretrained=False, num_classes=CLASSES)
    with _overridden(timm, settings):
        try:
            return timm.create_model(name, img_size=size, **options)
        except TypeError as error:
            if "img_size" not in str(error):
                raise
            return timm.create_model(name, **options)  # a model for images of any size


@contextlib.contextmanager
def _overridden(timm, settings: dict):
    """Lets the model's class be called with these settings in place of the published ones.

    Many of timm's functions take no argument that they give themselves.
    """
    modules = [x for name, x in sys.modules.items() if name.startswith("timm.models.") and hasattr(x, _BUILD)]
    build = timm.models.build_model_with_cfg
    for module in modules:
        setattr(module, _BUILD, lambda *args, **options: build(*args, **{**options, **settings}))
    try:
        yield
    finally:
        for module in modules:
            setattr(module, _BUILD, build)
