// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of TensorFlow's graphs, which tf2onnx keeps.
#ifndef ACCC_FRONTEND_ONNX_TENSORFLOWNAME_H
#define ACCC_FRONTEND_ONNX_TENSORFLOWNAME_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace accc::onnx_import {

/// "model/dense_1/Cast/ReadVariableOp:0" is result 0 of an op in three scopes. Each op has a name
/// of its own in its scope, that of its kind and, from the second one on, a number: a constant
/// operand is "y" in the scope of the op that reads it, and the value of a variable is named after
/// the op that reads the variable. What TensorFlow computed before the export has the name of the
/// op that would have; what tf2onnx made ends in a number of its own, "const_fold_opt__12".
class TensorFlowName {
public:
  explicit TensorFlowName(llvm::StringRef name);

  bool isVariable() const;
  /// A constant of the program, which no variable is part of.
  bool isConstant() const;
  /// A variable or a constant in another shape or order.
  bool isRearranged() const;
  /// Made by tf2onnx.
  bool isOfConverter() const { return ofConverter; }
  /// Random numbers that were drawn when the model was exported.
  bool isDrawn() const;
  /// A part of a batch normalisation, after mean and variance are known; or of these, where they
  /// are those of the batch.
  bool isOfBatchNorm() const { return isWithin("batchnorm"); }
  bool isOfMoments() const { return isWithin("moments"); }
  /// The weight or the bias of a convolution, multiplied by or added to what came after it.
  bool isFoldedConvolution() const;
  /// The layer: "model/dense_1" of "model/dense_1/MatMul" or "model/dense_1/moments/mean".
  std::string scope() const;
  /// The kind of the op: "ReadVariableOp" of "ReadVariableOp_2".
  llvm::StringRef op() const { return path.back(); }

private:
  bool isWithin(llvm::StringRef scope) const;

  llvm::SmallVector<llvm::StringRef> path; // without numbers
  llvm::StringRef whole;
  bool ofConverter = false;
};

} // namespace accc::onnx_import

#endif
