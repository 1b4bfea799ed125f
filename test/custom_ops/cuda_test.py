# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Custom operators on a GPU: the example's trains there as in PyTorch, replayed as a graph and not."""

import math
import os
import pathlib
import random
import struct
import unittest

from command_line import MACHINE, CommandLineTest, write_safetensors

LIBRARIES = pathlib.Path(os.environ["ACCC_LIBRARIES"])
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "custom-op"
ACME = LIBRARIES / "cuda" / "libacme_ops.so"

# Its filters, and what lies between two convolutions, are quantized.
CONVOLUTIONS = """
func.func @forward(%w: tensor<8x4x3x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %v: tensor<8x8x3x3xf32> {accc.name = "v", accc.role = #prim.role<parameter>},
                   %s: tensor<f32> {accc.name = "s", accc.role = #prim.role<parameter>},
                   %x: tensor<2x4x6x6xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "loss", accc.role = #prim.role<output>}) {
  %wq = prim.custom_call "acme::quantize" of "libacme_ops.so" {bits = 4 : i64} (%w, %s)
    : (tensor<8x4x3x3xf32>, tensor<f32>) -> tensor<8x4x3x3xf32>
  %y = prim.convolution %x, %wq {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<2x4x6x6xf32>, tensor<8x4x3x3xf32>) -> tensor<2x8x6x6xf32>
  %t = prim.tanh %y : (tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %tq = prim.custom_call "acme::quantize" of "libacme_ops.so" {bits = 8 : i64} (%t, %s)
    : (tensor<2x8x6x6xf32>, tensor<f32>) -> tensor<2x8x6x6xf32>
  %z = prim.convolution %tq, %v {strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>, groups = 1 : i64}
    : (tensor<2x8x6x6xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x6x6xf32>
  %q = prim.mul %z, %z : (tensor<2x8x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %loss = prim.reduce sum %q {dimensions = array<i64: 0, 1, 2, 3>} : (tensor<2x8x6x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
"""


class Cuda(CommandLineTest):
    def setUp(self):
        super().setUp()
        for name in ("ACCC_CUSTOM_OPS", "ACCC_CUDA_GRAPH"):
            self.addCleanup(os.environ.pop, name, None)
        os.environ["ACCC_CUSTOM_OPS"] = str(ACME)

    def compile(self, target):
        options = ["--loss", "cross_entropy=logits", "--optimizer", "sgd,momentum=0.9"]
        options += ["--custom-ops", ACME, "--target", target, "--arch", "compute_80"]
        self.accc("compile", EXAMPLE / "golden" / "model.onnx", "-o", "model.so", *options)

    def test_trains_as_pytorch_did(self):
        self.compile("cuda")
        for graph in ("1", "0"):
            with self.subTest(graph=graph):
                os.environ["ACCC_CUDA_GRAPH"] = graph
                self.accc("diff", "model.so", EXAMPLE / "golden")

    def test_agrees_with_the_cpu(self):
        options = ["--loss", "cross_entropy=logits", "--optimizer", "sgd", "--custom-ops", ACME]
        targets = ["--target", "cuda,cpu", "--arch", "compute_80,x86-64-v3"]
        self.accc("compile", EXAMPLE / "golden" / "model.onnx", "-o", "both.so", *targets, *options)
        self.accc("diff", "both.so", "--targets", "--inputs", EXAMPLE / "golden" / "inputs.safetensors")

    def test_takes_tensors_row_major(self):
        """... though convolutions in TF32 want theirs channels last."""
        (self.folder / "model.mlir").write_text(CONVOLUTIONS)
        options = ["model.mlir", "--custom-ops", ACME, "--loss", "output:loss"]
        self.accc("compile", *options, "-o", "cpu.so")
        gpu = ["--target", "cuda", "--arch", "compute_80", "--precision", "tf32"]
        self.accc("compile", *options, "-o", "gpu.so", *gpu)
        random.seed(1)
        shapes = {"w": [8, 4, 3, 3], "v": [8, 8, 3, 3], "s": []}
        values = {
            name: ("F32", shape, struct.pack(f"<{n}f", *(random.uniform(0.1, 0.5) for _ in range(n))))
            for name, shape in shapes.items()
            for n in [math.prod(shape)]
        }
        write_safetensors(self.folder / "p.safetensors", values)
        compared = ["--params", "p.safetensors", "--steps", 1, "--tolerance", 1e-2, "--only", "numbers"]
        self.accc("diff", "cpu.so", "gpu.so", *compared)

    def test_a_function_that_fails(self):
        self.compile("cuda")
        ptx = os.environ.pop("ACCC_TEST_PTX")
        self.addCleanup(os.environ.__setitem__, "ACCC_TEST_PTX", ptx)
        os.environ["ACCC_TEST_PTX"] = os.devnull
        inputs = ["--inputs", EXAMPLE / "golden" / "inputs.safetensors"]
        _, error = self.accc("run", "model.so", "--entry", "eval_step", *inputs, code=MACHINE)
        self.assertIn("function of acme::quantize in libacme_ops.so failed: there is no such kernel", error)


if __name__ == "__main__":
    unittest.main()
