# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files are on the disk before they have their name, and a process killed at any call leaves the old or the new."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

from command_line import ACCC, MLP, SECONDS, CommandLineTest

RECORDER = os.environ["ACCC_RECORDER"]
OLD = b"what was there"


def old_content(target):
    """What is replaced: anything, but for initial values, which replace their like only."""
    if not target.endswith(".so.safetensors"):
        return OLD
    header = json.dumps({"__metadata__": {"accc.compiled_weights": "an older one"}}).encode()
    return len(header).to_bytes(8, "little") + header


class Durability(CommandLineTest):
    def setUp(self):
        super().setUp()
        # Apart from the folder that is watched.
        log = tempfile.TemporaryDirectory()
        self.addCleanup(log.cleanup)
        self.log = pathlib.Path(log.name) / "log"

    def record(self, arguments, kill=None, number=signal.SIGKILL):
        """Runs the tool, killed at one call if asked for; returns (exit code, the calls)."""
        self.log.unlink(missing_ok=True)
        environment = dict(
            os.environ,
            LD_PRELOAD=RECORDER,
            ACCC_RECORD_FOLDER=os.path.realpath(self.folder),
            ACCC_RECORD_LOG=str(self.log),
        )
        if kill:
            environment["ACCC_RECORD_KILL"] = str(kill)
        if number != signal.SIGKILL:
            environment["ACCC_RECORD_SIGNAL"] = str(int(number))
        done = subprocess.run(
            [ACCC, *map(str, arguments)],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            start_new_session=True,
            timeout=SECONDS,
        )
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return done.returncode, [tuple(line.split(" ")) for line in lines]

    def check_order(self, calls, target):
        """Written, synchronised, renamed, and the folder synchronised; returns the place of the renaming."""
        places = [i for i, call in enumerate(calls) if call[0] == "rename" and call[2] == target]
        self.assertEqual(len(places), 1, calls)
        at = places[0]
        source = calls[at][1]
        # Until it is linked, a file without a name is known by a number.
        numbers = [call[1] for call in calls[:at] if call[0] == "link" and call[2] == source]
        calls = [tuple(source if part in numbers else part for part in call) for call in calls]
        self.assertEqual(os.path.dirname(source), os.path.dirname(target))
        synced = max(i for i, call in enumerate(calls[:at]) if call == ("sync", source))
        changes = [("write", source), ("create", source)]
        self.assertFalse([call for call in calls[synced:at] if call in changes], calls)
        self.assertTrue([call for call in calls[:synced] if call[-1] == source], calls)
        self.assertEqual(calls[at + 1 : at + 2], [("sync", ".")], "the new name is not brought to disk")
        self.assertFalse([call for call in calls if target in call[1:2]], "the file itself was written")
        return at

    def check(self, arguments, targets):
        self.accc(*arguments)
        whole = {target: self.content(target) for target in targets}
        inputs = [name for name in self.files() if name not in targets]
        for target in targets:
            (self.folder / target).write_bytes(old_content(target))
        code, calls = self.record(arguments)
        self.assertEqual(code, 0)
        renamed = {target: self.check_order(calls, target) for target in targets}
        self.assertEqual(self.files(), sorted([*inputs, *targets]))

        for kill in range(1, len(calls) + 1):
            for name in self.files():
                if name not in inputs:
                    (self.folder / name).unlink()
            for target in targets:
                (self.folder / target).write_bytes(old_content(target))
            code, _ = self.record(arguments, kill)
            self.assertEqual(code, -signal.SIGKILL, calls[kill - 1])
            for target in targets:
                expected = whole[target] if kill > renamed[target] + 1 else old_content(target)
                self.assertEqual(self.content(target), expected, (target, calls[kill - 1]))
            # Something temporary stays only of a file that had its name already.
            named = any(call[0] in ("create", "link") for call in calls[: kill - 1])
            for name in self.files():
                self.assertTrue(name in inputs or name in targets or (named and ".tmp" in name), name)
            if kill % 4 == 0:  # what is left over is in nobody's way
                self.accc(*arguments)
                for target in targets:
                    self.assertEqual(self.content(target), whole[target])

    def check_endings(self, arguments, targets):
        """Ended while files get their names, it leaves all as they were, or has written all, and nothing else."""
        inputs = [name for name in self.files() if name not in targets]
        for target in targets:
            (self.folder / target).write_bytes(old_content(target))
        code, calls = self.record(arguments)
        self.assertEqual(code, 0)
        whole = {target: self.content(target) for target in targets}
        old = {target: old_content(target) for target in targets}
        first = min(i for i, call in enumerate(calls, 1) if call[0] == "link" or (call[0] == "rename" and call[2] in targets))
        for kill in range(first, len(calls) + 1):
            for target in targets:
                (self.folder / target).write_bytes(old_content(target))
            code, _ = self.record(arguments, kill, signal.SIGTERM)
            self.assertIn(code, (-signal.SIGTERM, 128 + signal.SIGTERM), calls[kill - 1])
            self.assertEqual(self.files(), sorted([*inputs, *targets]), calls[kill - 1])
            self.assertIn({target: self.content(target) for target in targets}, (whole, old), calls[kill - 1])

    def content(self, target):
        """A file's bytes; of a report what does not depend on the machine's mood."""
        data = (self.folder / target).read_bytes()
        if target.endswith(".json") and data != OLD:
            report = json.loads(data)
            del report["compile"], report["summary"]["phase_seconds"]
            return report
        return data

    def test_parameters_and_outputs(self):
        library = self.library()
        command = ["run", library, "--inputs", MLP / "inputs.safetensors", "--steps", 1]
        self.check([*command, "--save-params", "p.safetensors", "--outputs", "o.safetensors"], ["p.safetensors", "o.safetensors"])

    def test_a_compiled_model(self):
        self.small()
        options = ["--weights", "beside", "--header", "m.h", "--report", "m.json"]
        self.check(["compile", "small.mlir", "-o", "m.so", *options], ["m.so.safetensors", "m.so", "m.h", "m.json"])

    def test_a_run_that_is_ended(self):
        library = self.library()
        command = ["run", library, "--inputs", MLP / "inputs.safetensors", "--steps", 1]
        self.check_endings([*command, "--save-params", "p.safetensors", "--outputs", "o.safetensors"], ["p.safetensors", "o.safetensors"])

    def test_a_compilation_that_is_ended(self):
        self.small()
        options = ["--weights", "beside", "--header", "m.h", "--report", "m.json"]
        self.check_endings(["compile", "small.mlir", "-o", "m.so", *options], ["m.so.safetensors", "m.so", "m.h", "m.json"])


if __name__ == "__main__":
    unittest.main()
