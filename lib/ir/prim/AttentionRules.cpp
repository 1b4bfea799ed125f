// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/AttentionRules.h"

#include "ir/prim/Tensor.h"

#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

AttentionExtents::AttentionExtents(ArrayRef<int64_t> q, ArrayRef<int64_t> k, ArrayRef<int64_t> v)
    : batch(q[0]), queries(q[1]), heads(q[2]), features(q[3]), keys(k[1]), keyHeads(k[2]),
      valueFeatures(v[3]), shared(keyHeads ? heads / keyHeads : 0) {}

AttentionExtents::AttentionExtents(AttentionLike op)
    : AttentionExtents(op.getFactorTypes()[0].getShape(), op.getFactorTypes()[1].getShape(),
                       op.getFactorTypes()[2].getShape()) {}

std::optional<std::string> prim::whyNoAttention(RankedTensorType q, RankedTensorType k,
                                                RankedTensorType v, RankedTensorType bias) {
  std::string why;
  llvm::raw_string_ostream out(why);
  for (RankedTensorType factor : {q, k, v})
    if (factor.getRank() != 4) {
      out << "q, k and v must have rank 4, but one is " << factor;
      return why;
    }
  AttentionExtents e(q.getShape(), k.getShape(), v.getShape());
  if (k != q.clone({e.batch, e.keys, e.keyHeads, e.features}) ||
      v != q.clone({e.batch, e.keys, e.keyHeads, e.valueFeatures}) || e.keyHeads < 1 ||
      e.heads % e.keyHeads != 0) {
    out << "q " << q << ", k " << k << " and v " << v << " do not fit together";
    return why;
  }
  if (e.keys < 1 || e.features < 1) {
    out << "there is no key, or no feature: k is " << k;
    return why;
  }
  if (!bias)
    return std::nullopt;
  int64_t scores[] = {e.batch, e.heads, e.queries, e.keys};
  bool fits = bias.getRank() == 4 && bias.getElementType() == q.getElementType() &&
              bias.getDimSize(3) == e.keys;
  for (unsigned d = 0; fits && d < 3; ++d)
    fits = bias.getDimSize(d) == 1 || bias.getDimSize(d) == scores[d];
  if (fits)
    return std::nullopt;
  out << "bias " << bias << " does not fit q " << q << " and k " << k;
  return why;
}

AttentionTypes prim::attentionTypes(RankedTensorType q, RankedTensorType k, RankedTensorType v) {
  AttentionExtents e(q.getShape(), k.getShape(), v.getShape());
  Type element = q.getElementType();
  return {q.clone({e.batch, e.queries, e.heads, e.valueFeatures}),
          RankedTensorType::get({e.batch, e.heads, e.queries},
                                isHalf(element) ? Float32Type::get(q.getContext()) : element)};
}

// ---- as numbers ----

namespace {
/// The weights of one query head at one position, and the logarithm of what they were divided by.
struct Weights {
  std::vector<double> of; // keys
  double logSum = 0;
};
} // namespace

/// Calls body(b, t, h, weights) for each.
template <typename Body> void ReferenceAttention::forEachQuery(Body body) const {
  AttentionExtents e(q.shape, k.shape, v.shape);
  auto added = [&](int64_t b, int64_t h, int64_t t, int64_t s) {
    auto within = [&](int64_t d, int64_t index) { return bias->shape[d] == 1 ? 0 : index; };
    return bias ? bias->at({within(0, b), within(1, h), within(2, t), s}) : 0.0;
  };
  ReferenceArray::forEachIndex({e.batch, e.queries, e.heads}, [&](ArrayRef<int64_t> at) {
    int64_t b = at[0], t = at[1], h = at[2], group = h / e.shared;
    int64_t seen = causal ? std::min(t + 1, e.keys) : e.keys;
    Weights weights;
    weights.of.assign(static_cast<size_t>(e.keys), 0.0);
    double greatest = -std::numeric_limits<double>::infinity();
    for (int64_t s = 0; s < seen; ++s) {
      double score = 0;
      for (int64_t d = 0; d < e.features; ++d)
        score += q.at({b, t, h, d}) * k.at({b, s, group, d});
      score = score * scale + added(b, h, t, s);
      weights.of[static_cast<size_t>(s)] = score;
      greatest = std::max(greatest, score);
    }
    double total = 0;
    for (int64_t s = 0; s < seen; ++s) {
      double &weight = weights.of[static_cast<size_t>(s)];
      total += weight = std::exp(weight - greatest);
    }
    for (double &weight : weights.of)
      weight /= total;
    weights.logSum = greatest + std::log(total);
    body(b, t, h, weights);
  });
}

ReferenceAttention::Result ReferenceAttention::forward() const {
  AttentionExtents e(q.shape, k.shape, v.shape);
  Result result = {ReferenceArray({e.batch, e.queries, e.heads, e.valueFeatures}),
                   ReferenceArray({e.batch, e.heads, e.queries})};
  forEachQuery([&](int64_t b, int64_t t, int64_t h, const Weights &weights) {
    for (int64_t s = 0; s < e.keys; ++s)
      for (int64_t d = 0; d < e.valueFeatures; ++d)
        result.y.at({b, t, h, d}) +=
            weights.of[static_cast<size_t>(s)] * v.at({b, s, h / e.shared, d});
    result.stats.at({b, h, t}) = weights.logSum;
  });
  return result;
}

ReferenceAttention::Gradients ReferenceAttention::backward(const ReferenceArray &dy) const {
  AttentionExtents e(q.shape, k.shape, v.shape);
  Gradients result = {ReferenceArray(q.shape), ReferenceArray(k.shape), ReferenceArray(v.shape)};
  forEachQuery([&](int64_t b, int64_t t, int64_t h, const Weights &weights) {
    int64_t group = h / e.shared;
    std::vector<double> dweights(weights.of.size());
    double mean = 0;
    for (int64_t s = 0; s < e.keys; ++s) {
      double weight = weights.of[static_cast<size_t>(s)], &dweight = dweights[size_t(s)];
      for (int64_t d = 0; d < e.valueFeatures; ++d) {
        dweight += dy.at({b, t, h, d}) * v.at({b, s, group, d});
        result.dv.at({b, s, group, d}) += weight * dy.at({b, t, h, d});
      }
      mean += weight * dweight;
    }
    for (int64_t s = 0; s < e.keys; ++s) {
      double dscore =
          scale * weights.of[static_cast<size_t>(s)] * (dweights[static_cast<size_t>(s)] - mean);
      for (int64_t d = 0; d < e.features; ++d) {
        result.dq.at({b, t, h, d}) += dscore * k.at({b, s, group, d});
        result.dk.at({b, s, group, d}) += dscore * q.at({b, t, h, d});
      }
    }
  });
  return result;
}
