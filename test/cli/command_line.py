# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the command line share."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

ACCC = os.environ.get("ACCC", "accc")
GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "training" / "goldens"
MLP = GOLDENS / "digits_mlp"
TRAINING = ["--loss", "cross_entropy", "--optimizer", "adam", "-D", "batch=64"]

DONE, DATA, USAGE, MACHINE, BUG = range(5)

# A command that takes longer hangs: the test fails.
SECONDS = 300

# How mpirun starts processes as root in a container, on fewer cores than processes, without a way to other machines.
MPI_HERE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_plm": "isolated",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMP_NUM_THREADS": "1",
}

# y = tanh(x w), w [4, 3]
SMALL = """
func.func @forward(%w: tensor<4x3xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
                   %x: tensor<2x4xf32> {accc.name = "x", accc.role = #prim.role<input>})
    -> (tensor<2x3xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>,
    lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>}
    : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>
  %1 = prim.tanh %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}
"""


class CommandLineTest(unittest.TestCase):
    """Runs the tool in a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def accc(self, *arguments, code=DONE):
        """Runs it and checks the exit code; returns (standard output, standard error)."""
        command = [ACCC, *map(str, arguments)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(done.returncode, code, f"{command}\n{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def small(self):
        path = self.folder / "small.mlir"
        path.write_text(SMALL)
        return path

    def library(self):
        """The digits MLP, compiled."""
        path = self.folder / "mlp.so"
        self.accc("compile", MLP / "model.onnx", "-o", path, *TRAINING)
        return path

    def files(self):
        return sorted(path.name for path in self.folder.iterdir())


def read_safetensors(path):
    """{name: (dtype, shape, bytes)} of a file."""
    data = pathlib.Path(path).read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    header.pop("__metadata__", None)
    body = data[8 + size :]
    return {
        name: (entry["dtype"], entry["shape"], body[slice(*entry["data_offsets"])])
        for name, entry in header.items()
    }


def write_safetensors(path, tensors):
    """Writes what read_safetensors gives."""
    header, body = {}, b""
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {
            "dtype": dtype,
            "shape": shape,
            "data_offsets": [len(body), len(body) + len(data)],
        }
        body += data
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + body)


def floats(entry):
    dtype, _, data = entry
    assert dtype == "F32", dtype
    return struct.unpack(f"<{len(data) // 4}f", data)
