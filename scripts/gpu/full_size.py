# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full-size models by name."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class FullSize:
    """A model of examples/export with a batch for a GPU, and the function of bench/jax_models that is the same."""

    source: str
    jax: str
    batch: int
    words: int | None = None
    """Of a row; None for images."""
    vocabulary: int = 0
    classes: int = 1000
    targets_per_row: int = 1
    memory: float = 15e9
    """Bytes of a device that a training step of PyTorch's takes, roughly."""


FULL_SIZE = {
    "resnet50": FullSize("torchvision:resnet50", "resnet50", 64, memory=10e9),
    "resnet18": FullSize("resnet18", "resnet18", 256, memory=10e9),
    "gpt2_124m": FullSize("gpt2", "gpt2", 8, 1024, 50257, 50257, 1024, 18e9),
    "gpt2_124m_1x256": FullSize("gpt2", "gpt2", 1, 256, 50257, 50257, 256, 4e9),  # bound by launches
    "swin_t_224": FullSize("swin_t", "swin_t", 64, memory=12e9),
    "vit_b16": FullSize("torchvision:vit_b_16", "vit_b16", 64, memory=12e9),
    "bert_base": FullSize("bert", "bert", 32, 128, 30000, 2, memory=7e9),
    "lstm": FullSize("lstm", "lstm", 64, 64, 10000, 4, memory=2e9),
}
