// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/ChunkedDimension.h"

#include "ir/prim/ContractionSide.h"
#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using accc::prim::ContractionSide;
using accc::prim::Tensor;

using Dimension = std::optional<int64_t>;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The place of `dimension` in a list.
static Dimension placeIn(ArrayRef<int64_t> list, int64_t dimension) {
  auto it = llvm::find(list, dimension);
  return it == list.end() ? Dimension() : it - list.begin();
}

/// The dimension of `to` that stands for dimension `dimension` of `from`, which has the same
/// elements: the same ones lie before and behind it.
static Dimension throughReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to, int64_t dimension) {
  int64_t before = ReferenceArray::count(from.take_front(dimension)), product = 1;
  for (auto [d, extent] : llvm::enumerate(to)) {
    if (product == before && extent == from[dimension])
      return d;
    product *= extent;
  }
  return std::nullopt;
}

/// The operands of a matrix product, of which `dimension` is one of the result.
static void chunkProduct(MatrixProduct op, int64_t dimension, MutableArrayRef<Dimension> operands) {
  auto batches = static_cast<int64_t>(op.getLhsBatch().size());
  if (dimension < batches) {
    operands[0] = op.getLhsBatch()[dimension];
    operands[1] = op.getRhsBatch()[dimension];
    return;
  }
  SmallVector<int64_t> lhsFree = ContractionSide::lhsOf(op).free(),
                       rhsFree = ContractionSide::rhsOf(op).free();
  int64_t place = dimension - batches, left = static_cast<int64_t>(lhsFree.size());
  if (place < left) {
    operands[0] = lhsFree[place];
    return;
  }
  operands[1] = rhsFree[place - left];
  if (operands.size() > 2) // a bias
    operands[2] = place - left;
}

std::optional<ChunkedOp> accc::chunkResult(Operation *op, int64_t dimension) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  ChunkedOp chunked;
  chunked.operands.resize(op->getNumOperands());
  chunked.result = dimension;
  MutableArrayRef<Dimension> operands = chunked.operands;
  if (isa<Pointwise>(op)) {
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (shapeOf(operand) == shape)
        operands[i] = dimension;
    return chunked;
  }
  if (auto product = dyn_cast<MatrixProduct>(op)) {
    chunkProduct(product, dimension, operands);
    return chunked;
  }
  if (isa<prim::IotaOp, prim::RandomBitsOp>(op))
    return chunked;
  if (auto broadcast = dyn_cast<prim::BroadcastOp>(op)) {
    operands[0] = placeIn(broadcast.getDimensions(), dimension);
    if (operands[0] && shapeOf(broadcast.getOperand())[*operands[0]] != shape[dimension])
      operands[0] = std::nullopt; // of extent 1
    return chunked;
  }
  if (auto transpose = dyn_cast<prim::TransposeOp>(op)) {
    operands[0] = transpose.getPermutation()[dimension];
    return chunked;
  }
  if (auto reshape = dyn_cast<prim::ReshapeOp>(op)) {
    operands[0] = throughReshape(shape, shapeOf(reshape.getOperand()), dimension);
    return operands[0] ? std::optional(chunked) : std::nullopt;
  }
  if (auto reduce = dyn_cast<prim::ReduceOp>(op)) {
    int64_t place = 0;
    for (int64_t d = 0; d < static_cast<int64_t>(shapeOf(reduce.getOperand()).size()); ++d)
      if (!llvm::is_contained(reduce.getDimensions(), d) && place++ == dimension)
        operands[0] = d;
    return chunked;
  }
  if (auto gather = dyn_cast<prim::GatherOp>(op)) {
    auto axis = static_cast<int64_t>(gather.getAxis()),
         places = static_cast<int64_t>(shapeOf(gather.getIndices()).size());
    if (dimension >= axis && dimension < axis + places)
      operands[1] = dimension - axis;
    else
      operands[0] = dimension < axis ? dimension : dimension - places + 1;
    return chunked;
  }
  if (auto concatenate = dyn_cast<prim::ConcatenateOp>(op)) {
    if (static_cast<int64_t>(concatenate.getDimension()) == dimension)
      return std::nullopt;
    for (Dimension &operand : operands)
      operand = dimension;
    return chunked;
  }
  if (auto slice = dyn_cast<prim::SliceOp>(op)) {
    if (shapeOf(slice.getOperand())[dimension] != shape[dimension])
      return std::nullopt;
    operands[0] = dimension;
    return chunked;
  }
  return std::nullopt;
}

/// Parts of sums, each rounded to the element type, are as good as one sum: not in 16 bits.
static bool mayBeSumOfParts(Value result) {
  auto element = cast<RankedTensorType>(result.getType()).getElementType();
  return !isa<FloatType>(element) || element.getIntOrFloatBitWidth() >= 32;
}

std::optional<ChunkedOp> accc::chunkOperand(Operation *op, unsigned operand, int64_t dimension) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  ChunkedOp sum;
  sum.operands.resize(op->getNumOperands());
  auto reduce = dyn_cast<prim::ReduceOp>(op);
  if (reduce && llvm::is_contained(reduce.getDimensions(), dimension)) {
    if (reduce.getKind() != prim::ReduceKind::sum || !mayBeSumOfParts(reduce))
      return std::nullopt;
    sum.operands[0] = dimension;
    return sum;
  }
  if (auto product = dyn_cast<prim::DotGeneralOp>(op)) {
    ArrayRef<int64_t> lhs = product.getLhsContracting(), rhs = product.getRhsContracting();
    if (Dimension place = placeIn(operand == 0 ? lhs : rhs, dimension)) {
      if (!mayBeSumOfParts(product))
        return std::nullopt;
      sum.operands[0] = lhs[*place];
      sum.operands[1] = rhs[*place];
      return sum;
    }
  }
  auto rank = static_cast<int64_t>(shapeOf(op->getResult(0)).size());
  for (int64_t d = 0; d < rank; ++d)
    if (std::optional<ChunkedOp> chunked = chunkResult(op, d);
        chunked && chunked->operands[operand] == dimension)
      return chunked;
  return std::nullopt;
}

Value accc::createChunk(OpBuilder &builder, Operation *op, const ChunkedOp &chunked,
                        ValueRange operands, Chunk chunk) {
  if (isa<prim::IotaOp, prim::RandomBitsOp>(op)) {
    // An element is what its place among all says.
    Operation *whole = builder.clone(*op);
    whole->setOperands(operands);
    return Tensor(builder, op->getLoc(), whole->getResult(0))
        .sliceDim(*chunked.result, chunk.begin, chunk.limit);
  }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  NamedAttrList attributes(op->getAttrs());
  if (chunked.result) {
    int64_t extent = chunk.limit - chunk.begin;
    SmallVector<int64_t> shape(type.getShape());
    shape[*chunked.result] = extent;
    type = type.clone(shape);
    if (auto slice = dyn_cast<prim::SliceOp>(op)) {
      SmallVector<int64_t> limits(slice.getLimits());
      limits[*chunked.result] = extent;
      attributes.set(slice.getLimitsAttrName(), builder.getDenseI64ArrayAttr(limits));
    }
  }
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(type);
  state.addAttributes(attributes.getAttrs());
  return builder.create(state)->getResult(0);
}
