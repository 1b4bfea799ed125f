// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

SmallVector<int64_t> accc::nn::dimensionRange(int64_t first, int64_t end) {
  SmallVector<int64_t> result(std::max<int64_t>(end - first, 0));
  std::iota(result.begin(), result.end(), first);
  return result;
}

SmallVector<int64_t> accc::nn::allBut(int64_t rank, int64_t dimension) {
  SmallVector<int64_t> result;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dimension)
      result.push_back(d);
  return result;
}

bool accc::nn::broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  ArrayRef<int64_t> aligned = to.take_back(from.size());
  return llvm::all_of(llvm::zip(from, aligned), [](auto pair) {
    auto [a, b] = pair;
    return a == b || a == 1;
  });
}

Tensor accc::nn::sumTo(Tensor x, ArrayRef<int64_t> shape) {
  int64_t offset = x.rank() - static_cast<int64_t>(shape.size());
  SmallVector<int64_t> repeated = dimensionRange(0, offset);
  for (auto [i, extent] : llvm::enumerate(shape))
    if (extent != x.dim(offset + static_cast<int64_t>(i)))
      repeated.push_back(offset + static_cast<int64_t>(i));
  return sum(x, repeated).reshape(shape);
}

Tensor accc::nn::alongChannels(Tensor vector, ArrayRef<int64_t> shape) {
  return vector.broadcast(shape, {1});
}

Tensor accc::nn::constantLike(Tensor like, ArrayRef<int64_t> shape, ArrayRef<double> values) {
  SmallVector<Attribute> elements;
  for (double value : values)
    elements.push_back(like.getBuilder().getFloatAttr(like.elementType(), value));
  auto type = RankedTensorType::get(shape, like.elementType());
  return like.wrap(like.getBuilder().create<prim::ConstantOp>(
      like.getLoc(), DenseElementsAttr::get(type, elements)));
}

SoftmaxTerms accc::nn::softmaxTerms(Tensor x, int64_t dimension) {
  Tensor greatest = reduce(prim::ReduceKind::max, x, {dimension});
  Tensor shift = select(equal(greatest, -std::numeric_limits<double>::infinity()), 0.0, greatest);
  Tensor exps = exp(x - shift.broadcastAlong(x.shape(), {dimension}));
  Tensor total = sum(exps, {dimension});
  return {shift, exps, select(equal(total, 0.0), 1.0, total)};
}

Tensor accc::nn::polynomial(Tensor x, ArrayRef<double> coefficients) {
  Tensor sum = x.full(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = sum * x + coefficient;
  return sum;
}
