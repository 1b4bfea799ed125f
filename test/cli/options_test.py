# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that say nothing, contradict each other or would have no effect are refused, before anything is written."""

import json
import os
import shutil
import signal
import subprocess
import unittest
from unittest import mock

from command_line import ACCC, DATA, DONE, MACHINE, MLP, SECONDS, TRAINING, USAGE, CommandLineTest

MODEL = MLP / "model.onnx"
INPUTS = ["--inputs", MLP / "inputs.safetensors"]
FORWARD = ["compile", MODEL, "-o", "m.so", "-D", "batch=64"]
JOINT = ["compile", MLP.parents[1] / "exported" / "activations" / "joint.pt2", "-o", "m.so"]
OWN = ["compile", MLP.parents[1] / "steps" / "linear" / "model.onnx", "-o", "m.so", "-D", "batch=4"]
TRAINED = ["compile", MODEL, "-o", "m.so", *TRAINING]


class Options(CommandLineTest):
    def refused(self, *arguments, code=USAGE):
        """With the same messages on standard error and, as JSON, in the result; returns the former."""
        before = self.files()
        _, error = self.accc(*arguments, code=code)
        out, _ = self.accc(*arguments, "--json", code=code)
        result = json.loads(out)
        self.assertFalse(result["ok"])
        for problem in result["problems"]:
            self.assertIn(problem["message"].splitlines()[0], error)
        for line in error.splitlines():
            self.assertRegex(line, "^(accc: (error|warning|note): |  )")
        self.assertEqual(self.files(), before)
        return error

    def test_empty_values(self):
        """As of a variable of a shell that is not set."""
        library = self.library()
        for option in (
            *("--loss", "--optimizer", "--train", "--freeze", "--header", "--report", "--dump-dir"),
            *("--weights", "--stop-after", "--running-variance", "--custom-ops", "--precision", "--loss-scale", "--output"),
        ):
            output = [] if option == "--output" else ["-o", "m.so"]
            error = self.refused("compile", MODEL, "-D", "batch=64", *output, option, "")
            self.assertIn(f"{option} is given an empty value", error)
        self.assertIn("MODEL is given an empty value", self.refused("check", ""))
        for command in (
            ["run", library, "--inputs", ""],
            ["run", library, *INPUTS, "--outputs", ""],
            ["bench", library, "--entry", ""],
            ["golden", library, "-o", ""],
            ["diff", library, library, "--junit", ""],
        ):
            self.assertIn("is given an empty value", self.refused(*command))

    def test_names_that_the_model_does_not_have(self):
        for options, message in (
            (["--loss", "output:nope"], "--loss names the output 'nope', and the model has 'logits'"),
            (["--loss", "mse=nope"], "--loss names the output 'nope', and the model has 'logits'"),
            (["--loss", "mse="], "--loss mse=: needs the name of an output after '='"),
            (["-D", "seq=3"], "-D seq: no input leaves a dimension of this name open (open: 'batch')"),
        ):
            self.assertIn(message, self.refused(*FORWARD, *options))

    def test_lists_with_empty_parts(self):
        for option, value in (
            *(("-D", "batch=64,"), ("--target", "cpu,"), ("--arch", ",native")),
            *(("--input", "x=float32[2,,3]"), ("--input", "x=float32[2,]")),
        ):
            error = self.refused("compile", MODEL, "-o", "m.so", option, value)
            self.assertIn(f"{option}: there is an empty part in '", error)
        library = self.library()
        self.assertIn("--only: there is an empty part in 'numbers,'", self.refused("diff", library, library, "--only", "numbers,"))

    def test_what_needs_training(self):
        for option in (["--train", "."], ["--freeze", "bias"], ["--optimizer", "sgd"], ["--loss-only"], ["--loss-scale", "dynamic"]):
            self.assertIn(f"error: {option[0]} needs a --loss", self.refused(*FORWARD, *option))
        error = self.refused(*FORWARD, "--train", ".", "--freeze", "bias")
        self.assertIn("2 errors", error)

    def test_several_errors_of_steps_are_several_problems(self):
        error = self.refused(*FORWARD, "--loss", "mse", "--loss", "l1")
        self.assertIn("accc: error: --loss mse: of several losses each needs a name", error)
        self.assertIn("accc: error: --loss l1: of several losses each needs a name", error)

    def test_what_comes_with_a_library(self):
        for option in (["--header", "m.h"], ["--report", "m.json"], ["--weights", "beside"]):
            error = self.refused("compile", MODEL, "-D", "batch=64", "--stop-after", "fuse", *option)
            self.assertIn(f"{' '.join(option)}: it comes with the library, and --stop-after fuse makes none", error)

    def test_numbers_that_no_float_holds(self):
        error = self.refused(*FORWARD, "--loss", "cross_entropy", "--optimizer", "sgd,lr=1e99")
        self.assertIn("'lr' must fit into a float, and is 1e99", error)
        self.assertIn("1e99 is more than", self.refused("run", self.library(), *INPUTS, "--lr", "1e99"))

    def test_loss_scales(self):
        training = ["--loss", "cross_entropy", "--optimizer", "sgd"]
        for scale, message in (
            ("dynamc", "there are dynamic, fixed=S and none; did you mean 'dynamic'?"),
            ("dynamic=8", "dynamic takes no value; its first one is init_scale"),
            ("dynamic,growth_interval=0", "'growth_interval' must be at least 1"),
            ("dynamic,backoff_factor=2", "'backoff_factor' must be between"),
            ("dynamic,growth=2", "there is no option 'growth'; dynamic knows init_scale=NUMBER"),
            ("fixed", "needs a positive number that fits into a float, as in fixed=1024"),
            ("fixed=-1", "needs a positive number"),
            ("fixed=1e39", "needs a positive number"),
            ("fixed=nan", "needs a positive number"),
            ("fixed=8,init_scale=8", "there is no option 'init_scale'; fixed knows none"),
        ):
            self.assertIn(f"--loss-scale {scale}: {message}", self.refused(*FORWARD, *training, "--loss-scale", scale))
        # What moves a dynamic scale is an optimizer; and the loss of gradients that are there already is not scaled any more.
        for model, given, told in (
            (FORWARD, ["--loss", "cross_entropy", "--precision", "fp16"], "--precision fp16, which scales the loss: an --optimizer moves"),
            (FORWARD, ["--loss", "cross_entropy", "--loss-scale", "dynamic"], "--loss-scale dynamic: an --optimizer moves"),
            (JOINT, ["--optimizer", "sgd", "--precision", "fp16"], "scales the loss: the model holds the gradients of its loss"),
            (JOINT, ["--optimizer", "sgd", "--loss-scale", "fixed=8"], "fixed=8: the model holds the gradients of its loss"),
            (OWN, ["--precision", "fp16"], "scales the loss: the model holds its own training step (training_info)"),
        ):
            error = self.refused(*model, *given)
            self.assertIn(told, error)
            self.assertIn("--loss-scale", error.split(told)[1])
            self.accc(*model, *[x for x in given if x not in ("--loss-scale", "dynamic", "fixed=8")], "--loss-scale", "none")

    def test_machines_that_are_not_there(self):
        for arch in ("sm_85", "compute_81"):
            error = self.refused(*FORWARD, "--target", "cuda", "--arch", arch)
            self.assertIn(f"--arch {arch}: there is no GPU of that compute capability", error)

    @unittest.skipUnless(shutil.which("ptxas") or os.path.exists("/usr/local/cuda/bin/ptxas"), "no ptxas")
    def test_a_machine_that_ptxas_does_not_know(self):
        error = self.refused(*FORWARD, "--target", "cuda", "--arch", "sm_999")
        self.assertRegex(error, "--arch sm_999: .*ptxas does not know it")

    def test_options_of_a_model_for_a_library(self):
        library = self.library()
        for option in (["-D", "batch=2"], ["--loss", "mse"], ["--target", "cuda"], ["--assume-dropout-training"]):
            self.assertIn(f"{option[0]} is about a model, and {library} is a library", self.refused("inspect", library, *option))
        self.accc("inspect", library, "-v")

    def test_a_run(self):
        library = self.library()
        for entry in ("eval_step", "grad_step"):
            error = self.refused("run", library, *INPUTS, "--entry", entry, "--lr", "0.1")
            self.assertIn(f"--lr: {entry} takes no learning rate", error)
        # Before hours of training, of which nothing would be left.
        for name, code in (("nowhere/p.safetensors", MACHINE), (".", USAGE), ("/dev/full", USAGE)):
            for option in ("--outputs", "--save-params"):
                out, error = self.accc("run", library, *INPUTS, option, name, code=code)
                self.assertEqual(out, "")
                self.assertIn(f"cannot write {name}: ", error)
        _, error = self.accc("golden", library, "-o", "nowhere/g", code=MACHINE)
        self.assertIn("its folder: No such file or directory", error)
        for command in ("run", "bench"):
            error = self.refused(command, MODEL, *INPUTS, code=DATA)
            self.assertIn("it is no compiled model; accc compile makes one", error)
        self.accc(*FORWARD)
        self.assertIn("--lr: eval_step takes no learning rate", self.refused("golden", "m.so", "-o", "g", "--lr", "0.1"))
        self.assertIn("--steps excludes --seconds", self.refused("bench", library, "--steps", "2", "--seconds", "1"))

    @unittest.skipUnless(os.geteuid() == 0 and shutil.which("setpriv"), "needs root, who may become another user")
    def test_files_that_may_not_be_read(self):
        library = self.library()
        shutil.copytree(MLP, self.folder / "closed")
        (self.folder / "model.onnx").write_bytes(MODEL.read_bytes())
        for name in (library, self.folder / "model.onnx", self.folder / "closed"):
            name.chmod(0)
        self.folder.chmod(0o777)
        binary = self.folder / "accc"
        shutil.copy(ACCC, binary)  # wherever it is, others may not get there
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary]
        for arguments in (
            ["compile", "model.onnx", "-o", "m.so", "-D", "batch=64"],
            ["compile", "closed/model.onnx", "-o", "m.so", "-D", "batch=64"],
            ["inspect", "model.onnx"],
            ["inspect", library],
            ["run", library],
            ["diff", library, library, "--only", "manifest"],
            ["diff", library, "closed"],
        ):
            done = subprocess.run([*nobody, *arguments], cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(done.returncode, MACHINE, f"{arguments}\n{done.stderr}")
            self.assertRegex(done.stderr, "^accc: error: .*: Permission denied\n$")

    def test_the_environment(self):
        library = self.library()
        with mock.patch.dict(os.environ, {"OMP_NUM_THREADS": "9999999"}):
            error = self.refused("run", library, *INPUTS)
        self.assertIn("9999999 threads are too many (OMP_NUM_THREADS): 4096 at most", error)
        with mock.patch.dict(os.environ, {"TMPDIR": "/nowhere"}):
            error = self.refused("diff", MODEL, MLP, code=MACHINE)
        self.assertIn("there is no folder for temporary files (TMPDIR)", error)

    def test_standard_output(self):
        library = self.library()
        commands = (
            ["inspect", library, "--json"],
            ["run", library, *INPUTS],
            ["check", MODEL, "-D", "batch=2"],
            ["compile", MODEL, "-D", "batch=2", "--stop-after", "import"],
            ["diff", library, library],
            ["diff", MODEL, MLP],
            ["--help"],
        )
        before = self.files()
        for command in commands:
            for end, code in ((">/dev/full", MACHINE), (">&-", DONE), ("| true", None)):
                # What reads no more ends the command as it ends others, or comes too late for that.
                line = f'set -o pipefail; "$@" {end}'
                arguments = ["bash", "-c", line, "bash", ACCC, *map(str, command)]
                done = subprocess.run(arguments, cwd=self.folder, stderr=subprocess.PIPE, text=True, timeout=SECONDS)
                if code is None:
                    self.assertIn(done.returncode, (DONE, 128 + signal.SIGPIPE), done.stderr)
                else:
                    self.assertEqual(done.returncode, code, f"{command} {end}\n{done.stderr}")
                error = "^accc: error: cannot write to standard output: .*\n$" if code == MACHINE else "^$"
                self.assertRegex(done.stderr, error, f"{command} {end}")
        self.assertEqual(self.files(), before)

    def test_closed_streams_are_no_files(self):
        """What is opened would else be standard output, and hold what is printed."""
        self.accc(*TRAINED)
        whole = (self.folder / "m.so").read_bytes()
        closed = ["bash", "-c", '"$@" >&- 2>&- <&-', "bash", ACCC, *map(str, TRAINED), "--json", "-vv"]
        self.assertEqual(subprocess.run(closed, cwd=self.folder, timeout=SECONDS).returncode, DONE)
        self.assertEqual((self.folder / "m.so").read_bytes(), whole)

    def test_a_comparison(self):
        library = self.library()
        (self.folder / "text").write_text("text")
        for options, message in (
            (["--fail-on", "none,numbers"], "--fail-on none leaves no room"),
            (["--only", "kernels", "--fail-on", "numbers"], "--fail-on numbers: --only leaves that section out"),
            (["--only", "kernels", "--fail-on", "training"], "--fail-on training: --only leaves that section out"),
            (["--only", "kernels", "--tolerance", "0"], "are about numbers, which --only leaves out"),
            (["--only", "kernels", "--steps", "2"], "are about numbers, which --only leaves out"),
            (["--only", "kernels", *INPUTS], "are about numbers, which --only leaves out"),
            (["--custom-ops", "text"], "--custom-ops text: "),
        ):
            self.assertIn(message, self.refused("diff", library, library, *options))
        self.accc("diff", library, library, "--only", "manifest,numbers", "--fail-on", "training", "--steps", "2", code=DONE)


if __name__ == "__main__":
    unittest.main()
