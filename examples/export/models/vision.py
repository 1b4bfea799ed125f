# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Image classifiers: ResNet-18 and EfficientNet-B0 from torchvision, Swin-T from timm."""

import torch
from torch import nn

from cases import Case, perturb


def _case(module, config, full_batch, small_size, **options):
    perturb(module)
    batch, size, classes = (full_batch, 224, 1000) if config == "full" else (4, small_size, 10)
    generator = torch.Generator().manual_seed(2)
    return Case(
        module=module,
        inputs={"images": torch.randn(batch, 3, size, size, generator=generator)},
        target=torch.randint(classes, (batch,), generator=generator),
        **options,
    )


def resnet18(config):
    import torchvision.models.resnet as tv

    class NarrowResNet(tv.ResNet):
        """A ResNet of one block a stage whose first stage has `width` channels instead of 64."""

        def __init__(self, width):
            super().__init__(tv.BasicBlock, [1, 1, 1, 1], num_classes=10)
            self.inplanes = width
            self.conv1 = nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
            self.bn1 = nn.BatchNorm2d(width)
            for stage in range(4):
                layer = self._make_layer(tv.BasicBlock, width << stage, 1, 1 if stage == 0 else 2)
                setattr(self, f"layer{stage + 1}", layer)
            self.fc = nn.Linear(width << 3, 10)

    module = tv.resnet18() if config == "full" else NarrowResNet(4)
    return _case(module, config, 16, 48, optimizer="sgd", lr=0.01)


def efficientnet_b0(config):
    """Stochastic depth and dropout are off."""
    import torchvision.models.efficientnet as tv

    if config == "full":
        module = tv.efficientnet_b0(dropout=0.0, stochastic_depth_prob=0.0)
    else:
        # expansion, kernel, stride, channels in, channels out, layers
        stages = [(1, 3, 1, 8, 8, 1), (4, 3, 2, 8, 16, 2), (4, 5, 2, 16, 24, 1)]
        settings = [tv.MBConvConfig(*stage) for stage in stages]
        module = tv.EfficientNet(settings, 0.0, 0.0, num_classes=10, last_channel=48)
    optimizer = "sgd,momentum=0.9,nesterov,weight_decay=0.0001"
    return _case(module, config, 8, 32, optimizer=optimizer, lr=0.01)


def swin_t(config):
    """Stochastic depth is off."""
    from timm.models.swin_transformer import SwinTransformer

    if config == "full":
        module = SwinTransformer(drop_path_rate=0.0)  # the defaults are Swin-T's
    else:
        module = SwinTransformer(
            img_size=32,
            window_size=4,
            embed_dim=8,
            depths=(2, 2),
            num_heads=(2, 4),
            num_classes=10,
            drop_path_rate=0.0,
        )
        with torch.no_grad():  # 0.02, the usual deviation, is too small for so narrow a model
            for parameter in module.parameters():
                parameter.mul_(10.0 if parameter.dim() == 2 else 1.0)
    return _case(module, config, 4, 32, optimizer="adamw,weight_decay=0.05", lr=1e-4)
