# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several targets (--target) in one library, and --precision."""

import json
import os
import re
import struct
import unittest
from unittest import mock

from command_line import DATA, GOLDENS, MACHINE, MLP, TRAINING, USAGE, CommandLineTest, floats, read_safetensors, write_safetensors

# The folder of the stand-in for NVIDIA's driver (test/gpu/standin), where CUDA is there to build it.
STANDIN = os.environ.get("ACCC_STANDIN")
needs_cuda = unittest.skipUnless(STANDIN, "no CUDA toolkit, or ACCC_CUDA is OFF")

BOTH = ["--target", "cuda,cpu", "--arch", "compute_80,x86-64-v3"]

# y = x w
PRODUCT = """
func.func @forward(%x: tensor<1x2xf32> {accc.name = "x", accc.role = #prim.role<input>},
                   %w: tensor<2x1xf32> {accc.name = "w", accc.role = #prim.role<input>})
    -> (tensor<1x1xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
"""

# Attentions: a causal one, and one that is told where to look.
CAUSAL = """
func.func @forward(%x: tensor<2x2x16x8xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<2x2x16x8xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = nn.attention %x, %x, %x {causal = true, scale = 1.0 : f64}
    : (tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>) -> tensor<2x2x16x8xf32>
  return %0 : tensor<2x2x16x8xf32>
}
"""
MASKED = """
func.func @forward(%x: tensor<2x2x16x8xf32> {accc.name = "x", accc.role = #prim.role<input>},
                   %seen: tensor<2x1x1x16xi1> {accc.name = "seen", accc.role = #prim.role<input>})
    -> (tensor<2x2x16x8xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = nn.attention %x, %x, %x mask %seen {causal = false, scale = 1.0 : f64}
    : (tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x2x16x8xf32>, tensor<2x1x1x16xi1>) -> tensor<2x2x16x8xf32>
  return %0 : tensor<2x2x16x8xf32>
}
"""

# The sum of a parameter's greatest elements, each in another place than in the parameter: a line that a GPU sorts in runs.
SORTED = """
func.func @forward(%w: tensor<5000xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %x: tensor<5000xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<f32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.mul %w, %x : (tensor<5000xf32>, tensor<5000xf32>) -> tensor<5000xf32>
  %v, %i = prim.sort %0 {dimension = 0 : i64, descending = true} : (tensor<5000xf32>) -> (tensor<5000xf32>, tensor<5000xi64>)
  %1 = prim.slice %v {starts = array<i64: 0>, limits = array<i64: 3000>, strides = array<i64: 1>} : (tensor<5000xf32>) -> tensor<3000xf32>
  %2 = prim.tanh %1 : (tensor<3000xf32>) -> tensor<3000xf32>
  %3 = prim.reduce sum %2 {dimensions = array<i64: 0>} : (tensor<3000xf32>) -> tensor<f32>
  return %3 : tensor<f32>
}
"""


def environment(gpu=False, **variables):
    """With the stand-in for a GPU, or with no GPU that a runtime sees."""
    gpus = {"LD_LIBRARY_PATH": STANDIN} if gpu else {"LD_LIBRARY_PATH": "", "CUDA_VISIBLE_DEVICES": ""}
    return mock.patch.dict(os.environ, {**gpus, **variables})


