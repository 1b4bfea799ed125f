// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_FRONTEND_ONNX_LINEARATTENTION_H
#define ACCC_FRONTEND_ONNX_LINEARATTENTION_H

#include "frontend/onnx/OpTable.h"

namespace accc::onnx_import {

/// The rule of LinearAttention.
Entities linearAttention(Node &node);

} // namespace accc::onnx_import

#endif
