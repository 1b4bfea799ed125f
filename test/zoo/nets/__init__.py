# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks of TorchBench whose own packages are not on hand, written anew: the same operators, small."""
