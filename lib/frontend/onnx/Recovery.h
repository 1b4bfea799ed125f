// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exporter's changes to a module's parameters, undone where the file proves what they were.
#ifndef ACCC_FRONTEND_ONNX_RECOVERY_H
#define ACCC_FRONTEND_ONNX_RECOVERY_H

#include "frontend/onnx/Damage.h"
#include "frontend/onnx/Evidence.h"
#include "frontend/onnx/Tensors.h"

#include "llvm/ADT/StringSet.h"

#include <map>

namespace accc::onnx_import {

/// What is known of a model's state beyond its initialisers.
struct Recovery {
  /// One line for each parameter that was recovered: its name, what it was written as, and the
  /// evidence.
  std::vector<std::string> parameters;
  /// Other names of one tensor, by the name of its initialiser.
  std::map<std::string, std::vector<std::string>> aliases;
  /// Float initialisers that hold no parameter and no buffer.
  llvm::StringSet<> constants;
  Damage damage;
  std::vector<std::string> warnings;

  void add(llvm::StringRef name, const llvm::Twine &how, llvm::StringRef evidence);
  void addAlias(llvm::StringRef name, llvm::StringRef alias);
};

/// Changes the graph so that its initialisers are the module's parameters again, with PyTorch's
/// names and shapes, wherever the evidence proves it; counts what is lost. Files of other programs
/// stay as they are. Throws ImportError where a tensor's data is not what its type says.
Recovery recoverExport(onnx::ModelProto &model, TensorReader &tensors);

/// The parts of recoverExport for one exporter each.
void recoverTorchExport(onnx::ModelProto &model, const Evidence &evidence, Recovery &recovery,
                        TensorReader &tensors);
void recoverTorchScript(onnx::ModelProto &model, Recovery &recovery, TensorReader &tensors);

} // namespace accc::onnx_import

#endif
