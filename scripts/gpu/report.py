# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables on the terminal and in results.md, where they are rows of docs/gpu-results.md."""

import shlex
import sys
import time


class Report:
    """Tables of one part. `device` is what Machine.describe() gave, or None."""

    def __init__(self, directory, part, device):
        self.path = directory / "results.md"
        command = "gpu-check " + " ".join(map(shlex.quote, sys.argv[1:]))
        where = "no device"
        if device:
            where = f"{device['device']} (driver {device['driver']}, CUDA {device['cuda']}, "
            where += f"cuBLASLt {device['cublaslt']}, cuDNN {device['cudnn']})"
        self._write(f"\n## {part}\n\n{time.strftime('%Y-%m-%d %H:%M')}, {where}, `{command}`")

    def _write(self, text):
        print(text, flush=True)
        with open(self.path, "a") as file:
            file.write(text + "\n")

    def say(self, text):
        self._write("\n" + text)

    def table(self, header, rows):
        """Rows of values; floats get four digits. Nothing for no rows."""
        if not rows:
            return
        cells = [list(header)] + [[text_of(value) for value in row] for row in rows]
        widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
        lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        self._write("\n" + "\n".join(lines))


def text_of(value):
    if isinstance(value, float):
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"
    return str(value).replace("|", "/").replace("\n", " ")
