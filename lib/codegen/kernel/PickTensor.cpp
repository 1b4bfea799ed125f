// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A concatenation of many inputs is read through a table of them, so that code neither branches nor
// grows with their number.
#include "codegen/kernel/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// A few tensors are found as fast by comparing.
static constexpr size_t kFewTensors = 4;

/// What a row of the table says of the tensor that a unit of the concatenated dimension belongs to:
/// its buffer's number, how far apart its parts for successive outer indices lie, and how many
/// elements of such a part lie before it in the concatenation.
enum Column { kBuffer, kOuterStride, kStart, kNumColumns };

/// The address of a constant, one for all that have the same contents.
Value BodyEmitter::table(ArrayRef<int64_t> words) {
  auto size = static_cast<int64_t>(words.size());
  Type i64 = b.getI64Type();
  auto contents = DenseElementsAttr::get(RankedTensorType::get({size}, i64), words);
  std::string &symbol = tables[contents];
  if (symbol.empty()) {
    symbol = (function.getSymName() + ".table" + std::to_string(tables.size())).str();
    OpBuilder(function).create<LLVM::GlobalOp>(location, LLVM::LLVMArrayType::get(i64, size),
                                               /*isConstant=*/true, LLVM::Linkage::Internal, symbol,
                                               contents);
  }
  return b.create<LLVM::AddressOfOp>(location, LLVM::LLVMPointerType::get(b.getContext()), symbol);
}

Value BodyEmitter::pick(prim::ConcatenateOp op, ArrayRef<AffineExpr> position) {
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  auto dimension = static_cast<size_t>(op.getDimension());
  SmallVector<BlockArgument> tensors;
  SmallVector<int64_t> starts;
  int64_t unit = 0, total = 0;
  for (Value input : op.getInputs()) {
    if (!ownBuffers || !pointers.contains(input))
      return nullptr;
    int64_t extent = shapeOf(input)[dimension];
    if (extent == 0)
      continue;
    unit = std::gcd(unit, total);
    tensors.push_back(cast<BlockArgument>(input));
    starts.push_back(total);
    total += extent;
  }
  if (tensors.size() <= kFewTensors)
    return nullptr;
  int64_t units = llvm::divideCeil(total, unit);
  AffineExpr along = index.simplify(position[dimension]);
  auto range = index.range(along);
  if (units > 4 * static_cast<int64_t>(tensors.size()) || !range || range->first < 0 ||
      range->second >= total)
    return nullptr;

  // An element's offset is outer * the tensor's stride + inner - the tensor's start.
  ArrayRef<int64_t> shape = shapeOf(tensors.front());
  ArrayRef<int64_t> innerShape = shape.drop_front(dimension + 1);
  int64_t innerSize = ShapedType::getNumElements(innerShape);
  AffineExpr outer = linearise(shape.take_front(dimension), position.take_front(dimension));
  AffineExpr inner =
      index.simplify(along * innerSize + linearise(innerShape, position.drop_front(dimension + 1)));
  AffineExpr row = index.simplify(along.floorDiv(unit));
  if (recorder) {
    recorder->expressions.append({along, row});
    for (BlockArgument tensor : tensors)
      recorder->expressions.push_back(outer * (shapeOf(tensor)[dimension] * innerSize) + inner);
  }
  LaneIndex rowAt = index.evaluate(row), outerAt = index.evaluate(outer),
            innerAt = index.evaluate(inner);
  if (!rowAt.isUniform() || !outerAt.isUniform() || innerAt.lanes)
    return nullptr;

  SmallVector<int64_t> words;
  size_t tensor = 0;
  for (int64_t i = 0; i < units; ++i) {
    while (tensor + 1 < tensors.size() && starts[tensor + 1] <= i * unit)
      ++tensor;
    words.append({tensors[tensor].getArgNumber(), shapeOf(tensors[tensor])[dimension] * innerSize,
                  starts[tensor] * innerSize});
  }
  Value first = b.create<arith::MulIOp>(location, rowAt.base, index.constant(kNumColumns));
  Value rows = table(words);
  Type i64 = b.getI64Type(), pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto column = [&](Column which) -> Value {
    Value at = b.create<arith::AddIOp>(location, first, index.constant(which));
    return b.create<LLVM::LoadOp>(location, i64, address(rows, i64, at));
  };
  Value buffer = b.create<LLVM::LoadOp>(location, pointer,
                                        address(function.getArgument(0), pointer, column(kBuffer)));
  Value offset = b.create<arith::SubIOp>(
      location, b.create<arith::MulIOp>(location, outerAt.base, column(kOuterStride)),
      column(kStart));
  offset = b.create<arith::AddIOp>(location, innerAt.base, offset);
  return load(buffer, op.getType().getElementType(), {offset, innerAt.stride, nullptr});
}
