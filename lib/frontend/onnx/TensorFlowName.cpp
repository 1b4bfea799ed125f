// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/TensorFlowName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace accc::onnx_import;

/// The text without `separator` and a number at its end, if it has them.
static llvm::StringRef withoutNumber(llvm::StringRef text, llvm::StringRef separator) {
  llvm::StringRef stem = text.rtrim("0123456789");
  return stem.size() < text.size() && stem.consume_back(separator) && !stem.empty() ? stem : text;
}

TensorFlowName::TensorFlowName(llvm::StringRef name) : whole(name) {
  llvm::StringRef node = withoutNumber(name, ":"), own = withoutNumber(node, "__");
  ofConverter = own != node;
  own.split(path, '/');
  for (llvm::StringRef &part : path)
    part = withoutNumber(part, "_");
}

bool TensorFlowName::isVariable() const {
  return !ofConverter && llvm::is_contained(path, "ReadVariableOp");
}

bool TensorFlowName::isConstant() const {
  return !ofConverter && llvm::StringSwitch<bool>(op())
                             .Cases("Const", "x", "y", true)
                             .Cases("zeros", "ones", "zeros_like", "ones_like", true)
                             .Default(false);
}

bool TensorFlowName::isRearranged() const {
  return !ofConverter && llvm::StringSwitch<bool>(op())
                             .Cases("Reshape", "Squeeze", "ExpandDims", "Identity", true)
                             .Cases("Transpose", "transpose", "Cast", "concat", true)
                             .Default(false);
}

bool TensorFlowName::isDrawn() const {
  return !isVariable() && llvm::any_of(path, [](llvm::StringRef part) {
    return part.starts_with("stateless_random_") || part == "stateless_dropout" ||
           part == "random_uniform" || part == "random_normal" || part == "truncated_normal";
  });
}

bool TensorFlowName::isWithin(llvm::StringRef scope) const {
  return llvm::is_contained(llvm::ArrayRef(path).drop_back(), scope);
}

bool TensorFlowName::isFoldedConvolution() const {
  return op() == "merged_input" || op().ends_with("_fused_bn");
}

std::string TensorFlowName::scope() const {
  llvm::SmallVector<llvm::StringRef> parts;
  whole.split(parts, '/');
  std::string scope;
  for (size_t i = 0; i + 1 < parts.size() && path[i] != "batchnorm" && path[i] != "moments"; ++i)
    scope += (i ? "/" : "") + parts[i].str();
  return scope.empty() ? whole.str() : scope;
}
