// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Nn.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Normalization.cpp.inc"
