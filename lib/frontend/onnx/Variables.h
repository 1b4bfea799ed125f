// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which initialisers are trained, which are kept between steps, and which are plain constants.
#ifndef ACCC_FRONTEND_ONNX_VARIABLES_H
#define ACCC_FRONTEND_ONNX_VARIABLES_H

#include "frontend/common/ImportResult.h"
#include "frontend/onnx/Proto.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

namespace accc::onnx_import {

enum class InitializerKind { Parameter, Buffer, Constant };

/// A variable of the model: an argument of @forward with an initial value.
struct Variable {
  std::string name;
  mlir::Value argument;
  InitializerKind kind;
  Weight weight;
  mlir::Value update; // its new value, or null
};

class Variables {
public:
  /// Throws ImportError for a bad regular expression in `options.frozen`.
  Variables(const onnx::ModelProto &model, const ImportOptions &options);

  /// What an initialiser is. PyTorch's exporter since 2.5 says so itself, in the metadata of
  /// value_info; else: floats are parameters, unless they are masks (all elements 0 or beyond
  /// -1e30), or scalars with a name that the exporter made up. Integers and booleans are constants.
  InitializerKind classify(const onnx::TensorProto &tensor, const Weight &weight) const;

  /// PyTorch's own optimisation of the exported graph went over this float initialiser: it is none
  /// of the module's parameters, though the others say that they are.
  bool isFolded(const onnx::TensorProto &tensor) const;

  bool isFrozen(llvm::StringRef name) const;

  std::vector<Variable> all;
  llvm::DenseMap<const onnx::TensorProto *, size_t> byTensor;
  void add(Variable variable);
  Variable *find(mlir::Value argument);

private:
  llvm::DenseMap<mlir::Value, size_t> byArgument;
  llvm::StringMap<std::string> kinds; // by initialiser name: PARAMETER, BUFFER, CONSTANT_TENSOR ...
  std::vector<llvm::Regex> frozen;
};

} // namespace accc::onnx_import

#endif
