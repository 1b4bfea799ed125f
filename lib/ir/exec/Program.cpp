// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/exec/Exec.h"

using namespace mlir;
using namespace accc::exec;

#define GET_OP_CLASSES
#include "ir/exec/Program.cpp.inc"
