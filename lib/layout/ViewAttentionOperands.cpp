// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/StridedView.h"
#include "ir/prim/Tensor.h"
#include "layout/Passes.h"
#include "support/DeadCode.h"
#include "target/TargetedPass.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/MapVector.h"

namespace accc {
#define GEN_PASS_DEF_VIEWATTENTIONOPERANDSPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

ViewOf whole(Value tensor) { return {tensor, StridedView::all(typeOf(tensor).getShape())}; }

// ---- what is read ----

/// What the values are views of. Not where that is more than they are together: it would be kept in
/// memory for them.
SmallVector<ViewOf> sourcesOf(ArrayRef<Value> values) {
  SmallVector<ViewOf> sources;
  llvm::MapVector<Value, int64_t> read; // elements
  for (Value value : values) {
    ViewOf source = furthestView(value);
    if (!llvm::is_contained(sources, source))
      read[source.tensor] += source.view.elements();
    sources.push_back(source);
  }
  for (auto [source, value] : llvm::zip_equal(sources, values))
    if (read[source.tensor] < typeOf(source.tensor).getNumElements())
      source = whole(value);
  return sources;
}

// ---- what is written ----

/// Whether the op sums a value up, as biases' gradients do: its kernel reads wherever that lies.
bool isSum(Operation *reader) {
  if (!isa<ConvertOp>(reader))
    return isa<ReduceOp>(reader);
  return !reader->use_empty() && llvm::all_of(reader->getUsers(), llvm::IsaPred<ReduceOp>);
}

/// Whether the op may read a value back from one behind it.
bool isAside(Operation *reader) { return isa<AttentionBackwardOp>(reader) || isSum(reader); }

/// The op that alone reads a value, but for those aside, if it leaves every number as it is: a
/// transpose, a reshape, a concatenation, or a conversion between the type of the attention and
/// f32, which holds its numbers.
Operation *onlyReader(Value value, Type element) {
  auto readers =
      llvm::make_filter_range(value.getUsers(), [](Operation *user) { return !isAside(user); });
  if (!llvm::hasSingleElement(readers))
    return nullptr;
  Operation *reader = *readers.begin();
  if (auto convert = dyn_cast<ConvertOp>(reader)) {
    Type to = convert.getType().getElementType();
    return to == element || to.isF32() ? reader : nullptr;
  }
  return isa<TransposeOp, ReshapeOp, ConcatenateOp>(reader) ? reader : nullptr;
}

/// The ops behind a value of which each alone reads what the one before gives, the first one first;
/// a concatenation ends them. Others may read what the library writes from behind it.
SmallVector<Operation *> chainBehind(Value value, Type element) {
  SmallVector<Operation *> chain;
  while (Operation *reader = onlyReader(value, element)) {
    chain.push_back(reader);
    if (isa<ConcatenateOp>(reader))
      break;
    value = reader->getResult(0);
  }
  return chain;
}

/// Where the first op's operand is, from where the last one's result is.
std::optional<StridedView> before(ArrayRef<Operation *> chain, std::optional<StridedView> view) {
  for (Operation *op : llvm::reverse(chain))
    if (view && !isa<ConvertOp>(op))
      view = view->before(op);
  return view;
}

/// A value of the function that is made of results of an attention alone, and what each is of it.
struct Written {
  Value target;
  SmallVector<std::pair<OpResult, StridedView>> views;
  SmallVector<Operation *> chain; ///< from the one result, or from the concatenation of several

