# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import os
import pathlib
import re
import shutil
import unittest
from unittest import mock

from command_line import BUG, MACHINE, MLP, TRAINING, USAGE, CommandLineTest

# y = exp(x) of f64, which a GPU has no instruction for
DOUBLE = """
func.func @forward(%x: tensor<4xf64> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<4xf64> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.exp %x : (tensor<4xf64>) -> tensor<4xf64>
  return %0 : tensor<4xf64>
}
"""

# y = x * x + w, in rows
ROWS = """
func.func @forward(%x: tensor<{rows}x{columns}x{element}> {{accc.name = "x", accc.role = #prim.role<input>}},
    %w: tensor<{columns}x{element}> {{accc.name = "w", accc.role = #prim.role<input>}})
    -> (tensor<{rows}x{columns}x{element}> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.mul %x, %x : (tensor<{rows}x{columns}x{element}>, tensor<{rows}x{columns}x{element}>)
      -> tensor<{rows}x{columns}x{element}>
  %1 = prim.broadcast %w {{dimensions = array<i64: 1>}} : (tensor<{columns}x{element}>)
      -> tensor<{rows}x{columns}x{element}>
  %2 = prim.add %0, %1 : (tensor<{rows}x{columns}x{element}>, tensor<{rows}x{columns}x{element}>)
      -> tensor<{rows}x{columns}x{element}>
  return %2 : tensor<{rows}x{columns}x{element}>
}}
"""

# y = x + w, with an element of w for each row
# The greatest of each row of bf16; and rows times a number each, padded.
LOGITS = """
func.func @forward(%a: tensor<512x{padded}xbf16> {{accc.role = #prim.role<input>, accc.name = "a"}}) -> (tensor<512xf32> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.slice %a {{starts = array<i64: 0, 0>, limits = array<i64: 512, {length}>, strides = array<i64: 1, 1>}} : (tensor<512x{padded}xbf16>) -> tensor<512x{length}xbf16>
  %1 = prim.convert %0 : (tensor<512x{length}xbf16>) -> tensor<512x{length}xf32>
  %2 = prim.reduce max %1 {{dimensions = array<i64: 1>}} : (tensor<512x{length}xf32>) -> tensor<512xf32>
  return %2 : tensor<512xf32>
}}
"""
PADDED = """
func.func @forward(%a: tensor<512x{padded}xbf16> {{accc.role = #prim.role<input>, accc.name = "a"}}, %b: tensor<512xf32> {{accc.role = #prim.role<input>, accc.name = "b"}}) -> (tensor<512x{padded}xbf16> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.slice %a {{starts = array<i64: 0, 0>, limits = array<i64: 512, {length}>, strides = array<i64: 1, 1>}} : (tensor<512x{padded}xbf16>) -> tensor<512x{length}xbf16>
  %1 = prim.convert %0 : (tensor<512x{length}xbf16>) -> tensor<512x{length}xf32>
  %2 = prim.broadcast %b {{dimensions = array<i64: 0>}} : (tensor<512xf32>) -> tensor<512x{length}xf32>
  %3 = prim.mul %1, %2 : (tensor<512x{length}xf32>, tensor<512x{length}xf32>) -> tensor<512x{length}xf32>
  %4 = prim.convert %3 : (tensor<512x{length}xf32>) -> tensor<512x{length}xbf16>
  %5 = prim.constant dense<0.0> : tensor<bf16>
  %6 = prim.pad %4, %5 {{low = array<i64: 0, 0>, high = array<i64: 0, 7>, interior = array<i64: 0, 0>}} : (tensor<512x{length}xbf16>, tensor<bf16>) -> tensor<512x{padded}xbf16>
  return %6 : tensor<512x{padded}xbf16>
}}
"""
# The distances of each of some points from each of others.
DISTANCES = """
func.func @forward(%a: tensor<{points}x3xf32> {{accc.name = "a", accc.role = #prim.role<input>}},
    %b: tensor<2048x3xf32> {{accc.name = "b", accc.role = #prim.role<input>}})
    -> (tensor<{points}x2048xf32> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.broadcast %a {{dimensions = array<i64: 0, 2>}} : (tensor<{points}x3xf32>) -> tensor<{points}x2048x3xf32>
  %1 = prim.broadcast %b {{dimensions = array<i64: 1, 2>}} : (tensor<2048x3xf32>) -> tensor<{points}x2048x3xf32>
  %2 = prim.sub %0, %1 : (tensor<{points}x2048x3xf32>, tensor<{points}x2048x3xf32>) -> tensor<{points}x2048x3xf32>
  %3 = prim.abs %2 : (tensor<{points}x2048x3xf32>) -> tensor<{points}x2048x3xf32>
  %4 = prim.reduce sum %3 {{dimensions = array<i64: 2>}} : (tensor<{points}x2048x3xf32>) -> tensor<{points}x2048xf32>
  return %4 : tensor<{points}x2048xf32>
}}
"""
CHANNELS = """
func.func @forward(%x: tensor<16x64x784xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<16x64x784xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.reduce max %x {dimensions = array<i64: 0, 2>} : (tensor<16x64x784xf32>) -> tensor<64xf32>
  %1 = prim.broadcast %0 {dimensions = array<i64: 1>} : (tensor<64xf32>) -> tensor<16x64x784xf32>
  %2 = prim.sub %x, %1 : (tensor<16x64x784xf32>, tensor<16x64x784xf32>) -> tensor<16x64x784xf32>
  return %2 : tensor<16x64x784xf32>
}
"""

