// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifier that runs on every compile.
#include "schedule/Schedule.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

namespace {
struct Extent {
  exec::Space space;
  int64_t begin, end;
  bool overlaps(const Extent &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
  bool equals(const Extent &other) const {
    return space == other.space && begin == other.begin && end == other.end;
  }
  bool contains(const Extent &other) const {
    return space == other.space && begin <= other.begin && other.end <= end;
  }
};

Extent extentOf(Value buffer) {
  auto slice = buffer.getDefiningOp<exec::SliceOp>();
  RankedTensorType type = cast<exec::BufferType>(buffer.getType()).getTensor();
  auto offset = static_cast<int64_t>(slice.getOffset());
  bool inBlock = slice.getSpace() == exec::Space::state || slice.getSpace() == exec::Space::arena;
  return {slice.getSpace(), offset, offset + (inBlock ? tensorBytes(type) : 1)};
}

/// Follows who wrote what last: each read must find what one step wrote.
LogicalResult verifyEntry(exec::EntryOp entry) {
  // Arena contents, disjoint, each written whole by one step.
  SmallVector<Extent> written;
  bool checked = false;
  SmallVector<Extent> updated;
  for (Operation &op : entry.getBody().front()) {
    if (isa<exec::CheckOp>(op))
      checked = true;
    ValueRange inputs, outputs;
    if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
      inputs = launch.getInputs();
      outputs = launch.getOutputs();
    } else if (auto each = dyn_cast<exec::LaunchEachOp>(op)) {
      inputs = each.getInputs();
      outputs = each.getOutputs();
    } else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
      inputs = call.getInputs();
      outputs = call.getOutputs();
    } else {
      continue;
    }
    for (Value input : inputs) {
      Extent e = extentOf(input);
      if (e.space == exec::Space::arena && e.begin != e.end &&
          llvm::none_of(written, [&](const Extent &w) { return w.contains(e); }))
        return op.emitError(
            "bug in accc: the schedule reads a buffer that is not written, or was overwritten");
      if (e.space == exec::Space::state &&
          llvm::any_of(updated, [&](const Extent &u) { return u.overlaps(e); }))
        return op.emitError("bug in accc: the schedule reads a variable after its update");
    }
    for (auto [i, output] : llvm::enumerate(outputs)) {
      Extent e = extentOf(output);
      if (e.space == exec::Space::constant || e.space == exec::Space::input)
        return op.emitError("bug in accc: the schedule writes a read-only buffer");
      if (e.space == exec::Space::state) {
        if (!checked)
          return op.emitError("bug in accc: a variable changes before the data has been checked");
        updated.push_back(e);
        continue;
      }
      if (e.space != exec::Space::arena || e.begin == e.end)
        continue;
      for (size_t j = i + 1; j < outputs.size(); ++j)
        if (extentOf(outputs[j]).overlaps(e))
          return op.emitError("bug in accc: two outputs of a launch overlap");
      for (Value input : inputs)
        if (Extent in = extentOf(input); in.overlaps(e) && !in.equals(e))
          return op.emitError("bug in accc: an output of a launch overlaps one of its inputs");
      llvm::erase_if(written, [&](const Extent &w) { return w.overlaps(e); });
      written.push_back(e);
    }
  }
  return success();
}
} // namespace

LogicalResult accc::verifySchedule(ModuleOp program) {
  for (auto entry : program.getOps<exec::EntryOp>())
    if (failed(verifyEntry(entry)))
      return failure();
  return success();
}
