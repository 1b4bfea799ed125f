// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The labels of several sequences, one behind the other, that a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// How long a sequence is at most, where the lengths are how many elements each row of some mask
/// selects; nothing where they are something else.
static std::optional<int64_t> longestOf(Value lengths) {
  auto sum = withoutReshapes(lengths).getDefiningOp<prim::ReduceOp>();
  if (!sum || sum.getKind() != prim::ReduceKind::sum)
    return std::nullopt;
  auto flags = sum.getOperand().getDefiningOp<prim::ConvertOp>();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(sum.getOperand().getType()).getShape();
  bool isOfRows = shape.size() == 2 && sum.getDimensions() == ArrayRef<int64_t>{1};
  bool isOfMask = flags && getElementTypeOrSelf(flags.getOperand().getType()).isInteger(1);
  return isOfRows && isOfMask ? std::optional(shape[1]) : std::nullopt;
}

bool selected::alignments(SelectedCall &call) {
  const auto *labels = call.argument<Selection>("targets");
  const auto *lengths = call.argument<MutableTensor>("target_lengths");
  if (!labels || labels->rank() != 1 || !lengths || lengths->rank() != 1 || !call.isOnlySelection())
    return false;
  int64_t total = labels->elements.shape().front();
  // The loss takes as much time as the longest sequence may be long.
  int64_t longest = longestOf(call.read(*lengths)).value_or(total);
  MutableTensor ends = call("cumsum", {{"self", *lengths}, {"dim", int64_t(0)}});
  MutableTensor starts = call("sub.Tensor", {{"self", ends}, {"other", *lengths}});
  MutableTensor place =
      call("add.Tensor", {{"self", call("unsqueeze", {{"self", starts}, {"dim", int64_t(1)}})},
                          {"other", call("arange", {{"end", longest}})}});
  place = call("clamp", {{"self", place}, {"max", total - 1}}); // behind the last sequence's end
  // As many as the sequences take together, or the step ends with a data error.
  MutableTensor isOther =
      call("ne.Tensor", {{"self", call("sum", {{"self", *lengths}})},
                         {"other", call("sum", {{"self", call.flags(labels->mask)}})}});
  place = call("where.self", {{"condition", isOther},
                              {"self", call("full_like", {{"self", place}, {"fill_value", total}})},
                              {"other", place}});
  MutableTensor flat = compact(call, *labels, total, int64_t(0));
  return call.giveCall(call.with("targets", call("take", {{"self", flat}, {"index", place}})));
}
