# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tool says on standard error: one style, levels, colours, suggestions, nothing that moves a terminal."""

import json
import os
import pty
import struct
import subprocess
import unittest

from command_line import (
    ACCC,
    BUG,
    DATA,
    DONE,
    GOLDENS,
    MLP,
    SECONDS,
    SMALL,
    TRAINING,
    USAGE,
    CommandLineTest,
    read_safetensors,
    write_safetensors,
)

CNN = [GOLDENS / "digits_cnn" / "model.onnx", "-D", "batch=4", *TRAINING[:4]]
COLORS = ("NO_COLOR", "CLICOLOR_FORCE", "TERM")


class Messages(CommandLineTest):
    def error_of(self, *arguments, **environment):
        """Standard error with these variables, and without the others that choose colours."""
        inherited = {name: value for name, value in os.environ.items() if name not in COLORS}
        return subprocess.run(
            [ACCC, *map(str, arguments)],
            cwd=self.folder,
            env={**inherited, **environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            timeout=SECONDS,
        ).stderr

    def terminal_error_of(self, *arguments, **environment):
        """The same on a terminal."""
        inherited = {name: value for name, value in os.environ.items() if name not in COLORS}
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [ACCC, *map(str, arguments)],
            cwd=self.folder,
            env={**inherited, **environment},
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 4096):
                text += part
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        process.wait(timeout=SECONDS)
        return text.decode()

    def test_every_message_has_one_style(self):
        for arguments in (
            [],
            ["fly"],
            ["compile"],
            ["compile", "none.onnx"],
            ["run", "none.so", "--steps", "0"],
            ["run", "none.so", "--threads", "100000"],
            ["diff", "a"],
            ["check", MLP / "model.onnx", "-D", "batch"],
            ["check", MLP / "model.onnx", "--loss", "mse=x", "-D", "batch=2"],
        ):
            for line in self.error_of(*arguments).splitlines():
                self.assertRegex(line, r"^(accc: (error|warning|note|debug): |  )", arguments)

    def test_what_was_perhaps_meant(self):
        library = self.library()
        for meant, code, arguments in (
            ("check", USAGE, ["chekc", "m.onnx"]),
            ("--optimizer", USAGE, ["compile", "m.onnx", "--optimiser", "adam"]),
            ("--loss", USAGE, ["compile", "--los=mse"]),
            ("batch", USAGE, ["check", MLP / "model.onnx", "--loss", "cross_entropy", "-D", "bacth=4"]),
            ("cross_entropy", USAGE, ["check", MLP / "model.onnx", "--loss", "crossentropy", "-D", "batch=4"]),
            ("label_smoothing", USAGE, ["check", MLP / "model.onnx", "--loss", "cross_entropy,label_smothing=0.1"]),
            ("logits", USAGE, ["check", MLP / "model.onnx", "--loss", "cross_entropy=logit", "-D", "batch=4"]),
            ("adamw", USAGE, ["check", MLP / "model.onnx", "--loss", "mse", "--optimizer", "adamww"]),
            ("cuda", USAGE, ["check", MLP / "model.onnx", "--target", "cdua"]),
            ("cuda", USAGE, ["check", MLP / "model.onnx", "--target", "gpu"]),
            ("schedule", USAGE, ["compile", MLP / "model.onnx", "--stop-after", "scedule"]),
            ("train_step", USAGE, ["run", library, "--entry", "trainstep"]),
            ("train_step", USAGE, ["bench", library, "--entry", "train-step"]),
            ("numbers", USAGE, ["diff", library, library, "--only", "number"]),
            ("--steps", USAGE, ["bench", library, "--step", "3"]),
            ("warning", USAGE, ["check", MLP / "model.onnx", "--log-level", "warn"]),
        ):
            _, error = self.accc(*arguments, code=code)
            self.assertIn(f"did you mean '{meant}'?", error)
        self.assertNotIn("did you mean", self.accc("transmogrify", code=USAGE)[1])
        _, error = self.accc("--json", "check", MLP / "model.onnx", code=USAGE)
        self.assertEqual(error, "accc: error: check: --json is an option of the command: write it after 'check'\n")

    def test_levels(self):
        model = ["check", *CNN]
        self.assertEqual(self.error_of(*model), "")
        note = self.error_of(*model, "-v")
        self.assertRegex(note, "^accc: note: running variances")
        self.assertEqual(self.error_of("-v", *model), note)
        self.assertEqual(self.error_of(*model, "--log-level", "note"), note)
        self.assertRegex(self.error_of(*model, "-vv"), r"accc: debug: fuse: [0-9.]+ ms")
        warned = [*model, "--freeze", "nobody"]
        self.assertRegex(self.error_of(*warned), "^accc: warning: .*no parameter has such a name")
        self.assertEqual(self.error_of(*warned, "-q"), "")
        self.assertRegex(self.error_of("check", "none.onnx", "-q"), "^accc: error: ")

    def test_messages_beside_json(self):
        """Of every command: standard output is one value, and the same is said as without it."""
        self.accc("compile", self.small(), "-o", "m.so")
        (self.folder / "bad.so").write_bytes(b"\x7fELF")
        wrong = ["small.mlir", "--loss", "fly"]
        for command in (
            ["compile", *wrong, "-o", "o.so"],
            ["check", *wrong],
            ["inspect", "bad.so"],
            ["run", "m.so", "--entry", "fly"],
            ["diff", "m.so", "bad.so"],
            ["golden", "bad.so", "-o", "g"],
            ["bench", "bad.so"],
        ):
            for options in ([], ["-q"], ["-v"]):
                plain, said = (self.anyway(*command, *options, *json_) for json_ in ([], ["--json"]))
                self.assertEqual(plain.stderr, said.stderr, command)
                self.assertIn("accc: error: ", said.stderr)
                self.assertEqual(plain.returncode, said.returncode)
                self.assertTrue(json.loads(said.stdout)["problems"], command)

    def anyway(self, *arguments):
        command = [ACCC, *map(str, arguments)]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)

    def test_notes_in_json(self):
        (problem,) = json.loads(self.accc("check", *CNN, "--json")[0])["problems"]
        self.assertEqual(problem["severity"], "note")

    def test_colors(self):
        command = ["check", "none.onnx"]
        plain, colored = "accc: error: none", "accc: \033[31m\033[1merror:\033[m none"
        self.assertIn(plain, self.error_of(*command, TERM="xterm"))
        self.assertIn(colored, self.error_of(*command, CLICOLOR_FORCE="1"))
        self.assertIn(plain, self.error_of(*command, CLICOLOR_FORCE="0"))
        self.assertIn(plain, self.error_of(*command, CLICOLOR_FORCE="1", NO_COLOR="1"))
        self.assertIn(colored, self.terminal_error_of(*command, TERM="xterm"))
        self.assertIn(plain, self.terminal_error_of(*command, TERM="xterm", NO_COLOR="1"))
        self.assertIn(plain, self.terminal_error_of(*command, TERM="dumb"))

    def test_names_from_a_file_move_no_terminal(self):
        hostile = '"\\1B[31m\\9B\\0Aaccc: error: forged\\E2\\80\\AE"'
        (self.folder / "bad.mlir").write_text(SMALL.replace('"y"', hostile).replace('"w"', '"\\1B[2Jw"'))
        for arguments, code in (
            (["check", "bad.mlir", "--loss", "mse=z"], USAGE),
            (["inspect", "bad.mlir"], 0),
            (["inspect", "bad.mlir", "--json"], 0),
            (["compile", "bad.mlir", "-o", "bad.so", "--loss", "mse", "--optimizer", "sgd"], 0),
            (["inspect", "bad.so"], 0),
            (["inspect", "bad.so", "--json"], 0),
            (["diff", "bad.so", "bad.so"], 0),
            (["bench", "bad.so", "--steps", "1", "--profile"], 0),
            (["run", "bad.so"], USAGE),
        ):
            command = [ACCC, *map(str, arguments)]
            done = subprocess.run(command, cwd=self.folder, capture_output=True, timeout=SECONDS)
            self.assertEqual(done.returncode, code, done.stderr)
            for text in (done.stdout, done.stderr):
                self.assertNotRegex(text.decode(), r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]")
            self.assertNotRegex(done.stderr.decode(), "(?m)^accc: error: forged")
            if "--json" in arguments:
                self.assertIn("\033[2Jw", [variable["name"] for variable in json.loads(done.stdout)["variables"]])
            elif arguments[0] == "inspect":
                self.assertIn(b"\\u001b[2Jw", done.stdout)

    def test_what_repeats_is_said_once(self):
        def external(name, location):
            """A float[2] initialiser in a file beside the model."""
            entry = b"\x0a\x08location\x12" + bytes([len(location)]) + location
            body = b"\x08\x02\x10\x01\x42" + bytes([len(name)]) + name + b"\x70\x01\x6a" + bytes([len(entry)]) + entry
            return b"\x2a" + bytes([len(body)]) + body

        def text(tag, value):
            return bytes([tag, len(value)]) + value

        def value(tag, name):
            shape = text(0x12, text(0x0A, b"\x08\x02"))
            return text(tag, text(0x0A, name) + text(0x12, text(0x0A, b"\x08\x01" + shape)))

        def node(op, name, inputs, output):
            body = b"".join(text(0x0A, i) for i in inputs) + text(0x12, output) + text(0x1A, name) + text(0x22, op)
            return text(0x0A, body)

        def model(graph):
            body = graph + text(0x12, b"g")
            length = bytes([len(body) & 127 | 128, len(body) >> 7])
            return b"\x08\x08" + b"\x3a" + length + body + text(0x42, text(0x0A, b"") + b"\x10\x11")

        weights = [f"w{i}".encode() for i in range(4)]
        graph = b"".join(external(w, b"weights.bin") for w in weights) + value(0x5A, b"x") + value(0x62, b"y3")
        for i, w in enumerate(weights):
            graph += node(b"Mul", b"n%d" % i, [b"x", w], b"y%d" % i)
        (self.folder / "m.onnx").write_bytes(model(graph))
        out, _ = self.accc("check", "m.onnx", "--json", code=DATA)
        (problem,) = json.loads(out)["problems"]
        self.assertRegex(problem["message"], r"weights\.bin.*No such file.*4 tensors")

        graph = value(0x5A, b"x") + value(0x62, b"y3")
        for i in range(4):
            graph += node(b"Bogus", b"n%d" % i, [b"x"], b"y%d" % i)
        (self.folder / "m.onnx").write_bytes(model(graph))
        _, error = self.accc("check", "m.onnx", code=DATA)
        self.assertIn("'n0' (Bogus): the operator is not supported (and at 3 other nodes)", error)
        self.assertEqual(error.count("not supported"), 1)
        self.assertEqual(self.accc("check", "m.onnx", "-v", code=DATA)[1].count("not supported"), 4)

    def test_a_crash_says_where(self):
        linker = self.folder / "ld.lld-19"
        linker.write_text("#!/bin/sh\nkill -SEGV $PPID\nsleep 1\n")
        linker.chmod(0o755)
        environment = {**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"}
        command = [ACCC, "compile", str(MLP / "model.onnx"), "-o", "m.so", *TRAINING]
        for extra in ([], ["--json"]):
            done = subprocess.run(
                [*command, *extra], cwd=self.folder, env=environment, capture_output=True, text=True, timeout=SECONDS
            )
            self.assertEqual(done.returncode, BUG, done.stderr)
            message = "bug in accc: the compiler crashed (Segmentation fault) in the phase 'generate'"
            self.assertIn(message, done.stderr)
            if extra:
                found = json.loads(done.stdout)
                (problem,) = found["problems"]
                self.assertFalse(found["ok"])
                self.assertEqual((problem["fault"], problem["phase"], problem["message"]), ("bug", "generate", message))

    def test_bad_data_is_named(self):
        library = self.library()
        inputs = read_safetensors(MLP / "inputs.safetensors")
        dtype, shape, data = inputs["target"]
        target = list(struct.unpack(f"<{shape[0]}q", data))
        target[1], target[3] = -100, 500
        write_safetensors(self.folder / "bad.safetensors", {**inputs, "target": (dtype, shape, struct.pack(f"<{shape[0]}q", *target))})
        for entry in ("train_step", "grad_step", "eval_step"):
            _, error = self.accc("run", library, "--entry", entry, "--inputs", "bad.safetensors", code=DATA)
            self.assertEqual(
                error, f"accc: error: {entry}: target[3] = 500: classes are 0 to 9, and -100 is ignored\n"
            )

    def test_a_row_that_is_not_there_is_named(self):
        words = """
func.func @forward(%w: tensor<5x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %i: tensor<2x4xi64> {accc.name = "words", accc.role = #prim.role<input>})
    -> (tensor<2x4x3xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.gather %w, %i {axis = 0 : i64} : (tensor<5x3xf32>, tensor<2x4xi64>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}
"""
        (self.folder / "words.mlir").write_text(words)
        self.accc("compile", "words.mlir", "-o", "words.so")
        indices = struct.pack("<8q", 0, 1, 2, 3, 4, 60, 0, -1)
        write_safetensors(self.folder / "i.safetensors", {"words": ("I64", [2, 4], indices)})
        write_safetensors(self.folder / "w.safetensors", {"w": ("F32", [5, 3], bytes(60))})
        run = ["run", "words.so", "--entry", "eval_step", "--inputs", "i.safetensors", "--params", "w.safetensors"]
        _, error = self.accc(*run, code=DATA)
        self.assertEqual(error, "accc: error: eval_step: words[1,1] = 60 (and 1 more): rows are 0 to 4\n")

    def test_rows_of_a_table_without_rows(self):
        for count, code, told in (0, DONE, ""), (2, DATA, "an index of a gather is out of range"):
            words = f"""
func.func @forward(%t: tensor<0x3xf32> {{accc.name = "t", accc.role = #prim.role<input>}},
                   %i: tensor<{count}xi64> {{accc.name = "i", accc.role = #prim.role<input>}})
    -> (tensor<{count}x3xf32> {{accc.name = "y", accc.role = #prim.role<output>}}) {{
  %0 = prim.gather %t, %i {{axis = 0 : i64}} : (tensor<0x3xf32>, tensor<{count}xi64>) -> tensor<{count}x3xf32>
  return %0 : tensor<{count}x3xf32>
}}
"""
            (self.folder / "words.mlir").write_text(words)
            self.accc("compile", "words.mlir", "-o", "words.so")
            write_safetensors(self.folder / "i.safetensors", {"t": ("F32", [0, 3], b""), "i": ("I64", [count], bytes(8 * count))})
            _, error = self.accc("run", "words.so", "--entry", "eval_step", "--inputs", "i.safetensors", code=code)
            self.assertIn(told, error)

    def test_a_row_that_the_model_computes_is_told_by_its_bounds(self):
        words = """
func.func @forward(%w: tensor<5x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %i: tensor<4xi64> {accc.name = "words", accc.role = #prim.role<input>})
    -> (tensor<4x3xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.mul %i, %i : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = prim.gather %w, %0 {axis = 0 : i64} : (tensor<5x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
"""
        (self.folder / "words.mlir").write_text(words)
        self.accc("compile", "words.mlir", "-o", "words.so")
        run = ["run", "words.so", "--entry", "eval_step", "--inputs", "i.safetensors", "--params", "w.safetensors"]
        write_safetensors(self.folder / "w.safetensors", {"w": ("F32", [5, 3], bytes(60))})
        for last, code in ((2, DONE), (3, DATA)):
            write_safetensors(self.folder / "i.safetensors", {"words": ("I64", [4], struct.pack("<4q", 0, 1, 2, last))})
            _, error = self.accc(*run, code=code)
        self.assertEqual(error, "accc: error: eval_step: an index of a gather is out of range: indices are 0 to 4\n")

    def test_a_mask_that_selects_another_number_than_there_is_beside(self):
        folder = GOLDENS.parent / "exported" / "graded"
        self.accc("compile", folder / "export.pt2", "-o", "graded.so", "--loss", "output:loss", "--optimizer", "sgd")
        tensors = read_safetensors(folder / "inputs.safetensors")
        dtype, shape, data = tensors["x"]
        run = ["run", "graded.so", "--entry", "eval_step", "--inputs", "x.safetensors"]
        for first, code in ((data[:4], DONE), (struct.pack("<f", float("nan")), DATA)):
            write_safetensors(self.folder / "x.safetensors", tensors | {"x": (dtype, shape, first + data[4:])})
            _, error = self.accc(*run, code=code)
        self.assertRegex(error, "^accc: error: eval_step: an index of a (gather|scatter) is out of range: indices are 0 to 7\n$")

    def test_labels_that_are_not_as_many_as_the_sequences_take(self):
        for case, right, wrong in ("dictated", (1, 0, 4, 1), (1, 0, 4, 0)), ("spelled", (3, 2, 0, 4), (3, 1, 0, 4)):
            folder = GOLDENS.parent / "exported" / case
            self.accc("compile", folder / "export.pt2", "-o", "m.so", "--loss", "output:loss", "--optimizer", "sgd")
            tensors = read_safetensors(folder / "inputs.safetensors")
            run = ["run", "m.so", "--inputs", "x.safetensors", "--steps", "1"]
            for lengths, code in ((right, DONE), (wrong, DATA)):
                write_safetensors(self.folder / "x.safetensors", tensors | {"lengths": ("I64", [4], struct.pack("<4q", *lengths))})
                _, error = self.accc(*run, code=code)
            self.assertRegex(error, "^accc: error: train_step: an index of a gather is out of range: indices are 0 to [0-9]+\n$")

    def test_scores_that_can_be_read_in_two_ways(self):
        contracting = "rhs_batch = array<i64>,\n    lhs_contracting = array<i64: 1>"

        def scores(classes):
            """SMALL with scores [2, 7, classes]."""
            text = SMALL.replace("4x3x", f"4x{classes}x").replace("2x3x", f"2x7x{classes}x").replace("2x4x", "2x7x4x")
            return text.replace(contracting, contracting.replace("1>", "2>"))

        (self.folder / "same.mlir").write_text(scores(7))
        _, error = self.accc("check", "same.mlir", "--loss", "cross_entropy", code=DATA)
        self.assertIn("class_dim=1: 7 classes, a target of shape [2, 7]; or class_dim=2: 7 classes", error)
        self.accc("check", "same.mlir", "--loss", "cross_entropy,class_dim=2")
        (self.folder / "words.mlir").write_text(scores(3))
        _, warning = self.accc("check", "words.mlir", "--loss", "cross_entropy")
        self.assertRegex(warning, r"accc: warning: .*class_dim=1: 7 classes.*; or class_dim=2: 3 classes")
        _, warning = self.accc("check", "words.mlir", "--loss", "cross_entropy,class_dim=-1")
        self.assertEqual(warning, "")


if __name__ == "__main__":
    unittest.main()
