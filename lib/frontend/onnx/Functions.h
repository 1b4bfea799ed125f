// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that a model defines itself.
#ifndef ACCC_FRONTEND_ONNX_FUNCTIONS_H
#define ACCC_FRONTEND_ONNX_FUNCTIONS_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace accc::onnx_import {

struct Function {
  const onnx::FunctionProto *proto = nullptr;
  /// The attributes that a call may leave out, with their values.
  std::vector<onnx::AttributeProto> defaults;
};

class Functions {
public:
  /// Throws ImportError where an attribute cannot be read.
  explicit Functions(const onnx::ModelProto &model);

  /// What the node calls, or null.
  const Function *find(const onnx::NodeProto &node) const;

private:
  llvm::StringMap<Function> functions;
};

} // namespace accc::onnx_import

#endif
