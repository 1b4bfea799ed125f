// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/ContractionSide.h"
#include "support/DeadCode.h"
#include "target/TargetedPass.h"

#include <array>
#include <vector>

namespace accc {
#define GEN_PASS_DEF_VIEWCONTRACTIONOPERANDSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

/// What the value lies in, as it does or as a part: no kernel copies it out of that.
Value placeOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto slice = dyn_cast<SliceOp>(op);
    if (!isa<ReshapeOp>(op) && !(slice && slice.getContiguousBegin()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// One of the factors of a product.
ContractionSide sideOf(MatrixProduct op, size_t i) {
  return i == 0 ? ContractionSide::lhsOf(op) : ContractionSide::rhsOf(op);
}

/// The product of factors that are read where they lie.
GemmOp makeOfViews(MatrixProduct op, const ViewOf &lhs, const ViewOf &rhs) {
  OpBuilder builder(op);
  Type element = typeOf(op.getLhs()).getElementType();
  auto gemm = dyn_cast<GemmOp>(*op);
  return builder.create<GemmOp>(
      op.getLoc(), lhs.tensor, rhs.tensor, gemm ? gemm.getBias() : Value(),
      builder.getTypeArrayAttr({lhs.view.type(element), rhs.view.type(element)}), op.getLhsBatch(),
      op.getRhsBatch(), op.getLhsContracting(), op.getRhsContracting(), op.getFullPrecision(),
      op.getWideResult());
}

ViewOf whole(Value value) { return {value, StridedView::all(typeOf(value).getShape())}; }

/// What the library can read a factor from without the copy that it would take. What transposes,
/// reshapes and slices give is a copy itself, or lies in what it is made of.
std::optional<ViewOf> findSource(MatrixProduct op, size_t i, const Target &target) {
  ContractionSide side = sideOf(op, i);
  bool isEmpty = typeOf(op->getResult(0)).getNumElements() == 0;
  if (isEmpty || side.view || ReferenceArray::count(side.shape()) == 0)
    return std::nullopt;
  ViewOf source = furthestView(side.value);
  side.view = source.view;
  bool isCopy = isa_and_nonnull<TransposeOp, ReshapeOp, SliceOp>(source.tensor.getDefiningOp());
  if (isCopy || placeOf(side.value) == source.tensor || !side.isReadable())
    return std::nullopt;
  GemmOp made = i == 0 ? makeOfViews(op, source, whole(op.getRhs()))
                       : makeOfViews(op, whole(op.getLhs()), source);
  bool runs = target.runsInLibrary(made);
  made.erase();
  return runs ? std::optional(source) : std::nullopt;
}

/// Which elements a view has, in whatever order: its offset, and strides and extents, the least
/// stride first.
SmallVector<int64_t> elementsOf(const StridedView &view) {
  SmallVector<std::pair<int64_t, int64_t>> dimensions;
  for (auto [stride, extent] : llvm::zip_equal(view.strides, view.shape))
    if (extent != 1)
      dimensions.push_back({stride, extent});
  llvm::sort(dimensions);
  SmallVector<int64_t> elements{view.offset};
  for (auto [stride, extent] : dimensions)
    if (elements.size() > 1 && stride == elements.rbegin()[1] * elements.back())
      elements.back() *= extent;
    else
      elements.append({stride, extent});
  return elements;
}

/// A product, and what it may read its factors from.
struct Product {
  MatrixProduct op;
  std::array<std::optional<ViewOf>, 2> sources;
};

class Rewrite {
public:
  Rewrite(Block &block, const Target &target) {
    for (auto op : block.getOps<MatrixProduct>())
      products.push_back({op, {findSource(op, 0, target), findSource(op, 1, target)}});
    findCopies(block);
    drop([&](Value factor, const ViewOf &) { return copies.contains(placeOf(factor)); });
    drop([&](Value, const ViewOf &source) {
      addRead(source);
      return false;
    });
    drop([&](Value, const ViewOf &source) { return !isKept(source.tensor); });
  }

  /// The ops that are replaced stay, used by nobody.
  void run() {
    DenseMap<Value, Value> replaced; // products that others read
    for (auto &[op, sources] : products) {
      if (!sources[0] && !sources[1])
        continue;
      ViewOf lhs = sources[0].value_or(whole(op.getLhs())),
             rhs = sources[1].value_or(whole(op.getRhs()));
      for (ViewOf *factor : {&lhs, &rhs})
        if (Value now = replaced.lookup(factor->tensor))
          factor->tensor = now;
      Value made = makeOfViews(op, lhs, rhs);
      replaced[op->getResult(0)] = made;
      op->getResult(0).replaceAllUsesWith(made);
    }
  }

private:
  /// Forgets the sources of which `isWrong` is true.
  void drop(function_ref<bool(Value factor, const ViewOf &)> isWrong) {
    for (Product &product : products)
      for (size_t i : {0, 1})
        if (auto &source = product.sources[i];
            source && isWrong(sideOf(product.op, i).value, *source))
          source.reset();
  }

  /// What is in memory whatever becomes of the factors that may be read elsewhere.
  void findCopies(Block &block) {
    for (const Product &product : products)
      for (size_t i : {0, 1})
        if (!product.sources[i])
          copies.insert(placeOf(sideOf(product.op, i).value));
    for (Operation &op : block)
      if (op.hasTrait<OpTrait::IsTerminator>() || (isCall(&op) && !isa<MatrixProduct>(op)))
        for (Value operand : op.getOperands())
          copies.insert(placeOf(operand));
  }

  void addRead(const ViewOf &source) {
    SmallVector<int64_t> elements = elementsOf(source.view);
    auto &[count, seen] = reads[source.tensor];
    if (llvm::is_contained(seen, elements))
      return;
    seen.push_back(elements);
    count += source.view.elements();
  }

  /// Whether it takes no more memory to keep the value than what is read of it.
  bool isKept(Value value) const {
    return isa<BlockArgument>(value) ||
           reads.find(value)->second.first >= typeOf(value).getNumElements();
  }

  std::vector<Product> products;
  DenseSet<Value> copies;
  DenseMap<Value, std::pair<int64_t, SmallVector<SmallVector<int64_t>>>> reads;
};

struct ViewContractionOperandsPass
    : TargetedPass<accc::impl::ViewContractionOperandsPassBase<ViewContractionOperandsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    Block &block = getOperation().front();
    Rewrite(block, getTarget()).run();
    eraseDeadCode(block);
  }
};

} // namespace
