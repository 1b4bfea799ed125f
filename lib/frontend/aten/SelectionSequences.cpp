// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The labels of several sequences, one behind the other, that a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// How many elements a row of the mask has, where the lengths are how many each row of it selects;
/// nothing where they are something else.
static std::optional<int64_t> rowsCounted(Value lengths, Value mask) {
  auto sum = withoutReshapes(lengths).getDefiningOp<prim::ReduceOp>();
  if (!sum || sum.getKind() != prim::ReduceKind::sum)
    return std::nullopt;
  auto flags = sum.getOperand().getDefiningOp<prim::ConvertOp>();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(sum.getOperand().getType()).getShape();
  bool isOfRows = shape.size() == 2 && sum.getDimensions() == ArrayRef<int64_t>{1};
  if (!isOfRows || !flags || !isSameMask(flags.getOperand(), mask))
    return std::nullopt;
  return shape[1];
}

bool selected::alignments(SelectedCall &call) {
  const auto *labels = call.argument<Selection>("targets");
  if (!labels || labels->rank() != 1 || !call.isOnlySelection())
    return false;
  MutableTensor flat = compact(call, *labels, labels->elements.shape().front(), int64_t(0));
  const auto *lengths = call.argument<MutableTensor>("target_lengths");
  auto row = lengths ? rowsCounted(call.read(*lengths), labels->mask) : std::nullopt;
  if (row) { // no sequence is longer, and the loss takes as much time as the longest may be long
    MutableTensor ends = call("cumsum", {{"self", *lengths}, {"dim", int64_t(0)}});
    MutableTensor starts = call("sub.Tensor", {{"self", ends}, {"other", *lengths}});
    starts = call("unsqueeze", {{"self", starts}, {"dim", int64_t(1)}});
    MutableTensor place = call("arange", {{"end", *row}});
    place = call("add.Tensor", {{"self", starts}, {"other", place}});
    flat = call("take", {{"self", flat}, {"index", place}});
  }
  return call.giveCall(call.with("targets", flat));
}
