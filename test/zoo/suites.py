# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The suites of the zoo. A suite is a module with MODELS, whose keys are names, and build(name, seed)."""

import importlib

SUITES = ("timm", "huggingface", "torchbench", "libraries")
MORE = ("transformers", "multimodal")
"""Those that are run where they are asked for."""


def load(suite: str):
    """The suite's module, also that of `real`, which is none of SUITES. It imports the library that its models come from only when one is built."""
    return importlib.import_module(f"{suite}_models")
