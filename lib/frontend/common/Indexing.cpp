// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Indexing.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

Tensor accc::frontend::wrapNegative(Tensor indices, int64_t extent) {
  return prim::select(indices < 0.0, indices + static_cast<double>(extent), indices);
}

Tensor accc::frontend::detach(Tensor x) {
  OpBuilder &b = x.getBuilder();
  Type bits = b.getIntegerType(x.elementType().getIntOrFloatBitWidth());
  Value asBits = b.create<prim::BitcastOp>(x.getLoc(), x.type().clone(bits), x);
  return x.wrap(b.create<prim::BitcastOp>(x.getLoc(), x.type(), asBits));
}

Tensor accc::frontend::attached(Tensor x) {
  if (auto reshape = x.get().getDefiningOp<prim::ReshapeOp>()) {
    Tensor before = x.wrap(reshape.getOperand()), found = attached(before);
    return found.get() == before.get() ? x : found.reshape(x.shape());
  }
  auto outer = x.get().getDefiningOp<prim::BitcastOp>();
  auto inner = outer ? outer.getOperand().getDefiningOp<prim::BitcastOp>() : nullptr;
  return inner && inner.getOperand().getType() == x.type() ? attached(x.wrap(inner.getOperand()))
                                                           : x;
}

Tensor accc::frontend::withoutGradientOf(Tensor rows, Tensor indices, int64_t padding) {
  SmallVector<int64_t> leading(indices.rank());
  std::iota(leading.begin(), leading.end(), 0);
  Tensor isPadding =
      prim::equal(indices, static_cast<double>(padding)).broadcast(rows.shape(), leading);
  return prim::select(isPadding, detach(rows), rows);
}

Tensor accc::frontend::dividedByFrequency(NodeBuilder &node, Tensor rows, Tensor indices,
                                          int64_t count) {
  Tensor each = node.full({indices.size()}, rows.elementType(), 1);
  Tensor times = node.full({count}, rows.elementType(), 0)
                     .scatter(flat(indices), each, 0, prim::ScatterKind::add)
                     .gather(indices, 0);
  SmallVector<int64_t> leading(indices.rank());
  std::iota(leading.begin(), leading.end(), 0);
  return rows / times.broadcast(rows.shape(), leading);
}

prim::ScatterKind accc::frontend::additionOf(Type element) {
  return element.isInteger(1) ? prim::ScatterKind::max : prim::ScatterKind::add;
}

Tensor accc::frontend::flat(Tensor x) { return x.reshape({x.size()}); }

SmallVector<int64_t> accc::frontend::stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

Tensor accc::frontend::whereInside(Tensor index, int64_t extent, Tensor position) {
  Tensor isInside = prim::bitAnd(index >= 0.0, index < static_cast<double>(extent));
  return prim::select(isInside, position, -1.0);
}

Tensor accc::frontend::alongAxis(NodeBuilder &node, Tensor indices, ArrayRef<int64_t> shape,
                                 int64_t axis) {
  if (shape.empty() && indices.rank() <= 1) {
    Tensor index = wrapNegative(indices.convert(node.builder().getI64Type()), 1);
    return whereInside(index, 1, index);
  }
  if (indices.size() == 0) // PyTorch takes none of any shape
    return indices.convert(node.builder().getI64Type());
  if (indices.rank() != static_cast<int64_t>(shape.size()))
    fail("the indices have the shape " + show(indices.shape()) + " for data of shape " +
         show(shape));
  SmallVector<int64_t> strides = stridesOf(shape);
  Tensor index = wrapNegative(indices.convert(node.builder().getI64Type()), shape[axis]);
  Tensor linear = index * static_cast<double>(strides[axis]);
  for (int64_t d = 0; d < indices.rank(); ++d) {
    if (d == axis)
      continue;
    if (indices.dim(d) > shape[d])
      fail("the indices have the shape " + show(indices.shape()) + " for data of shape " +
           show(shape));
    linear = linear + prim::iota(node.builder(), node.loc(), linear.type(), d) *
                          static_cast<double>(strides[d]);
  }
  return whereInside(index, shape[axis], linear);
}

Tensor accc::frontend::asRows(NodeBuilder &node, Tensor data, int64_t dimensions) {
  SmallVector<int64_t> shape = {1};
  for (int64_t d = 0; d < dimensions; ++d)
    shape[0] *= data.dim(d);
  shape.append(data.shape().begin() + dimensions, data.shape().end());
  return node.reshape(data, shape);
}
