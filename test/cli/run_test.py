# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import math
import os
import struct
import unittest
import unittest.mock

from command_line import DATA, GOLDENS, MACHINE, MLP, SMALL, USAGE, CommandLineTest, floats, read_safetensors, write_safetensors

INPUTS = ["--inputs", MLP / "inputs.safetensors"]


JOINED = """
func.func @forward(%a: tensor<4x16xf32> {accc.name = "a", accc.role = #prim.role<parameter>},
                   %b: tensor<4x16xf32> {accc.name = "b", accc.role = #prim.role<parameter>},
                   %x: tensor<8x16xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<8x16xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.concatenate %a, %b {dimension = 0 : i64} : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = prim.mul %0, %x : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
}
"""


class Run(CommandLineTest):
    def test_outputs_of_each_entry(self):
        library = self.library()
        parameters = [f"{layer}.{kind}" for layer in (1, 4, 6) for kind in ("bias", "weight")]
        for entry, extra in (
            ("eval_step", []),
            ("train_step", []),
            ("grad_step", [f"grad.{name}" for name in parameters]),
        ):
            self.accc("run", library, "--entry", entry, *INPUTS, "--outputs", "o.safetensors")
            found = read_safetensors(self.folder / "o.safetensors")
            self.assertEqual(sorted(found), sorted(["logits", "loss", *extra]))

    def test_training_goes_on_from_saved_parameters(self):
        library = self.library()
        train = ["run", library, *INPUTS, "--lr", "0.01"]
        self.accc(*train, "--steps", 5, "--save-params", "five.safetensors")
        out, _ = self.accc(
            *("run", library, "--entry", "eval_step", *INPUTS, "--params", "five.safetensors")
        )
        trained = float(out.split()[-1])
        first = float(self.accc("run", library, "--entry", "eval_step", *INPUTS)[0].split()[-1])
        self.assertLess(trained, first)
        names = read_safetensors(self.folder / "five.safetensors")
        self.assertEqual(len(names), 6)

    def test_steps_and_losses(self):
        library = self.library()
        out, _ = self.accc("run", library, *INPUTS, "--steps", 3, "--outputs", "o.safetensors")
        printed = [float(line.split()[-1]) for line in out.splitlines()]
        found = read_safetensors(self.folder / "o.safetensors")
        self.assertEqual(len(printed), 3)
        for a, b in zip(printed, floats(found["losses"])):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-6))

    def test_an_output_that_is_called_losses(self):
        """Nothing takes its place."""
        (self.folder / "m.mlir").write_text(SMALL.replace('"y"', '"losses"'))
        self.accc("compile", "m.mlir", "-o", "m.so", "--loss", "mse", "--optimizer", "sgd")
        tensors = {"x": ("F32", (2, 4), bytes(32)), "target": ("F32", (2, 3), bytes(24))}
        write_safetensors(self.folder / "batch", tensors)
        write_safetensors(self.folder / "w", {"w": ("F32", (4, 3), bytes(48))})
        run = ["run", "m.so", "--inputs", "batch", "--params", "w", "--outputs", "o"]
        self.accc(*run)
        self.assertEqual(read_safetensors(self.folder / "o")["losses"][1], [2, 3])
        _, error = self.accc(*run, "--steps", 2, code=USAGE)
        self.assertIn("it holds all `losses`, and train_step has an output of this name", error)
        for command in (["golden", "m.so", "-o", "g"], ["golden", "m.so", "-o", "g", "--inputs", "batch"]):
            self.assertIn("the model's output 'losses' has a name that goldens", self.accc(*command, code=USAGE)[1])

    def test_the_seed_decides_what_is_random(self):
        model = GOLDENS / "digits_mlp_dropout"
        meta = json.loads((model / "meta.json").read_text())
        options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"]]
        for name, size in meta["dims"].items():
            options += ["-D", f"{name}={size}"]
        self.accc("compile", model / "model.onnx", "-o", "d.so", *options)
        run = ["run", "d.so", "--entry", "grad_step", "--inputs", model / "inputs.safetensors"]
        one, again, two = (self.accc(*run, "--seed", seed)[0] for seed in (1, 1, 2))
        self.assertEqual(one, again)
        self.assertNotEqual(one, two)
        _, error = self.accc(*run[:2], "--entry", "eval_step", *run[4:], "--seed", 1, code=USAGE)
        self.assertIn("--seed: eval_step draws no random numbers", error)

    def test_what_openmp_is_told_is_no_obstacle(self):
        """Convolutions that oneDNN made for two threads waited for the second for ever."""
        model = GOLDENS / "resnet18"
        self.accc("compile", model / "model.onnx", "-o", "m.so", "--loss", "cross_entropy", "--optimizer", "sgd")
        run = ["run", "m.so", "--inputs", model / "inputs.safetensors", "--threads", 2]
        expected = self.accc(*run)[0]
        for setting in ("OMP_DYNAMIC=true", "OMP_MAX_ACTIVE_LEVELS=0", "OMP_THREAD_LIMIT=1"):
            with self.subTest(setting), unittest.mock.patch.dict(os.environ, [setting.split("=")]):
                found = self.accc(*run)[0]
                self.assertTrue(math.isclose(float(found.split()[-1]), float(expected.split()[-1]), rel_tol=1e-5))

    def test_gradients_that_are_parts_of_one_tensor(self):
        """Of joined parameters each has its own part, and no more: y = [a; b] x, of which mse has the mean."""
        (self.folder / "joined.mlir").write_text(JOINED)
        self.accc("compile", "joined.mlir", "-o", "m.so", "--loss", "mse", "--optimizer", "sgd")
        tensors = {name: ("F32", (rows, 16), struct.pack("<f", value) * rows * 16)
                   for name, rows, value in (("x", 8, 1), ("target", 8, 0), ("a", 4, 1), ("b", 4, 3))}
        write_safetensors(self.folder / "parameters", {name: tensors.pop(name) for name in "ab"})
        write_safetensors(self.folder / "batch", tensors)
        self.accc("run", "m.so", "--entry", "grad_step", "--inputs", "batch", "--params", "parameters", "--outputs", "out")
        gradients = read_safetensors(self.folder / "out")
        self.assertEqual(set(floats(gradients["grad.a"])), {2 * 1 / 128})
        self.assertEqual(set(floats(gradients["grad.b"])), {2 * 3 / 128})
        # All that grad_step gave may be given to apply_step.
        apart = ["--entry", "apply_step", "--inputs", "out", "--params", "parameters", "--save-params", "apart"]
        self.accc("run", "m.so", *apart)
        self.accc("run", "m.so", "--inputs", "batch", "--params", "parameters", "--save-params", "whole")
        self.assertEqual(read_safetensors(self.folder / "apart"), read_safetensors(self.folder / "whole"))

    def test_adamw_decays_doubles_at_small_rates(self):
        """By a factor that is 1 in f32."""
        (self.folder / "m.mlir").write_text(SMALL.replace("f32", "f64"))
        self.accc("compile", "m.mlir", "-o", "m.so", "--loss", "mse", "--optimizer", "adamw,eps=1e30,weight_decay=0.5")
        doubles = {"x": (2, 4), "target": (2, 3), "w": (4, 3)}
        tensors = {name: ("F64", shape, struct.pack("<d", 1) * math.prod(shape)) for name, shape in doubles.items()}
        write_safetensors(self.folder / "w", {"w": tensors.pop("w")})
        write_safetensors(self.folder / "batch", tensors)
        self.accc("run", "m.so", "--inputs", "batch", "--params", "w", "--lr", 2.0**-27, "--save-params", "after")
        for value in struct.unpack("<12d", read_safetensors(self.folder / "after")["w"][2]):
            self.assertAlmostEqual((1 - value) * 2**28, 1, places=6)

    def test_as_json(self):
        library = self.library()
        found = json.loads(self.accc("run", library, *INPUTS, "--steps", 3, "--lr", 0.5, "--json")[0])
        self.assertEqual((found["entry"], found["learning_rate"], len(found["losses"])), ("train_step", 0.5, 3))
        found = json.loads(self.accc("run", library, *INPUTS, "--entry", "eval_step", "--json")[0])
        self.assertEqual(len(found["losses"]), 1)

    def test_a_loss_that_is_not_finite(self):
        """Training that diverges is no success, and nobody takes its parameters for trained ones."""
        library = self.library()
        wild = ["run", library, *INPUTS, "--lr", "1e30", "--steps", 5]
        outputs = ["--outputs", "o.safetensors", "--save-params", "p.safetensors"]
        out, error = self.accc(*wild, *outputs, code=DATA)
        self.assertRegex(error, r"the loss of step (\d+) is -?(nan|inf); .*--allow-nonfinite")
        self.assertLess(len(out.splitlines()), 5)
        self.assertEqual(self.files(), ["mlp.so"])
        found = json.loads(self.accc(*wild, "--json", code=DATA)[0])
        self.assertIsNone(found["losses"][-1])
        out, _ = self.accc(*wild, *outputs, "--allow-nonfinite")
        self.assertEqual(len(out.splitlines()), 5)
        self.assertEqual(self.files(), ["mlp.so", "o.safetensors", "p.safetensors"])

    def test_errors_are_in_the_json(self):
        library = self.library()
        cases = [  # arguments, exit code, what is at fault, part of the message
            (["run", library, "--inputs", "none.safetensors"], USAGE, "usage", "none.safetensors"),
            (["run", library, "--entry", "trainstep"], USAGE, "usage", "did you mean 'train_step'?"),
            (["bench", library, "--stps", "3"], USAGE, "usage", "did you mean '--steps'?"),
            (["inspect", library, "--kernels"], USAGE, "usage", "no PTX"),
            (["diff", library], USAGE, "usage", "B is missing"),
            (["golden", library, "-o", "/dev/full/goldens"], MACHINE, "machine", "/dev/full"),
            (["bogus"], USAGE, "usage", "there is no command 'bogus'"),
        ]
        (self.folder / "cut.so").write_bytes(library.read_bytes()[:1000])
        cases.append((["run", "cut.so"], DATA, "data", "cut.so is damaged"))
        for arguments, code, fault, part in cases:
            out, error = self.accc(*arguments, "--json", code=code)
            found = json.loads(out)
            (problem,) = found["problems"]
            self.assertFalse(found["ok"])
            self.assertEqual((problem["severity"], problem["fault"]), ("error", fault))
            self.assertIn(part, problem["message"])
            self.assertEqual(error, f"accc: error: {problem['message']}\n")
        # Of a run that diverges also what it did.
        run = ["run", library, "--inputs", MLP / "inputs.safetensors", "--lr", "1e30", "--steps", "5", "--json"]
        found = json.loads(self.accc(*run, code=DATA)[0])
        self.assertFalse(found["ok"])
        self.assertIsNone(found["losses"][-1])
        self.assertIn("--allow-nonfinite", found["problems"][0]["message"])

    def test_a_damaged_library(self):
        """Cut off, or with a changed byte: an error, where mapping it would end the program by a signal."""
        whole = self.library().read_bytes()
        damaged = [whole[: len(whole) * part // 5] for part in range(1, 5)]
        for at in range(100, len(whole), len(whole) // 5):
            damaged.append(whole[:at] + bytes([whole[at] ^ 64]) + whole[at + 1 :])
        for data in damaged:
            (self.folder / "bad.so").write_bytes(data)
            for command in (["run", "bad.so", *INPUTS], ["inspect", "bad.so"]):
                _, error = self.accc(*command, code=DATA)
                self.assertRegex(error, r"bad\.so is damaged: .*; compile it again")

    def test_wrong_usage_and_wrong_data(self):
        library = self.library()
        for arguments in (
            ["run", library],  # no inputs
            ["run", library, "--entry", "fly", *INPUTS],
            ["run", library, *INPUTS, "--steps", "0"],
            ["run", "none.so", *INPUTS],
            ["run", library, "--inputs", "none.safetensors"],
        ):
            _, error = self.accc(*arguments, code=USAGE)
            self.assertTrue(error)
        (self.folder / "bad.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0{}")
        self.accc("run", library, "--inputs", "bad.safetensors", code=DATA)
        self.accc("run", MLP / "model.onnx", *INPUTS, code=DATA)


if __name__ == "__main__":
    unittest.main()
