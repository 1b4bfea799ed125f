# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A terminal sends Ctrl-C to all processes of a command at once: the tool, the compiler, the linker."""

import os
import random
import signal
import subprocess
import time
import unittest

from command_line import ACCC, MLP, SECONDS, TRAINING, CommandLineTest

ENDINGS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
TRIES = 80


class Signals(CommandLineTest):
    COMMAND = [
        *("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING),
        *("--weights", "beside", "--header", "m.h", "--report", "m.json"),
    ]
    FILES = ["m.h", "m.json", "m.so", "m.so.safetensors"]

    def start(self, ignored=()):
        def dispositions():
            for number in ENDINGS:
                signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        command = [ACCC, *map(str, self.COMMAND)]
        return subprocess.Popen(command, cwd=self.folder, start_new_session=True, preexec_fn=dispositions, **streams)

    def stamps(self):
        return {name: (self.folder / name).stat().st_ino for name in self.files()}

    def timed(self):
        begin = time.monotonic()
        process = self.start()
        process.communicate(timeout=SECONDS)
        self.assertEqual(process.returncode, 0)
        return time.monotonic() - begin

    def test_a_process_group_that_is_ended(self):
        """At any moment: all files are new, or none is, there are no others, and nothing is said of it."""
        self.timed()
        whole, moments, ended = self.timed(), random.Random(0), 0
        for _ in range(TRIES):
            before, number = self.stamps(), moments.choice(ENDINGS)
            process = self.start()
            time.sleep(moments.uniform(0.3, 1.05) * whole)
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                pass
            _, error = process.communicate(timeout=SECONDS)
            self.assertIn(process.returncode, (0, -number))
            ended += process.returncode != 0
            self.assertEqual(self.files(), self.FILES, f"{number.name} {error}")
            renewed = {name for name, stamp in self.stamps().items() if stamp != before[name]}
            self.assertIn(renewed, (set(), set(self.FILES)), number.name)
            self.assertEqual(error, "")
        self.assertGreater(ended, 0)

    def test_what_is_ignored(self):
        """As under nohup, also where files get their names."""
        whole = self.timed()
        for part in (0.3, 0.6, 0.9):
            before = self.stamps()
            process = self.start(ignored=(signal.SIGHUP,))
            time.sleep(part * whole)
            try:
                os.killpg(process.pid, signal.SIGHUP)
            except ProcessLookupError:
                pass
            process.communicate(timeout=SECONDS)
            self.assertEqual(process.returncode, 0)
            self.assertFalse(set(before.items()) & set(self.stamps().items()))


if __name__ == "__main__":
    unittest.main()