COLUMN = """
func.func @forward(%x: tensor<{rows}x{columns}xf32> {{accc.name = "x", accc.role = #prim.role<input>}},
    %w: tensor<{rows}xf32> {{accc.name = "w", accc.role = #prim.role<input>}})
    -> (tensor<{rows}x{columns}xf32> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.broadcast %w {{dimensions = array<i64: 0>}} : (tensor<{rows}xf32>) -> tensor<{rows}x{columns}xf32>
  %1 = prim.add %x, %0 : (tensor<{rows}x{columns}xf32>, tensor<{rows}x{columns}xf32>) -> tensor<{rows}x{columns}xf32>
  return %1 : tensor<{rows}x{columns}xf32>
}}
"""

# The image's channels become the innermost dimension.
TRANSPOSED = """
func.func @forward(%x: tensor<2x96x784xf32> {accc.name = "x", accc.role = #prim.role<input>},
    %w: tensor<96xf32> {accc.name = "w", accc.role = #prim.role<input>})
    -> (tensor<2x784x96xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x96x784xf32>) -> tensor<2x784x96xf32>
  %1 = prim.broadcast %w {dimensions = array<i64: 2>} : (tensor<96xf32>) -> tensor<2x784x96xf32>
  %2 = prim.add %0, %1 : (tensor<2x784x96xf32>, tensor<2x784x96xf32>) -> tensor<2x784x96xf32>
  return %2 : tensor<2x784x96xf32>
}
"""

# y = a + the sums of the rows of u that go to each row of it
SCATTER = """
func.func @forward(%a: tensor<2x96xf32> {accc.name = "a", accc.role = #prim.role<input>},
    %i: tensor<2048xi64> {accc.name = "i", accc.role = #prim.role<input>},
    %u: tensor<2048x96xf32> {accc.name = "u", accc.role = #prim.role<input>})
    -> (tensor<2x96xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>}
      : (tensor<2x96xf32>, tensor<2048xi64>, tensor<2048x96xf32>) -> tensor<2x96xf32>
  return %0 : tensor<2x96xf32>
}
"""

