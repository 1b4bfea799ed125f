# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""accc golden: what a library computes, recorded for accc diff."""

import json
import struct
import unittest

from command_line import DATA, DONE, GOLDENS, MLP, SMALL, TRAINING, USAGE, CommandLineTest, read_safetensors, write_safetensors

FILES = ["golden.safetensors", "initial.safetensors", "inputs.safetensors", "meta.json"]


class Golden(CommandLineTest):
    def diff(self, *arguments, code=DONE):
        report = json.loads(self.accc("diff", *arguments, "--json", code=code)[0])
        return {section["name"]: section for section in report["sections"]}, report["failed"]

    def names(self, folder):
        return sorted(path.name for path in (self.folder / folder).iterdir())

    def test_a_library_a_model_and_a_run_against_it(self):
        library = self.library()
        self.accc("golden", library, "-o", "g", "--steps", "4")
        self.assertEqual(self.names("g"), FILES)
        tensors = read_safetensors(self.folder / "g" / "golden.safetensors")
        for name in ("loss", "logits", "eval_step logits", "grad.1.weight", "param.1.weight", "state.optimizer.exp_avg.1.weight"):
            self.assertIn(name, tensors)
        self.assertEqual(tensors["losses"][1], [4])
        for subject in (library, MLP / "model.onnx"):
            sections, failed = self.diff(subject, "g", "--tolerance", "0")
            self.assertEqual(failed, [])
            self.assertEqual({s["verdict"] for n, s in sections.items() if n != "numbers"}, {"same"}, sections)
            self.assertEqual(len(sections["numbers"]["tensors"]), len(tensors))
        out, _ = self.accc("diff", MLP / "model.onnx", "g", "--bisect")
        self.assertIn("the model as imported and differentiated is that of the goldens", out)
        run = ["run", library, "--inputs", "g/inputs.safetensors"]
        self.accc(*run, "--entry", "grad_step", "--outputs", "o.safetensors")
        self.accc(*run, "--steps", 4, "--save-params", "p.safetensors")
        self.accc("diff", "o.safetensors", "g", "--params", "p.safetensors", "--tolerance", "0")

    def test_a_bisection_starts_from_the_golden_s_weights(self):
        self.accc("compile", MLP / "model.onnx", "-o", "n.so", "--weights", "none", *TRAINING)
        self.accc("golden", "n.so", "-o", "g")
        out, _ = self.accc("diff", MLP / "model.onnx", "g", "--bisect")
        self.assertIn("the model as imported and differentiated is that of the goldens", out)

    def test_a_bisection_of_inputs_with_names_of_steps(self):
        """They are the model's, where it draws no random numbers."""
        model = self.folder / "m.mlir"
        model.write_text(SMALL.replace('"x"', '"seed"').replace('"w"', '"step"'))
        self.accc("compile", model, "-o", "m.so", "--loss", "mse", "--optimizer", "sgd")
        self.accc("golden", "m.so", "-o", "g")
        out, _ = self.accc("diff", model, "g", "--bisect")
        self.assertIn("the model as imported and differentiated is that of the goldens", out)

    def test_weights_of_another_model_are_not_left_out(self):
        library = self.library()
        self.accc("run", library, "--inputs", MLP / "inputs.safetensors", "--save-params", "p.safetensors")
        tensors = read_safetensors(self.folder / "p.safetensors")
        write_safetensors(self.folder / "named", {f"model.{name}": tensor for name, tensor in tensors.items()})
        write_safetensors(self.folder / "part", dict(list(tensors.items())[1:]))
        for file, what in (("named", "the model has no such parameter"), ("part", "missing, expected")):
            for command in (["golden", library, "-o", "g"], ["diff", library, library], ["bench", library]):
                _, error = self.accc(*command, "--params", file, code=DATA)
                self.assertIn(what, error)
        self.assertFalse((self.folder / "g").exists())
        self.accc("golden", library, "-o", "g", "--params", "p.safetensors")
        self.assertEqual(read_safetensors(self.folder / "g" / "initial.safetensors"), tensors)

    def test_an_accepted_export_is_accepted_again(self):
        model = GOLDENS.parent.parent / "exports" / "cnn" / "dynamo_train.onnx"
        options = ["--loss", "cross_entropy", "--optimizer", "sgd", "--accept-damaged-export"]
        self.accc("compile", model, "-o", "m.so", *options)
        self.accc("golden", "m.so", "-o", "g")
        self.accc("diff", model, "g")

    def test_a_model_is_compiled_as_the_library_was(self):
        model = GOLDENS / "digits_cnn" / "model.onnx"
        options = ["--loss", "cross_entropy", "--optimizer", "adamw", "-D", "batch=8,16"]
        options += ["--accumulate-gradients", "--data-parallel", "--sync-batch-norm", "--average-weights", "ema"]
        options += ["--loss-only", "--loss-scale", "dynamic", "--memory-budget", "1GB", "--no-library-attention"]
        options += ["--freeze", "^bn1", "--param-group", "bias$", "weight_decay=0", "--running-variance", "biased"]
        self.accc("compile", model, "-o", "m.so", *options)
        self.accc("golden", "m.so", "-o", "g", "-D", "batch=16")
        sections, failed = self.diff(model, "g")
        self.assertEqual(failed, [])
        for name in ("manifest", "interface", "kernels", "memory"):
            self.assertEqual(sections[name]["changes"], [], name)
        out, _ = self.accc("diff", model, "g", "--bisect")
        self.assertIn("all parts are right", out)

    def test_what_changed_since(self):
        self.accc("golden", self.library(), "-o", "g")
        options = ["--loss", "cross_entropy", "-D", "batch=64", "--optimizer", "adam,beta1=0.8"]
        self.accc("compile", MLP / "model.onnx", "-o", "other.so", *options)
        sections, failed = self.diff("other.so", "g", code=DATA)
        self.assertEqual(failed, ["manifest", "numbers"])
        (change,) = sections["manifest"]["changes"]
        self.assertEqual((change["what"], change["a"], change["b"]), ("optimizer_options beta1", "0.9", "0.8"))
        bad = [t["name"] for t in sections["numbers"]["tensors"] if not t["passed"]]
        self.assertTrue(any(name.startswith("state.") for name in bad), bad)
        self.assertFalse([name for name in bad if name.startswith("grad.")])

    def test_weights_data_rate_and_seed_are_kept(self):
        """Of a library without weights and with dropout: the same masks are drawn again."""
        model = GOLDENS / "digits_mlp_dropout"
        meta = json.loads((model / "meta.json").read_text())
        options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"], "-D", "batch=32,16"]
        self.accc("compile", model / "model.onnx", "-o", "d.so", "--weights", "none", *options)
        self.accc("golden", "d.so", "-o", "g/", "--seed", "7", "--lr", "0.5", "-D", "batch=16")
        found = json.loads((self.folder / "g" / "meta.json").read_text())
        self.assertEqual((found["seed"], found["lr"], found["dims"]), (7, 0.5, {"batch": 16}))
        self.accc("diff", "d.so", "g", "--tolerance", "0")
        found["seed"] = 8
        (self.folder / "g" / "meta.json").write_text(json.dumps(found))
        self.accc("diff", "d.so", "g", code=DATA)

    def test_only_goldens_are_replaced(self):
        library = self.library()
        self.accc("golden", library, "-o", "g", "--steps", "1")
        self.accc("golden", library, "-o", "g", "--steps", "2", "--inputs", "g/inputs.safetensors", "--json")
        self.assertEqual(read_safetensors(self.folder / "g" / "golden.safetensors")["losses"][1], [2])
        self.assertEqual(self.files(), ["g", "mlp.so"])
        (self.folder / "g" / "mine").write_text("")
        self.assertIn("holds mine", self.accc("golden", library, "-o", "g", code=USAGE)[1])
        self.assertIn("is no folder", self.accc("golden", library, "-o", library, code=USAGE)[1])
        (self.folder / "other").mkdir()
        (self.folder / "other" / "meta.json").write_text("{}")
        self.assertIn("did not write", self.accc("golden", library, "-o", "other", code=USAGE)[1])

    def test_a_link_keeps_pointing(self):
        library = self.library()
        (self.folder / "far").mkdir()
        (self.folder / "g").symlink_to("far/g")  # which is not there yet
        for _ in range(2):
            self.accc("golden", library, "-o", "g")
            self.assertTrue((self.folder / "g").is_symlink())
            self.assertEqual([path.name for path in (self.folder / "far").iterdir()], ["g"])
            self.assertIn("meta.json", self.names("far/g"))

    def test_all_or_nothing(self):
        library = self.library()
        name, kind, data = "images", "F32", struct.pack("<4096f", *[float("nan")] * 4096)
        inputs = {name: (kind, [64, 1, 8, 8], data), "target": ("I64", [64], bytes(512))}
        write_safetensors(self.folder / "nan.safetensors", inputs)
        _, error = self.accc("golden", library, "-o", "g", "--inputs", "nan.safetensors", code=DATA)
        self.assertIn("the loss is nan", error)
        self.assertEqual(self.files(), ["mlp.so", "nan.safetensors"])

    def test_a_damaged_golden(self):
        self.accc("golden", self.library(), "-o", "g")
        path = self.folder / "g" / "meta.json"
        meta = json.loads(path.read_text())
        for wrong, message in (
            ({"library": {"manifest": 3}}, ""),
            ({"library": []}, ""),
            ({"targets": 1}, ""),
            ({"inputs": ["x"]}, "--input"),
            ({"steps": "many"}, 'steps is "many": no whole number of 64 bits'),
            ({"steps": 3.5}, "steps is 3.5: no whole number of 64 bits"),
            ({"steps": 2**63}, "steps is 9223372036854775808: no whole number of 64 bits"),
            ({"steps": -1}, "steps is -1: less than 0"),
            ({"steps": 2**62}, "steps is 4611686018427387904, and g/golden.safetensors holds losses f32[3]"),
            ({"seed": 1e30}, "seed is 1e+30: no whole number of 64 bits"),
            ({"dims": {"batch": 0}}, "batch is 0: less than 1"),
        ):
            path.write_text(json.dumps({**meta, **wrong}))
            self.assertIn("meta.json: " + message, self.accc("diff", "mlp.so", "g", code=DATA)[1])
        path.write_text(json.dumps(meta))
        write_safetensors(self.folder / "g" / "golden.safetensors", {})
        _, error = self.accc("diff", "mlp.so", "g", code=DATA)
        self.assertIn("golden.safetensors holds nothing to compare", error)


if __name__ == "__main__":
    unittest.main()
