// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/IndexBounds.h"

#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace accc;

DictionaryAttr IndexBounds::toAttr(MLIRContext *context) const {
  Builder b(context);
  NamedAttrList list;
  list.set("first", b.getI64IntegerAttr(first));
  list.set("end", b.getI64IntegerAttr(end));
  if (ignored)
    list.set("ignored", b.getI64IntegerAttr(*ignored));
  list.set("what", b.getStringAttr(what));
  return list.getDictionary(context);
}

IndexBounds IndexBounds::fromAttr(DictionaryAttr attribute) {
  auto integer = [&](StringRef name) { return attribute.getAs<IntegerAttr>(name); };
  IndexBounds bounds{integer("first").getInt(), integer("end").getInt(), std::nullopt,
                     attribute.getAs<StringAttr>("what").getValue()};
  if (IntegerAttr ignored = integer("ignored"))
    bounds.ignored = ignored.getInt();
  return bounds;
}

/// Of classes that a loss compares with.
template <typename Loss> static std::optional<IndexBounds> classesOf(Loss loss, Value scores) {
  auto type = cast<RankedTensorType>(scores.getType());
  IndexBounds bounds{0, type.getDimSize(type.getRank() == 1 ? 0 : 1), std::nullopt, "classes"};
  if (std::optional<uint64_t> ignored = loss.getIgnoreIndex())
    bounds.ignored = static_cast<int64_t>(*ignored);
  return bounds;
}

static IndexBounds rowsOf(Value data, uint64_t axis) {
  return {0, cast<RankedTensorType>(data.getType()).getDimSize(static_cast<unsigned>(axis)),
          std::nullopt, "rows"};
}

/// What the op that uses the indices takes.
static std::optional<IndexBounds> boundsOf(OpOperand &use) {
  using Bounds = std::optional<IndexBounds>;
  return llvm::TypeSwitch<Operation *, Bounds>(use.getOwner())
      .Case([&](nn::CrossEntropyOp op) {
        return use.get() == op.getTarget() ? classesOf(op, op.getLogits()) : Bounds();
      })
      .Case([&](nn::NllLossOp op) {
        return use.get() == op.getTarget() ? classesOf(op, op.getLogProbs()) : Bounds();
      })
      .Case([&](prim::GatherOp op) {
        return use.get() == op.getIndices() ? Bounds(rowsOf(op.getData(), op.getAxis())) : Bounds();
      })
      .Case([&](prim::ScatterOp op) {
        return use.get() == op.getIndices() ? Bounds(rowsOf(op.getData(), op.getAxis())) : Bounds();
      })
      .Default([](Operation *) { return Bounds(); });
}

static bool isSplat(Value value, int64_t wanted) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) && number.getSExtValue() == wanted;
}

/// The n of `x < 0 ? x + n : x`, which lets indices count from the end.
static std::optional<int64_t> wrappedExtent(Value x, prim::SelectOp select) {
  auto compare = select.getPredicate().getDefiningOp<prim::CompareOp>();
  auto sum = select.getOnTrue().getDefiningOp<prim::AddOp>();
  APInt extent;
  if (select.getOnFalse() != x || !compare || !sum || compare.getLhs() != x ||
      compare.getDirection() != prim::Direction::lt || !isSplat(compare.getRhs(), 0) ||
      sum.getLhs() != x || !matchPattern(sum.getRhs(), m_ConstantInt(&extent)))
    return std::nullopt;
  return extent.getSExtValue();
}

/// Whether the op's result holds all elements of its operand as they are.
static bool keepsElements(Operation *op) {
  if (auto convert = dyn_cast<prim::ConvertOp>(op)) {
    auto from = dyn_cast<IntegerType>(getElementTypeOrSelf(convert.getOperand().getType()));
    auto to = dyn_cast<IntegerType>(getElementTypeOrSelf(convert.getType()));
    return from && to && to.getWidth() >= from.getWidth() && to.isUnsigned() == from.isUnsigned();
  }
  return isa<prim::ReshapeOp, prim::TransposeOp, prim::BroadcastOp>(op);
}

std::optional<IndexBounds> accc::findIndexBounds(Value input) {
  std::optional<IndexBounds> found;
  auto add = [&](const IndexBounds &bounds) {
    if (!found) {
      found = bounds;
      return;
    }
    found->first = std::max(found->first, bounds.first);
    found->end = std::min(found->end, bounds.end);
    if (found->ignored != bounds.ignored)
      found->ignored.reset();
  };
  llvm::SetVector<Value> values;
  values.insert(input);
  for (size_t i = 0; i < values.size(); ++i)
    for (OpOperand &use : values[i].getUses()) {
      Operation *op = use.getOwner();
      if (std::optional<IndexBounds> bounds = boundsOf(use))
        add(*bounds);
      else if (keepsElements(op))
        values.insert(op->getResult(0));
      auto select = dyn_cast<prim::SelectOp>(op);
      std::optional<int64_t> extent = select ? wrappedExtent(values[i], select) : std::nullopt;
      if (!extent)
        continue;
      std::optional<IndexBounds> wrapped = findIndexBounds(select.getResult());
      if (wrapped && wrapped->end == *extent) {
        wrapped->first = -*extent;
        add(*wrapped);
      }
    }
  // Rows of a table that has none: every index is wrong, and no message helps to find a right one.
  return found && found->first < found->end ? found : std::nullopt;
}
