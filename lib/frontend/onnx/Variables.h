// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which initialisers are trained, which are kept between steps, and which are plain constants.
#ifndef ACCC_FRONTEND_ONNX_VARIABLES_H
#define ACCC_FRONTEND_ONNX_VARIABLES_H

#include "frontend/common/ImportResult.h"
#include "frontend/onnx/ExportMetadata.h"
#include "frontend/onnx/Proto.h"
#include "frontend/onnx/Recovery.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Regex.h"

namespace accc::onnx_import {

/// What is known of the module's state beyond the initialisers.
struct ModelState {
  /// What the exporter said; else what its traces prove.
  std::optional<ExportMetadata> exported;
  Recovery recovery;
};

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
  Variables(const onnx::ModelProto &model, const ModelState &state, const ImportOptions &options);

  /// What an initialiser is. accc's exporter says so, and PyTorch's since 2.5, in the metadata of
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
  const ModelState &state;
  llvm::DenseMap<mlir::Value, size_t> byArgument;
  llvm::StringMap<std::string> kinds; // by initialiser name: PARAMETER, BUFFER, CONSTANT_TENSOR ...
  std::vector<llvm::Regex> frozen;
};

/// Whether the floats are what is added to scores to hide some of them: 0 or beyond -1e30. No
/// trained value looks like that.
bool isMask(const Weight &weight);

} // namespace accc::onnx_import

#endif
