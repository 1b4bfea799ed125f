// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Choice.cpp.inc"
