// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX operators, one family a file (Ops<Family>.cpp).
#ifndef ACCC_FRONTEND_ONNX_OPTABLE_H
#define ACCC_FRONTEND_ONNX_OPTABLE_H

#include "frontend/onnx/Node.h"

namespace accc::onnx_import {

struct OpRow {
  const char *name;
  Rule rule;
  const char *domain = "";
  /// The first version of the operator set whose form of the operator the rule reads.
  int64_t oldest = 1;
};

/// The newest version of the standard operators that the rules were written for: ONNX 1.23's.
constexpr int64_t kNewestOpset = 28;

/// The row of an operator, or null.
const OpRow *findOp(llvm::StringRef domain, llvm::StringRef name);

/// All rows, family by family.
std::vector<OpRow> allOps();

// clang-format off
#define ACCC_ONNX_FAMILIES(X)                                                                      \
  X(elementwiseOps) X(logicOps) X(activationOps) X(normalizationOps) X(convolutionOps)             \
  X(poolingOps) X(linearOps) X(shapeOps) X(indexingOps) X(reductionOps) X(constantOps)             \
  X(randomOps) X(lossOps) X(recurrentOps) X(controlFlowOps) X(sequenceOps) X(attentionOps)         \
  X(resizeOps) X(samplingOps) X(spectralOps) X(quantizationOps) X(selectionOps) X(optimizerOps)   \
  X(gradientOps)
// clang-format on
#define ACCC_DECLARE_FAMILY(family) llvm::ArrayRef<OpRow> family();
ACCC_ONNX_FAMILIES(ACCC_DECLARE_FAMILY)
#undef ACCC_DECLARE_FAMILY

} // namespace accc::onnx_import

#endif
