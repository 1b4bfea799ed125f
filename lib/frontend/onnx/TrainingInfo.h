// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ModelProto.training_info: a step of training, and the values that it starts with.
#ifndef ACCC_FRONTEND_ONNX_TRAININGINFO_H
#define ACCC_FRONTEND_ONNX_TRAININGINFO_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <string>
#include <vector>

namespace accc::onnx_import {

/// An initializer, and the value that is assigned to it.
struct Binding {
  std::string initializer, value;
};

/// The one training_info of a model, whose graphs checkModel has checked. The step is the model's
/// graph followed by the algorithm's, with one set of names.
class TrainingInfo {
public:
  explicit TrainingInfo(const onnx::ModelProto &model);

  const onnx::GraphProto &algorithm() const { return proto.algorithm(); }
  const onnx::GraphProto &initialization() const { return proto.initialization(); }

  /// What a step assigns, and what is assigned before the first; those without a problem.
  const std::vector<Binding> &updates() const { return updateBindings; }
  const std::vector<Binding> &initials() const { return initialBindings; }
  /// What is wrong with bindings.
  const std::vector<std::string> &problems() const { return found; }

  bool isUpdated(llvm::StringRef initializer) const { return updated.contains(initializer); }
  /// Whether its value in the file is not its only one.
  bool isMutable(llvm::StringRef initializer) const {
    return isUpdated(initializer) || initialized.contains(initializer);
  }
  /// Whether a value is what a step assigns.
  bool isAssigned(llvm::StringRef value) const { return assigned.contains(value); }
  /// Whether the algorithm, rather than the model's graph, has the initializer.
  bool isOfAlgorithm(llvm::StringRef initializer) const { return own.contains(initializer); }

private:
  using Entries = google::protobuf::RepeatedPtrField<onnx::StringStringEntryProto>;
  std::vector<Binding> readBindings(const onnx::ModelProto &model, const char *what,
                                    const Entries &entries, const llvm::StringSet<> &values,
                                    const char *whose);

  const onnx::TrainingInfoProto &proto;
  std::vector<Binding> updateBindings, initialBindings;
  std::vector<std::string> found;
  llvm::StringSet<> updated, initialized, assigned, own;
};

} // namespace accc::onnx_import

#endif