  bool isJoined() const { return views.size() > 1; }
};

/// The value as far behind `from` as that is a view of.
Written furthestBehind(Value from, StridedView &view, Type element) {
  SmallVector<Operation *> chain = chainBehind(from, element);
  if (!chain.empty() && isa<ConcatenateOp>(chain.back()))
    chain.pop_back();
  for (; !chain.empty(); chain.pop_back()) {
    Value target = chain.back()->getResult(0);
    if (auto found = before(chain, StridedView::all(typeOf(target).getShape()))) {
      view = *found;
      return {target, {}, chain};
    }
  }
  view = StridedView::all(typeOf(from).getShape());
  return {from, {}, {}};
}

/// Where an operand of a concatenation is, from where its result is.
StridedView partOf(const StridedView &all, ConcatenateOp join, size_t operand) {
  auto d = static_cast<size_t>(join.getDimension());
  StridedView part = all;
  part.shape = llvm::to_vector(typeOf(join->getOperand(operand)).getShape());
  for (Value earlier : join->getOperands().take_front(operand))
    part.offset += typeOf(earlier).getDimSize(static_cast<unsigned>(d)) * all.strides[d];
  return part;
}

/// The concatenation of some of the op's results, and of nothing else.
std::optional<Written> findJoined(ConcatenateOp join, Operation *op, Type element) {
  StridedView all;
  Written written = furthestBehind(join.getResult(), all, element);
  for (OpResult result : op->getResults()) {
    SmallVector<Operation *> chain = chainBehind(result, element);
    if (chain.empty() || chain.pop_back_val() != join || !result.hasOneUse() ||
        !llvm::all_of(chain, [](Operation *step) { return step->hasOneUse(); }))
      continue;
    Value joined = chain.empty() ? Value(result) : chain.back()->getResult(0);
    auto operand = static_cast<size_t>(
        std::distance(join->operand_begin(), llvm::find(join->getOperands(), joined)));
    auto view = before(chain, partOf(all, join, operand));
    if (!view)
      return std::nullopt;
    written.views.push_back({result, *view});
  }
  bool hasOthers = written.views.size() != join->getNumOperands();
  return hasOthers ? std::nullopt : std::optional(written);
}

/// What the results are to be written into, each into one.
SmallVector<Written> findWritten(Operation *op, ArrayRef<Value> results, Type element) {
  SmallVector<Written> all;
  for (Value value : results) {
    auto result = cast<OpResult>(value);
    if (llvm::any_of(all, [&](const Written &written) {
          return llvm::is_contained(llvm::make_first_range(written.views), result);
        }))
      continue;
    SmallVector<Operation *> chain = chainBehind(result, element);
    if (!chain.empty())
      if (auto join = dyn_cast<ConcatenateOp>(chain.back()))
        if (auto joined = findJoined(join, op, element)) {
          all.push_back(*joined);
          continue;
        }
    StridedView view;
    Written written = furthestBehind(result, view, element);
    written.views.push_back({result, view});
    all.push_back(written);
  }
  return all;
}

// ---- the ops ----

bool isDense(const StridedView &view) { return view == StridedView::all(view.shape); }

class Rewrite {
public:
  Rewrite(AttentionLike op, const Target &target)
      : op(op), target(target), b(op), element(typeOf(op.getQ()).getElementType()) {}

  void run() {
    if (llvm::any_of(op.getFactorTypes(),
                     [](RankedTensorType type) { return type.getNumElements() == 0; }))
      return;
    if (auto forward = dyn_cast<AttentionOp>(*op))
      runOn(forward);
    else if (auto backward = dyn_cast<AttentionBackwardOp>(*op))
      runOn(backward);
  }

private:
  /// Of what is read and then of the results, in the order of these.
  SmallVector<StridedView> viewsOf(ArrayRef<ViewOf> sources, ArrayRef<Value> results,
                                   ArrayRef<Written> written) const {
    SmallVector<StridedView> views;
    for (const ViewOf &source : sources)
      views.push_back(source.view);
    for (Value result : results)
      for (const Written &each : written)
        for (const auto &[of, view] : each.views)
          if (of == result)
            views.push_back(view);
    return views;
  }

  ArrayAttr attributeOf(ArrayRef<StridedView> views) {
    return b.getTypeArrayAttr(llvm::map_to_vector(
        views, [&](const StridedView &view) -> Type { return view.type(element); }));
  }

  /// As the attention writes it.
  Type typeOfWritten(const Written &written) const {
    return RankedTensorType::get(typeOf(written.target).getShape(), element);
  }

