#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc_export and models of images and words: masks of attention that read what a place holds, and features in place of words."""

import unittest

import torch
from torch import nn
from torch._dynamo._trace_wrapped_higher_order_op import TransformGetItemToIndex
from torch.nn import functional

from export_case import ExportCase  # first: it makes accc_export importable
import accc_export

IMAGE = 3
WORDS = torch.tensor([[1, IMAGE, IMAGE, 0, 2], [IMAGE, IMAGE, 4, 1, 0]])


class Described(nn.Module):
    """Tells words from features of images among them, of which each sees all of its image, and words see those before them."""

    def __init__(self):
        super().__init__()
        self.words, self.project, self.head = nn.Embedding(5, 8), nn.Linear(4, 8), nn.Linear(8, 5)

    def forward(self, words, features):
        is_image = words == IMAGE
        x, features = self.words(words), self.project(features)
        torch._check_tensor_all(is_image.sum() == features.shape[0], lambda: "as many features as places")
        x = x.masked_scatter(is_image[..., None].expand_as(x), features)
        q = x[:, None]
        x = x + functional.scaled_dot_product_attention(q, q, q, attn_mask=self.mask(words)[:, None]).squeeze(1)
        return {"loss": functional.cross_entropy(self.head(x).flatten(0, 1), words.flatten())}

    def mask(self, words):
        """As transformers makes it: of each element by a function, in which an index that is a tensor is an index."""

        def sees(row, reader, read):
            return (read <= reader) | ((words[row, reader] == IMAGE) & (words[row, read] == IMAGE))

        rows, places = (torch.arange(size) for size in words.shape)
        each = torch.vmap(torch.vmap(torch.vmap(sees, (None, None, 0)), (None, 0, None)), (0, None, None))
        with TransformGetItemToIndex():
            return each(rows, places, places)


class Highlighted(nn.Module):
    """Adds rows to those of words that a mask selects, in several layers, as features of several layers are added."""

    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(5, 8), nn.Linear(8, 5)

    def forward(self, words, features):
        x, is_image = self.words(words), words == IMAGE
        for more in features.split(4, -1):
            x = torch.tanh(x).clone()
            x[is_image, :] = x[is_image, :] + more.repeat(1, 2)
        return {"loss": functional.cross_entropy(self.head(x).flatten(0, 1), words.flatten())}


class Spoken(nn.Linear):
    """Compares what masked_select() gives of two tensors, as losses of speech leave out what pads a sound."""

    def forward(self, x, sound):
        is_sound = sound != -100
        found, other = super().forward(x).masked_select(is_sound), torch.masked_select(torch.tanh(super().forward(x)), mask=is_sound)
        some = sound.masked_select(is_sound)
        return {"loss": functional.l1_loss(found, some) + functional.mse_loss(other, some)}


class MasksTest(ExportCase):
    def trained(self, module, exporter, inputs):
        golden = self.folder / exporter
        accc_export.golden(module, inputs, golden, loss="output:loss", exporter=exporter, steps=3, lr=0.5)
        self.compare(golden)

    def test_masks_by_functions_of_places(self):
        for exporter in ("torch.export", "joint", "dynamo"):
            self.trained(Described(), exporter, {"words": WORDS, "features": torch.randn(4, 4)})

    def test_rows_added_where_a_mask_selects(self):
        for exporter in ("torch.export", "joint", "dynamo"):
            self.trained(Highlighted(), exporter, {"words": WORDS, "features": torch.randn(4, 8)})

    def test_what_one_mask_selects_of_several_tensors(self):
        sound = torch.randn(3, 4)
        sound[1, 2:] = -100
        for exporter in ("torch.export", "joint", "dynamo"):
            self.trained(Spoken(5, 4), exporter, {"x": torch.randn(3, 5), "sound": sound})


if __name__ == "__main__":
    unittest.main()
