// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/NarrowInputs.h"

#include "accc/abi.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

namespace {

/// The slice that stands for all uses of a value.
prim::SliceOp onlySlice(Value value) {
  prim::SliceOp first;
  for (Operation *user : value.getUsers()) {
    auto slice = dyn_cast<prim::SliceOp>(user);
    if (!slice ||
        (first && (slice.getType() != first.getType() || slice.getStarts() != first.getStarts() ||
                   slice.getStrides() != first.getStrides())))
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
  if (!isa<Pointwise>(op) || op.getNumOperands() == 0)
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
    if (!slice || !slice.getContiguousBegin())
      continue;
    if (std::optional<Value> value = computeSlice(op, slice)) {
      replaceSlices(op.getResult(0), *value);
      op.erase();
    }
  }
}

/// What stands for its operand, whole, in the same memory: a barrier will be gone.
bool isSame(Operation *op) {
  return isa_and_nonnull<prim::ReshapeOp, prim::OptimizationBarrierOp>(op);
}

/// Whether a buffer can begin inside the value. What the caller gives or gets, and what the library
/// holds, has no offsets.
bool mayBeNarrowed(func::FuncOp function, Value value) {
  while (isSame(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isVariable(argumentRole(function, argument.getArgNumber()));
  if (value.getDefiningOp<prim::ConstantOp>())
    return false;
  SmallVector<Value> same{value};
  while (!same.empty())
    for (OpOperand &use : same.pop_back_val().getUses()) {
      if (isSame(use.getOwner()))
        same.push_back(use.getOwner()->getResult(0));
      else if (use.getOwner()->hasTrait<OpTrait::IsTerminator>() && !isUpdate(function, use))
        return false;
    }
  return true;
}

/// Whether what the slice takes lies in one piece, which begins where a buffer can.
bool isAligned(prim::SliceOp slice) {
  std::optional<int64_t> begin = slice.getContiguousBegin();
  return begin && *begin * elementBytes(slice.getType()) % ACCC_ALIGNMENT == 0;
}

void narrowInputsOf(func::FuncOp function, prim::FusionOp fusion) {
  sinkSlices(fusion.getBody().front());
  OpBuilder b(fusion);
  for (BlockArgument argument : fusion.getBody().getArguments()) {
    prim::SliceOp slice = onlySlice(argument);
    OpOperand &input = fusion->getOpOperand(argument.getArgNumber());
    if (!slice || !isAligned(slice) || !mayBeNarrowed(function, input.get()))
      continue;
    auto part = cast<prim::SliceOp>(b.clone(*slice));
    part->setOperands(input.get());
    input.set(part);
    replaceSlices(argument, argument);
    argument.setType(part.getType());
  }
}

/// Of a kernel that is left with a copy of nearly all of a value, the readers take the value
/// itself: the rest is no memory that the copy would have set free.
void dropCopy(prim::FusionOp fusion) {
  constexpr int64_t kLittle = 32; // a rest of this part of the value is none
  Block &body = fusion.getBody().front();
  if (fusion.getNumOperands() != 1 || fusion.getNumResults() != 1 ||
      body.getTerminator()->getOperand(0) != body.getArgument(0))
    return;
  auto part = fusion.getOperand(0).getDefiningOp<prim::SliceOp>();
  if (!part || part.getType() != fusion.getResult(0).getType())
    return;
  int64_t bytes = tensorBytes(part.getType());
  if (tensorBytes(part.getOperand().getType()) - bytes > bytes / kLittle)
    return;
  SmallVector<Value> same{fusion.getResult(0)};
  while (!same.empty()) // what is returned has memory of its own
    for (Operation *user : same.pop_back_val().getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return;
      if (isa<prim::ReshapeOp>(user))
        same.push_back(user->getResult(0));
    }
  fusion.getResult(0).replaceAllUsesWith(part);
  fusion.erase();
}

} // namespace

bool accc::isPlaceInMemory(prim::SliceOp slice) {
  if (!isAligned(slice) ||
      !mayBeNarrowed(slice->getParentOfType<func::FuncOp>(), slice.getOperand()))
    return false;
  SmallVector<Value> same{slice};
  while (!same.empty()) // what is returned has memory of its own
    for (Operation *user : same.pop_back_val().getUsers()) {
      if (user->hasTrait<OpTrait::IsTerminator>())
        return false;
      if (isSame(user) || isa<prim::SliceOp>(user))
        same.push_back(user->getResult(0));
    }
  return true;
}

void accc::narrowInputs(func::FuncOp function) {
  for (auto fusion : llvm::make_early_inc_range(function.front().getOps<prim::FusionOp>())) {
    narrowInputsOf(function, fusion);
    dropCopy(fusion);
  }
}
