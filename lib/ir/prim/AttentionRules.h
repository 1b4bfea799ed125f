// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all ops of attention share: which tensors fit together, and what comes of them.
#ifndef ACCC_IR_PRIM_ATTENTIONRULES_H
#define ACCC_IR_PRIM_ATTENTIONRULES_H

#include "ir/interfaces/Interfaces.h"

#include <optional>
#include <string>

namespace accc::prim {

/// The extents of an attention by the letters of its description; a query head is one of `shared`
/// that read the same key head.
struct AttentionExtents {
  AttentionExtents(llvm::ArrayRef<int64_t> q, llvm::ArrayRef<int64_t> k, llvm::ArrayRef<int64_t> v);
  explicit AttentionExtents(AttentionLike op);
  int64_t batch, queries, heads, features, keys, keyHeads, valueFeatures, shared;
};

/// Of the types of an attention's operands, or nothing if it is fine; `bias` may be null.
std::optional<std::string> whyNoAttention(mlir::RankedTensorType q, mlir::RankedTensorType k,
                                          mlir::RankedTensorType v, mlir::RankedTensorType bias);

struct AttentionTypes {
  mlir::RankedTensorType result, stats;
};
AttentionTypes attentionTypes(mlir::RankedTensorType q, mlir::RankedTensorType k,
                              mlir::RankedTensorType v);

/// An attention of numbers.
struct ReferenceAttention {
  const ReferenceArray &q, &k, &v, *bias; // may be null
  double scale;
  bool causal;

  struct Result {
    ReferenceArray y, stats;
  };
  Result forward() const;

  struct Gradients {
    ReferenceArray dq, dk, dv;
  };
  Gradients backward(const ReferenceArray &dy) const;

private:
  template <typename Body> void forEachQuery(Body body) const;
};

} // namespace accc::prim

#endif
