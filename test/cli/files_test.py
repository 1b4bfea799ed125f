# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No command writes over what it reads or what is not its own, leaves halves behind, or outlives its end."""

import json
import os
import shutil
import signal
import struct
import subprocess
import time
import unittest

from command_line import DATA, ACCC, GOLDENS, MACHINE, MLP, SECONDS, TRAINING, USAGE, CommandLineTest, write_safetensors

CHECKPOINT = {"w": ("F32", [1], struct.pack("<f", 42))}


def field(number, value):
    """A field of a protocol buffer message: an integer, or bytes."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def varint(value):
    data = b""
    while value > 127:
        data += bytes([value & 127 | 128])
        value >>= 7
    return data + bytes([value])


def model_with_data(location):
    """y = x + w as an ONNX file, with w [4] in a file beside it."""
    shape = field(1, 1) + field(2, field(1, field(1, 4)))  # f32, [4]
    value = lambda name: field(1, name) + field(2, field(1, shape))
    entry = field(1, "location") + field(2, location)
    weight = field(1, 4) + field(2, 1) + field(8, "w") + field(13, entry) + field(14, 1)
    node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "g") + field(5, weight) + field(11, value("x")) + field(12, value("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


class WhatIsThereStays(CommandLineTest):
    def unchanged(self, path, *command, message, code=USAGE):
        """The command is refused, the file stays as it is, and nothing appears."""
        before, files = path.read_bytes(), self.files()
        _, error = self.accc(*command, code=code)
        self.assertIn(message, error)
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(self.files(), files)

    def test_weights_do_not_replace_a_checkpoint(self):
        self.small()
        command = ["compile", "small.mlir", "-o", "m.so", "--weights", "beside"]
        other = self.folder / "m.safetensors"
        write_safetensors(other, CHECKPOINT)
        self.accc(*command)
        self.assertEqual(self.files(), ["m.safetensors", "m.so", "m.so.safetensors", "small.mlir"])
        self.accc(*command)  # its own file is written again
        (self.folder / "m.so").unlink()
        weights = self.folder / "m.so.safetensors"
        write_safetensors(weights, CHECKPOINT)
        self.unchanged(weights, *command, message="m.so.safetensors is there and was not written by accc compile")
        weights.write_bytes(b"anything")
        self.unchanged(weights, *command, message="was not written by accc compile")

    def test_outputs_are_no_inputs(self):
        model = self.small()
        (self.folder / "link").symlink_to("small.mlir")
        for output in ("small.mlir", "./small.mlir", "link"):
            self.unchanged(model, "compile", "small.mlir", "-o", output, message=", which is read")
        for option in ("--report", "--header"):
            command = ["compile", "small.mlir", "-o", "m.so", option]
            self.unchanged(model, *command, "small.mlir", message=f"{option} small.mlir: would write over")
            self.unchanged(model, *command, "m.so", message=f"{option} m.so: is also where -o is written")

    def test_outputs_are_no_data_of_the_model(self):
        (self.folder / "m.onnx").write_bytes(model_with_data("w.bin"))
        data = self.folder / "w.bin"
        data.write_bytes(struct.pack("<4f", 1, 2, 3, 4))
        self.unchanged(data, "compile", "m.onnx", "-o", "w.bin", message=", which is read")
        self.unchanged(data, "compile", "m.onnx", "-o", "m.so", "--report", "w.bin", message=", which is read")
        self.accc("compile", "m.onnx", "-o", "m.so")

    def test_outputs_are_nothing_that_an_option_reads(self):
        weights = self.folder / "w.txt"
        weights.write_text("1\n" * 10)
        command = ["compile", MLP / "model.onnx", "-D", "batch=64", "--loss", "cross_entropy,weight=w.txt"]
        for options in (["-o", "w.txt"], ["-o", "m.so", "--report", "w.txt"]):
            self.unchanged(weights, *command, *options, message="would write over w.txt, which is read")
        library = self.library()
        command = ["compile", MLP / "model.onnx", "-D", "batch=64", "--custom-ops", library]
        self.unchanged(library, *command, "-o", library, message="which is read")

    def test_initial_values_and_goldens_are_kept(self):
        self.accc("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING, "--weights", "beside")
        beside = self.folder / "m.so.safetensors"
        inputs = ["--inputs", MLP / "inputs.safetensors"]
        for option in ("--save-params", "--outputs"):
            self.unchanged(beside, "run", "m.so", *inputs, option, beside, message="which the command reads")
        self.unchanged(beside, "diff", "m.so", "m.so", "--junit", beside, message="which the command reads")
        self.accc("golden", "m.so", "-o", "g")
        for file in (self.folder / "g").iterdir():
            self.unchanged(file, "diff", "m.so", "g", "--junit", file, message="which the command reads")

    def test_a_run_writes_over_nothing_that_it_reads(self):
        library = self.library()
        command = ["run", "mlp.so", "--inputs", MLP / "inputs.safetensors"]
        self.unchanged(library, *command, "--save-params", "mlp.so", message="which the command reads")
        self.accc(*command, "--save-params", "p.safetensors")
        params = self.folder / "p.safetensors"
        command += ["--params", "p.safetensors"]
        self.unchanged(params, *command, "--outputs", "./p.safetensors", message="which the command reads")
        self.unchanged(params, *command, "--outputs", "o", "--save-params", "o", message="is named for two files")

    def test_links_to_what_is_not_there(self):
        """Of every command: the files are written where the links end."""
        library = self.library()
        (self.folder / "far").mkdir()
        run = ["run", library, "--inputs", MLP / "inputs.safetensors"]
        outputs = {
            "m.so": ["compile", self.small(), "-o", "m.so"],
            "m.json": ["compile", "small.mlir", "-o", "n.so", "--report", "m.json"],
            "p.safetensors": [*run, "--save-params", "p.safetensors"],
            "o.safetensors": [*run, "--outputs", "o.safetensors"],
            "d.xml": ["diff", library, library, "--junit", "d.xml"],
        }
        for name, command in outputs.items():
            (self.folder / name).symlink_to(f"far/first-{name}")
            (self.folder / "far" / f"first-{name}").symlink_to(f"second-{name}")
            self.accc(*command)
            for link in (self.folder / name, self.folder / "far" / f"first-{name}"):
                self.assertTrue(link.is_symlink(), link)
            self.assertTrue((self.folder / "far" / f"second-{name}").is_file(), name)
            # A circle, and a folder that is not there.
            (self.folder / "far" / f"first-{name}").unlink()
            for to in (f"../{name}", "nowhere/m"):
                (self.folder / "far" / f"first-{name}").symlink_to(to)
                _, error = self.accc(*command, code=MACHINE)
                self.assertEqual(error.count("error:"), 1, error)
                self.assertTrue((self.folder / name).is_symlink())
                (self.folder / "far" / f"first-{name}").unlink()

    def test_a_link_to_another_output(self):
        library = self.library()
        (self.folder / "link").symlink_to("o")
        run = ["run", library, "--inputs", MLP / "inputs.safetensors"]
        self.assertIn("is named for two files", self.accc(*run, "--outputs", "o", "--save-params", "link", code=USAGE)[1])
        compile = ["compile", self.small(), "-o", "o", "--report", "link"]
        self.assertIn("is also where -o is written", self.accc(*compile, code=USAGE)[1])

    def test_a_link_keeps_pointing(self):
        self.small()
        (self.folder / "models").mkdir()
        link = self.folder / "m.so"
        link.symlink_to("models/m.so")  # which is not there yet
        for _ in range(2):
            self.accc("compile", "small.mlir", "-o", "m.so")
            self.assertTrue(link.is_symlink())
            self.assertEqual([path.name for path in (self.folder / "models").iterdir()], ["m.so"])

    def test_weights_of_a_library_behind_a_link(self):
        """They are where the link leads: beside the library, by whichever name it is loaded."""
        self.small()
        (self.folder / "models").mkdir()
        (self.folder / "m.so").symlink_to("models/real.so")
        for _ in range(2):
            self.accc("compile", "small.mlir", "-o", "m.so", "--weights", "beside")
            self.assertEqual(self.files(), ["m.so", "models", "small.mlir"])
            for library in ("m.so", "models/real.so"):
                self.accc("golden", library, "-o", "g")  # which needs values
                shutil.rmtree(self.folder / "g")
        weights = self.folder / "models" / "real.so.safetensors"
        write_safetensors(weights, CHECKPOINT)
        compile = ["compile", "small.mlir", "-o", "m.so", "--weights", "beside"]
        self.unchanged(weights, *compile, message="was not written by accc compile")

    def test_weights_of_another_model(self):
        """As where the library alone was copied, or compiled again elsewhere."""
        (self.folder / "m.onnx").write_bytes(model_with_data("w.bin"))
        written = []
        for value in (1, 2):
            (self.folder / "w.bin").write_bytes(struct.pack("<4f", *[value] * 4))
            self.accc("compile", "m.onnx", "-o", "m.so", "--weights", "beside")
            written.append((self.folder / "m.so.safetensors").read_bytes())
        self.accc("golden", "m.so", "-o", "g")
        (self.folder / "m.so.safetensors").write_bytes(written[0])
        _, error = self.accc("golden", "m.so", "-o", "g", code=DATA)
        self.assertIn("m.so.safetensors does not belong to", error)
        self.assertIn("it holds the values of another model file", error)
        # One's own values may be there.
        write_safetensors(self.folder / "m.so.safetensors", {"w": ("F32", [4], bytes(16))})
        self.accc("golden", "m.so", "-o", "g")

    def test_all_files_or_none(self):
        self.small()
        old = {"m.so": b"old library", "m.h": b"old header"}
        for name, data in old.items():
            (self.folder / name).write_bytes(data)
        command = ["compile", "small.mlir", "-o", "m.so", "--header", "m.h", "--weights", "beside"]
        _, error = self.accc(*command, "--report", "nowhere/m.json", code=MACHINE)
        self.assertIn("cannot write 'nowhere/m.json': No such file or directory", error)
        self.assertEqual(self.files(), ["m.h", "m.so", "small.mlir"])
        for name, data in old.items():
            self.assertEqual((self.folder / name).read_bytes(), data)

    def test_the_manifest_knows_the_data_beside_the_model(self):
        (self.folder / "m.onnx").write_bytes(model_with_data("w.bin"))
        hashes = []
        for value in (1, 2):
            (self.folder / "w.bin").write_bytes(struct.pack("<4f", *[value] * 4))
            self.accc("compile", "m.onnx", "-o", "m.so")
            hashes.append(json.loads(self.accc("inspect", "m.so", "--json")[0])["manifest"]["model_xxh128"])
        self.assertEqual(hashes[0]["m.onnx"], hashes[1]["m.onnx"])
        self.assertNotEqual(hashes[0]["w.bin"], hashes[1]["w.bin"])

    def test_what_is_no_file_is_not_read(self):
        os.mkfifo(self.folder / "pipe.onnx")
        for model in ("pipe.onnx", "/dev/zero", "."):
            _, error = self.accc("compile", model, "-o", "m.so", code=USAGE)
            self.assertIn(f"{model}: is a folder, a device or a pipe", error)
            self.accc("inspect", model, code=USAGE)
            self.accc("diff", model, "pipe.onnx", code=USAGE)

    def test_numbers_that_are_none(self):
        library = self.library()
        command = ["run", library, "--inputs", MLP / "inputs.safetensors"]
        huge = "99999999999999999999"
        for option, value, why in (
            ("--lr", "nan", "is no finite number"),
            ("--lr", "inf", "is no finite number"),
            ("--threads", "100000", "is more than 4096"),
            ("--threads", "-1", "is less than 0"),
            ("--threads", "2x", "is no whole number"),
            ("--steps", "0", "is less than 1"),
            ("--steps", huge, "is no whole number"),
            ("--seed", huge, "is no whole number"),
        ):
            _, error = self.accc(*command, option, value, code=USAGE)
            self.assertIn(f"{option}: {value} {why}", error)
        for option, value, why in (
            ("--steps", "-3", "is less than 1"),
            ("--warmup", "0", "is less than 1"),
            ("--warmup", huge, "is no whole number"),
            ("--seconds", "nan", "is no finite number"),
            ("--seconds", "-1", "is less than 0"),
        ):
            _, error = self.accc("bench", library, option, value, code=USAGE)
            self.assertIn(f"{option}: {value} {why}", error)
        for size in ("0", "-1", "4x", huge):
            _, error = self.accc("compile", MLP / "model.onnx", "-o", "m.so", "-D", f"batch={size}", code=USAGE)
            self.assertIn(f"-D: needs a positive number, not '{size}'", error)
        _, error = self.accc("compile", MLP / "model.onnx", "-o", "m.so", "-D", "batch=999999999999", code=DATA)
        self.assertIn("the input 'images': a tensor is larger than 2^40 bytes", error)


class Endings(CommandLineTest):
    COMMAND = ["compile", GOLDENS / "swin_t" / "dynamo.onnx", "-o", "m.so", "--weights", "beside"]
    OPTIONS = ["--loss", "cross_entropy", "--optimizer", "adam", "--report", "m.json"]

    def start(self):
        command = [ACCC, *map(str, self.COMMAND + self.OPTIONS)]
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            # In the background of a shell it would ignore SIGINT, as it should.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def await_end_of(self, session):
        """Until no process of the session is left."""
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            try:
                os.killpg(session, 0)
            except ProcessLookupError:
                return
            time.sleep(0.01)
        self.fail("a process of the compilation goes on")

    def test_an_ended_compilation_leaves_nothing(self):
        begin = time.monotonic()
        self.assertEqual(self.start().wait(timeout=SECONDS), 0)
        whole = time.monotonic() - begin
        for name in self.files():
            (self.folder / name).unlink()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGKILL):
            codes = []
            for part in (0.05, 0.3, 0.5, 0.7):
                process = self.start()
                time.sleep(part * whole)
                os.kill(process.pid, number)
                code = process.wait(timeout=SECONDS)
                self.await_end_of(process.pid)
                if code == 0 or self.files():  # it was faster this time, and done
                    self.assertEqual(self.files(), ["m.json", "m.so", "m.so.safetensors"])
                    for name in self.files():
                        (self.folder / name).unlink()
                    continue
                codes.append(code)
            # One that has only just begun, which may be long on a busy machine, ends before it listens.
            self.assertLessEqual(set(codes), {-number})


if __name__ == "__main__":
    unittest.main()
