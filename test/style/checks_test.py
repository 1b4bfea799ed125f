#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The checks of this folder find what they are for, and nothing else."""

import unittest

import files
import includes
import limits


class Includes(unittest.TestCase):
    def violations(self, name, line):
        return list(includes.violations_of(name, line))

    def test_down_is_allowed(self):
        for name, included in (
            ("lib/driver/Pipeline.cpp", "training/MakeTrainable.h"),
            ("lib/fusion/FormFusions.cpp", "ir/prim/Prim.h"),
            ("lib/ir/nn/Linear.cpp", "ir/prim/Tensor.h"),
            ("lib/codegen/host/Entry.cpp", "accc/abi.h"),
            ("lib/runtime/core/Model.cpp", "accc/model.h"),
            ("lib/runtime/cpu/CpuDevice.h", "core/Device.h"),
            ("lib/training/loss/Loss.cpp", "training/loss/Losses.def"),
            ("lib/ir/prim/Tensor.cpp", "mlir/IR/Builders.h"),
            ("lib/reference/ptx/Launch.cpp", "reference/ptx/Warp.h"),
        ):
            self.assertEqual(self.violations(name, f'#include "{included}"'), [], (name, included))

    def test_up_and_sideways_are_not(self):
        for name, included in (
            ("lib/ir/prim/Tensor.cpp", "ir/nn/Nn.h"),
            ("lib/ir/interfaces/Interfaces.h", "ir/prim/Prim.h"),
            ("lib/ir/nn/Linear.cpp", "fusion/Passes.h"),
            ("lib/schedule/Schedule.cpp", "codegen/Generate.h"),
            ("lib/support/Spec.cpp", "ir/prim/Prim.h"),
            ("lib/training/MakeTrainable.cpp", "driver/Options.h"),
            ("lib/codegen/Generate.cpp", "accc/trainer.h"),
            ("lib/runtime/core/Model.cpp", "support/Spec.h"),
            ("lib/runtime/core/Session.cpp", "cpu/Team.h"),
            ("lib/runtime/cpu/Team.cpp", "cuda/Stream.h"),
            ("lib/runtime/data/Tensor.cpp", "core/Device.h"),
            ("lib/runtime/core/Model.cpp", "llvm/ADT/ArrayRef.h"),
            ("lib/reference/ptx/Module.cpp", "support/Spec.h"),
            ("lib/reference/ptx/Memory.cpp", "accc/abi.h"),
            ("lib/reference/ptx/Types.h", "llvm/ADT/ArrayRef.h"),
            ("include/accc/model.h", "ir/prim/Prim.h"),
            ("tools/accc/compile.cpp", "codegen/Generate.h"),
        ):
            self.assertEqual(len(self.violations(name, f'#include "{included}"')), 1, (name, included))

    def test_tablegen_includes_count(self):
        self.assertEqual(len(self.violations("lib/ir/prim/Unary.td", 'include "ir/nn/NnDialect.td"')), 1)


class Files(unittest.TestCase):
    licence = ("// " + files.LICENCE + "\n").encode()

    def problems(self, name, data):
        return list(files.problems_of(name, data))

    def test_clean(self):
        self.assertEqual(self.problems("lib/a/A.cpp", self.licence + b"int a;\n"), [])
        self.assertEqual(self.problems("lib/a/A.cpp", self.licence + b"// /usr/lib, a/work/b, $HOME/x\n"), [])
        self.assertEqual(self.problems("docs/a.md", b"text\n" * 1000), [])

    def test_licence(self):
        for name in ("lib/a/A.cpp", "test/ir/add.mlir", "lib/CMakeLists.txt"):
            self.assertEqual(len(self.problems(name, b"int a;\n")), 1, name)
        self.assertEqual(len(self.problems("scripts/test", b"#!/bin/sh\n")), 1)

    def test_size(self):
        self.assertEqual(self.problems("lib/a/A.cpp", self.licence + b"\n" * 499), [])
        self.assertEqual(len(self.problems("lib/a/A.cpp", self.licence + b"\n" * 500)), 1)

    def test_errors_of_the_runtime(self):
        catch = b"} catch (const Error &error) {\n"
        self.assertEqual(len(self.problems("lib/driver/A.cpp", self.licence + catch)), 1)
        self.assertEqual(len(self.problems("lib/driver/A.cpp", self.licence + b'throw accc::Error("");\n')), 1)
        self.assertEqual(self.problems("lib/runtime/core/A.cpp", self.licence + catch), [])
        self.assertEqual(self.problems("lib/frontend/A.cpp", self.licence + b"catch (const ErrorKind &)\n"), [])

    def test_machine_paths(self):
        path = b"/" + b"home/someone/src"
        self.assertEqual(len(self.problems("model.onnx", b"\0\1" + path)), 1)
        self.assertEqual(len(self.problems("docs/a.md", b"see " + path)), 1)


class Limits(unittest.TestCase):
    def lines(self, text):
        return [line for line, _ in limits.problems_of(text)]

    def test_what_waits_has_a_limit(self):
        self.assertEqual(self.lines("subprocess.run(command, check=True)\n"), [1])
        self.assertEqual(self.lines("a = 1\nprocess.wait()\nprocess.communicate(b'')\n"), [2, 3])
        self.assertEqual(self.lines("subprocess.check_output(['ls'])\n"), [1])

    def test_what_has_one_is_fine(self):
        self.assertEqual(self.lines("subprocess.run(command, timeout=3)\nprocess.wait(timeout=3)\n"), [])
        self.assertEqual(self.lines("subprocess.Popen(command)\nqueue.run()\n"), [])


if __name__ == "__main__":
    unittest.main()
