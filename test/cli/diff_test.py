# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json
import shutil
import struct
import unittest

from command_line import DATA, GOLDENS, MLP, SMALL, USAGE, CommandLineTest, write_safetensors


class Diff(CommandLineTest):
    def test_a_library_and_a_model_against_goldens(self):
        out, _ = self.accc("diff", self.library(), MLP)
        self.assertIn("15 of 15 tensors pass", out)
        self.assertIn("grad.1.weight", out)
        out, _ = self.accc("diff", MLP / "model.onnx", MLP, "--failed")
        self.assertNotIn("grad.1.weight", out)

    def test_what_differs_is_named(self):
        wrong = self.folder / "wrong"
        shutil.copytree(MLP, wrong)
        meta = json.loads((wrong / "meta.json").read_text())
        meta["lr"] *= 2
        (wrong / "meta.json").write_text(json.dumps(meta))
        out, _ = self.accc("diff", self.library(), wrong, code=DATA)
        self.assertIn("first bad tensor: ", out)
        self.assertIn("FAILED", out)
        # The forward and backward of the first step do not depend on the learning rate.
        for line in out.splitlines():
            if line.startswith("grad."):
                self.assertIn("close", line)

    def test_bisect(self):
        out, _ = self.accc("diff", MLP / "model.onnx", MLP, "--bisect")
        for phase in ("trainable", "decompose", "simplify", "layout", "fuse"):
            self.assertIn(f"{phase:10} keeps every value", out)
        self.assertIn("kernels and library calls give what they should", out)
        # Goldens of another loss: what is wrong was so before the first phase.
        wrong = self.folder / "wrong"
        shutil.copytree(MLP, wrong)
        meta = json.loads((wrong / "meta.json").read_text())
        meta["loss"] = "cross_entropy,label_smoothing=0.5"
        (wrong / "meta.json").write_text(json.dumps(meta))
        out, _ = self.accc("diff", MLP / "model.onnx", wrong, "--bisect", code=DATA)
        self.assertIn("the model as imported and differentiated is wrong: ", out)
        self.accc("diff", self.library(), MLP, "--bisect", code=USAGE)

    def test_bisect_an_input_with_the_name_of_a_result(self):
        (self.folder / "goldens").mkdir()
        path = self.folder / "model.mlir"
        path.write_text(SMALL.replace('"x"', '"grad.w"'))
        meta = {"loss": "mse", "optimizer": "sgd", "lr": 0.1, "steps": 1, "dims": {}, "dropout": False}
        (self.folder / "goldens" / "meta.json").write_text(json.dumps(meta))
        numbers = struct.pack("<8f", *range(8))
        tensors = {"grad.w": ("F32", [2, 4], numbers), "target": ("F32", [2, 3], numbers[:24])}
        write_safetensors(self.folder / "goldens" / "inputs.safetensors", tensors)
        out, _ = self.accc("diff", path, self.folder / "goldens", "--bisect")
        self.assertIn("kernels and library calls give what they should", out)

    def test_what_a_run_wrote(self):
        run = ["run", self.library(), "--inputs", MLP / "inputs.safetensors", "--lr", "0.001"]
        self.accc(*run, "--entry", "grad_step", "--outputs", "out.safetensors")
        self.accc(*run, "--steps", "10", "--save-params", "trained.safetensors")
        out, _ = self.accc("diff", "out.safetensors", MLP)
        self.assertIn("grad.1.weight", out)
        self.assertNotIn("param.", out)
        out, _ = self.accc("diff", "out.safetensors", MLP, "--params", "trained.safetensors")
        self.assertIn("param.1.weight", out)
        # Parameters of another number of steps are others.
        self.accc(*run, "--steps", "1", "--save-params", "early.safetensors")
        out, _ = self.accc("diff", "out.safetensors", MLP, "--params", "early.safetensors", code=DATA)
        self.assertIn("first bad tensor: param.", out)

    def test_two_libraries(self):
        one = self.library()
        self.assertIn("tensors pass", self.accc("diff", one, one)[0])
        other = self.folder / "sgd.so"
        self.accc(
            *("compile", MLP / "model.onnx", "-o", other, "--loss", "cross_entropy"),
            *("-D", "batch=64"),
        )
        out, _ = self.accc("diff", one, other, code=DATA)
        self.assertIn("* train_step is missing", out)

    def test_wrong_usage(self):
        self.accc("diff", MLP / "model.onnx", MLP / "model.onnx", code=USAGE)
        self.accc("diff", "none.so", MLP, code=USAGE)
        self.accc("diff", self.library(), GOLDENS, code=USAGE)  # no meta.json


if __name__ == "__main__":
    unittest.main()
