# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exports, compiles and runs the training of a setup."""

import os
import subprocess
import warnings

import torch
from safetensors.torch import load_file, save_file

import accc_export
import checking
import reference
from options import least_budget

SECONDS = 120
FAULTS = ("fault", "faultadded")  # calls with a batch at fault
SUFFIX = {"export": ".pt2", "joint": ".pt2", "onnx": ".onnx"}


class Runner:
    """A build of accc with the program of this folder, and the machine that runs libraries (targets.Target)."""

    def __init__(self, accc, program, target):
        self.accc, self.program, self.target = accc, program, target

    def run(self, setup, folder):
        """What the program records. Throws checking.Unjudged where there is nothing to compare."""
        library, data = folder / "model.so", folder / "data.safetensors"
        module = setup.make()
        self.compile(setup, module, library)
        batches = reference.batches(setup, module)
        shares = {(i, rank): reference.share(setup, batch, rank) for i, batch in enumerate(batches) for rank in range(setup.ranks)}
        save_file({f"{i}.{rank}.{name}": x.contiguous() for (i, rank), own in shares.items() for name, x in own.items()}, data)
        faulty = len(setup.rows)
        calls = [call.text(faulty if call.what in FAULTS else 0) for call in setup.calls]
        out = folder / "out.safetensors"
        self.train(library, data, out, setup.ranks, [f"{call}/{i}" for i, call in enumerate(calls)])
        found = load_file(out)
        self.resume(setup, library, data, out, calls, found)
        return found

    def compile(self, setup, module, library):
        path = library.with_suffix(SUFFIX[setup.format])
        options = self.export(setup, module, path)
        command = [path, "-o", library, "-q", *options, *self.target.options]
        for step in setup.steps:
            command += ["--loss", f"{step.name}={step.loss}" if step.name else step.loss] if setup.format != "joint" else []
            command += step.options()
        for pattern, group in setup.groups:
            command += ["--param-group", pattern, group]
        command += ["--loss-scale", setup.scale] if setup.scale else []
        command += ["--precision", setup.precision] if setup.precision != "fp32" else []
        command += ["--accumulate-gradients"] if setup.accumulates else []
        command += ["--data-parallel"] if setup.ranks > 1 else []
        command += ["--sync-batch-norm"] if setup.synchronized else []
        command += ["--freeze", setup.frozen] if setup.frozen else []
        more = list(setup.options)
        if more[:1] == ["--memory-budget"]:
            more[1] = str(int(least_budget(str(self.accc), ["compile", *map(str, command)], {})))
        self._call([self.accc, "compile", *command, *more], {})

    def export(self, setup, module, path):
        """Writes the model; the sizes of its rows as options."""
        given = dict(reference.batches(setup, module)[setup.rows.index(max(setup.rows))])
        target = given.pop("target", None)
        own = given if target is None or setup.format != "joint" else {**given, "target": target}
        dynamic = {"rows": dict.fromkeys(own, 0)}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if setup.format == "joint":
                    done = accc_export.export_joint(module, given, path, loss=module.loss, target=target, dynamic=dynamic)
                else:
                    done = accc_export.export(module, given, path, dynamic=dynamic)
        except accc_export.ExportError as error:
            raise checking.NoExport(str(error)[:600]) from None
        sizes = ",".join(map(str, sorted({size for rows in setup.rows for size in setup.split(rows)}, reverse=True)))
        return ["-D", f"{next(iter(done.dims))}={sizes}"]

    def resume(self, setup, library, data, out, calls, whole):
        """The same in two processes, the second from a checkpoint of the first, and without what changes nothing: the same bits."""
        kept = [(i, call) for i, call in enumerate(calls) if setup.calls[i].what not in ("eval", "average", *FAULTS)]
        words = [f"{call}/{i}" for i, call in kept]
        half = len(words) * (1 + setup.seed % 3) // 4
        while setup.ranks > 1 and not words[half - 1].startswith("state"):
            half += 1  # sums of gradients are each process's own
        rates = [word for word in words[:half] if word.startswith("rate")]
        out = out.with_name("resumed.safetensors")
        self.train(library, data, out, setup.ranks, [*words[:half], "save@checkpoint"])
        found = load_file(out)
        # A checkpoint holds the rate; a program that sets it again has the same.
        again = rates[-1:] if setup.seed % 2 else []
        self.train(library, data, out, setup.ranks, ["load@checkpoint", *again, *words[half:]])
        found |= load_file(out)
        for name, x in found.items():
            if name not in whole or x.shape != whole[name].shape or not torch.equal(_bits(x), _bits(whole[name])):
                raise checking.Crash(f"resumed from a checkpoint, {name} has other bits")

    def train(self, library, data, out, ranks, words):
        self._call([self.program, library, data, out, ranks, *words], self.target.environment)

    def _call(self, words, environment):
        words = list(map(str, words))
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise checking.Crash(f"no end of {words[0]} after {SECONDS} s") from None
        said = (done.stdout + done.stderr).strip()[-800:]
        if done.returncode in (1, 2) and words[0] == str(self.accc):
            raise checking.Refused(said)
        if done.returncode:
            raise checking.Crash(f"exit {done.returncode}: {said}")


def _bits(x):
    return x.contiguous().view(-1).view(torch.uint8)
