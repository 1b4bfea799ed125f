// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Match.h"

#include "frontend/common/Fold.h"
#include "ir/interfaces/ReferenceValues.h"

#include <cmath>

using namespace mlir;
using namespace accc;

namespace {
ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// `full` with extent 1 at `dimensions`, or without them.
SmallVector<int64_t> reducedShape(ArrayRef<int64_t> full, ArrayRef<int64_t> dimensions, bool keep) {
  SmallVector<int64_t> shape;
  for (auto [d, extent] : llvm::enumerate(full))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(d)))
      shape.push_back(extent);
    else if (keep)
      shape.push_back(1);
  return shape;
}
} // namespace

std::optional<double> match::number(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<prim::BroadcastOp, prim::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr known = knownValue(value);
  if (!known || known.empty() || !(known.isSplat() || known.getNumElements() == 1))
    return std::nullopt;
  return toReference(known.resizeSplat(RankedTensorType::get({}, known.getElementType())))
      .values.front();
}

bool match::isAbout(std::optional<double> a, double b) {
  return a && std::abs(*a - b) <= 1e-6 * std::abs(b);
}

Value match::plus(Value value, double constant) {
  auto parts =
      either<prim::AddOp>(value, [&](Value side) { return isAbout(number(side), constant); });
  return parts ? parts->second : Value();
}

// No formula nests deeper, and a model may.
match::Product match::product(Value value, int depth) {
  Product result;
  if (depth > 6) {
    result.factors.push_back(value);
    return result;
  }
  if (auto mul = value.getDefiningOp<prim::MulOp>()) {
    for (Value side : {mul.getLhs(), mul.getRhs()}) {
      if (auto known = number(side)) {
        result.coefficient *= *known;
        continue;
      }
      Product inner = product(side, depth + 1);
      result.coefficient *= inner.coefficient;
      result.factors.append(inner.factors);
    }
    return result;
  }
  if (auto div = value.getDefiningOp<prim::DivOp>()) {
    if (auto known = number(div.getRhs()); known && *known != 0) {
      result = product(div.getLhs(), depth + 1);
      result.coefficient /= *known;
      return result;
    }
  }
  result.factors.push_back(value);
  return result;
}

std::optional<match::Mean> match::mean(Value value) {
  ArrayRef<int64_t> outer = shapeOf(value);
  bool reshaped = false;
  if (auto reshape = value.getDefiningOp<prim::ReshapeOp>()) {
    value = reshape.getOperand();
    reshaped = true;
  }
  auto scaled = either<prim::MulOp>(value, [](Value side) { return number(side).has_value(); });
  if (!scaled)
    return std::nullopt;
  auto sum = scaled->second.getDefiningOp<prim::ReduceOp>();
  if (!sum || sum.getKind() != prim::ReduceKind::sum)
    return std::nullopt;
  double count = 1;
  for (int64_t d : sum.getDimensions())
    count *= static_cast<double>(shapeOf(sum.getOperand())[d]);
  if (!isAbout(number(scaled->first), 1.0 / count))
    return std::nullopt;
  Mean result{sum.getOperand(), SmallVector<int64_t>(sum.getDimensions())};
  if (reshaped &&
      outer != ArrayRef(reducedShape(shapeOf(result.operand), result.dimensions, /*keep=*/true)))
    return std::nullopt;
  return result;
}

Value match::repeatedAlong(Value value, ArrayRef<int64_t> full, ArrayRef<int64_t> dimensions) {
  auto broadcast = value.getDefiningOp<prim::BroadcastOp>();
  if (!broadcast || shapeOf(value) != full)
    return Value();
  SmallVector<int64_t> others;
  for (int64_t d = 0, e = static_cast<int64_t>(full.size()); d < e; ++d)
    if (!llvm::is_contained(dimensions, d))
      others.push_back(d);
  ArrayRef<int64_t> inner = shapeOf(broadcast.getOperand());
  if (inner == ArrayRef(reducedShape(full, dimensions, /*keep=*/true)))
    return broadcast.getOperand();
  if (inner == ArrayRef(reducedShape(full, dimensions, /*keep=*/false)) &&
      broadcast.getDimensions() == ArrayRef(others))
    return broadcast.getOperand();
  return Value();
}

Value match::repeatedOverLeading(Value value, int64_t axis, OpBuilder &builder) {
  ArrayRef<int64_t> tail = shapeOf(value).drop_front(axis);
  auto broadcast = value.getDefiningOp<prim::BroadcastOp>();
  Value source = broadcast ? broadcast.getOperand() : value;
  ArrayRef<int64_t> shape = shapeOf(source);
  if (shape.size() < tail.size() || shape.take_back(tail.size()) != tail)
    return Value();
  if (!llvm::all_of(shape.drop_back(tail.size()), [](int64_t extent) { return extent == 1; }))
    return Value();
  if (broadcast) {
    // Trailing dimensions must stay trailing ones.
    int64_t rank = static_cast<int64_t>(shapeOf(value).size()),
            inner = static_cast<int64_t>(shape.size());
    for (int64_t i = 0; i < inner; ++i)
      if (broadcast.getDimensions()[i] != rank - inner + i && shape[i] != 1)
        return Value();
  }
  if (shape.size() == tail.size())
    return source;
  auto type = cast<RankedTensorType>(source.getType());
  return builder.create<prim::ReshapeOp>(source.getLoc(), type.clone(tail), source);
}
