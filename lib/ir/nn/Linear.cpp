// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Linear.cpp.inc"

// ---- matmul ----

namespace {
/// Numpy's common shape of two lists of batch extents; nothing if there is none.
std::optional<SmallVector<int64_t>> commonBatch(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(std::max(a.size(), b.size()));
  for (size_t i = 1; i <= result.size(); ++i) {
    int64_t x = i <= a.size() ? a[a.size() - i] : 1;
    int64_t y = i <= b.size() ? b[b.size() - i] : 1;
    if (x != y && x != 1 && y != 1)
      return std::nullopt;
    result[result.size() - i] = x == 1 ? y : x;
  }
  return result;
}

bool allOnes(ArrayRef<int64_t> extents) {
  return llvm::all_of(extents, [](int64_t extent) { return extent == 1; });
}

SmallVector<int64_t> concatenated(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  SmallVector<int64_t> result(a);
  result.append(b.begin(), b.end());
  return result;
}
} // namespace

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto aType = typeOf(adaptor.getA()), bType = typeOf(adaptor.getB());
  ArrayRef<int64_t> a = aType.getShape(), b = bType.getShape();
  // matmul_c1
  if (a.empty() || b.empty())
    return prim::inferError<MatmulOp>(location, "an operand has rank 0");
  if (aType.getElementType() != bType.getElementType())
    return prim::inferError<MatmulOp>(location, "a and b have different element types, ", aType,
                                      " and ", bType);
  // matmul_c2
  if (a.back() != b[b.size() == 1 ? 0 : b.size() - 2])
    return prim::inferError<MatmulOp>(location, "the contracted extents of ", aType, " and ", bType,
                                      " differ");
  // matmul_c3
  auto batch = commonBatch(a.drop_back(std::min<size_t>(a.size(), 2)),
                           b.drop_back(std::min<size_t>(b.size(), 2)));
  if (!batch)
    return prim::inferError<MatmulOp>(location, "the batch dimensions of ", aType, " and ", bType,
                                      " do not broadcast");
  SmallVector<int64_t> shape(*batch);
  if (a.size() > 1)
    shape.push_back(a[a.size() - 2]);
  if (b.size() > 1)
    shape.push_back(b.back());
  types.push_back(aType.clone(shape));
  return success();
}

LogicalResult MatmulOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor a(builder, getLoc(), getA()), b(builder, getLoc(), getB());
  if (a.rank() == 1)
    a = a.reshape({1, a.dim(0)});
  if (b.rank() == 1)
    b = b.reshape({b.dim(0), 1});
  ArrayRef<int64_t> aBatch = a.shape().drop_back(2), bBatch = b.shape().drop_back(2);

  // One matrix for the whole batch: all leading dimensions of a are rows of one product.
  if (allOnes(bBatch) && bBatch.size() <= aBatch.size()) {
    Tensor product = dotGeneral(a, b.reshape({b.dim(-2), b.dim(-1)}), {}, {}, {a.rank() - 1}, {0});
    results.push_back(product.reshape(getType().getShape()));
    return success();
  }
  SmallVector<int64_t> batch = *commonBatch(aBatch, bBatch);
  int64_t rank = static_cast<int64_t>(batch.size());
  a = a.broadcastTo(concatenated(batch, {a.dim(-2), a.dim(-1)}));
  b = b.broadcastTo(concatenated(batch, {b.dim(-2), b.dim(-1)}));
  SmallVector<int64_t> shared = dimensionRange(0, rank);
  Tensor product = dotGeneral(a, b, shared, shared, {rank + 1}, {rank});
  results.push_back(product.reshape(getType().getShape()));
  return success();
}

// ---- linear ----

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto x = typeOf(adaptor.getX()), w = typeOf(adaptor.getW());
  // linear_c1
  if (x.getRank() < 1 || w.getRank() != 2)
    return prim::inferError<LinearOp>(location, "x of type ", x, " and w of type ", w,
                                      " need a rank of at least 1 and of 2");
  for (Value operand : adaptor.getOperands().drop_front())
    if (typeOf(operand).getElementType() != x.getElementType())
      return prim::inferError<LinearOp>(location, "operands have different element types, ", x,
                                        " and ", operand.getType());
  // linear_c2
  int64_t outputs = w.getDimSize(adaptor.getTransposeW() ? 0 : 1);
  if (x.getShape().back() != w.getDimSize(adaptor.getTransposeW() ? 1 : 0))
    return prim::inferError<LinearOp>(location, "the contracted extents of x ", x, " and w ", w,
                                      " differ");
  // linear_c3
  if (adaptor.getBias() && shapeOf(adaptor.getBias()) != ArrayRef<int64_t>(outputs))
    return prim::inferError<LinearOp>(location, "bias of type ", adaptor.getBias().getType(),
                                      " does not have ", outputs, " elements");
  SmallVector<int64_t> shape(x.getShape().drop_back());
  shape.push_back(outputs);
  types.push_back(x.clone(shape));
  return success();
}

// The leading dimensions of x are free dimensions of one product: no reshape is needed.
LogicalResult LinearOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX()), w = x.wrap(getW());
  SmallVector<int64_t> contracting = {getTransposeW() ? 1 : 0};
  if (!getBias()) {
    results.push_back(dotGeneral(x, w, {}, {}, {x.rank() - 1}, contracting));
    return success();
  }
  Tensor y = wideDotGeneral(x, w, {}, {}, {x.rank() - 1}, contracting);
  y = y + widen(x.wrap(getBias())).broadcastTo(y.shape());
  results.push_back(y.convert(x.elementType()));
  return success();
}
