# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The full-size models by name: the model of examples/export, the batch, and the words of a row (None
for images)."""

FULL_SIZE = {
    "resnet50": ("torchvision:resnet50", 64, None),
    "gpt2_124m": ("gpt2", 8, 1024),
    "swin_t_224": ("swin_t", 64, None),
    "vit_b16": ("torchvision:vit_b_16", 64, None),
    "bert_base": ("bert", 32, 128),
}
