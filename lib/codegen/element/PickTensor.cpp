// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A concatenation of many inputs is read through a table of them, so that code neither branches nor
// grows with their number.
#include "codegen/element/BodyEmitter.h"

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

namespace {
/// An operand of a concatenation.
struct Part {
  Value tensor;
  int64_t start, extent;
  BlockArgument buffer; // the input that it is, or is a reshape of; null for anything else
};
} // namespace

Value BodyEmitter::pick(prim::ConcatenateOp op, ArrayRef<AffineExpr> position) {
  auto dimension = static_cast<size_t>(op.getDimension());
  ArrayRef<int64_t> shape = op.getType().getShape();
  bool inArray = ownBuffers && machine.getBufferArray(function);
  SmallVector<Part> parts;
  size_t others = 0;
  int64_t unit = 0, total = 0;
  for (Value input : op.getInputs()) {
    int64_t extent = cast<RankedTensorType>(input.getType()).getDimSize(dimension);
    if (extent == 0)
      continue;
    Value source = input;
    while (auto reshape = source.getDefiningOp<prim::ReshapeOp>())
      source = reshape.getOperand();
    bool isBuffer = inArray && pointers.contains(source);
    parts.push_back({input, total, extent, isBuffer ? cast<BlockArgument>(source) : nullptr});
    others += !isBuffer;
    unit = std::gcd(unit, total);
    total += extent;
  }
  if (parts.size() <= kFewTensors + others || others > kFewTensors)
    return nullptr;
  int64_t units = llvm::divideCeil(total, unit);
  AffineExpr along = index.simplify(position[dimension]);
  auto range = index.range(along);
  if (units > 4 * static_cast<int64_t>(parts.size()) || !range || range->first < 0 ||
      range->second >= total)
    return nullptr;

  // An element's offset is outer * the tensor's stride + inner - the tensor's start.
  ArrayRef<int64_t> innerShape = shape.drop_front(dimension + 1);
  int64_t innerSize = ShapedType::getNumElements(innerShape);
  AffineExpr outer = linearise(shape.take_front(dimension), position.take_front(dimension));
  AffineExpr inner =
      index.simplify(along * innerSize + linearise(innerShape, position.drop_front(dimension + 1)));
  AffineExpr row = index.simplify(along.floorDiv(unit));
  LaneIndex rowAt = index.evaluate(row), outerAt = index.evaluate(outer),
            innerAt = index.evaluate(inner);
  if (!rowAt.isUniform() || !outerAt.isUniform() || innerAt.lanes)
    return nullptr;

  // A row for every unit: what is no buffer has that of a neighbour, which no lane reads.
  SmallVector<int64_t> words;
  const Part *buffer = llvm::find_if(parts, [](const Part &part) { return bool(part.buffer); });
  for (const Part *part = parts.begin(); int64_t i : llvm::seq(units)) {
    while (part->start + part->extent <= i * unit)
      ++part;
    if (part->buffer)
      buffer = part;
    words.append(
        {buffer->buffer.getArgNumber(), buffer->extent * innerSize, buffer->start * innerSize});
  }
  auto loadFromBuffer = [&] {
    Type i64 = b.getI64Type();
    Value rows = table(words);
    Value first = b.create<arith::MulIOp>(location, rowAt.base, index.constant(kNumColumns));
    auto column = [&](Column which) -> Value {
      Value at = b.create<arith::AddIOp>(location, first, index.constant(which));
      return b.create<LLVM::LoadOp>(location, i64, address(rows, i64, at), sizeof(int64_t));
    };
    Value from = machine.loadBuffer(b, location, machine.getBufferArray(function), column(kBuffer));
    Value offset = b.create<arith::SubIOp>(
        location, b.create<arith::MulIOp>(location, outerAt.base, column(kOuterStride)),
        column(kStart));
    offset = b.create<arith::AddIOp>(location, innerAt.base, offset);
    bool aligned = startsAligned(inner) && llvm::all_of(parts, [&](const Part &part) {
                     return part.extent * innerSize % index.width() == 0 &&
                            part.start * innerSize % index.width() == 0;
                   });
    return load(from, op.getType().getElementType(), {offset, innerAt.stride, nullptr}, aligned);
  };
  // The few that are no buffers are asked for first.
  auto find = [&](auto &self, ArrayRef<Part> left) -> Value {
    while (!left.empty() && left.front().buffer)
      left = left.drop_front();
    if (left.empty())
      return loadFromBuffer();
    const Part &part = left.front();
    SmallVector<AffineExpr> local(position);
    local[dimension] = position[dimension] - part.start;
    return select(
        {{position[dimension], part.start, part.start + part.extent}},
        [&] { return element(part.tensor, local); }, [&] { return self(self, left.drop_front()); });
  };
  return find(find, parts);
}
