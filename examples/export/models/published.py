# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published image classifiers by name: timm's as `timm:NAME`, torchvision's as `torchvision:NAME`.

The architecture is the published one with random weights. In the small configuration it has ten
classes and the smallest images that it takes, in the full one 1000 and 224 pixels where it takes
these. Everything random (dropout, stochastic depth) is off.
"""

import torch

from cases import Case, perturb, remove_randomness

SIZES = {"small": (64, 96, 128, 160, 192, 224, 256, 299), "full": (224, 256, 299)}


def find(name):
    """The function from the configuration to a Case, or None for a name of another form."""
    library, _, model = name.partition(":")
    build = {"timm": _timm, "torchvision": _torchvision}.get(library)
    return (lambda config: _case(build, model, config)) if build and model else None


def _case(build, name, config):
    classes = 1000 if config == "full" else 10
    module, size = _first_size(lambda size: build(name, size, classes), name, SIZES[config])
    remove_randomness(module)
    perturb(module)
    generator = torch.Generator().manual_seed(2)
    images = torch.randn(2, 3, size, size, generator=generator)
    target = torch.randint(classes, (2,), generator=generator)
    optimizer = "sgd,momentum=0.9"
    return Case(module, {"images": images}, target, optimizer=optimizer, lr=0.01, steps=1)


def _first_size(build, name, sizes):
    """The model and the first of the sizes that it takes in training mode."""
    for size in sizes:
        torch.manual_seed(0)
        try:
            outputs = build(size).train()(torch.zeros(2, 3, size, size))
        except (RuntimeError, ValueError, AssertionError, IndexError, ZeroDivisionError) as error:
            reason = error
            continue
        if isinstance(outputs, torch.Tensor) and outputs.dim() == 2:
            torch.manual_seed(0)  # the forward pass has moved the statistics
            return build(size).train(), size
        raise ValueError(f"{name} is no classifier")
    raise ValueError(f"{name} takes none of the sizes {sizes}: {reason}")


def _timm(name, size, classes):
    import timm

    try:
        return timm.create_model(name, pretrained=False, num_classes=classes, img_size=size)
    except TypeError:  # a model for images of any size
        return timm.create_model(name, pretrained=False, num_classes=classes)


def _torchvision(name, size, classes):
    import torchvision

    options = {"aux_logits": False, "init_weights": True} if name in ("googlenet", "inception_v3") else {}
    return torchvision.models.get_model(name, weights=None, num_classes=classes, **options)
