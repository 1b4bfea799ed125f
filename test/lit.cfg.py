# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The lit tests of every folder under test/. By hand: lit.py -v test/ir [--param build=<build folder>]
import os

import lit.formats

source = os.path.dirname(os.path.abspath(__file__))
build = lit_config.params.get("build", os.path.join(os.path.dirname(source), "build"))

config.name = "accc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
# small-thresholds: the tools take the ways of large tensors for small ones (lib/support/SizeThreshold.h). A test of a
# threshold itself is UNSUPPORTED there; every other test holds there, too.
if os.environ.get("ACCC_SIZE_DIVISOR", "1") != "1":
    config.available_features.add("small-thresholds")
config.test_source_root = source
config.test_exec_root = os.path.join(build, "test", "lit")

llvm_tools = lit_config.params.get("llvm_tools", "/usr/lib/llvm-19/bin")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), llvm_tools, os.environ["PATH"]]
)
# What tells the tools something (scripts/mutate: which mutant is on) reaches them.
config.environment.update({name: value for name, value in os.environ.items() if name.startswith("ACCC_")})
