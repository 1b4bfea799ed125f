# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gpu-check --pack DIR: everything that the parts need on a machine that has nothing of accc.

    DIR/gpu-check, gpu/, export/   the script, its parts, the models in PyTorch that steps compares with
    DIR/bin, lib                   gpu_runner, the CUDA half of the runtime, the C++ library
    DIR/goldens/NAME               the golden models, compiled, with what PyTorch gave
    DIR/models/NAME                the full-size models, compiled, without weights
    DIR/samples/NNNN               kernel tests: library, inputs, what the PTX interpreter gave
    DIR/packed.json                what goldens, models and samples were made from

Run again, it makes anew what was not finished or was made from something else (another build, model
or option), and skips the rest.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from full_size import FULL_SIZE
from precisions import LIBRARIES, LIKE, OF_GOLDENS, OPTIONS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TRAINING = ROOT / "test" / "training"
GOLDENS = {path.parent.name: path.parent for path in sorted(TRAINING.glob("goldens/*/meta.json"))}
GOLDENS |= {f"{path.parent.name}_half": path.parent for path in sorted(TRAINING.glob("half/*/meta.json"))}
GOLDENS |= {f"{path.parent.name}_mixed": path.parent for path in sorted(TRAINING.glob("mixed/*/meta.json"))}
ARCHS = "sm_80,sm_90,compute_80"
LIMIT = 3600  # seconds a command
BASIC = ("linux-vdso", "libc.so", "libm.so", "ld-linux", "libdl.so", "libpthread.so", "librt.so")
PACKED_LIBRARIES = ("libstdc++.so.6", "libgcc_s.so.1")


def say(text):
    print(text, flush=True)


def call(command, **options):
    """Standard output; ends the packing where the command fails."""
    command = list(map(str, command))
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT, **options)
    if done.returncode:
        sys.exit(f"gpu-check: exit {done.returncode}: {' '.join(command)}")
    return done.stdout


class Packed:
    """Folders of a pack, each with a digest of what it was made from."""

    def __init__(self, out):
        self.out, self.file = out, out / "packed.json"
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {}

    def make(self, folder, sources, fill):
        """Lets `fill` fill the folder, unless it was made from these sources: files, and texts."""
        digest = hashlib.sha256()
        for source in sources:
            path = isinstance(source, pathlib.Path)
            digest.update(file_digest(source) if path else repr(source).encode())
        if self.known.get(folder) == digest.hexdigest() and (self.out / folder).exists():
            say(f"{folder}: is there")
            return
        self.remove(folder)
        (self.out / folder).mkdir(parents=True)
        fill(self.out / folder)
        self.known[folder] = digest.hexdigest()
        self.write()

    def remove(self, folder):
        shutil.rmtree(self.out / folder, ignore_errors=True)
        if self.known.pop(folder, None):
            self.write()

    def keep_only(self, folders):
        for path in (*self.out.glob("goldens/*"), *self.out.glob("models/*")):
            if str(path.relative_to(self.out)) not in folders:
                self.remove(str(path.relative_to(self.out)))

    def write(self):
        partial = self.out / "packed.json.part"
        partial.write_text(json.dumps(self.known, indent=2) + "\n")
        os.replace(partial, self.file)