class Data(CommandLineTest):
    @needs_cuda
    def test_bad_data_is_named_on_a_gpu(self):
        self.accc("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING, "--target", "cuda", "--arch", "compute_80")
        inputs = read_safetensors(MLP / "inputs.safetensors")
        dtype, shape, data = inputs["target"]
        bad = data[:24] + struct.pack("<q", 500) + data[32:]
        write_safetensors(self.folder / "bad.safetensors", {**inputs, "target": (dtype, shape, bad)})
        # Of a step also where library calls follow the loss, which find nothing that they could read.
        for entry in ("eval_step", "grad_step", "train_step"):
            run = ["run", "m.so", "--entry", entry, "--inputs", "bad.safetensors", "--save-params", "p.safetensors"]
            with environment(gpu=True):
                _, error = self.accc(*run, code=DATA)
            self.assertIn(f"accc: error: {entry}: target[3] = 500: classes are 0 to 9", error)
            self.assertNotIn("p.safetensors", self.files())

    @needs_cuda
    def test_behind_bad_data_kernels_read_what_others_did_not_write(self):
        folder = GOLDENS.parent / "exported" / "frequented"
        model = folder / "joint_aten.pt2"
        self.accc("compile", model, "-o", "m.so", "--optimizer", "sgd", "--target", "cuda", "--arch", "compute_80")
        dtype, shape, data = read_safetensors(folder / "inputs.safetensors")["words"]
        write_safetensors(self.folder / "bad.safetensors", {"words": (dtype, shape, struct.pack("<q", 500) + data[8:])})
        for entry in ("grad_step", "train_step"):
            with environment(gpu=True):
                _, error = self.accc("run", "m.so", "--entry", entry, "--inputs", "bad.safetensors", code=DATA)
            self.assertIn(f"accc: error: {entry}: words[0,0] = 500: rows are 0 to 8", error)


    @needs_cuda
    def test_a_bisection_follows_the_target_that_is_asked_for(self):
        bisect = ["diff", MLP / "model.onnx", MLP, "--bisect", "--target", "cuda", "--arch", "compute_80"]
        with environment():
            out, _ = self.accc(*bisect)
        self.assertIn("fuse       keeps every value", out)
        self.assertIn("generate   not compared: this machine cannot run the kernels", out)
        with environment(gpu=True):
            out, _ = self.accc(*bisect)
        self.assertIn("kernels and library calls give what they should", out)


class Precision(CommandLineTest):
    def compile(self, name, *options, code=0, text=PRODUCT):
        (self.folder / "product.mlir").write_text(text)
        return self.accc("compile", "product.mlir", "-o", name, *options, code=code)

    def product(self, library, x):
        """x times 1, and 0 times 0."""
        inputs = {"x": ("F32", [1, 2], struct.pack("<2f", x, 0)), "w": ("F32", [2, 1], struct.pack("<2f", 1, 0))}
        write_safetensors(self.folder / "in.safetensors", inputs)
        self.accc(
            *("run", library, "--entry", "eval_step"),
            *("--inputs", "in.safetensors", "--outputs", "out.safetensors"),
        )
        return floats(read_safetensors(self.folder / "out.safetensors")["y"])[0]

    def test_a_target_without_tf32_says_so(self):
        _, error = self.compile("m.so", "--precision", "tf32", code=USAGE)
        self.assertIn("--precision tf32: --target cpu has no TF32 arithmetic", error)

    def test_a_target_without_a_library_for_attention_says_so(self):
        _, error = self.compile("m.so", "--library-attention", code=USAGE)
        self.assertIn("--library-attention: --target cpu has no library that runs attention whole", error)

    @needs_cuda
    def test_a_model_without_an_attention_to_call_is_warned_of(self):
        """Once, and is compiled as without the option, but for what its manifest says."""
        _, error = self.compile("m.so", "--library-attention", "--target", "cuda", "--arch", "compute_80")
        self.assertEqual(error.count("--library-attention: the library runs no attention of the model whole"), 1)

    @needs_cuda
    def test_attentions_are_calls_by_default_where_they_have_no_mask_of_padding(self):
        for source, default in ((CAUSAL, 1), (MASKED, 0)):
            self.assertEqual(self.attention_calls(source), default)
            self.assertEqual(self.attention_calls(source, "--library-attention"), 1)
            self.assertEqual(self.attention_calls(source, "--no-library-attention"), 0)
            self.assertEqual(self.attention_calls(source, "--precision", "fp32"), 0)

    def attention_calls(self, source, *options):
        """Of eval_step, in bf16 for a GPU unless the options say something else."""
        (self.folder / "attention.mlir").write_text(source)
        if "--precision" not in options:
            options = ("--precision", "bf16", *options)
        target = ("--target", "cuda", "--arch", "compute_80")
        self.accc("compile", "attention.mlir", "-o", "a.so", *target, *options, "--report", "a.json")
        (entry,) = json.loads((self.folder / "a.json").read_text())["entries"]
        return sum("attention" in step.get("library_call", "") for step in entry["steps"])

    def test_an_option_and_its_opposite_do_not_go_together(self):
        _, error = self.compile("m.so", "--library-attention", "--no-library-attention", code=USAGE)
        self.assertIn("--library-attention excludes --no-library-attention", error)

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

    def rounds_to_8_bits(self, library):
        self.assertEqual(self.product(library, 1 + 2**-7), 1 + 2**-7)
        self.assertEqual(self.product(library, 1 + 2**-9), 1)

    def test_mixed_precision_rounds_factors(self):
        self.compile("m.so", "--precision", "bf16")
        self.assertIn(", bf16, ", self.accc("inspect", "m.so")[0])
        self.rounds_to_8_bits("m.so")

    @needs_cuda
    def test_mixed_precision_is_the_same_on_every_target(self):
        self.compile("m.so", *BOTH, "--precision", "bf16")
        for gpu in (False, True):
            with environment(gpu=gpu):
                self.rounds_to_8_bits("m.so")

    @needs_cuda
    def test_a_product_of_full_precision_is_never_rounded(self):
        long = 1 + 2**-12
        for precision in ("tf32", "bf16"):
            self.compile("m.so", *BOTH, "--precision", precision, text=PRODUCT.replace("{lhs_batch", "{full_precision, lhs_batch"))
            for gpu in (False, True):
                with environment(gpu=gpu):
                    self.assertEqual(self.product("m.so", long), long)

    @needs_cuda
    def test_beside_a_target_that_has_it_the_other_multiplies_in_full(self):
        self.compile("m.so", *BOTH, "--precision", "tf32")
        long = 1 + 2**-12
        with environment():
            self.assertEqual(self.product("m.so", long), long)
        with environment(gpu=True):
            self.assertEqual(self.product("m.so", long), 1)


class Targets(CommandLineTest):
    def compile(self, name, *options, code=0):
        return self.accc("compile", MLP / "model.onnx", "-o", name, *TRAINING, *options, code=code)

    def inspect(self, library):
        return json.loads(self.accc("inspect", library, "--json")[0])

    def test_what_is_wrong_is_said(self):
        for options, message in (
            (["--target", "tpu"], "--target tpu: this accc compiles for cuda, cpu"),
            (["--target", "cpu,tpu"], "--target tpu: "),
            (["--target", "cpu,cpu"], "--target names cpu twice"),
            (["--target", "cpu,cuda", "--arch", "z80"], "--arch z80: no such machine is known to any of --target cpu,cuda"),
            (["--target", "cpu,cuda", "--arch", "sm_80,sm_80"], "--arch names sm_80 twice"),
            (["--arch", "sm_80"], "--arch sm_80 is a machine of --target cuda, and --target is cpu: give --target cuda, or"),
            (["--target", "cpu", "--arch", "z80"], "unknown --arch 'z80'"),
            (["--target", "cuda", "--arch", "x86-64-v3"], "--arch x86-64-v3 is a machine of --target cpu"),
            (["--target", "cuda", "--arch", "z80"], "unknown --arch 'z80' of --target cuda"),
            (["--target", "cuda,cpu", "--arch", "sm_70"], "--arch sm_70: "),
        ):
            _, error = self.compile("m.so", *options, code=USAGE)
            self.assertIn(message, error)
            self.assertEqual(len(error.splitlines()), 1, error)  # and no line of LLVM's

    @needs_cuda
    def test_the_best_that_is_there_is_taken(self):
        self.compile("m.so", *BOTH)
        with environment():
            found = self.inspect("m.so")
            self.assertEqual((found["target"], found["arch"]), ("cpu", "x86-64-v3"))
            self.assertIn("tensors pass", self.accc("diff", "m.so", MLP)[0])
            text = self.accc("inspect", "m.so")[0]
            self.assertIn(", cpu x86-64-v3 of cuda compute_80 cpu x86-64-v3, ", text)
        self.assertEqual(
            found["codes"],
            [{"target": "cuda", "arch": "compute_80"}, {"target": "cpu", "arch": "x86-64-v3"}],
        )
        self.assertEqual(found["manifest"]["target"], "cuda,cpu")
        self.assertEqual(found["manifest"]["arch"], "compute_80,x86-64-v3")
        for arch, target in (("", "cuda"), ("compute_80", "cuda"), ("x86-64-v3", "cpu")):
            with environment(gpu=True, ACCC_ARCH=arch):
                self.assertEqual(self.inspect("m.so")["target"], target)
                if arch:
                    self.assertIn("15 of 15 tensors pass", self.accc("diff", "m.so", MLP)[0])

    @needs_cuda
    def test_kernels_of_a_gpu_are_compared_without_one(self):
        for name, beta in (("a.so", 0.9), ("b.so", 0.5)):
            training = ["--loss", "cross_entropy", "--optimizer", f"adam,beta1={beta}", "-D", "batch=64"]
            self.accc("compile", MLP / "model.onnx", "-o", name, *training, "--target", "cuda", "--arch", "compute_80")
        with environment():
            self.accc("diff", "a.so", "a.so", "--only", "manifest,interface,kernels,memory")
            out, _ = self.accc("diff", "a.so", "b.so", "--only", "kernels", "--json", code=DATA)
            whole, _ = self.accc("diff", "a.so", "b.so", "--fail-on", "none", "--json", code=MACHINE)
        sections = {section["name"]: section for section in json.loads(whole)["sections"]}
        self.assertEqual(sections["numbers"]["verdict"], "not compared")
        self.assertIn("--only manifest,interface,kernels compares without running it", sections["numbers"]["failure"])
        # What cannot be run hides nothing of the rest.
        changed = [[change["what"] for change in section["changes"]] for section in json.loads(out)["sections"]]
        self.assertEqual([[change["what"] for change in sections["kernels"]["changes"]]], changed)
        for change in json.loads(out)["sections"][0]["changes"]:
            self.assertRegex(change["what"], "^cuda compute_80 (train|apply)_step .* code$")

    @needs_cuda
    def test_targets_are_held_against_each_other(self):
        self.compile("m.so", *BOTH)
        with environment(gpu=True):
            out, _ = self.accc("diff", "m.so", "--targets", "--steps", "2")
            self.assertIn("cuda against cpu\n", out)
            count = int(re.search(r"(\d+) of \1 tensors pass", out)[1])
            for line in (r"eval_step logits +f32\[64, 10\]", r"loss +f32\[\]", r"grad\.1\.weight +f32", r"losses +f32\[2\]", r"1\.weight +f32"):
                self.assertRegex(out, rf"(?m)^{line}.* close$")
            given = self.accc("diff", "m.so", "--targets", "--inputs", MLP / "inputs.safetensors")[0]
            self.assertIn(f"{count} of {count} tensors pass", given)
            with mock.patch.dict(os.environ, {"ACCC_ARCH": "compute_80"}):
                _, error = self.accc("diff", "m.so", "--targets", code=USAGE)
            self.assertIn("holds no code for cpu ACCC_ARCH=compute_80; it was compiled for", error)
        with environment():
            _, error = self.accc("diff", "m.so", "--targets", code=MACHINE)
            self.assertIn("this machine cannot run the code in m.so for cuda: compute_80 needs NVIDIA's driver", error)
            self.compile("c.so", "--target", "cuda", "--arch", "compute_80,compute_90")
            _, error = self.accc("run", "c.so", code=MACHINE)
            self.assertIn("(compute_90, compute_80 need NVIDIA's driver", error)

    @needs_cuda
    def test_a_gpu_sorts_a_long_line_as_a_cpu_does(self):
        (self.folder / "sorted.mlir").write_text(SORTED)
        self.accc("compile", "sorted.mlir", "-o", "m.so", "--loss", "output:y", "--optimizer", "sgd", *BOTH)
        out, _ = self.accc("inspect", "m.so", "--kernels")
        self.assertRegex(out, r"(?m)^train_step\n(.*\n)+? +1 .* merge -> 1x5000$")
        with environment(gpu=True):
            out, _ = self.accc("diff", "m.so", "--targets")
        self.assertRegex(out, r"(?m)^grad\.w +f32\[5000\] .* close$")

    @needs_cuda
    def test_targets_that_differ(self):
        self.compile("m.so", *BOTH, "--precision", "tf32", "-D", "batch=16")
        with environment(gpu=True):
            out, _ = self.accc("diff", "m.so", "--targets", "--tolerance", "1e-7", code=DATA)
        self.assertIn("  cuda against cpu at batch=64\n  cuda against cpu at batch=16\n", out)
        self.assertRegex(out, r"batch=16 grad\.1\.weight .* FAILED")
        self.assertRegex(out, r"first bad tensor: batch=64 eval_step logits ")

    @needs_cuda
    def test_targets_where_a_gradient_is_only_rounding(self):
        """The key bias of an attention, which Adam moves by the learning rate all the same."""
        folder = GOLDENS / "bert_dropout"
        meta = json.loads((folder / "meta.json").read_text())
        training = ["--loss", meta["loss"], "--optimizer", meta["optimizer"]]
        training += [f"-D{name}={size}" for name, size in meta["dims"].items()]
        self.accc("compile", folder / "model.onnx", "-o", "m.so", *training, *BOTH)
        with environment(gpu=True):
            out, _ = self.accc("diff", "m.so", "--targets", "--inputs", folder / "inputs.safetensors")
        self.assertRegex(out, r"(?m)^\S+\.key\.bias .* (close|rounding)$")

    def test_targets_of_what_has_one(self):
        self.compile("m.so")
        for arguments, message in (
            (["m.so", "--targets"], "m.so was compiled for cpu alone"),
            ([MLP / "model.onnx", "--targets"], "is no library"),
            (["m.so", "m.so", "--targets"], "B excludes --targets"),
            (["m.so"], "B is missing"),
        ):
            _, error = self.accc("diff", *arguments, code=USAGE)
            self.assertIn(message, error)

    @needs_cuda
    def test_the_order_of_targets_and_archs_does_not_matter(self):
        self.compile("a.so", *BOTH)
        self.compile("b.so", "--target", "cpu,cuda", "--arch", "x86-64-v3,compute_80")
        data = (self.folder / "a.so").read_bytes()
        self.assertEqual(data, (self.folder / "b.so").read_bytes())
        self.compile("w.so", "--weights", "beside")
        for _, _, weight in read_safetensors(self.folder / "w.so.safetensors").values():
            self.assertEqual(data.count(weight), 1)

    @needs_cuda
    def test_a_target_without_an_arch_takes_its_default(self):
        self.compile("m.so", "--target", "cuda,cpu", "--arch", "compute_90")
        archs = [(code["target"], code["arch"]) for code in self.inspect("m.so")["codes"]]
        self.assertEqual(archs, [("cuda", "compute_90"), ("cpu", "x86-64-v3")])

    @needs_cuda
    def test_several_targets_and_sizes_are_seen_everywhere(self):
        both = ["--loss", "cross_entropy", "-D", "batch=64,16", *BOTH]
        command = ["compile", MLP / "model.onnx", *both]
        self.accc(*command, "-o", "m.so", "--report", "m.json", "--dump-dir", "dump")
        report = json.loads((self.folder / "m.json").read_text())
        seen = {(entry["target"], entry["sizes"]) for entry in report["entries"]}
        runs = {(target, sizes) for target in ("cuda", "cpu") for sizes in ("batch=64", "batch=16")}
        self.assertEqual(seen, runs)
        self.assertEqual({(note["target"], note["sizes"]) for note in report["fusion"]}, runs)
        phases = [(phase["name"], phase.get("sizes")) for phase in report["compile"]["phases"]]
        self.assertIn(("import", "batch=16"), phases)
        self.assertIn(("fuse", "cuda batch=16"), phases)
        self.assertIn(("merge", "cpu"), phases)
        self.assertEqual(len(phases), len(set(phases)))
        for path in (
            "batch=16/4-simplify.mlir",
            "cuda/batch=16/5-layout.mlir",
            "cpu/batch=64/7-schedule.mlir",
            "cuda/8-merge.mlir",
            "cuda/compute_80/kernels.ptx",
            "cpu/kernels.mlir",
        ):
            self.assertTrue((self.folder / "dump" / path).exists(), path)
        for phase, names in (
            ("simplify", ["batch=64", "batch=16"]),
            ("layout", ["cuda batch=64", "cuda batch=16", "cpu batch=64", "cpu batch=16"]),
            ("merge", ["cuda", "cpu"]),
        ):
            text, _ = self.accc(*command, "--stop-after", phase)
            parts = [line[9:] for line in text.splitlines() if line.startswith("// ----- ")]
            self.assertEqual(parts, names)
        self.accc("check", MLP / "model.onnx", *both)


if __name__ == "__main__":
    unittest.main()
