# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files as PyTorch's exporters write them by default: trained as PyTorch does, or refused.

test/exports/make.py made the models and what PyTorch gives; verdicts.json says which file is which.
"""

import json
import pathlib
import unittest

from command_line import DATA, CommandLineTest, floats, read_safetensors, write_safetensors

EXPORTS = pathlib.Path(__file__).resolve().parent.parent / "exports"
VERDICTS = json.loads((EXPORTS / "verdicts.json").read_text())
MODELS = sorted(path.name for path in EXPORTS.iterdir() if path.is_dir())


class Exports(CommandLineTest):
    def compile(self, model, file, *options, code=0):
        meta = json.loads((EXPORTS / model / "meta.json").read_text())
        sgd = f"sgd,lr={meta['lr']}"
        path = EXPORTS / model / f"{file}.onnx"
        return self.accc(
            "compile", path, "-o", "m.so", "--loss", meta["loss"], "--optimizer", sgd, *options, code=code
        )

    def inputs(self, model):
        """The golden's, by the names of the library's inputs."""
        golden = read_safetensors(EXPORTS / model / "golden.safetensors")
        described = json.loads(self.accc("inspect", "m.so", "--json")[0])
        names = [i["name"] for i in described["entries"][0]["inputs"] if i["usage"] in ("data", "target")]
        tensors = {name: golden["target" if name == "target" else "input"] for name in names}
        write_safetensors(self.folder / "in.safetensors", tensors)
        return golden

    def trained(self, model):
        """Runs the golden's steps; returns (the golden, the saved tensors)."""
        golden = self.inputs(model)
        steps = len(floats(golden["losses"]))
        run = ["run", "m.so", "--inputs", "in.safetensors", "--steps", steps, "--threads", 1]
        self.accc(*run, "--save-params", "out.safetensors")
        return golden, read_safetensors(self.folder / "out.safetensors")

    def check_state(self, golden, found, only_names=False):
        """That the module's state_dict takes the tensors, and that they are what it would hold."""
        expected = {name[6:]: value for name, value in golden.items() if name.startswith("after.")}
        self.assertEqual(sorted(found), sorted(expected))
        for name, (_, shape, _) in expected.items():
            self.assertEqual(found[name][1], shape, name)
            if not only_names:
                pairs = zip(floats(found[name]), floats(expected[name]))
                self.assertLess(max(abs(a - b) for a, b in pairs), 2e-5, name)

    def test_what_the_file_proves_is_recovered_and_the_rest_refused(self):
        for model in MODELS:
            for path in sorted((EXPORTS / model).glob("*.onnx")):
                with self.subTest(model=model, file=path.stem):
                    verdict = VERDICTS[model][path.stem]
                    if verdict == "right" or verdict == "dropout":
                        self.compile(model, path.stem)
                        self.check_state(*self.trained(model), only_names=verdict == "dropout")
                        continue
                    _, error = self.compile(model, path.stem, code=DATA)
                    self.assertEqual(error.count("error:"), 1, error)
                    self.assertIn(verdict, error)
                    optimized = path.stem.endswith(("optimized", "simplified"))
                    advice = "as it was before it was optimized" if optimized else "torch.onnx.export(model.train(), "
                    self.assertIn('args, "model.pt2")' if model in ("written", "tracked") else advice, error)

    def test_accepted_damage_stands_in_the_manifest(self):
        self.compile("cnn", "dynamo_train", "--accept-damaged-export")
        text, _ = self.accc("inspect", "m.so")
        self.assertIn("lost in the export: 2 batch norms folded into the layers", text)

    def test_what_an_optimizer_computed_is_no_parameter(self):
        for file in ("script_train_optimized", "script_train_simplified"):
            self.compile("recurrent", file, "--accept-damaged-export")
            self.check_state(*self.trained("recurrent"))

    def test_damage_is_no_error_where_nothing_is_trained(self):
        path = EXPORTS / "cnn" / "dynamo_train.onnx"
        self.accc("compile", path, "-o", "m.so")
        self.assertIn("2 batch norms", self.accc("inspect", path)[0])

    def test_evaluation_mode_is_told_where_it_is_known(self):
        for file, told in (("script_eval", True), ("script_train", False)):
            _, warnings = self.compile("vit", file)
            self.assertEqual("exported in evaluation mode" in warnings, told)

    def test_a_batch_norm_in_inference_mode_trains_where_that_is_said(self):
        self.compile("mlp_norm", "script_eval", "--assume-batchnorm-training")
        self.trained("mlp_norm")

    def test_tied_parameters_are_saved_and_read_under_all_their_names(self):
        self.compile("tied", "dynamo_train")
        _, saved = self.trained("tied")
        self.assertEqual(saved["head.weight"], saved["embedding.weight"])
        text, _ = self.accc("inspect", "m.so")
        self.assertIn("embedding.weight  is head.weight", text)
        load = ["run", "m.so", "--inputs", "in.safetensors", "--params", "p.safetensors"]
        for left_out in ("head.weight", "embedding.weight"):
            some = {name: value for name, value in saved.items() if name != left_out}
            write_safetensors(self.folder / "p.safetensors", some)
            self.accc(*load)
        dtype, shape, data = saved["head.weight"]
        saved["head.weight"] = (dtype, shape, bytes(len(data)))
        write_safetensors(self.folder / "p.safetensors", saved)
        _, error = self.accc(*load, code=DATA)
        self.assertIn("is tied to", error)

    def test_goldens_may_have_another_name_of_a_tied_parameter(self):
        self.compile("tied", "dynamo_train")
        self.accc("golden", "m.so", "-o", "g")
        file = self.folder / "g" / "golden.safetensors"
        kept = read_safetensors(file)
        self.assertIn("grad.head.weight", kept)
        named = {name.replace("head.weight", "embedding.weight"): value for name, value in kept.items()}
        write_safetensors(file, named)
        meta = self.folder / "g" / "meta.json"
        meta.write_text(meta.read_text().replace("head.weight", "embedding.weight"))
        text, _ = self.accc("diff", "m.so", "g", "--only", "numbers")
        self.assertRegex(text, r"grad\.embedding\.weight .* close")

    def test_metadata_of_our_exporter(self):
        self.compile("marked", "marked")
        golden, found = self.trained("marked")
        self.check_state(golden, found)
        for name in ("frozen.weight", "frozen.bias", "scale"):
            self.assertEqual(found[name][2], golden["before." + name][2])
        row = 6 * 4  # of the padding word, which only the head trains
        self.assertNotEqual(found["head.weight"][2][:row], golden["before.head.weight"][2][:row])

    def test_what_the_metadata_names_and_the_file_does_not_hold(self):
        model = (EXPORTS / "marked" / "marked.onnx").read_bytes()
        options = ["--loss", "cross_entropy,class_dim=-1", "--optimizer", "sgd"]
        for name, other in (b"embedding.weight", b"embedding.wright"), (b"scale", b"skale"):
            self.assertEqual(model.count(b'"%b"' % name), 1)
            (self.folder / "less.onnx").write_bytes(model.replace(b'"%b"' % name, b'"%b"' % other))
            _, error = self.accc("check", "less.onnx", *options, code=DATA)
            self.assertIn("1 parameter or buffer that is not in the file", error)
            self.assertIn(f"'{other.decode()}'", error)

    def test_malformed_metadata(self):
        model = (EXPORTS / "marked" / "marked.onnx").read_bytes()
        for old, new, message in (
            (b'"version": 1', b'"version": 2', "its version is not 1"),
            (b'{"version"', b'["version"', "is malformed"),
            (b'"buffers"', b'"baffers"', "it has no list 'buffers'"),
            (b'"padding_idx": 0', b'"padding_idx":""', "is no row"),
            (b'"requires_grad": true', b'"requires_grad": "no"'[:21], "is malformed"),
        ):
            self.assertEqual(model.count(old) >= 1, True)
            (self.folder / "bad.onnx").write_bytes(model.replace(old, new.ljust(len(old))))
            _, error = self.accc("check", "bad.onnx", code=DATA)
            self.assertIn(message, error)
            self.assertIn("accc.export", error)


if __name__ == "__main__":
    unittest.main()
