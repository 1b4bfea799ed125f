# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a killed process or a full disk leaves behind: the file that was there, or a whole new one."""

import os
import pathlib
import resource
import signal
import subprocess
import time
import unittest

from command_line import ACCC, MACHINE, MLP, SECONDS, TRAINING, CommandLineTest

INPUTS = ["--inputs", MLP / "inputs.safetensors"]
KILLS = 12


class Faults(CommandLineTest):
    def kill_while(self, arguments, target):
        """Kills the command after more and more of its time: `target` is what it was, or whole."""
        self.accc(*arguments)
        whole = target.read_bytes()
        start = time.monotonic()
        self.accc(*arguments)
        seconds = time.monotonic() - start
        self.assertEqual(target.read_bytes(), whole)
        killed = 0
        for i in range(KILLS):
            target.write_bytes(b"what was there")
            process = subprocess.Popen(
                [ACCC, *map(str, arguments)],
                cwd=self.folder,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            time.sleep(seconds * (i + 0.5) / KILLS)
            process.send_signal(signal.SIGKILL)
            killed += process.wait(timeout=SECONDS) == -signal.SIGKILL
            self.assertIn(target.read_bytes(), (b"what was there", whole))
        self.assertGreater(killed, 0)
        self.accc(*arguments)  # what was left over is in nobody's way
        self.assertEqual(target.read_bytes(), whole)

    @unittest.skipIf(b"__asan_init" in pathlib.Path(ACCC).read_bytes(), "AddressSanitizer itself takes more address space")
    def test_no_memory_for_threads(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_STACK, (2 << 30, 2 << 30))  # of each thread
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

        def error_of(*command):
            done = subprocess.run(
                [ACCC, *map(str, command)],
                cwd=self.folder,
                preexec_fn=limit,
                capture_output=True,
                text=True,
                timeout=SECONDS,
            )
            self.assertEqual(done.returncode, MACHINE, done.stderr)
            return done.stderr

        compilation = ["compile", MLP / "model.onnx", "-o", "m.so", *TRAINING]
        self.assertIn("not enough memory to compile the model", error_of(*compilation))
        self.assertEqual(self.files(), [])
        self.accc(*compilation)
        self.assertIn("accc: error: cannot start 4 threads: ", error_of("run", "m.so", "--threads", 4, *INPUTS))

    @unittest.skipIf(b"__asan_init" in pathlib.Path(ACCC).read_bytes(), "AddressSanitizer itself takes more address space")
    def test_no_memory_for_what_a_step_needs(self):
        self.accc("compile", MLP / "model.onnx", "-o", "m.so", *TRAINING)

        def code(kilobytes, *command):
            limit = (kilobytes << 10, kilobytes << 10)
            return subprocess.run(
                [ACCC, *map(str, command)],
                cwd=self.folder,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
            ).returncode

        least, enough = 0, 1 << 20
        while enough - least > 500:
            middle = (least + enough) // 2
            least, enough = (least, middle) if code(middle, "--version") == 0 else (middle, enough)
        run = ["run", "m.so", "--threads", 1, *INPUTS]
        codes = [code(enough + 1000 * i, *run) for i in range(48)]
        self.assertEqual(set(codes), {0, MACHINE}, codes)

    def test_a_crash_without_memory_is_no_bug(self):
        linker = self.folder / "ld.lld-19"
        linker.write_text("#!/bin/sh\nprlimit --pid $PPID --as=4096\nkill -SEGV $PPID\nsleep 1\n")
        linker.chmod(0o755)
        done = subprocess.run(
            [ACCC, "compile", str(MLP / "model.onnx"), "-o", "m.so", *TRAINING],
            cwd=self.folder,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        self.assertEqual(done.returncode, MACHINE, done.stderr)
        self.assertIn("not enough memory to compile the model", done.stderr)
        linker.unlink()
        self.assertEqual(self.files(), [])

    def test_a_killed_compilation(self):
        command = ["compile", MLP / "model.onnx", "-o", "m.so", *TRAINING]
        self.kill_while(command, self.folder / "m.so")

    def test_killed_while_it_links(self):
        (self.folder / "tmp").mkdir()
        linker = self.folder / "ld.lld-19"
        linker.write_text("#!/bin/sh\nkill -KILL $PPID\n")
        linker.chmod(0o755)
        environment = {"PATH": f"{self.folder}:{os.environ['PATH']}", "TMPDIR": str(self.folder / "tmp")}
        done = subprocess.run(
            [ACCC, "compile", str(MLP / "model.onnx"), "-o", "m.so", *TRAINING],
            cwd=self.folder,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
        self.assertEqual(done.returncode, MACHINE, done.stderr)
        self.assertIn("the compiler was killed", done.stderr)
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def test_a_killed_run(self):
        library = self.library()
        command = ["run", library, *INPUTS, "--steps", 50, "--save-params", "p.safetensors"]
        self.kill_while(command, self.folder / "p.safetensors")

    def limited(self, limit, *arguments):
        """Runs a command that may write no file of more than `limit` bytes (ulimit -f), as if the disk were full."""

        def limit_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # which Python ignores
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        command = [ACCC, *map(str, arguments)]
        return subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, preexec_fn=limit_files, timeout=SECONDS
        )

    def test_no_room_for_the_library(self):
        command = ["compile", MLP / "model.onnx", "-o", "m.so", *TRAINING]
        self.accc(*command)
        size = (self.folder / "m.so").stat().st_size
        (self.folder / "m.so").write_bytes(b"what was there")
        before = self.files()
        for limit in (0, 4096, size - 1):
            done = self.limited(limit, *command)
            self.assertEqual(done.returncode, MACHINE, done.stderr)
            self.assertRegex(done.stderr, r"accc: error: (cannot write .*: File too large|the linker failed)")
            self.assertEqual((self.folder / "m.so").read_bytes(), b"what was there")
            self.assertEqual(self.files(), before)

    def test_no_room_for_dumps(self):
        command = ["compile", MLP / "model.onnx", "-o", "m.so", *TRAINING, "--dump-dir"]
        self.accc(*command, "whole")
        sizes = {path.name: path.stat().st_size for path in (self.folder / "whole").iterdir()}
        phases = max(size for name, size in sizes.items() if name[0].isdigit())
        self.assertLess(phases, sizes["kernels.mlir"])  # which is written after them
        done = self.limited(phases, *command, "part")
        self.assertEqual(done.returncode, MACHINE, done.stderr)
        self.assertIn("accc: error: cannot write 'part/kernels.mlir': File too large", done.stderr)

    def test_no_room_for_parameters(self):
        library = self.library()
        (self.folder / "p.safetensors").write_bytes(b"what was there")
        before = self.files()
        command = ["run", library, *INPUTS, "--steps", 2, "--save-params", "p.safetensors"]
        done = self.limited(4096, *command)
        self.assertEqual(done.returncode, MACHINE, done.stderr)
        self.assertIn("p.safetensors", done.stderr)
        self.assertEqual((self.folder / "p.safetensors").read_bytes(), b"what was there")
        self.assertEqual(self.files(), before)


if __name__ == "__main__":
    unittest.main()
