// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What masks select, in lists and sizes.
#include "frontend/aten/Selection.h"
#include "frontend/torchscript/Interpreter.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

std::optional<IValue> Interpreter::sizeOf(const aten::Selection &selection, StringRef name,
                                          ArrayRef<IValue> arguments) {
  auto extent = [&](std::optional<int64_t> dim) -> IValue {
    aten::Local size = aten::sizeOf(caller, opBuilder.getUnknownLoc(), selection, dim);
    if (auto *known = std::get_if<int64_t>(&size))
      return *known;
    return std::get<aten::MutableTensor>(size);
  };
  if (name == "numel")
    return extent(std::nullopt);
  if (name == "len")
    return extent(0);
  if (name != "size")
    return std::nullopt;
  if (!arguments.empty()) {
    auto *dim = arguments.front().get<int64_t>();
    return dim ? std::optional(extent(*dim)) : std::nullopt;
  }
  std::vector<IValue> all;
  for (int64_t dim = 0; dim < cast<RankedTensorType>(selection.elements.type()).getRank(); ++dim)
    all.push_back(extent(dim));
  return heap.list(std::move(all));
}

std::optional<aten::Local> Interpreter::listOfTensors(ArrayRef<IValue> elements, bool mayBeNone) {
  SmallVector<aten::Local> tensors;
  for (const IValue &each : elements)
    if (each.tensor())
      tensors.push_back(*each.tensor());
    else if (auto *selection = each.get<aten::Selection>())
      tensors.push_back(*selection);
    else if (mayBeNone && each.isNone())
      tensors.push_back(aten::NoValue());
    else
      return std::nullopt;
  return aten::listOfTensors(tensors);
}

std::optional<aten::Local> Interpreter::listOfSizes(ArrayRef<IValue> elements) {
  SmallVector<aten::Local> sizes;
  for (const IValue &each : elements)
    if (each.tensor())
      sizes.push_back(*each.tensor());
    else if (auto *integer = each.get<int64_t>())
      sizes.push_back(*integer);
    else
      return std::nullopt;
  return aten::listOfSizes(caller, opBuilder.getUnknownLoc(), sizes);
}
