// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Float values of a file that may be parameters or constants.
#ifndef ACCC_FRONTEND_COMMON_UNCLEARPARAMETERS_H
#define ACCC_FRONTEND_COMMON_UNCLEARPARAMETERS_H

#include "frontend/common/ForwardBuilder.h"

#include "llvm/ADT/DenseMap.h"

namespace accc::frontend {

/// Where the name of a value proves nothing, its place in the graph shows what it is: a factor of a
/// contraction, a lookup table or the scale of a normalisation is a parameter, and so is a tensor
/// that arithmetic combines with what was computed from parameters. These are not clear:
///
///   - a single number of arithmetic: the scale of an attention, an epsilon, a trained temperature;
///   - what arithmetic on the input data reads: a mean and a deviation, or a trained scale;
///   - what a scatter writes or writes into: zeros, a mask, or a trained token;
///   - what arithmetic reads and an exporter or an optimizer computed of other values.
class UnclearParameters {
public:
  /// For the variables of a finished body. They must outlive this.
  UnclearParameters(mlir::Block &body, llvm::ArrayRef<Variable> variables);

  /// What speaks against a parameter, with its value; empty if nothing does.
  std::string why(const Variable &variable) const;

private:
  /// What a value was computed from: numbers of the file alone, by arithmetic from the inputs and
  /// such numbers, or else.
  enum class Origin { Numbers, Data, Other };
  Origin originOf(mlir::Operation &op) const;

  struct Uses {
    bool isArithmetic = true, isOnData = false, isBias = true, isScattered = false;
  };
  Uses usesOf(mlir::Value parameter) const;

  llvm::DenseMap<mlir::Value, Origin> origins;
  llvm::DenseMap<mlir::Value, Uses> found; // of what is not clear by name
};

} // namespace accc::frontend

#endif
