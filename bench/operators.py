#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times training steps of single operators and small patterns beside PyTorch eager, to find cliffs.

    bench/operators.py                       # all of operator_cases.py and derivative_cases.py, some 10 minutes
    bench/operators.py 'sort|topk' --threads 2
    bench/operators.py conv --before OLD     # and beside another build of accc

Each case is a module of which the inputs are parameters, with the mean square of its results as
loss and plain SGD, exported by torch.export, or, in derivative_cases.py, a model whose forward takes
derivatives, exported with its backward pass. The contenders take turns; of each round the 10th
percentile of the step times counts, and of the rounds the best: on a shared machine, and for a
cliff, that says more than a median. One thread is the default because two wait for each other
wherever something else has a core. Prints a table, the worst ratio first.

Needs Python with torch and safetensors.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import warnings

import worker

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 300  # seconds for compiling a case or measuring a round


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="regular expression of cases' names")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3, help="of steps a round, 5 at least")
    parser.add_argument("--accc", default=str(ROOT / "build" / "bin" / "accc"))
    parser.add_argument("--before", help="another accc, to compare with")
    parser.add_argument("--compiled", action="store_true", help="torch.compile in place of eager")
    return parser.parse_args()


class Failed(Exception):
    """A case that a contender could not do; the text says why."""


def run_accc(program, *arguments):
    done = subprocess.run(
        [program, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT
    )
    if done.returncode:
        raise Failed(f"accc {arguments[0]}: {(done.stderr.splitlines() or ['no message'])[0]}")
    return done.stdout


def is_joint(case):
    """Whether the file holds the loss and the backward pass."""
    return getattr(case, "is_joint", False)


def export(module, inputs, folder, joint):
    """Writes model.pt2, and inputs.safetensors where the case has inputs."""
    import torch
    from safetensors.torch import save_file

    if joint:
        import accc_export

        names = accc_export.export_joint(module, inputs, folder / "model.pt2", loss="output:output").inputs
    else:
        program = torch.export.export(module, inputs)
        torch.export.save(program, folder / "model.pt2")
        specs = program.graph_signature.input_specs
        names = [spec.arg.name for spec in specs if spec.kind.name == "USER_INPUT"]
    if inputs:
        stored = {name: x.detach().contiguous() for name, x in zip(names, inputs)}
        save_file(stored, folder / "inputs.safetensors")


def serve(case, folder, options):
    """PyTorch's side, in a process of its own: exports, then answers as worker.serve does."""
    import torch

    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    module, inputs = case()
    export(module, inputs, folder, is_joint(case))
    print("exported", flush=True)
    sys.stdin.readline()
    base = worker.memory("VmRSS") - sum(x.nbytes for x in (*module.state_dict().values(), *inputs))
    optimizer = torch.optim.SGD(module.parameters(), 0.0, fused=True)
    forward = torch.compile(module) if options.compiled else module

    def step():
        loss = forward(*inputs)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        return loss.item()

    worker.serve(step, base, {})


class Torch:
    """A fork of this process, which has imported torch and not used it yet."""

    def __init__(self, case, folder, options):
        requests, ours = os.pipe()
        answers, theirs = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            os.dup2(requests, 0)
            os.dup2(theirs, 1)
            os.close(ours)
            os.close(answers)
            try:
                serve(case, folder, options)
            except BaseException as error:
                os.write(1, f"{type(error).__name__}: {error}".replace("\n", " ").encode())
            os._exit(0)
        os.close(requests)
        os.close(theirs)
        self.requests, self.answers = os.fdopen(ours, "w"), os.fdopen(answers)

    def answer(self):
        line = self.answers.readline().strip()
        if line != "exported" and not line.startswith("{"):
            raise Failed(f"PyTorch: {line[:300] or 'ended'}")
        return line

    def ask(self, request):
        print(request, file=self.requests, flush=True)
        return json.loads(self.answer())

    def stop(self):
        os.kill(self.process, 9)
        os.waitpid(self.process, 0)
        self.answers.close()
        self.requests.close()


def measure(case, folder, options):
    programs = {"accc": options.accc} | ({"before": options.before} if options.before else {})
    torch_side = Torch(case, folder, options)
    try:
        torch_side.answer()
        result = {}
        for name, program in programs.items():
            begin = time.perf_counter()
            command = ["compile", folder / "model.pt2", "-o", folder / f"{name}.so", "-q"]
            command += ["--arch", "native", "--weights", "beside", "--optimizer", "sgd"]
            command += [] if is_joint(case) else ["--loss", "output:output_0"]
            run_accc(program, *command)
            result.setdefault("compile_s", time.perf_counter() - begin)
        stored = folder / "inputs.safetensors"
        given = ["--inputs", stored] if stored.exists() else []

        def bench(name, *more):
            command = ["bench", folder / f"{name}.so", "--json", "--threads", options.threads]
            return json.loads(run_accc(programs[name], *command, *given, *more))

        first = bench("accc", "--steps", 3)
        report = torch_side.ask("begin")
        result |= {"memory": first["step_peak_bytes"], "torch_memory": report["memory"]}
        times = {name: [] for name in (*programs, "torch")}
        for _ in range(options.rounds):
            for name in programs:
                times[name].append(bench(name, "--seconds", options.seconds)["p10_ms"])
            times["torch"].append(torch_side.ask(options.seconds)["p10_ms"])
        return result | {name: min(each) for name, each in times.items()}
    finally:
        torch_side.stop()


def row(name, result):
    ratio = result["torch"] / result["accc"]
    cells = [name, f"{ratio:.2f}", f"{result['accc']:.3g}", f"{result['torch']:.3g}"]
    cells += [f"{result['compile_s']:.2f}"]
    cells += [f"{result[key] / 1e6:.0f}" for key in ("memory", "torch_memory")]
    if "before" in result:
        cells.append(f"{result['before'] / result['accc']:.2f}")
    return "| " + " | ".join(cells) + " |"


def main():
    options = parse_arguments()
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = str(options.threads)
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    warnings.filterwarnings("ignore")
    import derivative_cases  # with torch, which reads the environment
    import operator_cases

    results, failures = {}, {}
    for name, case in (operator_cases.CASES | derivative_cases.CASES).items():
        if not re.search(options.pattern, name):
            continue
        with tempfile.TemporaryDirectory(prefix="accc-bench-") as folder:
            try:
                results[name] = measure(case, pathlib.Path(folder), options)
                print(row(name, results[name]), file=sys.stderr, flush=True)
            except (Failed, subprocess.TimeoutExpired) as failure:
                failures[name] = str(failure)
                print(f"{name}: {failure}", file=sys.stderr, flush=True)
    titles = ["case", "PyTorch / accc", "accc ms", "PyTorch ms", "compile s", "MB", "PyTorch MB"]
    titles += ["before / accc"] if options.before else []
    print("| " + " | ".join(titles) + " |\n| --- " + "| ---: " * (len(titles) - 1) + "|")
    for name in sorted(results, key=lambda name: results[name]["torch"] / results[name]["accc"]):
        print(row(name, results[name]))
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
