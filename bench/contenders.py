# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contenders, each with processes of its own.

Every one has `start()`, which makes it ready and fills `report` (version, loss of the first step,
cold compile seconds, memory in bytes), `round(seconds)`, which gives the figures of one round's
steps under the keys of `accc bench --json`, and `stop()`. What goes wrong is raised as Failed.
"""

import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
CONVOLUTIONAL = {"digits_cnn", "digits_cnn_dropout", "resnet18", "efficientnet_b0"}


class Failed(Exception):
    """A contender that could not do it; the text says why."""


def environment(options):
    """Two threads for every library that might start some, and nothing found in caches."""
    threads = str(options.threads)
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    fixed = {name: threads for name in names}
    fixed |= {"JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": "", "TOKENIZERS_PARALLELISM": "false"}
    if options.wait_policy:
        fixed["OMP_WAIT_POLICY"] = options.wait_policy
    return os.environ | fixed


class Accc:
    """`accc compile`, then one `accc bench` a round."""

    def __init__(self, name, export, options):
        self.name, self.export, self.options = name, export, options
        self.report = {}
        self.folder = tempfile.mkdtemp(prefix="accc-bench-")
        self.library = pathlib.Path(self.folder) / "model.so"

    def _run(self, *arguments, limit):
        command = [self.options.accc, *map(str, arguments)]
        try:
            done = subprocess.run(
                command,
                env=environment(self.options),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"accc {arguments[0]}: no end after {limit:.0f} s") from None
        if done.returncode:
            lines = done.stderr.strip().splitlines() or ["no message"]
            raise Failed(f"accc {arguments[0]}: {lines[0][:200]}")
        return done.stdout

    def start(self):
        command = ["compile", self.export.model, "-o", self.library, "--arch", self.options.arch]
        command += ["--precision", self.options.precision]
        begin = time.perf_counter()
        self._run(*command, *self.export.compile_options(), limit=self.options.limit)
        self.report["compile_s"] = time.perf_counter() - begin
        self.report["version"] = self._run("--version", limit=60).split()[-1]
        figures = self._bench("--steps", 3)
        self.report["loss"] = figures.get("loss")
        self.report["memory"] = figures["step_peak_bytes"]
        self.report["planned"] = figures["state_bytes"] + figures["working_bytes"]
        for key in ("launches", "library_calls", "load_ms"):
            self.report[key] = figures[key]

    def _bench(self, *more):
        command = ["bench", self.library, "--json", "--inputs", self.export.inputs, "--warmup", 2]
        command += ["--threads", self.options.threads, *more]
        return json.loads(self._run(*command, limit=self.options.limit))

    def round(self, seconds):
        return self._bench("--seconds", seconds)

    def stop(self):
        shutil.rmtree(self.folder, ignore_errors=True)


class Worker:
    """A Python process that keeps the model from its start to the last round."""

    def __init__(self, kind, name, export, options):
        self.kind, self.name, self.export, self.options = kind, name, export, options
        self.report, self.process = {}, None
        self.folder = tempfile.mkdtemp(prefix="accc-bench-")

    def command(self):
        if self.kind == "jax":
            files = (self.export.model, self.export.inputs, self.export.directory / "meta.json")
            return [HERE / "worker_jax.py", self.name, self.options.config, *files]
        file = HERE / "worker_torch.py"
        return [file, self.name, self.options.config, self.options.dtype, self.kind, self.options.precision, self.options.threads]

    def start(self):
        self.errors = open(pathlib.Path(self.folder) / "errors", "w+")
        self.process = subprocess.Popen(
            [sys.executable, *map(str, self.command())],
            env=environment(self.options) | {"TORCHINDUCTOR_CACHE_DIR": self.folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
        )
        self.report.update(self._answer())
        seconds = self.report.pop("first_step_s")
        if not self.kind.startswith("eager"):
            self.report["compile_s"] = seconds

    def _answer(self):
        """The next line, which is JSON. The worker writes nothing else to its standard output."""
        ready, _, _ = select.select([self.process.stdout], [], [], self.options.limit)
        if not ready:
            raise Failed(f"no answer after {self.options.limit:.0f} s")
        if line := self.process.stdout.readline():
            return json.loads(line)
        self.process.wait()
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines() or ["no message"]
        raise Failed(f"exit {self.process.returncode}: {lines[-1][:200]}")

    def round(self, seconds):
        print(seconds, file=self.process.stdin, flush=True)
        return self._answer()

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def make(kind, name, export, options):
    """The contender, or None where it would be another one again or nobody wrote the model."""
    if kind == "accc":
        return Accc(name, export, options)
    if kind.endswith("-cl") and name not in CONVOLUTIONAL:
        return None
    if kind == "jax" and (export.meta["dropout"] or options.precision != "fp32" or options.dtype != "float32"):
        return None  # it has no mixed precision of its own
    return Worker(kind, name, export, options)
