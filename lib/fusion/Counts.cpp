// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Counts.h"

#include "ir/prim/Prim.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;

using Steps = std::optional<SmallVector<int64_t>>;

static Steps stepsOfConstant(prim::ConstantOp op) {
  auto elements = dyn_cast<DenseIntElementsAttr>(op.getValue());
  if (!elements || elements.empty() || elements.getElementType().isInteger(1))
    return std::nullopt;
  bool isUnsigned = elements.getElementType().isUnsignedInteger();
  auto numberOf = [&](const APInt &element) {
    return static_cast<int64_t>(isUnsigned ? element.getZExtValue()
                                           : static_cast<uint64_t>(element.getSExtValue()));
  };
  // The step along a dimension is the element next to the first; all others must fit.
  ArrayRef<int64_t> shape = elements.getType().getShape();
  auto values = elements.getValues<APInt>();
  SmallVector<int64_t> steps(shape.size(), 0);
  uint64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0; stride *= static_cast<uint64_t>(shape[d]))
    if (shape[d] > 1)
      steps[d] = numberOf(values[stride]);
  auto value = values.begin();
  bool fits = true;
  ReferenceArray::forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t expected = 0, times = 0;
    for (auto [step, i] : llvm::zip_equal(steps, index))
      fits &= !llvm::MulOverflow<int64_t>(step, i, times) &&
              !llvm::AddOverflow(expected, times, expected);
    fits &= numberOf(*value++) == expected;
  });
  return fits ? Steps(steps) : std::nullopt;
}

Steps accc::stepsOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> steps(static_cast<size_t>(type.getRank()), 0);
  return llvm::TypeSwitch<Operation *, Steps>(op)
      .Case([](prim::ConstantOp constant) { return stepsOfConstant(constant); })
      .Case([&](prim::IotaOp iota) {
        steps[iota.getDimension()] = 1;
        return steps;
      })
      .Case([&](prim::BroadcastOp broadcast) -> Steps {
        Steps inner = stepsOf(broadcast.getOperand());
        if (!inner)
          return std::nullopt;
        auto from = cast<RankedTensorType>(broadcast.getOperand().getType()).getShape();
        for (auto [to, step, extent] : llvm::zip_equal(broadcast.getDimensions(), *inner, from))
          steps[to] = extent == 1 ? 0 : step; // one element does not count, but is repeated
        return steps;
      })
      .Default([](Operation *) { return std::nullopt; });
}
