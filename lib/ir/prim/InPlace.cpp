// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/InPlace.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// Elements at equal distances.
struct Run {
  int64_t extent, stride;
  bool operator==(const Run &) const = default;
};

/// Where among an argument's elements, by row-major index, those lie that the elements of a value
/// are computed from: the latter in row-major order, the innermost run last. Those of a padding,
/// which nothing of the argument is read for, go on at the same distances.
struct Origin {
  int64_t first = 0;
  SmallVector<Run> runs;

  bool operator==(const Origin &) const = default;
  /// Joins runs that go on where the one inside ends.
  void normalize();
  /// A run for each dimension; none if dimensions of this shape are not runs.
  std::optional<SmallVector<Run>> split(ArrayRef<int64_t> shape) const;
};

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

} // namespace

void Origin::normalize() {
  SmallVector<Run> joined; // the innermost first
  for (Run run : llvm::reverse(runs)) {
    if (!joined.empty() && run.stride == joined.back().extent * joined.back().stride)
      joined.back().extent *= run.extent;
    else if (run.extent != 1)
      joined.push_back(run);
  }
  runs.assign(joined.rbegin(), joined.rend());
}

std::optional<SmallVector<Run>> Origin::split(ArrayRef<int64_t> shape) const {
  SmallVector<Run> left(runs), dimensions;
  int64_t next = 1; // where the elements of a dimension of one would go on
  for (int64_t extent : llvm::reverse(shape)) {
    Run run{extent, next};
    if (extent != 1) {
      if (extent == 0 || left.empty() || left.back().extent % extent)
        return std::nullopt;
      run.stride = left.back().stride;
      left.back() = {left.back().extent / extent, run.stride * extent};
      if (left.back().extent == 1)
        left.pop_back();
    }
    next = run.extent * run.stride;
    dimensions.push_back(run);
  }
  std::reverse(dimensions.begin(), dimensions.end());
  return dimensions;
}

/// The origin of an op's result from that of one of its operands; none if it has no such order.
static std::optional<Origin> originOf(Operation *op, const Origin &operand) {
  if (isa<Pointwise, ReshapeOp>(op))
    return operand;
  if (!isa<SliceOp, PadOp>(op))
    return std::nullopt;
  auto runs = operand.split(shapeOf(op->getOperand(0)));
  if (!runs)
    return std::nullopt;
  Origin result{operand.first, *runs};
  for (auto [d, run] : llvm::enumerate(result.runs)) {
    run.extent = shapeOf(op->getResult(0))[d];
    if (auto slice = dyn_cast<SliceOp>(op)) {
      result.first += slice.getStarts()[d] * run.stride;
      run.stride *= slice.getStrides()[d];
    } else if (auto pad = cast<PadOp>(op); pad.getInterior()[d] == 0) {
      result.first -= pad.getLow()[d] * run.stride;
    } else {
      return std::nullopt;
    }
  }
  result.normalize();
  return result;
}

bool accc::prim::readsInPlace(Block &body, KernelKind kind, unsigned argument) {
  // Other kernels read an input in an order of their own.
  if (kind != KernelKind::loop && kind != KernelKind::each)
    return false;
  // Every path from the argument to an output leaves the elements where they were.
  Origin whole{
      0, {{cast<RankedTensorType>(body.getArgument(argument).getType()).getNumElements(), 1}}};
  whole.normalize();
  DenseMap<Value, Origin> origins{{body.getArgument(argument), whole}};
  SmallVector<Value> pending{body.getArgument(argument)};
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    Origin origin = origins[value];
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user)) {
        if (origin.first != 0 || origin.runs.size() > 1 ||
            (origin.runs.size() == 1 && origin.runs.front().stride != 1))
          return false;
        continue;
      }
      // Of an op with one operand that has an order, the others are single values.
      if (!isa<Pointwise>(user) && use.getOperandNumber() != 0)
        return false;
      std::optional<Origin> result = originOf(user, origin);
      if (!result)
        return false;
      auto [it, isNew] = origins.try_emplace(user->getResult(0), *result);
      if (isNew)
        pending.push_back(user->getResult(0));
      else if (it->second != *result)
        return false;
    }
  }
  return true;
}