# y = x * a + b
PARAMETERS = """
func.func @forward(%x: tensor<4x8192xf32> {accc.name = "x", accc.role = #prim.role<input>},
    %a: tensor<8192xf32> {accc.name = "a", accc.role = #prim.role<parameter>},
    %b: tensor<8192xf32> {accc.name = "b", accc.role = #prim.role<parameter>})
    -> (tensor<4x8192xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.broadcast %a {dimensions = array<i64: 1>} : (tensor<8192xf32>) -> tensor<4x8192xf32>
  %1 = prim.broadcast %b {dimensions = array<i64: 1>} : (tensor<8192xf32>) -> tensor<4x8192xf32>
  %2 = prim.mul %x, %0 : (tensor<4x8192xf32>, tensor<4x8192xf32>) -> tensor<4x8192xf32>
  %3 = prim.add %2, %1 : (tensor<4x8192xf32>, tensor<4x8192xf32>) -> tensor<4x8192xf32>
  return %3 : tensor<4x8192xf32>
}
"""


def toolkit():
    """Where the compiler finds CUDA's toolkit, or None."""
    for folder in (os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if folder and (pathlib.Path(folder) / "bin" / "ptxas").exists():
            return pathlib.Path(folder)
    return None


def environment(**variables):
    return mock.patch.dict(os.environ, variables)


class Cuda(CommandLineTest):
    def archs(self, library):
        out, _ = self.accc("inspect", library, "--json")
        description = json.loads(out)
        self.assertEqual(description["target"], "cuda")
        return description["archs"]

    def compile(self, name, *options, code=0):
        return self.accc("compile", MLP / "model.onnx", "-o", name, *TRAINING, "--target", "cuda", *options, code=code)

    @unittest.skipUnless(toolkit(), "no ptxas")
    def test_machine_code_for_each_arch_and_ptx_for_later_ones(self):
        self.compile("a.so")
        self.assertEqual(self.archs("a.so"), ["sm_90", "sm_80", "compute_90"])
        self.compile("b.so")
        self.assertEqual((self.folder / "a.so").read_bytes(), (self.folder / "b.so").read_bytes())
        self.compile("c.so", "--arch", "sm_86")
        self.assertEqual(self.archs("c.so"), ["sm_86", "compute_86"])

    def test_ptx_alone(self):
        self.compile("a.so", "--arch", "compute_80", "--dump-dir", "dump")
        self.assertEqual(self.archs("a.so"), ["compute_80"])
        ptx = (self.folder / "dump" / "compute_80" / "kernels.ptx").read_text()
        self.assertIn(".target sm_80", ptx)
        # Every primitive rounds, as on the CPU; subnormals are zero.
        self.assertIn("add.rn.ftz.f32", ptx)
        self.assertIn("div.rn.ftz.f32", ptx)
        self.assertNotIn("div.approx", ptx)

    def kernels(self, name, text):
        """The PTX of each kernel of a model in MLIR."""
        (self.folder / f"{name}.mlir").write_text(text)
        self.accc(
            *("compile", f"{name}.mlir", "-o", f"{name}.so", "--target", "cuda"),
            *("--arch", "compute_80", "--dump-dir", f"{name}.dump"),
        )
        ptx = (self.folder / f"{name}.dump" / "compute_80" / "kernels.ptx").read_text()
        return ptx.split(".visible .entry")[1:]

    def test_only_kernels_that_could_do_harm_look_for_errors(self):
        self.compile("a.so", "--arch", "compute_80", "--dump-dir", "dump")
        ptx = (self.folder / "dump" / "compute_80" / "kernels.ptx").read_text()
        kernels = {text.partition("(")[0]: text for text in ptx.split(".visible .entry ")[1:]}
        self.assertNotIn("ld.global.u64", kernels["kernel$max"])
        # The state stays as it is; nobody else writes the word meanwhile.
        looks = r"ld\.global\.u64 \s*(%rd\d+), \[%rd\d+\];\s*setp\.\w+\.s64 \s*%p\d+, \1, 0;"
        self.assertRegex(kernels["kernel$sub_mul_add_sqrt_div"], looks)
        for name, text in kernels.items():
            self.assertEqual("ld.volatile.global.u64" in text, "_gather_" in name, name)

    def test_a_thread_accesses_16_bytes_at_once(self):
        (kernel,) = self.kernels("rows", ROWS.format(rows=8, columns=12, element="f32"))
        self.assertEqual(kernel.count("ld.global.v4.f32"), 2)
        self.assertEqual(kernel.count("st.global.v4.f32"), 1)
        self.assertNotIn("ld.global.f32", kernel)
        (kernel,) = self.kernels("pairs", ROWS.format(rows=8, columns=6, element="f32"))
        self.assertEqual(kernel.count("ld.global.v2.f32"), 2)
        (kernel,) = self.kernels("singles", ROWS.format(rows=8, columns=5, element="f32"))
        self.assertNotIn(".v2", kernel)
        # Rows that do not begin at multiples of 16 bytes:
        (kernel,) = self.kernels("long_rows", COLUMN.format(rows=8, columns=1027))
        self.assertEqual(kernel.count("ld.global.v4.f32"), 1)
        self.assertEqual(kernel.count("st.global.v4.f32"), 1)
        (kernel,) = self.kernels("short_rows", COLUMN.format(rows=8, columns=49))
        self.assertNotIn(".v4", kernel)
        (kernel,) = self.kernels("doubles", ROWS.format(rows=8, columns=12, element="f64"))
        self.assertEqual(kernel.count("st.global.v2.f64"), 1)

    def test_a_thread_takes_several_short_elements_of_a_row(self):
        (kernel,) = self.kernels("logits", LOGITS.format(length=1001, padded=1008))
        self.assertEqual(kernel.count("ld.global.v4.u16"), 2)  # by 128 threads
        self.assertEqual(kernel.count("ld.global.u16"), 1)  # the last element
        (kernel,) = self.kernels("unaligned", LOGITS.format(length=1001, padded=1001))
        self.assertNotIn(".v4", kernel)
        # Padded as it was, 16 bytes at once:
        kernel = self.kernels("padded", PADDED.format(length=1001, padded=1008))[0]
        self.assertEqual(kernel.count("ld.global.v4.b32"), 1)
        self.assertEqual(kernel.count("st.global.v4.b32"), 1)
        self.assertEqual(kernel.count("cvt.rn.bf16x2.f32"), 4)

    def test_a_channel_stays_in_registers(self):
        (kernel,) = self.kernels("channels", CHANNELS)
        # 16 * 784 elements by 1024 threads, read once; nothing jumps back.
        self.assertEqual(kernel.count("ld.global.f32"), 13)
        self.assertEqual(kernel.count("st.global.f32"), 13)
        for label in re.findall(r"^(\$L\w+):", kernel, re.MULTILINE):
            self.assertNotIn(f"{label};", kernel[kernel.index(f"\n{label}:"):])

    def test_rows_that_read_the_same_are_reduced_together(self):
        (kernel,) = self.kernels("many", DISTANCES.format(points=1024))
        self.assertEqual(kernel.count("st.global.f32"), 8)
        self.assertEqual(kernel.count("ld.global.f32"), 3 * (8 + 1))
        self.assertNotIn("shfl", kernel)
        # Of fewer points a warp would take so many at once that most multiprocessors had nothing to do.
        (kernel,) = self.kernels("few", DISTANCES.format(points=64))
        self.assertEqual(kernel.count("st.global.f32"), 1)

    def test_without_ptxas_there_is_ptx(self):
        with environment(CUDA_PATH="/nonexistent", PATH="/usr/bin:/bin"):
            if shutil.which("ptxas"):
                self.skipTest("a ptxas in /usr/bin")
            _, error = self.compile("a.so", "--arch", "sm_80")
        self.assertIn("the library holds PTX only", error)
        self.assertEqual(self.archs("a.so"), ["compute_80"])

    def test_a_ptxas_that_fails(self):
        fake = self.folder / "bin" / "ptxas"
        fake.parent.mkdir()
        fake.write_text("#!/bin/sh\necho 'line 7: no such thing'\nexit 255\n")
        fake.chmod(0o755)
        with environment(PATH=f"{fake.parent}:{os.environ['PATH']}"):
            _, error = self.compile("a.so", "--arch", "sm_80", code=BUG)
        self.assertIn("sm_80: line 7: no such thing", error)
        fake.write_text("#!/bin/sh\nkill -9 $$\n")
        with environment(PATH=f"{fake.parent}:{os.environ['PATH']}"):
            _, error = self.compile("a.so", "--arch", "sm_80", code=MACHINE)
        self.assertIn("cannot run", error)
        self.assertNotIn("a.so", self.files())

    def test_functions_of_f64_come_from_the_device_library(self):
        (self.folder / "double.mlir").write_text(DOUBLE)
        command = ("compile", "double.mlir", "-o", "a.so", "--target", "cuda", "--arch", "compute_80")
        with environment(CUDA_PATH="/nonexistent"):
            _, error = self.accc(*command, code=MACHINE)
        self.assertIn("/nonexistent/nvvm/libdevice/libdevice.10.bc, which has exp", error)
        if toolkit():
            self.accc(*command)

    def test_counts_kernels(self):
        self.compile("a.so", "--arch", "compute_80")
        out, _ = self.accc("inspect", "a.so", "--kernels", "--json")
        launches = json.loads(out)["kernels"]["train_step"]
        self.assertGreater(len(launches), 3)
        for launch in launches:
            self.assertNotIn("error", launch)
            self.assertGreater(launch["instructions"], 0)
            self.assertGreater(launch["moved_bytes"], 0)
        out, _ = self.accc("inspect", "a.so", "--kernels")
        self.assertIn("train_step", out)
        self.accc("compile", MLP / "model.onnx", "-o", "cpu.so", *TRAINING)
        _, error = self.accc("inspect", "cpu.so", "--kernels", code=USAGE)
        self.assertIn("holds no PTX", error)

    def test_what_is_transposed_is_read_and_written_in_whole_sectors(self):
        self.kernels("transposed", TRANSPOSED)
        out, _ = self.accc("inspect", "transposed.so", "--kernels", "--json")
        ((launch,),) = json.loads(out)["kernels"].values()
        # The row that all share is read by every warp.
        self.assertLess(launch["moved_bytes"], 1.6 * launch["least_bytes"])
        self.assertEqual(launch["bank_conflicts"], 0)

    def test_the_warps_of_a_block_share_the_updates_of_a_row(self):
        (kernel,) = self.kernels("scatter", SCATTER)
        self.assertIn("popc.b32", kernel)  # several updates at a time
        out, _ = self.accc("inspect", "scatter.so", "--kernels", "--json")
        ((launch,),) = json.loads(out)["kernels"].values()
        self.assertEqual((launch["blocks"], launch["threads"]), (2 * 96 // 32, 1024))
        self.assertLess(launch["moved_bytes"], 1.2 * launch["least_bytes"])
        # A warp that applied the updates of a row alone would need some for each.
        self.assertLess(launch["instructions"] / (launch["blocks"] * 32), 2048)

    def test_a_task_of_an_optimizer_reads_little_beside_its_segment(self):
        (self.folder / "parameters.mlir").write_text(PARAMETERS)
        self.accc(
            *("compile", "parameters.mlir", "-o", "parameters.so", "--target", "cuda", "--arch", "compute_80"),
            *("--loss", "mse", "--optimizer", "adamw"),
        )
        out, _ = self.accc("inspect", "parameters.so", "--kernels", "--json")
        launches = json.loads(out)["kernels"]["train_step"]
        (update,) = [launch for launch in launches if "2 tensors" in launch["label"]]
        self.assertLess(update["moved_bytes"], 1.09 * update["least_bytes"])

    def test_a_machine_without_a_driver_says_so(self):
        if shutil.which("nvidia-smi"):
            self.skipTest("a driver is installed")
        self.compile("a.so", "--arch", "compute_80")
        _, error = self.accc("run", "a.so", "--entry", "grad_step", "--inputs", MLP / "inputs.safetensors", code=MACHINE)
        self.assertIn("compute_80 needs ", error)


if __name__ == "__main__":
    unittest.main()
