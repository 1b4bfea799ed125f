// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An exporter's changes to a module's parameters, undone where the file proves what they were.
#ifndef ACCC_FRONTEND_ONNX_RECOVERY_H
#define ACCC_FRONTEND_ONNX_RECOVERY_H

#include "frontend/common/ForwardBuilder.h"
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
  /// What the names of float initialisers prove, where that is known of each.
  llvm::StringMap<frontend::Proof> proofs;
  /// What speaks against a parameter, by the name of the initialiser.
  llvm::StringMap<std::string> unclear;
  /// Every float initialiser whose name is not made up is one of the module's own.
  bool keepsNames = false;
  Damage damage;
  std::vector<std::string> warnings;

  void add(llvm::StringRef name, const llvm::Twine &how, llvm::StringRef evidence);
  void addAlias(llvm::StringRef name, llvm::StringRef alias);
};

/// Changes the graph so that its initialisers are the module's parameters again, with PyTorch's
/// names and shapes, wherever the evidence proves it; counts what is lost. Files of other programs
/// stay as they are. Throws ImportError where a tensor's data is not what its type says.
Recovery recoverExport(onnx::ModelProto &model, TensorReader &tensors);

/// What programs that optimize files for inference did to one.
void findOptimizers(const onnx::ModelProto &model, Recovery &recovery);

/// Parameters that an optimizer for inference merged, as the graph's normalisations show.
void findMergedParameters(const onnx::ModelProto &model, const Evidence &evidence,
                          Recovery &recovery);

/// The parts of recoverExport for one exporter each.
void recoverTorchExport(onnx::ModelProto &model, const Evidence &evidence, Recovery &recovery,
                        TensorReader &tensors);
void recoverTorchScript(onnx::ModelProto &model, Recovery &recovery, TensorReader &tensors);
void recoverTensorFlow(onnx::ModelProto &model, Recovery &recovery, TensorReader &tensors);

} // namespace accc::onnx_import

#endif
