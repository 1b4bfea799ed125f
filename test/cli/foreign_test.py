# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that PyTorch did not write: constants are not trained, and what the file does not tell is asked for.

test/foreign/make_*.py made the models and what TensorFlow and JAX give.
"""

import pathlib
import unittest

from command_line import DATA, CommandLineTest, floats, read_safetensors, write_safetensors

FOREIGN = pathlib.Path(__file__).resolve().parent.parent / "foreign"
RATE = 0.05


class Foreign(CommandLineTest):
    def compile(self, model, *options, code=0):
        options = ["--loss", "mse", "--optimizer", f"sgd,lr={RATE}", *options]
        return self.accc("compile", FOREIGN / f"{model}.onnx", "-o", "m.so", *options, code=code)

    def run_steps(self, golden, steps, *options):
        x = "in_0" if "in_0" in self.accc("inspect", "m.so")[0] else "x"
        write_safetensors(self.folder / "in.safetensors", {x: golden["x"], "target": golden["target"]})
        run = ["run", "m.so", "--inputs", "in.safetensors", "--threads", 1, "--steps", steps, *options]
        self.accc(*run, "--save-params", "p.safetensors", "--outputs", "o.safetensors")
        losses = floats(read_safetensors(self.folder / "o.safetensors")["losses"])
        return losses, read_safetensors(self.folder / "p.safetensors")

    def check_training(self, model, *options, kept=()):
        """That everything in the golden is trained to what it says, and nothing else but `kept` is left."""
        self.compile(model, *options)
        golden = read_safetensors(FOREIGN / f"{model}.safetensors")
        expected = {name[6:]: value for name, value in golden.items() if name.startswith("after.")}
        losses, found = self.run_steps(golden, len(floats(golden["losses"])))
        for a, b in zip(losses, floats(golden["losses"])):
            self.assertAlmostEqual(a, b, delta=2e-6 * max(1, abs(b)))
        self.assertEqual(sorted(found), sorted([*expected, *kept]))
        for name, value in expected.items():
            self.assertEqual(found[name][1], value[1], name)
            self.assertLess(max(abs(a - b) for a, b in zip(floats(found[name]), floats(value))), 5e-6, name)
        _, unchanged = self.run_steps(golden, 2, "--lr", 0)
        for name in kept:
            self.assertEqual(found[name], unchanged[name], name)

    def refusal(self, model, *options):
        _, error = self.compile(model, *options, code=DATA)
        self.assertEqual(error.count("error:"), 1, error)
        return error

    def test_constants_of_tensorflow_are_told_from_variables(self):
        for model in ("tf_mlp", "tf_attention", "tf_batch_norm", "tf_lstm", "tf_loop"):
            with self.subTest(model=model):
                self.check_training(model)

    def test_a_batch_norm_of_the_batch_has_no_statistics(self):
        _, warnings = self.compile("tf_batch_norm")
        self.assertIn("'functional_2_1/batch_normalization_1' was exported without its running", warnings)

    def test_folded_batch_norms_are_refused(self):
        error = self.refusal("tf_batch_norm_folded")
        self.assertIn("a batch norm is folded into it ('functional_3_1/conv2d_1_1/convolution')", error)
        self.assertIn("1 batch norm folded into the layer before it", error)
        self.assertIn("tf2onnx.convert.from_function(tf.function(lambda x: model(x, training=True))", error)
        self.compile("tf_batch_norm_folded", "--accept-damaged-export")

    def test_a_mask_of_a_dropout_that_was_drawn_once_is_refused(self):
        error = self.refusal("tf_dropout")
        self.assertIn("1 layer whose random numbers were drawn when the model was exported", error)

    def test_what_was_computed_of_variables_and_constants_is_asked_for(self):
        table = "functional_7_1/table_1/add"
        error = self.refusal("tf_table")
        self.assertIn(f"'{table}:0' (computed of other values before the export: [3, 4] of ", error)
        self.assertIn(f"--freeze '^({table}:0)$'", error)
        self.compile("tf_table", "--freeze", table)
        self.compile("tf_table", "--train", ".")

    def test_equal_and_zero_variables_that_the_export_merged_and_dropped_are_refused(self):
        error = self.refusal("tf_fresh")
        self.assertIn("2 parameters with the values of others", error)  # scales, and biases of the LSTMs
        self.assertRegex(error, r"layer_normalization_\w*/Reshape:0'.*; 3 layers without a bias, which TensorFlow drops")
        self.compile("tf_fresh", "--accept-damaged-export")

    def test_statistics_of_the_data_are_no_parameters(self):
        divisor = "ConstantFolding/functional_8_1/normalization_1/truediv_recip:0"
        self.assertIn(divisor, self.refusal("tf_normalization"))
        self.check_training("tf_normalization", "--freeze", "truediv_recip", kept=[divisor])

    def test_names_that_prove_nothing(self):
        constants = ["const_16", "const_17", "const_18", "dpa_scale_0"]
        error = self.refusal("jax_attention")
        self.assertIn("'dpa_scale_0' (a single number: 0.5)", error)
        self.assertIn("'const_18' (a single number: 1e-06)", error)
        self.assertIn("'const_13' (a single number: -0.43973)", error)
        self.assertIn("'const_16' (arithmetic on the input data: [1, 1, 4] of 0.25, 0.5, 0.75, ...)", error)
        self.assertNotIn("const_15", error)  # the bias of the only output
        for name in ["const_13", *constants]:
            self.assertEqual(error.count(name), 2, error)  # with what it is, and in --freeze
        self.check_training("jax_attention", "--freeze", "^(" + "|".join(constants) + ")$", "--train", ".", kept=constants)

    def test_of_a_file_by_hand_all_are_trained_and_a_warning_says_so(self):
        by_hand = (FOREIGN / "jax_attention.onnx").read_bytes().replace(b"jax2onnx", b"by hand.")
        (self.folder / "hand.onnx").write_bytes(by_hand)
        command = ["compile", "hand.onnx", "-o", "m.so", "--loss", "mse", "--optimizer", "sgd"]
        _, warning = self.accc(*command)
        self.assertEqual(warning.count("warning:"), 1, warning)
        self.assertIn("'dpa_scale_0' (a single number: 0.5)", warning)
        self.assertIn("; they are trained; constants keep their values with --freeze '^(", warning)
        self.assertEqual(self.accc(*command, "--train", ".")[1], "")


if __name__ == "__main__":
    unittest.main()
