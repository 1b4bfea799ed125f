// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bounded reading of a model file, and the checks that everything after it relies on.
#ifndef ACCC_FRONTEND_ONNX_READER_H
#define ACCC_FRONTEND_ONNX_READER_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/StringRef.h"

#include <memory>

namespace accc::onnx_import {

/// Parses a model: at most 2 GiB, messages nested at most 100 deep. Throws ImportError.
std::shared_ptr<onnx::ModelProto> readModel(llvm::StringRef path);
std::shared_ptr<onnx::ModelProto> parseModel(llvm::StringRef bytes);

/// Throws ImportError unless
/// - there is a graph with outputs, and an operator set,
/// - in each graph and function every value is produced once and before it is used,
/// - model-local functions do not call themselves, directly or through others, and nest at most 200
///   deep, with the subgraphs inside them,
/// - there is at most one training_info, whose algorithm continues the model's graph and whose
///   initialization stands for itself.
void checkModel(const onnx::ModelProto &model);

} // namespace accc::onnx_import

#endif
