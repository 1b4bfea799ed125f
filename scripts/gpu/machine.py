# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The machine: where its libraries are, and how programs of the pack are run on it."""

import atexit
import ctypes
import glob
import json
import os
import pathlib
import shutil
import signal
import site
import subprocess
import sys
import tempfile
import time

LIBRARIES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcudnn.so.9")


class Skip(Exception):
    """What a part needs is not here; the text says what."""


class OutOfTime(Exception):
    """The part's time is over. `output` is what the program wrote that was cut short."""

    output = ""


class Failed(Exception):
    """A program ended with an error; the text is the last of what it said."""


def can_load(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


def library_folders():
    """Folders with NVIDIA's libraries that the loader does not know, PyTorch's wheels among them."""
    roots = set(site.getsitepackages() + [site.getusersitepackages()] + sys.path)
    folders = []
    for root in sorted(filter(None, roots)):
        for library in ("cublasLt", "cudnn", "nvrtc", "cudart"):
            pattern = f"{root}/nvidia/**/lib{library}.so.*"
            folders += map(os.path.dirname, glob.glob(pattern, recursive=True))
    if not can_load("libcuda.so.1"):
        for pattern in ("/usr/local/nvidia/lib*/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"):
            folders += map(os.path.dirname, glob.glob(pattern))
    return list(dict.fromkeys(folders))


class Machine:
    """Runs programs of the folder `directory` until `deadline` (of time.monotonic)."""

    def __init__(self, directory):
        self.directory = directory
        self.deadline = None
        self.device = None  # what describe() gave
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="accc-gpu-check-"))
        atexit.register(shutil.rmtree, self.scratch, ignore_errors=True)
        self.environment = dict(os.environ)
        known = [x for x in os.environ.get("LD_LIBRARY_PATH", "").split(":") if x]
        known += library_folders()
        self.environment["LD_LIBRARY_PATH"] = ":".join(known)
        # The C++ library that the pack was built with, where this machine has none or an older one.
        help_works = self._popen([directory / "bin" / "gpu_runner", "--help"]).wait(timeout=60) == 0
        if not help_works:
            self.environment["LD_LIBRARY_PATH"] = ":".join(known + [str(directory / "lib")])

    def left(self):
        """Seconds until the deadline; raises OutOfTime where there are none."""
        seconds = self.deadline - time.monotonic()
        if seconds <= 0:
            raise OutOfTime("no time left")
        return seconds

    def _popen(self, command, **environment):
        return subprocess.Popen(
            list(map(str, command)),
            env=self.environment | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, command, check=True, **environment):
        """(exit code, standard output, standard error) of a command."""
        process = self._popen(command, **environment)
        try:
            output, errors = process.communicate(timeout=self.left())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with what it has started
            output, errors = process.communicate(timeout=60)
            cut = OutOfTime(f"cut short in: {' '.join(map(str, command))}")
            cut.output = output
            raise cut from None
        if check and process.returncode:
            lines = (errors.strip() or output.strip() or "no message").splitlines()
            raise Failed(f"exit {process.returncode}: {lines[-1][:300]}")
        return process.returncode, output, errors

    def runner(self, *arguments, check=True, **environment):
        """The same for gpu_runner."""
        command = [self.directory / "bin" / "gpu_runner", *arguments]
        return self.run(command, check, **environment)

    def lines(self, *arguments, **environment):
        """gpu_runner's lines of JSON, and what went wrong after the last of them ("" for nothing)."""
        self.left()
        try:
            code, output, errors = self.runner(*arguments, check=False, **environment)
        except OutOfTime as cut:  # what asks for more time raises it again
            code, output, errors = "none", cut.output, "cut short by the time limit"
        whole = output[: output.rfind("\n") + 1]
        found = [json.loads(line) for line in whole.splitlines() if line.startswith("{")]
        said = errors.strip().splitlines() or ["no message"]
        return found, f"exit {code}: {said[-1][:300]}" if code else ""

    def describe(self):
        """The device as gpu_runner sees it; raises Skip where there is none."""
        found, wrong = self.lines("ceilings", "--copy-bytes", "0")
        if not found:
            raise Skip(str(wrong))
        try:
            query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
            found[0]["driver"] = self.run(query)[1].strip().splitlines()[0]
        except (OSError, Failed, IndexError):
            found[0]["driver"] = "unknown"
        return found[0]


def folders(directory, kind, wanted):
    """The packed folders of a kind ("goldens", "models") that are wanted; raises Skip without any."""
    found = sorted(x for x in (directory / kind).glob("*") if x.is_dir())
    found = [x for x in found if wanted is None or x.name in wanted]
    if not found:
        raise Skip(f"the pack has no {kind}" + (f" of {', '.join(wanted)}" if wanted else ""))
    return found
