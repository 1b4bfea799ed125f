#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes model.onnx, the model of the walk-through. Needs PyTorch and onnx."""

import pathlib

import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = torch.nn.Linear(8, 16)
        self.norm = torch.nn.LayerNorm(16)
        self.out = torch.nn.Linear(16, 4)

    def forward(self, x):
        return self.out(self.norm(torch.nn.functional.gelu(self.hidden(x))))


if __name__ == "__main__":
    torch.manual_seed(0)
    torch.onnx.export(
        Model().train(),
        (torch.zeros(32, 8),),
        pathlib.Path(__file__).with_name("model.onnx"),
        input_names=["x"],
        output_names=["y"],
        opset_version=17,
        training=torch.onnx.TrainingMode.TRAINING,
        do_constant_folding=False,
        dynamo=False,
    )
