// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which initialisers are trained, which are kept between steps, and which are plain constants.
#ifndef ACCC_FRONTEND_ONNX_INITIALIZERS_H
#define ACCC_FRONTEND_ONNX_INITIALIZERS_H

#include "frontend/common/ForwardBuilder.h"
#include "frontend/onnx/ExportMetadata.h"
#include "frontend/onnx/Proto.h"
#include "frontend/onnx/Recovery.h"

#include "llvm/ADT/StringMap.h"

namespace accc::onnx_import {

/// What is known of the module's state beyond the initialisers.
struct ModelState {
  /// What the exporter said; else what its traces prove.
  std::optional<ExportMetadata> exported;
  Recovery recovery;
};

enum class InitializerKind { Parameter, Buffer, Constant };

class Initializers {
public:
  Initializers(const onnx::ModelProto &model, const ModelState &state);

  /// What an initialiser is. accc's exporter says so, and PyTorch's since 2.5, in the metadata of
  /// value_info; else: floats are parameters, unless they are masks (all elements 0 or beyond
  /// -1e30), or scalars with a name that the exporter made up. Integers and booleans are constants.
  InitializerKind classify(const onnx::TensorProto &tensor, const Weight &weight) const;

  /// What shows that a float initialiser is a parameter: metadata, a name that only the module's
  /// own values have (those of PyTorch's exporters, and those of variables of TensorFlow), or none.
  frontend::Proof proofOf(const onnx::TensorProto &tensor) const;

  /// PyTorch's own optimisation of the exported graph went over this float initialiser: it is none
  /// of the module's parameters, though the others say that they are.
  bool isFolded(const onnx::TensorProto &tensor) const;

  /// False where accc's exporter says that PyTorch did not train it.
  bool isTrained(llvm::StringRef name) const;

private:
  const ModelState &state;
  llvm::StringMap<std::string> kinds; // by initialiser name: PARAMETER, BUFFER, CONSTANT_TENSOR ...
  bool ofPyTorch, writesConstants;
};

/// Whether the floats are what is added to scores to hide some of them: 0 or beyond -1e30. No
/// trained value looks like that.
bool isMask(const Weight &weight);

/// Whether all elements are the same number.
bool isUniform(const Weight &weight);

/// Whether the floats are a condition: some are 0, and all others 1.
bool isIndicator(const Weight &weight);

} // namespace accc::onnx_import

#endif
