// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Masks that are computed from constants alone, as exporters write causal masks.
#ifndef ACCC_TRANSFORMS_ATTENTION_KNOWNMASKS_H
#define ACCC_TRANSFORMS_ATTENTION_KNOWNMASKS_H

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <optional>

namespace accc::transforms {

/// What hides a key by being added to its score, or by taking its place: -inf, and numbers so low
/// that e^(score + kHides - greatest) is 0 in f32 and f64 where scores stay below 1e22, as they do
/// in every model that computes with numbers. The lowest finite f16 is none of them: scores of f16
/// reach it.
constexpr double kHides = -1e30;

/// The values of a function that are known at compile time, as far as they are asked for.
class KnownValues {
public:
  /// The value's numbers, with an extent of 1 for dimensions along which they repeat; null where
  /// they depend on data, or are too many. Stays until the next call.
  const ReferenceArray *of(mlir::Value value);

private:
  /// Of an op whose operands are known.
  std::optional<ReferenceArray> evaluate(mlir::Operation *op);

  llvm::DenseMap<mlir::Value, std::optional<ReferenceArray>> known;
  /// Elements computed so far: a large model has many masks.
  int64_t work = 0;
};

/// What a mask does that is known.
struct KnownMask {
  bool hidesNothing = true;
  /// Hides the key at s from the query at t for s > t, and nothing else.
  bool isCausal = true;
  /// No query is without a key that it may look at.
  bool everyQuerySees = true;
};

/// Of a mask that repeats to [..., queries, keys] by numpy's rule. Booleans say where to look, or
/// with `negated` where not to; floats are added. Nothing where the mask is not known, or has
/// numbers that neither hide nor are 0.
std::optional<KnownMask> findKnownMask(KnownValues &values, mlir::Value mask, int64_t queries,
                                       int64_t keys, bool negated = false);

/// The mask without parts of a conjunction (of a sum, for floats) that hide nothing; null if
/// nothing is left.
mlir::Value withoutIdleParts(KnownValues &values, mlir::Value mask, int64_t queries, int64_t keys,
                             int depth = 0);

} // namespace accc::transforms

#endif
