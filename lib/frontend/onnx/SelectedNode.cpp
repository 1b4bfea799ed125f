// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/SelectedNode.h"
#include "frontend/aten/Selection.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::frontend::SelectedValue;

aten::MutableTensor SelectedNode::tensor(Value value) const {
  auto type = cast<RankedTensorType>(value.getType());
  return aten::MutableTensor(value, node.proto().op_type(),
                             aten::Layout::contiguous(type.getShape()));
}

aten::Local SelectedNode::input(size_t i) const {
  if (!node.has(i))
    return aten::NoValue();
  const Entity &entity = node.entity(i);
  if (entity.selected)
    return entity.selected->local;
  return entity.tensor ? aten::Local(tensor(entity.tensor)) : aten::Local(aten::Irrelevant());
}

std::optional<int64_t> SelectedNode::rank(size_t i) const {
  aten::Local local = input(i);
  if (auto *selection = std::get_if<aten::Selection>(&local))
    return selection->rank();
  auto *tensor = std::get_if<aten::MutableTensor>(&local);
  return tensor ? std::optional(tensor->rank()) : std::nullopt;
}

Value SelectedNode::countedMask(size_t i) const {
  std::optional<aten::MutableTensor> number = inputAs<aten::MutableTensor>(i);
  return number ? number->countedMask() : Value();
}

std::optional<aten::Integers> SelectedNode::axes(StringRef attribute, size_t input,
                                                 int64_t rank) const {
  std::optional<SmallVector<int64_t>> given = node.integersFrom(attribute, input);
  if (!given)
    return std::nullopt;
  SmallVector<int64_t> axes = node.axes(*given, rank);
  return aten::Integers(axes.begin(), axes.end());
}

aten::Local SelectedNode::call(StringRef op, const std::vector<aten::NamedLocal> &arguments) const {
  return caller.call(loc, op, arguments, node.proto().op_type()).front();
}

std::optional<aten::Local> SelectedNode::ofElements() const {
  std::optional<aten::Selection> x = selection(0);
  const OpRow *op = findOp(node.proto().domain(), node.proto().op_type());
  if (!x || !op || node.wants(1))
    return std::nullopt;
  Entities inputs{Entity(read(x->elements))};
  for (size_t i = 1; i < node.inputs(); ++i) {
    if (node.has(i) && node.entity(i).selected)
      return std::nullopt;
    inputs.push_back(node.has(i) ? node.entity(i) : Entity());
  }
  return aten::Selection{tensor(resultOf(*op, inputs)), x->mask, x->dim};
}

aten::Local SelectedNode::ofSizes(const aten::SelectedSizes &sizes) const {
  const OpRow *op = findOp(node.proto().domain(), node.proto().op_type());
  Value result = resultOf(*op, {entityOf(aten::Integers(sizes.sizes))});
  return aten::Selection{tensor(result), sizes.mask, sizes.dim};
}

Value SelectedNode::resultOf(const OpRow &op, const Entities &inputs) const {
  Node view(node.importer(), node.scope(), node.proto(), node.opset(), loc, inputs);
  return node.importer().build([&] { return op.rule(view); }).front().tensor;
}

aten::Local SelectedNode::countOf(Value mask) const {
  aten::MutableTensor count = std::get<aten::MutableTensor>(call("sum", {{"self", tensor(mask)}}));
  count.markCount(mask);
  return count;
}

Entity SelectedNode::entityOf(const aten::Local &local) const {
  Entity entity;
  if (auto *integers = std::get_if<aten::Integers>(&local))
    return node.importer()
        .build([&]() -> Entities {
          return {node.NodeBuilder::integers(*integers, {static_cast<int64_t>(integers->size())})};
        })
        .front();
  if (auto *tensor = std::get_if<aten::MutableTensor>(&local)) {
    entity.tensor = caller.read(loc, *tensor);
    if (!tensor->countedMask())
      return entity;
  }
  entity.selected = std::make_shared<const SelectedValue>(SelectedValue{local});
  return entity;
}

void accc::onnx_import::refuseSelected(const Entity &entity, aten::Caller &caller, Location loc) {
  const aten::Local &local = entity.selected->local;
  if (auto *selection = std::get_if<aten::Selection>(&local))
    caller.requireKnown(loc, selection->mask);
  if (auto *sizes = std::get_if<aten::SelectedSizes>(&local))
    caller.requireKnown(loc, sizes->mask);
}

std::optional<Entities> SelectedNode::run() const {
  bool isAny = false;
  for (size_t i = 0; i < node.inputs(); ++i)
    isAny |= node.has(i) && node.entity(i).selected;
  StringRef op = node.proto().op_type();
  // The sizes of the last two may be a computed number of what a mask selects.
  bool selects = llvm::is_contained({"NonZero", "Compress", "Expand", "Slice"}, op);
  if (!node.proto().domain().empty() || (!isAny && !selects))
    return std::nullopt;
  SelectedRule rule = selectedRule(op);
  if (std::optional<aten::Local> result = rule ? rule(*this) : std::nullopt)
    return Entities{entityOf(*result)};
  for (size_t i = 0; i < node.inputs(); ++i)
    if (node.has(i) && node.entity(i).selected)
      refuseSelected(node.entity(i), caller, loc);
  return std::nullopt; // a number is a tensor, too
}
