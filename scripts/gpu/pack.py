# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gpu-check --pack DIR: everything that the parts need on a machine that has nothing of accc.

    DIR/gpu-check, gpu/, export/   the script, its parts, the models in PyTorch that steps compares with
    DIR/bin, lib                   gpu_runner, the CUDA half of the runtime, the C++ library
    DIR/goldens/NAME               the golden models, compiled, with what PyTorch gave
    DIR/models/NAME                the full-size models, compiled, without weights
    DIR/samples/NNNN               kernel tests: library, inputs, what the PTX interpreter gave
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

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GOLDENS = ROOT / "test" / "training" / "goldens"
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


def pack(options):
    out, build = options.directory, options.build.resolve()
    for folder in ("bin", "lib", "gpu", "export", "goldens", "models", "samples"):
        shutil.rmtree(out / folder, ignore_errors=True)
        (out / folder).mkdir(parents=True)
    pack_programs(out, build)
    wanted = options.models
    stored = sorted(path.parent.name for path in GOLDENS.glob("*/meta.json"))
    full = list(FULL_SIZE)
    if unknown := set(wanted or []) - {*stored, *full}:
        sys.exit(f"gpu-check: no model {', '.join(sorted(unknown))}; there are: {', '.join(stored + full)}")
    for name in stored:
        if wanted is None or name in wanted:
            pack_golden(out, build, name)
    for name in full:
        if wanted is None or name in wanted:
            pack_model(out, build, name, options)
    pack_samples(out, build, options.samples)
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


def needed(program):
    """{name: path or ""} of the shared libraries that a program needs, by ldd."""
    return {
        pathlib.Path(line.split()[0]).name: line.split()[2] if "=>" in line else ""
        for line in call(["ldd", program]).splitlines()
        if line.strip()
    }


def compile_options(meta, file):
    options = ["--loss", meta["loss"], "--optimizer", meta["optimizer"]]
    for name, size in meta["dims"].items():
        options += ["-D", f"{name}={size}"]
    for entry in meta["files"]:
        if entry["file"] == file and entry.get("freeze"):
            options += ["--freeze", "^(" + "|".join(map(re.escape, entry["freeze"])) + ")$"]
    return options


def compile_model(build, model, meta, library, weights):
    command = [build / "bin" / "accc", "compile", model, "-o", library, "--target", "cuda"]
    command += ["--arch", ARCHS, "--weights", weights, *compile_options(meta, model.name)]
    call(command, stderr=subprocess.DEVNULL)
    say(f"{library.parent.name}: {library.stat().st_size / 1e6:.1f} MB")


def pack_golden(out, build, name):
    folder = out / "goldens" / name
    folder.mkdir()
    for file in ("inputs", "golden", "golden64"):
        if (GOLDENS / name / f"{file}.safetensors").exists():
            shutil.copy(GOLDENS / name / f"{file}.safetensors", folder)
    shutil.copy(GOLDENS / name / "meta.json", folder)
    meta = json.loads((folder / "meta.json").read_text())
    compile_model(build, GOLDENS / name / "model.onnx", meta, folder / "model.so", "embed")


def pack_model(out, build, name, options):
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
            return
    folder = out / "models" / name
    folder.mkdir()
    meta = json.loads((export / "meta.json").read_text())
    shutil.copy(export / "meta.json", folder)
    shutil.copy(export / "inputs.safetensors", folder)
    compile_model(build, export / "model.onnx", meta, folder / "model.so", "none")


def pack_samples(out, build, tests):
    """Runs kernel tests on the stand-in for a device, which interprets their PTX."""
    if not tests:
        return
    standin = build / "test" / "gpu" / "standin" / "lib"
    environment = {"ACCC_TEST_TARGET": "cuda:compute_80", "ACCC_TEST_SAMPLES": str(out / "samples")}
    environment["LD_LIBRARY_PATH"] = str(standin)
    call([build / "bin" / "kernels_tests", tests], env=os.environ | environment)
    seen, size = set(), 0
    for folder in sorted((out / "samples").iterdir()):
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
