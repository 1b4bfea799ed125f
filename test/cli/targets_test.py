# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What differs between targets (--target): --precision."""

import json
import os
import struct
import unittest
from unittest import mock

from command_line import USAGE, CommandLineTest, floats, read_safetensors, write_safetensors

# The folder of the stand-in for NVIDIA's driver (test/gpu/standin), where CUDA is there to build it.
STANDIN = os.environ.get("ACCC_STANDIN")
needs_cuda = unittest.skipUnless(STANDIN, "no CUDA toolkit, or ACCC_CUDA is OFF")

# y = x w
PRODUCT = """
func.func @forward(%x: tensor<1x1xf32> {accc.name = "x", accc.role = "input"},
                   %w: tensor<1x1xf32> {accc.name = "w", accc.role = "input"})
    -> (tensor<1x1xf32> {accc.name = "y", accc.role = "output"}) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
"""


def environment(gpu=False, **variables):
    """With the stand-in for a GPU, or with no GPU that a runtime sees."""
    gpus = {"LD_LIBRARY_PATH": STANDIN} if gpu else {"LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": ""}
    return mock.patch.dict(os.environ, {**gpus, **variables})


class Precision(CommandLineTest):
    def compile(self, name, *options, code=0):
        (self.folder / "product.mlir").write_text(PRODUCT)
        return self.accc("compile", "product.mlir", "-o", name, *options, code=code)

    def product(self, library, x):
        """x times 1."""
        inputs = {"x": ("F32", [1, 1], struct.pack("<f", x)), "w": ("F32", [1, 1], struct.pack("<f", 1))}
        write_safetensors(self.folder / "in.safetensors", inputs)
        self.accc(
            *("run", library, "--entry", "eval_step"),
            *("--inputs", "in.safetensors", "--outputs", "out.safetensors"),
        )
        return floats(read_safetensors(self.folder / "out.safetensors")["y"])[0]

    def test_a_target_without_tf32_says_so(self):
        _, error = self.compile("m.so", "--precision", "tf32", code=USAGE)
        self.assertIn("--precision tf32: --target cpu has no TF32 arithmetic", error)

    @needs_cuda
    def test_tf32_rounds_factors(self):
        self.compile("fp32.so", "--target", "cuda", "--arch", "compute_80")
        self.compile("tf32.so", "--target", "cuda", "--arch", "compute_80", "--precision", "tf32")
        found = json.loads(self.accc("inspect", "tf32.so", "--json")[0])
        self.assertEqual(found["manifest"]["precision"], "tf32")
        self.assertIn(", tf32, ", self.accc("inspect", "tf32.so")[0])
        self.assertNotIn("tf32", self.accc("inspect", "fp32.so")[0])
        long = 1 + 2**-12  # 13 bits of significand, of which TF32 keeps 11
        with environment(gpu=True):
            self.assertEqual(self.product("fp32.so", long), long)
            self.assertEqual(self.product("tf32.so", long), 1)


if __name__ == "__main__":
    unittest.main()
