// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_FRONTEND_ONNX_CUSTOMNODE_H
#define ACCC_FRONTEND_ONNX_CUSTOMNODE_H

#include "frontend/onnx/Node.h"

namespace accc::onnx_import {

/// Builds the call of an operator of the user's own.
Entities customNode(Node &node, const prim::CustomOperator &op);

} // namespace accc::onnx_import

#endif
