// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model does between the product of queries and keys and that of weights and values.
#ifndef ACCC_TRANSFORMS_ATTENTION_SCOREPATH_H
#define ACCC_TRANSFORMS_ATTENTION_SCOREPATH_H

#include "ir/nn/Nn.h"
#include "transforms/attention/Operands.h"

namespace accc::transforms {

/// One mask: floats that are added to scores, or booleans that say where a number takes their
/// place. It has the scores' shape.
struct MaskPart {
  mlir::Value value;
  /// Of booleans: the number, and whether it is taken where they hold.
  std::optional<double> hidden;
  bool negated = false;
};

struct ScorePath {
  BatchedProduct scores, output;
  /// Where the weights are in `output`.
  bool weightsAreLhs = true;
  double scale = 1.0;
  llvm::SmallVector<MaskPart> masks;
  /// Scores of 16-bit floats are rounded to them on the way, as nn.attention's are not.
  bool roundsScores = false;
  /// The shapes that the scores have on the way.
  llvm::SmallVector<llvm::ArrayRef<int64_t>> shapes;
};

/// The path through a softmax, where each of its values has one reader, the next.
std::optional<ScorePath> findScorePath(nn::SoftmaxOp softmax);

} // namespace accc::transforms

#endif
