// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The calls of torch.export's graph that the dynamo exporter made nodes of, as it notes them in the
// nodes' metadata. They say what acts on gradients alone, and what the exporter drops: ONNX has no
// attribute for either.
#ifndef ACCC_FRONTEND_ONNX_TORCHCALL_H
#define ACCC_FRONTEND_ONNX_TORCHCALL_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace accc::onnx_import {

struct TorchCall {
  std::string target;                 ///< "aten.embedding"
  std::vector<std::string> arguments; ///< the positional ones, as Python writes them: "%words", "0"

  /// An argument that is an integer (at least 0) or True; nothing where it is left out or another.
  std::optional<int64_t> integer(size_t argument) const;
  bool isTrue(size_t argument) const;
  /// An argument that is a number; nothing where it is left out or another.
  std::optional<double> number(size_t argument) const;
};

/// The call that a node is a part of; nothing where the metadata is not there.
std::optional<TorchCall> torchCallOf(const onnx::NodeProto &node);
std::optional<TorchCall> parseTorchCall(llvm::StringRef text);

/// The row of the table that takes no gradient, where the node looks up an embedding that has one.
std::optional<int64_t> paddingOf(const TorchCall &call);
/// Whether the gradient of each row is divided by the number of its look-ups.
bool scalesByFrequency(const TorchCall &call);
/// How much of a cross entropy's target is spread over all classes.
double labelSmoothingOf(const TorchCall &call);
/// The statistics that an instance norm moves, as arguments.
std::vector<std::string> movedStatistics(const TorchCall &call);
/// Whether no gradient flows through the call.
bool stopsGradient(const TorchCall &call);
/// Whether the name is one that torch.export gives to results of detach(): "%detach_1".
bool isNameOfDetached(llvm::StringRef argument);

} // namespace accc::onnx_import

#endif
