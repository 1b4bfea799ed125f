// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ATen operators, one family a file (Ops<Family>.cpp).
#ifndef ACCC_FRONTEND_ATEN_OPTABLE_H
#define ACCC_FRONTEND_ATEN_OPTABLE_H

#include "frontend/aten/Node.h"

namespace accc::aten {

class SelectedCall;

/// Builds the results of a call by a mask, or of what masks select, where it depends on data how
/// many elements that are (SelectionRules.h); or gives false for another call.
using SelectionRule = bool (*)(SelectedCall &call);

struct OpRow {
  /// The operator with its arguments (Signature.h), with its library where that is not ATen:
  /// `torchvision::roi_align`. A name without an overload stands for all
  /// overloads that have no row of their own. `relu` also serves `relu_`, which writes its result
  /// into the first argument, and a view serves the operator that makes the first argument such a
  /// view: `unsqueeze_`. A name that ends so itself has no other form.
  const char *signature;
  Rule rule;
  Alias alias = Alias::None;
  SelectionRule selected = nullptr;
};

/// An operator of the table.
struct Operator {
  Signature signature;
  Rule rule;
  Alias alias;
  SelectionRule selected;
  /// Writes its result into its first argument, or makes that its result if it is a view.
  bool inPlace = false;
};

/// "relu" of "relu_" and "__or__" of "__ior__", which write their results into their first
/// arguments; empty for other names.
std::string functionalName(llvm::StringRef name);

/// The operator of a name as "add.Tensor" or "relu_", or nothing.
std::optional<Operator> findOperator(llvm::StringRef name);

/// "torchvision::" of "torchvision" if the table has operators of that library, "" of "aten", and
/// else nothing.
std::optional<std::string> prefixOfLibrary(llvm::StringRef library);

/// All rows as they stand in the table, by name.
std::vector<std::string> allOperators();

// clang-format off
#define ACCC_ATEN_FAMILIES(X)                                                                      \
  X(activationOps) X(elementwiseOps) X(compareOps) X(contractionOps) X(convolutionOps)             \
  X(normalizationOps) X(poolingOps) X(reductionOps) X(shapeOps) X(indexingOps) X(factoryOps)       \
  X(randomOps) X(lossOps) X(attentionOps) X(recurrentOps) X(resizeOps) X(rearrangeOps)              \
  X(scatterOps) X(patchOps) X(samplingOps) X(embeddingOps) X(stridedOps) X(visionOps)              \
  X(complexOps) X(spectralOps) X(sliceOps) X(factorizationOps) X(solvingOps) X(floatOps)           \
  X(joinOps) X(statisticsOps) X(distanceOps) X(marginOps) X(specialOps) X(integrationOps)           \
  X(selectionOps) X(sequenceOps) X(groupedOps)
// clang-format on
#define ACCC_DECLARE_FAMILY(family) llvm::ArrayRef<OpRow> family();
ACCC_ATEN_FAMILIES(ACCC_DECLARE_FAMILY)
#undef ACCC_DECLARE_FAMILY

} // namespace accc::aten

#endif