  /// Puts the results in place of those of the old op, if the target runs what was made.
  bool take(Operation *made, ArrayRef<Written> written) {
    if (!target.runsInLibrary(made)) {
      made->erase();
      return false;
    }
    b.setInsertionPointAfter(made);
    for (auto [each, value] : llvm::zip(written, made->getResults())) {
      Tensor now(b, op.getLoc(), value);
      restore(now, each.chain);
      Value target = each.target;
      target.replaceAllUsesWith(now.convert(typeOf(target).getElementType()).get());
    }
    return true;
  }

  /// Has those that read aside of the chain read what they did, back from the end of it.
  void restore(Tensor now, ArrayRef<Operation *> chain) {
    for (Operation *step : llvm::reverse(chain)) {
      Value read = step->getOperand(0);
      if (auto transpose = dyn_cast<TransposeOp>(step))
        now = now.transpose(invertPermutationVector(transpose.getPermutation()));
      else if (isa<ReshapeOp>(step))
        now = now.reshape(typeOf(read).getShape());
      if (!llvm::any_of(read.getUsers(), isAside))
        continue;
      Value same = now.convert(typeOf(read).getElementType()).get();
      read.replaceUsesWithIf(same, [](OpOperand &use) { return isAside(use.getOwner()); });
    }
  }

  void runOn(AttentionOp forward) {
    SmallVector<ViewOf> sources = sourcesOf({forward.getQ(), forward.getK(), forward.getV()});
    Value result = forward.getResult();
    SmallVector<Written> written = findWritten(forward, {result}, element);
    SmallVector<StridedView> views = viewsOf(sources, {result}, written);
    if (llvm::all_of(views, isDense))
      return;
    auto made = b.create<StridedAttentionOp>(
        op.getLoc(), typeOfWritten(written.front()), forward.getStats().getType(),
        sources[0].tensor, sources[1].tensor, sources[2].tensor, forward.getBias(),
        attributeOf(views), forward.getScaleAttr(), forward.getCausalAttr());
    if (take(made, written))
      forward.getStats().replaceAllUsesWith(made.getStats());
  }

  void runOn(AttentionBackwardOp backward) {
    SmallVector<ViewOf> sources = sourcesOf({backward.getQ(), backward.getK(), backward.getV()});
    for (Value value : {Value(backward.getY()), Value(backward.getDy())})
      llvm::append_range(sources, sourcesOf({value}));
    SmallVector<Value> results = llvm::to_vector_of<Value>(backward->getResults());
    SmallVector<Written> written = findWritten(backward, results, element);
    SmallVector<StridedView> views = viewsOf(sources, results, written);
    if (llvm::all_of(views, isDense))
      return;
    SmallVector<int64_t> places;
    for (Value result : results)
      for (auto [i, each] : llvm::enumerate(written))
        if (llvm::is_contained(llvm::make_first_range(each.views), result))
          places.push_back(static_cast<int64_t>(i));
    auto made = b.create<StridedAttentionBackwardOp>(
        op.getLoc(),
        llvm::map_to_vector(written, [&](const Written &each) { return typeOfWritten(each); }),
        sources[0].tensor, sources[1].tensor, sources[2].tensor, sources[3].tensor,
        backward.getStats(), sources[4].tensor, backward.getBias(), attributeOf(views),
        backward.getScaleAttr(), backward.getCausalAttr(), b.getDenseI64ArrayAttr(places));
    take(made, written);
  }

  AttentionLike op;
  const Target &target;
  OpBuilder b;
  Type element;
};

struct ViewAttentionOperandsPass
    : TargetedPass<accc::impl::ViewAttentionOperandsPassBase<ViewAttentionOperandsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    SmallVector<AttentionLike> attentions;
    getOperation().walk([&](AttentionLike op) { attentions.push_back(op); });
    for (AttentionLike op : attentions) // forward passes first, whose results gradients read
      Rewrite(op, getTarget()).run();
    eraseDeadCode(getOperation().front());
  }
};

} // namespace
