# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The workflow in docs/continuous-integration.md runs as it stands there."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest
import xml.etree.ElementTree

from command_line import ACCC, DATA, DONE, MLP, SECONDS, CommandLineTest

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


def blocks(language):
    """The code of the page in one language."""
    text = (DOCS / "continuous-integration.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(workflow):
    """(name, condition, commands) of each step of a workflow that runs something."""
    for step in re.split(r"^      - ", workflow, flags=re.MULTILINE)[1:]:
        field = lambda key: re.search(rf"^(?: {{8}})?{key}: (.*(?:\n {{10}}.*)*)", step, re.MULTILINE)
        if run := field("run"):
            condition = field("if")
            yield field("name")[1], condition and condition[1], run[1].removeprefix("|")


class Workflow(CommandLineTest):
    def shell(self, commands):
        """Runs commands with accc on the path, as a runner does; its exit code."""
        environment = {**os.environ, "PATH": f"{pathlib.Path(ACCC).resolve().parent}:{os.environ['PATH']}"}
        command = ["bash", "-e", "-o", "pipefail", "-c", commands]
        done = subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
        self.assertIn(done.returncode, (DONE, DATA), f"{commands}\n{done.stdout}\n{done.stderr}")
        return done.returncode

    def job(self):
        """The steps that ran, with their exit codes."""
        (workflow,) = blocks("yaml")
        codes = {}
        for name, condition, commands in steps(workflow):
            failed = any(codes.values())
            if failed == (condition == "failure()"):
                codes[name] = self.shell(commands)
        return codes

    def test_it_passes_and_notices(self):
        shutil.copy(MLP / "model.onnx", self.folder)
        (once,) = blocks("sh")
        self.assertEqual(self.shell(once), DONE)
        (self.folder / "model.so").unlink()
        codes = self.job()
        self.assertEqual(set(codes.values()), {DONE}, codes)
        self.assertEqual(len(codes), 4)
        # What was recorded is another model's: another rate of decay.
        self.assertEqual(self.shell(once.replace("=0.01", "=0.5")), DONE)
        codes = self.job()
        self.assertEqual({name for name, code in codes.items() if code}, {"Compare"})
        self.assertIn("Find the phase, op or kernel that is wrong", codes)
        suite = xml.etree.ElementTree.parse(self.folder / "diff.xml").getroot()[0]
        self.assertGreater(int(suite.get("failures")), 1)


if __name__ == "__main__":
    unittest.main()
