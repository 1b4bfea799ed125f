// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/attention/Operands.h"

#include "ir/nn/Nn.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using accc::prim::Tensor;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

Extents identity(int64_t rank) {
  Extents order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

/// The dimensions of an operand of a dot_general as its batch dimensions, the free one and the
/// contracted one; nothing if there are more.
std::optional<Extents> order(Value operand, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted) {
  int64_t rank = typeOf(operand).getRank();
  if (contracted.size() != 1 || static_cast<int64_t>(batch.size()) + 2 != rank)
    return std::nullopt;
  Extents result(batch);
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && d != contracted[0])
      result.push_back(d);
  result.push_back(contracted[0]);
  return result;
}

bool swapsMatrices(ArrayRef<int64_t> permutation) {
  int64_t rank = static_cast<int64_t>(permutation.size());
  Extents swap = identity(rank);
  if (rank >= 2)
    std::swap(swap[rank - 2], swap[rank - 1]);
  return rank >= 2 && permutation == ArrayRef<int64_t>(swap);
}

} // namespace

bool transforms::keepsMatrices(prim::ReshapeOp op) {
  ArrayRef<int64_t> from = typeOf(op.getOperand()).getShape(), to = op.getType().getShape();
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}

std::optional<BatchedProduct> transforms::asBatchedProduct(Operation *op) {
  if (auto dot = dyn_cast_or_null<prim::DotGeneralOp>(op)) {
    auto lhs = order(dot.getLhs(), dot.getLhsBatch(), dot.getLhsContracting());
    auto rhs = order(dot.getRhs(), dot.getRhsBatch(), dot.getRhsContracting());
    if (!lhs || !rhs || dot.getFullPrecision())
      return std::nullopt;
    return BatchedProduct{op, dot.getLhs(), dot.getRhs(), *lhs, *rhs};
  }
  auto matmul = dyn_cast_or_null<nn::MatmulOp>(op);
  if (!matmul)
    return std::nullopt;
  int64_t rank = typeOf(matmul.getA()).getRank();
  if (rank < 2 || typeOf(matmul.getB()).getRank() != rank)
    return std::nullopt;
  BatchedProduct product{op, matmul.getA(), matmul.getB(), identity(rank), identity(rank)};
  std::swap(product.rhsOrder[rank - 2], product.rhsOrder[rank - 1]);
  return product;
}

std::optional<double> transforms::numberOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    bool widens = false;
    if (auto convert = dyn_cast<prim::ConvertOp>(op)) {
      Type from = typeOf(convert.getOperand()).getElementType(),
           to = convert.getType().getElementType();
      widens = (prim::isHalf(from) && (to.isF32() || to.isF64())) || (from.isF32() && to.isF64());
    }
    if (!widens && !isa<prim::BroadcastOp, prim::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return prim::splatNumber(value);
}

std::optional<Scaled> transforms::asScaled(Value value) {
  auto isNear = [](std::optional<double> number) {
    return number && std::abs(*number) > 1e-4 && std::abs(*number) < 1e4;
  };
  if (auto mul = value.getDefiningOp<prim::MulOp>()) {
    if (auto number = numberOf(mul.getRhs()); isNear(number))
      return Scaled{mul.getLhs(), *number};
    if (auto number = numberOf(mul.getLhs()); isNear(number))
      return Scaled{mul.getRhs(), *number};
  }
  if (auto div = value.getDefiningOp<prim::DivOp>())
    if (auto number = numberOf(div.getRhs()); isNear(number))
      return Scaled{div.getLhs(), 1.0 / *number};
  return std::nullopt;
}

Tensor transforms::reshaped(Tensor x, ArrayRef<int64_t> shape) {
  while (auto op = x.get().getDefiningOp<prim::ReshapeOp>())
    x = x.wrap(op.getOperand());
  return x.shape() == shape ? x : x.reshape(shape);
}

Tensor transforms::transposed(Tensor x, ArrayRef<int64_t> permutation) {
  if (permutation == ArrayRef<int64_t>(identity(x.rank())))
    return x;
  if (auto op = x.get().getDefiningOp<prim::TransposeOp>()) {
    Extents both;
    for (int64_t d : permutation)
      both.push_back(op.getPermutation()[d]);
    return transposed(x.wrap(op.getOperand()), both);
  }
  // Exporters transpose matrices of merged leading dimensions.
  if (auto op = x.get().getDefiningOp<prim::ReshapeOp>();
      op && keepsMatrices(op) && swapsMatrices(permutation)) {
    Tensor inner = x.wrap(op.getOperand());
    Extents swap = identity(inner.rank()), shape(x.shape());
    std::swap(swap[inner.rank() - 2], swap[inner.rank() - 1]);
    std::swap(shape[x.rank() - 2], shape[x.rank() - 1]);
    return reshaped(transposed(inner, swap), shape);
  }
  return x.transpose(permutation);
}

Tensor transforms::asHeads(Tensor x, ArrayRef<int64_t> leading, int64_t batch, int64_t heads) {
  Extents full(leading);
  full.append({x.dim(-2), x.dim(-1)});
  if (x.shape() != ArrayRef<int64_t>(full))
    x = x.broadcastTo(full);
  return reshaped(x, {batch, heads, x.dim(-2), x.dim(-1)});
}

Value transforms::beforeSharing(Tensor x) {
  auto merge = x.get().getDefiningOp<prim::ReshapeOp>();
  auto repeat = merge ? merge.getOperand().getDefiningOp<prim::BroadcastOp>() : prim::BroadcastOp();
  if (!repeat || repeat.getType().getRank() != 5)
    return Value();
  // [B, Hk, n, S, D], of [B, Hk, S, D] or with an extent of 1.
  ArrayRef<int64_t> full = repeat.getType().getShape();
  Extents less{full[0], full[1], full[3], full[4]}, one{full[0], full[1], 1, full[3], full[4]};
  Tensor inner = x.wrap(repeat.getOperand());
  bool inserts = inner.shape() == ArrayRef<int64_t>(less) &&
                 repeat.getDimensions() == ArrayRef<int64_t>({0, 1, 3, 4});
  bool merges = full[0] == x.dim(0) && full[1] * full[2] == x.dim(1) && full[3] == x.dim(2) &&
                full[4] == x.dim(3);
  if (!merges || (!inserts && inner.shape() != ArrayRef<int64_t>(one)))
    return Value();
  return reshaped(inner, less);
}
