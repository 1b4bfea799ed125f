// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/emit/NarrowInputs.h"

#include "accc/abi.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

namespace {

/// Where a slice begins among the elements of its operand, if it is one piece of them.
std::optional<int64_t> contiguousBegin(prim::SliceOp slice) {
  ArrayRef<int64_t> shape = slice.getOperand().getType().getShape();
  ArrayRef<int64_t> taken = slice.getType().getShape();
  if (llvm::any_of(slice.getStrides(), [](int64_t stride) { return stride != 1; }))
    return std::nullopt;
  int64_t begin = 0, stride = 1;
  bool whole = true; // all dimensions behind this one
  for (size_t d = shape.size(); d-- > 0;) {
    if (taken[d] != 1 && !whole)
      return std::nullopt;
    whole &= taken[d] == shape[d];
    begin += slice.getStarts()[d] * stride;
    stride *= shape[d];
  }
  return begin;
}

/// The slice that stands for all uses of a value.
prim::SliceOp onlySlice(Value value) {
  prim::SliceOp first;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<prim::SliceOp>(user);
    if (!slice ||
        (first && (slice.getType() != first.getType() || slice.getStarts() != first.getStarts())))
      return {};
    first = slice;
  }
  return first;
}

/// Puts `value` in the place of all slices that stand for the uses of another.
void replaceSlices(Value sliced, Value value) {
  for (Operation *user : llvm::make_early_inc_range(sliced.getUsers())) {
    user->getResult(0).replaceAllUsesWith(value);
    user->erase();
  }
}

/// What `slice` takes of the result of `op`, computed from the same part of what `op` reads;
/// nothing where that is no part of it.
std::optional<Value> computeSlice(Operation &op, prim::SliceOp slice) {
  OpBuilder b(&op);
  RankedTensorType type = slice.getType();
  auto part = [&](Value value, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits) -> Value {
    SmallVector<int64_t> strides(starts.size(), 1);
    return b.create<prim::SliceOp>(op.getLoc(), value, starts, limits, strides);
  };
  if (auto constant = dyn_cast<prim::ConstantOp>(op)) {
    auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
    if (!splat)
      return std::nullopt;
    return b.create<prim::ConstantOp>(op.getLoc(), type, splat.resizeSplat(type));
  }
  if (auto broadcast = dyn_cast<prim::BroadcastOp>(op)) {
    SmallVector<int64_t> starts, limits;
    ArrayRef<int64_t> shape = broadcast.getOperand().getType().getShape();
    for (auto [extent, d] : llvm::zip(shape, broadcast.getDimensions())) {
      starts.push_back(extent == 1 ? 0 : slice.getStarts()[d]);
      limits.push_back(extent == 1 ? 1 : slice.getLimits()[d]);
    }
    bool whole = limits == shape && llvm::all_of(starts, [](int64_t start) { return start == 0; });
    Value operand = broadcast.getOperand();
    return b.create<prim::BroadcastOp>(op.getLoc(), type,
                                       whole ? operand : part(operand, starts, limits),
                                       broadcast.getDimensions());
  }
  auto fusible = dyn_cast<Fusible>(op);
  if (!fusible || fusible.getFusionClass() != FusionClass::Pointwise || op.getNumOperands() == 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = slice.getOperand().getType().getShape();
  for (Value operand : op.getOperands())
    if (cast<RankedTensorType>(operand.getType()).getShape() != shape)
      return std::nullopt;
  SmallVector<Value> parts;
  for (Value operand : op.getOperands())
    parts.push_back(part(operand, slice.getStarts(), slice.getLimits()));
  Operation *copy = b.clone(op);
  copy->setOperands(parts);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Computes of a body no more than its contiguous slices take: from the last op to the first, so
/// that a slice arrives where it finds no op to pass.
void sinkSlices(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body))) {
    if (op.getNumResults() != 1)
      continue;
    prim::SliceOp slice = onlySlice(op.getResult(0));
    if (!slice || !contiguousBegin(slice))
      continue;
    if (std::optional<Value> value = computeSlice(op, slice)) {
      replaceSlices(op.getResult(0), *value);
      op.erase();
    }
  }
}

} // namespace

RankedTensorType NarrowFusion::inputType(size_t input) {
  return cast<RankedTensorType>((*fusion).getBody().getArgument(input).getType());
}

NarrowFusion accc::narrowInputs(prim::FusionOp fusion, function_ref<bool(Value)> mayNarrow) {
  NarrowFusion result{fusion.clone(), SmallVector<int64_t>(fusion.getInputs().size(), 0)};
  sinkSlices((*result.fusion).getBody().front());
  for (BlockArgument argument : (*result.fusion).getBody().getArguments()) {
    prim::SliceOp slice = onlySlice(argument);
    if (!slice || !mayNarrow(fusion.getInputs()[argument.getArgNumber()]))
      continue;
    std::optional<int64_t> begin = contiguousBegin(slice);
    int64_t bytes = elementBytes(slice.getType());
    if (!begin || *begin * bytes % ACCC_ALIGNMENT)
      continue;
    result.begins[argument.getArgNumber()] = *begin * bytes;
    RankedTensorType type = slice.getType();
    replaceSlices(argument, argument);
    argument.setType(type);
  }
  return result;
}