def file_digest(path):
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def pack(options):
    out, build = options.directory, options.build.resolve()
    for folder in ("bin", "lib", "gpu", "export"):
        shutil.rmtree(out / folder, ignore_errors=True)
    for folder in ("bin", "lib", "gpu", "export", "goldens", "models", "samples"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    pack_programs(out, build)
    wanted = options.models
    stored, full = list(GOLDENS), list(FULL_SIZE)
    if unknown := set(wanted or []) - {*stored, *full}:
        sys.exit(f"gpu-check: no model {', '.join(sorted(unknown))}; there are: {', '.join(stored + full)}")
    stored, full = ([name for name in names if not wanted or name in wanted] for names in (stored, full))
    packed = Packed(out)
    packed.keep_only({f"goldens/{name}" for name in stored} | {f"models/{name}" for name in full})
    for name in stored:
        pack_golden(packed, build, name)
    for name in full:
        pack_model(packed, build, name, options)
    pack_samples(packed, build, options.samples)
    size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
    say(f"{out}: {size / 1e6:.1f} MB")
    return 0


def pack_programs(out, build):
    programs = (build / "bin" / "gpu_runner", build / "lib" / "libaccc_cuda.so")
    for program in programs:
        if not program.exists():
            sys.exit(f"gpu-check: {program} is not built")
        target = out / "bin" / program.name
        shutil.copy(program, target)
        call(["strip", "--strip-unneeded", target])
        for name, path in needed(program).items():
            if name in PACKED_LIBRARIES:
                shutil.copy(path, out / "lib" / name)
            elif not name.startswith(BASIC):
                sys.exit(f"gpu-check: {program.name} needs {name}, which another machine may lack")
    shutil.copy(ROOT / "scripts" / "gpu-check", out / "gpu-check")
    code = shutil.ignore_patterns("__pycache__")
    shutil.copytree(HERE, out / "gpu", dirs_exist_ok=True, ignore=code)
    shutil.copytree(ROOT / "examples" / "export", out / "export", dirs_exist_ok=True, ignore=code)
    for package in (ROOT / "python" / "accc_export", ROOT / "bench" / "jax_models"):
        shutil.copytree(package, out / "export" / package.name, dirs_exist_ok=True, ignore=code)


def needed(program):
    """{name: path or ""} of the shared libraries that a program needs, by ldd."""
    return {
        pathlib.Path(line.split()[0]).name: line.split()[2] if "=>" in line else ""
        for line in call(["ldd", program]).splitlines()
        if line.strip()
    }


OF_STEPS = ["--weights", "none", "--loss-only"]
"""For models whose steps are measured: the contenders return the loss alone as well."""


def compile_options(meta, file):
    options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"]]
    for name, size in meta["dims"].items():
        options += ["-D", f"{name}={size}"]
    if scale := meta.get("loss_scale"):
        options += ["--loss-scale", scale]
    for entry in meta["files"]:
        if entry["file"] == file and entry.get("freeze"):
            options += ["--freeze", "^(" + "|".join(map(re.escape, entry["freeze"])) + ")$"]
    return options


def compile_in(precisions, build, model, meta, folder, options):
    calls = {}  # by precision
    for precision in precisions:
        library = folder / LIBRARIES[precision]
        command = [build / "bin" / "accc", "compile", model, "-o", library, "--target", "cuda"]
        command += ["--arch", ARCHS, *options, *compile_options(meta, model.name)]
        report = folder / "report.json"
        call([*command, *OPTIONS[precision], "--report", report], stderr=subprocess.DEVNULL)
        calls[precision] = attention_calls(json.loads(report.read_text()))
        report.unlink()
        if precision in LIKE and calls[precision] == calls[LIKE[precision]]:
            library.unlink()
            continue
        say(f"{folder.name} ({precision}): {library.stat().st_size / 1e6:.1f} MB")


def attention_calls(report):
    """How many attentions steps leave to the library."""
    steps = (step for entry in report["entries"] for step in entry["steps"])
    return sum("attention" in step.get("library_call", "") for step in steps)


def pack_golden(packed, build, name):
    source = GOLDENS[name]
    files = [source / "meta.json"]
    files += (source / f"{file}.safetensors" for file in ("inputs", "golden", "golden64"))
    files = [file for file in files if file.exists()]
    meta = json.loads((source / "meta.json").read_text())
    precisions = OF_GOLDENS[meta.get("precision", "fp32")]

    def fill(folder):
        for file in files:
            shutil.copy(file, folder)
        compile_in(precisions, build, source / "model.onnx", meta, folder, ["--weights", "embed"])

    compiler = build / "bin" / "accc"
    packed.make(f"goldens/{name}", [compiler, ARCHS, precisions, source / "model.onnx", *files], fill)


def pack_model(packed, build, name, options):
    cache = options.cache or pathlib.Path(
        os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache"), "accc", "gpu-check"
    )
    export = cache / name
    if not (export / "meta.json").exists():
        done = subprocess.run(
            [options.python, HERE / "gpu_models.py", name, export],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=LIMIT,
        )  # fmt: skip
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            say(f"{name}: left out: it cannot be exported with {options.python}: {reason}")
            packed.remove(f"models/{name}")
            return
    meta = json.loads((export / "meta.json").read_text())

    def fill(folder):
        shutil.copy(export / "meta.json", folder)
        shutil.copy(export / "inputs.safetensors", folder)
        compile_in(LIBRARIES, build, export / "model.onnx", meta, folder, OF_STEPS)

    files = [export / file for file in ("model.onnx", "meta.json", "inputs.safetensors")]
    packed.make(f"models/{name}", [build / "bin" / "accc", ARCHS, OF_STEPS, list(LIBRARIES), *files], fill)


def pack_samples(packed, build, tests):
    """Runs kernel tests on the stand-in for a device, which interprets their PTX."""
    if not tests:
        packed.remove("samples")
        (packed.out / "samples").mkdir()
        return
    standin = build / "test" / "gpu" / "standin" / "lib"
    program = build / "bin" / "kernels_tests"
    sources = [program, tests, build / "lib" / "libaccc_cuda.so", *sorted(standin.glob("lib*.so*"))]
    packed.make("samples", sources, lambda folder: run_samples(folder, program, standin, tests))


def run_samples(samples, program, standin, tests):
    environment = {"ACCC_TEST_TARGET": "cuda:compute_80", "ACCC_TEST_SAMPLES": str(samples)}
    environment["LD_LIBRARY_PATH"] = str(standin)
    call([program, tests], env=os.environ | environment)
    seen, size = set(), 0
    for folder in sorted(samples.iterdir()):
        contents = hashlib.sha256()
        for file in sorted(folder.iterdir()):
            contents.update(file.name.encode() + file.read_bytes())
        if contents.digest() in seen or not list(folder.glob("*.out.safetensors")):
            shutil.rmtree(folder)  # the same again, or nothing was run of it
            continue
        seen.add(contents.digest())
        size += sum(file.stat().st_size for file in folder.iterdir())
    say(f"samples of kernel tests: {len(seen)} libraries, {size / 1e6:.1f} MB")
    if not seen:
        sys.exit(f"gpu-check: no sample came from the kernel tests '{tests}'")
