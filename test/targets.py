# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The targets that a script compiles models for, and the machine that then runs them: this one's processor, by the
instructions that accc takes by default or by all that it has, or the stand-in for a GPU (test/gpu/standin), which interprets
every kernel and stops at races, uninitialised reads and accesses out of bounds."""

import dataclasses
import json
import os
import pathlib

NAMES = ("cpu", "native", "cuda")
HELP = "native: with all instructions of this processor; cuda: the stand-in for a GPU runs the libraries"
FAULT = "stand-in for the GPU: "  # how the stand-in begins a line about what a kernel did wrong


@dataclasses.dataclass(frozen=True)
class Target:
    """`options` are those of `accc compile` and `accc diff MODEL`; `environment` is that of whatever runs the library."""

    name: str
    options: tuple[str, ...] = ()
    environment: dict = dataclasses.field(default_factory=dict)

    def check_compiled(self, report: pathlib.Path) -> None:
        """Fails unless all entry points in the report of `accc compile` are code for this target and for no other.

        A library without code for the CPU cannot be run by it, so that what it gives is the target's.
        """
        summary = json.loads(report.read_text())["summary"]
        found = {entry["target"] for entry in summary["entries"]}
        wanted = "cuda" if self.name == "cuda" else "cpu"
        if found != {wanted} or set(summary["kernels"]) - {wanted}:
            raise RuntimeError(f"compiled for {', '.join(sorted(found)) or 'nothing'}, not for {wanted}")


def find(name: str, accc: pathlib.Path) -> Target:
    """The target with its machine; the stand-in is that of the build to which `accc` belongs."""
    if name == "cpu":
        return Target("cpu")
    if name == "native":
        return Target("native", ("--arch", "native"))
    folder = accc.resolve().parents[1] / "test" / "gpu" / "standin" / "lib"
    if not (folder / "libcuda.so.1").exists():
        raise SystemExit(f"{folder} holds no stand-in for a GPU: build it (standin_cuda, standin_cublasLt, standin_cudnn)")
    return Target("cuda", ("--target", "cuda", "--arch", "compute_80"), {**os.environ, "LD_LIBRARY_PATH": str(folder)})
