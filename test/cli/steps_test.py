# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several training steps in one library, and parameters with options of their own."""

import json
import unittest

from command_line import GOLDENS, USAGE, CommandLineTest, read_safetensors

STEPPED = GOLDENS.parent / "stepped"
GAN, GROUPED = STEPPED / "adversaries", STEPPED / "grouped"
OWN = GOLDENS.parent / "steps" / "normalized" / "model.onnx"
LOSSES = ["--loss", "d=output:d_loss", "--loss", "g=output:g_loss"]
TRAINED = ["--train", r"d=^judge\.", "--train", r"g=^make\."]


class Steps(CommandLineTest):
    def tensors(self, file):
        return read_safetensors(self.folder / file)

    def compile(self, model, *options, code=0):
        return self.accc("compile", model / "export.pt2", "-o", "m.so", *options, code=code)[1]

    def test_each_step_has_entry_points_and_moves_its_own_parameters(self):
        self.compile(GAN, *LOSSES, *TRAINED, "--optimizer", "d=adam,lr=0.004", "--optimizer", "g=sgd")
        entries = json.loads(self.accc("inspect", "m.so", "--json")[0])["entries"]
        kinds = ("train_step", "grad_step", "apply_step", "eval_step")
        self.assertEqual([entry["name"] for entry in entries], [f"{kind}.{step}" for step in "dg" for kind in kinds])
        self.accc("run", "m.so", "--entry", "eval_step.d", "--inputs", GAN / "inputs.safetensors", "--save-params", "0.safetensors")
        start = self.tensors("0.safetensors")
        _, error = self.accc("run", "m.so", "--inputs", GAN / "inputs.safetensors", code=USAGE)
        self.assertIn("no entry point train_step; it has: train_step.d, ", error)
        self.assertNotIn("compile it with --loss", error)
        buffers = {name for name in start if name.rpartition(".")[2] in ("running_mean", "running_var", "num_batches_tracked")}
        for step, own in (("d", "judge."), ("g", "make.")):
            with self.subTest(step):
                inputs = ["--inputs", GAN / "inputs.safetensors", "--outputs", "o.safetensors", "--save-params", "1.safetensors"]
                self.accc("run", "m.so", "--entry", f"train_step.{step}", *inputs)
                after = self.tensors("1.safetensors")
                moved = {name for name in after if after[name] != start[name] and name not in buffers}
                self.assertTrue(moved)
                self.assertEqual({name for name in moved if not name.startswith(own)}, set())
                outputs = self.tensors("o.safetensors")
                self.assertIn("made", outputs)
                self.assertNotIn({"d": "g_loss", "g": "d_loss"}[step], outputs)  # it costs nothing

    def test_one_optimizer_may_serve_all_steps(self):
        self.compile(GAN, *LOSSES, *TRAINED, "--optimizer", "adam,lr=0.004")
        manifest = json.loads(self.accc("inspect", "m.so", "--json")[0])["manifest"]
        self.assertEqual(manifest["loss"], ["d=output:d_loss", "g=output:g_loss"])
        self.assertEqual(manifest["learning_rate"], 0.004)
        self.assertEqual(set(manifest["optimizer_options"]), {"d", "g"})

    def test_the_typed_header_tells_steps_apart(self):
        self.compile(GAN, *LOSSES, *TRAINED, "--optimizer", "sgd", "--header", "gan.h")
        header = (self.folder / "gan.h").read_text()
        for part in ("namespace d {", "namespace g {", 'Outputs step(const d::Inputs &batch) { return {trainer.step("d", '):
            self.assertIn(part, header)

    def test_what_was_recorded_is_trained_again(self):
        options = [*LOSSES, *TRAINED, "--optimizer", "d=adam,lr=0.004", "--optimizer", "g=sgd", "--param-group", "bias$", "lr=0.1"]
        self.compile(GAN, *options)
        self.accc("golden", "m.so", "-o", "goldens")
        self.accc("diff", "m.so", "goldens")
        self.accc("diff", GAN / "export.pt2", "goldens")

    def test_outputs_may_be_left_out(self):
        self.compile(GROUPED, "--loss", "output:loss", "--optimizer", "adamw,lr=0.01")
        all_outputs = self.results()
        self.accc("golden", "m.so", "-o", "goldens")
        self.compile(GROUPED, "--loss", "output:loss", "--optimizer", "adamw,lr=0.01", "--loss-only")
        self.assertEqual(self.results()["eval_step"], all_outputs["eval_step"])
        for step in ("train_step", "grad_step"):
            self.assertEqual(self.results()[step], [name for name in all_outputs[step] if name not in all_outputs["eval_step"] or name == "loss"])
        self.assertIn("loss", self.results()["train_step"])
        self.accc("golden", "m.so", "-o", "fewer")
        self.accc("diff", GROUPED / "export.pt2", "fewer")
        error = self.accc("compile", GROUPED / "export.pt2", "-o", "m.so", "--loss-only", code=USAGE)[1]
        self.assertIn("--loss-only needs a --loss", error)

    def results(self):
        """The names of what each entry point of m.so returns."""
        entries = json.loads(self.accc("inspect", "m.so", "--json")[0])["entries"]
        return {entry["name"]: [output["name"] for output in entry["outputs"]] for entry in entries}

    def test_groups_are_in_the_manifest(self):
        self.compile(GROUPED, "--loss", "output:loss", "--optimizer", "adamw,lr=0.01", "--param-group", "bias$", "weight_decay=0")
        manifest = json.loads(self.accc("inspect", "m.so", "--json")[0])["manifest"]
        self.assertEqual(manifest["param_groups"], [["bias$", "weight_decay=0"]])
        self.assertEqual(manifest["group_options"][0]["weight_decay"], "0")
        self.assertEqual(manifest["group_options"][0]["lr"], "0.01")

    def test_only_what_train_finds_is_trained(self):
        self.compile(GROUPED, "--loss", "output:loss", "--optimizer", "sgd", "--train", r"^head\.")
        entries = json.loads(self.accc("inspect", "m.so", "--json")[0])["entries"]
        gradients = [o["name"] for e in entries if e["name"] == "grad_step" for o in e["outputs"] if o["name"].startswith("grad.")]
        self.assertEqual(sorted(gradients), ["grad.head.bias", "grad.head.weight"])

    def test_what_is_said_of_steps_must_fit(self):
        for options, message in (
            (["--loss", "output:d_loss", "--loss", "output:g_loss"], "each needs a name for its step, as in --loss d=output:d_loss"),
            ([*LOSSES, "--loss", "d=output:g_loss"], "--loss d=output:g_loss: the step 'd' has a loss"),
            ([*LOSSES, "--optimizer", "h=sgd"], "--optimizer h=sgd: there is no step 'h'"),
            ([*LOSSES, "--optimizer", "sgd", "--optimizer", "adam"], "--optimizer adam: there is --optimizer sgd, too"),
            ([*LOSSES, "--optimizer", "d=sgd,lr=0", "--optimizer", "g=sgd"], "in proportion to that of the first optimizer, which is 0"),
            ([*LOSSES, "--train", "d=^nothing"], "--train ^nothing: no parameter has such a name"),
            ([*LOSSES, "--train", "running_mean"], "'judge.1.running_mean' is a buffer, which no optimizer updates"),
            ([*LOSSES, "--train", "d=("], "--train (: "),
            ([*LOSSES, "--train", "h=."], "--train h=.: there is no step 'h', which needs a --loss h=...;"),
            (["--loss", "output:d_loss", "--train", "d=."], "--train d=.: there is no step 'd'"),
            ([*LOSSES, "--train", "h[=]."], "--train h[=].: no parameter has such a name"),
        ):
            with self.subTest(message):
                self.assertIn(message, self.compile(GAN, *options, code=USAGE))
                self.assertFalse((self.folder / "m.so").exists())

    def test_gradients_of_several_batches(self):
        self.compile(GAN, *LOSSES, "--optimizer", "sgd", "--accumulate-gradients", "--header", "m.h")
        inspected = json.loads(self.accc("inspect", "m.so", "--json")[0])
        entries = [entry["name"] for entry in inspected["entries"]]
        for step in "dg":
            self.assertIn(f"accumulate_step.{step}", entries)
            self.assertIn(f"update_step.{step}", entries)
        self.assertIn("optimizer.d.accumulated_batches", [each["name"] for each in inspected["variables"]])
        self.assertIn("trainer.accumulate_step(\"g\", batch.tensors())", (self.folder / "m.h").read_text())
        self.assertTrue(inspected["manifest"]["accumulate_gradients"])
        for options, message in (
            (LOSSES, "--accumulate-gradients: they are added up for an --optimizer, and there is none"),
            ([], "--accumulate-gradients needs a --loss"),
        ):
            self.assertIn(message, self.compile(GAN, *options, "--accumulate-gradients", code=USAGE))
        error = self.accc("compile", OWN, "-o", "m.so", "--accumulate-gradients", code=USAGE)[1]
        self.assertIn("--accumulate-gradients: the model holds its own training step", error)

    def test_averages_of_weights(self):
        training = [*LOSSES, *TRAINED, "--optimizer", "sgd"]
        self.compile(GAN, *training, "--average-weights", "g=ema,decay=0.9", "--header", "m.h")
        inspected = json.loads(self.accc("inspect", "m.so", "--json")[0])
        entries = [entry["name"] for entry in inspected["entries"]]
        self.assertIn("average_eval_step.g", entries)
        self.assertNotIn("average_eval_step.d", entries)
        averages = [each["name"] for each in inspected["variables"] if "ema." in each["name"]]
        self.assertIn("optimizer.g.ema.make.0.weight", averages)
        self.assertTrue(all(name.startswith("optimizer.g.ema.make.") for name in averages), averages)
        self.assertIn("average_eval(const g::Inputs &batch) { return {trainer.average_eval(\"g\", batch.tensors())}; }", (self.folder / "m.h").read_text())
        self.assertEqual(inspected["manifest"]["average_weights"], "g=ema,decay=0.9")
        self.accc("golden", "m.so", "-o", "golden", "--steps", "3")
        golden = read_safetensors(self.folder / "golden" / "golden.safetensors")
        self.assertIn("average_eval_step.g made", golden)
        self.accc("diff", GAN / "export.pt2", "golden")
        for options, message in (
            ([*LOSSES, "--average-weights", "ema"], "--average-weights ema: they are averaged behind an --optimizer, and there is none"),
            (["--average-weights", "ema"], "--average-weights needs a --loss"),
            ([*training, "--average-weights", "h=ema"], "--average-weights h=ema: there is no step 'h', which needs a --loss h=..."),
            ([*training, "--average-weights", "ema", "--average-weights", "ema,warmup"], "there is --average-weights ema, too"),
            ([*training, "--average-weights", "swa"], "--average-weights swa: there is ema"),
            ([*training, "--average-weights", "ema=0.9"], "ema takes no value; what it keeps at each update is decay"),
            ([*training, "--average-weights", "ema,decay=2"], "decay"),
        ):
            with self.subTest(message):
                self.assertIn(message, self.compile(GAN, *options, code=USAGE))
        error = self.accc("compile", OWN, "-o", "m.so", "--average-weights", "ema", code=USAGE)[1]
        self.assertIn("--average-weights ema: the model holds its own training step", error)

    def test_what_is_said_of_groups_must_fit(self):
        training = ["--loss", "output:loss", "--optimizer", "sgd,momentum=0.9"]
        for options, message in (
            (["--loss", "output:loss", "--param-group", "a", "lr=1"], "--param-group needs an --optimizer"),
            ([*training, "--param-group", "nothing", "lr=1"], "--param-group nothing: no trained parameter has such a name"),
            ([*training, "--freeze", "head", "--param-group", "head", "lr=1"], "--param-group head: no trained parameter has such a name"),
            ([*training, "--param-group", ".", "lr=1", "--param-group", "head", "lr=2"], "--param-group head: groups before it hold all"),
            ([*training, "--param-group", "(", "lr=1"], "--param-group (: "),
            ([*training, "--param-group", "head", "beta1=0.9"], "there is no option 'beta1'; sgd knows"),
            ([*training, "--param-group", "head", "adamm"], "there is no option 'adamm'"),
            ([*training, "--param-group", "head", "adam,clip_grad_norm=1"], "clip_grad_norm scales all gradients together"),
            ([*training, "--param-group", "head", "clip_grad_value=1"], "clip_grad_value clips the gradients of all"),
            (["--loss", "output:loss", "--optimizer", "sgd,lr=0", "--param-group", "head", "lr=1"], "in proportion to that of --optimizer, which is 0"),
        ):
            with self.subTest(message):
                self.assertIn(message, self.compile(GROUPED, *options, code=USAGE))
                self.assertFalse((self.folder / "m.so").exists())


if __name__ == "__main__":
    unittest.main()
