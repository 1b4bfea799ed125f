#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the zoo keeps, measures again and writes. Exports are stand-ins, and so is the compiler: no PyTorch."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import threading
import types
import unittest
import unittest.mock

import checking
import real
import report
import suites
import zoo
from children import Failure, call
from floats import Floats
from targets import Target

# Counts its calls, and answers as its first line says.
COMPILER = """#!{python}
import json, os, pathlib, sys, time
{answer}
here = pathlib.Path(__file__).parent
if sys.argv[1] == "compile":
    with open(here / "calls", "a") as calls:
        print(sys.argv[2], file=calls)
    if answer == "refuse":
        sys.exit("accc: error: node 'x' (aten.x): the operator is not supported")
    if answer == "hang":
        time.sleep(60)
    if answer == "eat":
        bytearray(1 << 40)
    target = "cuda" if "--target" in sys.argv and answer != "fall back" else "cpu"
    summary = {{"kernels": {{target: 7}}, "entries": [{{"target": target}}], "parameters": {{"elements": 3}}}}
    pathlib.Path(sys.argv[sys.argv.index("--report") + 1]).write_text(json.dumps({{"summary": summary}}))
elif sys.argv[1] == "bench":
    print(json.dumps({{"median_ms": 20, "working_bytes": 4 << 20, "step_peak_bytes": 8 << 20}}))
else:
    if answer == "slow":
        time.sleep(60)
    if answer == "race":
        print("stand-in for the GPU: k_0: two threads write byte 8", file=sys.stderr)
        sys.exit(3)
    good = answer in ("right", "fall back")
    tensor = {{"name": "grad.w", "verdict": "close" if good else "FAILED", "passed": good, "relative_rmse": 0.25}}
    print(json.dumps({{"verdict": "pass" if good else "fail", "sections": [{{"tensors": [tensor]}}]}}))
    sys.exit(0 if good else 1)
"""


class ZooTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.results = zoo.Results(self.folder / "cache")
        self.exports({"export": {"file": "model.pt2"}, "onnx": {"error": "TypeError: no"}})
        stand_in = types.SimpleNamespace(MODELS={"net": {}})
        patch = unittest.mock.patch.object(suites, "load", lambda suite: stand_in)
        patch.start()
        self.addCleanup(patch.stop)

    def exports(self, found):
        folder = self.results.folder("timm", "net")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "exports.json").write_text(json.dumps(found))

    def options(self, answer, **options):
        accc = self.folder / "accc"
        accc.write_text(COMPILER.format(python=sys.executable, answer=f"answer = {answer!r}"))
        accc.chmod(0o755)
        settings = dict(fresh=False, keep_right=False, timeout=20, memory=16, accc=accc, target=Target("cpu"), floats=Floats())
        return types.SimpleNamespace(**{**settings, **options})

    def sweep(self, answer, compiler="1", formats=("export",), **options):
        found = self.options(answer, **options)
        return zoo.sweep_model("timm", "net", list(formats), found, self.results, compiler)

    def calls(self):
        path = self.folder / "calls"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def test_right(self):
        (row,) = self.sweep("right")
        self.assertEqual((row.verdict, row.kernels, row.worst, row.message), ("right", 7, 0.25, ""))

    def test_wrong_names_the_tensors(self):
        (row,) = self.sweep("wrong")
        self.assertEqual(row.verdict, "wrong")
        self.assertIn("1 of 1 tensors", row.message)
        self.assertIn("grad.w FAILED 0.25", row.message)

    def test_wrong_but_right_from_moved_weights(self):
        with unittest.mock.patch.object(checking, "_from_moved_weights", lambda *_: [4, 0]):
            (row,) = self.sweep("wrong")
        self.assertEqual(row.verdict, "rounding")
        self.assertIn("of accc's, likewise: [4, 0]", row.message)
        with unittest.mock.patch.object(checking, "_from_moved_weights", lambda *_: [4, 1]):
            (row,) = self.sweep("wrong", compiler="2")
        self.assertEqual(row.verdict, "wrong")

    def test_wrong_because_the_file_is(self):
        self.exports({"onnx": {"file": "model.onnx"}})
        with unittest.mock.patch.object(checking, "_other_loss", lambda _: "another loss"):
            (row,) = self.sweep("wrong", formats=["onnx"])
        self.assertEqual((row.verdict, row.message), ("no export", "another loss"))
        with unittest.mock.patch.object(checking, "_other_loss", lambda _: ""):
            (row,) = self.sweep("wrong", formats=["onnx"], compiler="2")
        self.assertEqual(row.verdict, "wrong")

    def test_refused_keeps_the_compilers_words(self):
        (row,) = self.sweep("refuse")
        self.assertEqual((row.verdict, row.kernels), ("refused", None))
        self.assertIn("aten.x", row.message)

    def test_limits(self):
        (row,) = self.sweep("hang", timeout=1)
        self.assertEqual((row.verdict, row.message), ("refused", "no end after 1 s"))
        (row,) = self.sweep("eat", compiler="2")
        self.assertIn("MemoryError", row.message)

    def test_other_target_has_rows_of_its_own(self):
        cuda = Target("cuda", ("--target", "cuda"), {**os.environ, "STANDIN": "1"})
        (row,) = self.sweep("right", target=cuda)
        self.assertEqual((row.verdict, row.target, row.kernels), ("right", "cuda", 7))
        self.assertEqual((self.sweep("wrong", target=cuda)[0].verdict, self.calls()), ("right", 1))
        self.assertEqual((self.sweep("wrong")[0].verdict, self.calls()), ("wrong", 2))
        (row,) = self.sweep("slow", compiler="2", target=cuda, timeout=1)
        self.assertEqual((row.verdict, row.message), ("too slow", "no end after 1 s"))
        self.assertEqual(self.sweep("slow", compiler="2", timeout=1)[0].verdict, "wrong")
        (row,) = self.sweep("race", compiler="3", target=cuda)
        self.assertEqual(row.verdict, "wrong")
        self.assertIn("two threads write byte 8", row.message)

    def test_library_for_another_target_proves_nothing(self):
        with self.assertRaisesRegex(RuntimeError, "compiled for cpu, not for cuda"):
            self.sweep("fall back", target=Target("cuda", ("--target", "cuda"), {**os.environ, "STANDIN": "1"}))

    def test_mixed_precision_is_that_of_the_goldens(self):
        meta = self.results.folder("timm", "net") / "meta.json"
        meta.write_text(json.dumps({"precision": "fp16", "loss_scale": "dynamic,init_scale=128"}))
        with unittest.mock.patch.object(checking, "run", wraps=checking.run) as run:
            (row,) = self.sweep("right", floats=Floats(precision="fp16"))
        self.assertEqual((row.verdict, row.precision), ("right", "fp16"))
        compiled, compared = (list(map(str, call.args[0])) for call in run.call_args_list)
        self.assertIn("--precision fp16 --loss-scale dynamic,init_scale=128", " ".join(compiled))
        self.assertIn("--tolerance", compared)

    def test_failed_export_keeps_the_exporters_words(self):
        (row,) = self.sweep("right", formats=["onnx"])
        self.assertEqual((row.verdict, row.message, self.calls()), ("no export", "TypeError: no", 0))

    def test_resumes(self):
        self.sweep("right")
        (row,) = self.sweep("wrong")
        self.assertEqual((row.verdict, self.calls()), ("right", 1))

    def test_another_compiler_measures_again(self):
        self.sweep("right")
        (row,) = self.sweep("wrong", compiler="2")
        self.assertEqual((row.verdict, self.calls()), ("wrong", 2))

    def test_keep_right_measures_only_what_is_not(self):
        self.sweep("right")
        (row,) = self.sweep("wrong", compiler="2", keep_right=True)
        self.assertEqual((row.verdict, self.calls()), ("right", 1))
        self.sweep("wrong", compiler="3")
        (row,) = self.sweep("right", compiler="4", keep_right=True)
        self.assertEqual((row.verdict, self.calls()), ("right", 3))

    def test_fresh_exports_again(self):
        self.sweep("right")
        with unittest.mock.patch.object(zoo, "make", lambda *_: {"export": {"error": "made anew"}}):
            (row,) = self.sweep("right", fresh=True)
        self.assertEqual(row.message, "made anew")

    def test_two_runs_take_turns(self):
        sweep = threading.Thread(target=self.sweep, args=("right",))
        with zoo.locked(self.results.folder("timm", "net")):
            sweep.start()
            sweep.join(0.5)
            self.assertEqual(self.calls(), 0)
        sweep.join()
        self.assertEqual(self.calls(), 1)

    def test_model_that_cannot_be_built(self):
        self.exports({})
        with unittest.mock.patch.object(
            checking, "call", lambda _, function, *rest: call("no_module", function, *rest)
        ):
            (row,) = self.sweep("right")
        self.assertEqual(row.verdict, "not built")
        self.assertIn("ModuleNotFoundError: No module named 'no_module'", row.message)

    def test_child_that_hangs(self):
        with self.assertRaisesRegex(Failure, "no end after 1 s"):
            call("time", "sleep", (60,), self.folder / "log", 1, 1 << 34)

    def test_report(self):
        self.sweep("right", formats=["export", "onnx"])
        page = self.folder / "zoo.md"
        report.write(self.results.all(), [], page)
        text = page.read_text()
        self.assertIn("| timm | export | 1 of 1 | 1 | 0 | 0 | 0 | 0 |", text)
        self.assertIn("| net | export | right |", text)
        none, some = text.split("## What no exporter exports")[1].split("## What one exporter does not export")
        self.assertNotIn("net", none)
        self.assertIn("- timm net, onnx: `TypeError: no`", some)

    def sweep_real(self, answer, compiler="1", exports=lambda *_: None):
        """Rows of a model at real size, for which PyTorch takes 30 ms a step."""
        options = self.options(answer, cache=self.folder / "cache", rounds=3, threads=1)

        @contextlib.contextmanager
        def eager(*_):
            yield lambda steps: {"memory": 6 << 20} if steps is None else {"median_ms": 30}

        with unittest.mock.patch.object(real, "call", exports), unittest.mock.patch.object(real, "_eager", eager):
            with contextlib.redirect_stdout(io.StringIO()):
                (row,) = real.sweep(["net"], options, compiler)
        return row

    def test_real_size(self):
        row = self.sweep_real("right")
        self.assertEqual((row.verdict, row.kernels, row.parameters, row.worst), ("right", 7, 3, 0.25))
        self.assertEqual((row.step_ms, row.eager_ms, row.ratio, row.memory), (20, 30, 1.5, 8 << 20))
        self.assertFalse((self.folder / "cache" / "real" / "net").exists())  # its goldens are large
        page = self.folder / "zoo.md"
        report.write([], real.RealResults(self.folder / "cache").all(), page)
        self.assertRegex(page.read_text(), r"\| net \| 0.0 M \| right \| 2.5e-01 \| .* \| 7 \| 4 \| 8 \| 6 \| 20 \| 30 \| 1.50 \|")

    def test_real_size_resumes(self):
        self.sweep_real("right")
        self.assertEqual((self.sweep_real("wrong").verdict, self.calls()), ("right", 1))
        row = self.sweep_real("wrong", compiler="2")
        self.assertEqual((row.verdict, row.ratio, self.calls()), ("wrong", 1.5, 2))

    def test_real_size_that_cannot_be_exported(self):
        def fail(*_):
            raise Failure("exit 1: RuntimeError: no memory")

        row = self.sweep_real("right", exports=fail)
        self.assertEqual((row.verdict, row.message, self.calls()), ("no export", "exit 1: RuntimeError: no memory", 0))


if __name__ == "__main__":
    unittest.main()
