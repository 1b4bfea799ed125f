// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/DescribeKernels.h"

#include "fusion/AccessAnalysis.h"
#include "ir/prim/InPlace.h"
#include "ir/prim/IndexRanges.h"
#include "ir/prim/KernelReductions.h"
#include "ir/prim/Pieces.h"

using namespace mlir;
using namespace accc;

namespace {

ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The kernel of one body.
class Description {
public:
  Description(Block &body, prim::KernelKind kind) : body(body), kind(kind) {
    results = body.getTerminator()->getOperands();
    findLevels();
    prim::ReduceOp first = reductions.rows.empty() ? prim::ReduceOp() : reductions.rows.front();
    llvm::append_range(space, first ? shapeOf(first.getOperand()) : prim::spaceOf(results));
    reduced.assign(space.size(), false);
    if (first)
      for (int64_t d : first.getDimensions())
        reduced[d] = true;
    accesses = walk(space);
  }

  prim::KernelSpecAttr get() const;

private:
  /// Every index expression that decides what is read and written, and how many symbols these have.
  struct Accesses {
    llvm::SetVector<AffineExpr> expressions;
    unsigned numSymbols = 0;
  };

  void findLevels();
  Accesses walk(ArrayRef<int64_t> extents) const;
  bool areNeighbours(int64_t outer, int64_t inner, ArrayRef<int64_t> extents) const;
  bool isWalkedBy(ArrayRef<int64_t> extents) const;
  SmallVector<int64_t> collapse(llvm::function_ref<bool(ArrayRef<int64_t>)> mayBe) const;
  SmallVector<int64_t> collapse() const;

  Block &body;
  prim::KernelKind kind;
  ValueRange results;
  prim::KernelReductions reductions;
  SmallVector<int64_t> levels, depths, space;
  SmallVector<bool> reduced;
  Accesses accesses; // of loops over the space itself
};

} // namespace

/// How many reductions lie on the way to each reduction, and to each result.
void Description::findLevels() {
  DenseMap<Operation *, int64_t> depth;
  auto depthOf = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return op ? depth.lookup(op) : 0;
  };
  SmallVector<prim::ReduceOp> all;
  for (Operation &op : body.without_terminator()) {
    int64_t level = 0;
    for (Value operand : op.getOperands())
      level = std::max(level, depthOf(operand));
    if (auto reduction = dyn_cast<prim::ReduceOp>(op)) {
      all.push_back(reduction);
      levels.push_back(level++);
    }
    depth[&op] = level;
  }
  for (Value result : results)
    depths.push_back(depthOf(result));
  reductions = *prim::sortReductions(all);
}

/// Follows everything that the kernel computes back to what it reads, in loops of these extents.
Description::Accesses Description::walk(ArrayRef<int64_t> extents) const {
  auto isInside = [&](Operation *op) { return op->getBlock() == &body; };
  AccessAnalysis analysis(body.getParentOp()->getContext(), extents, isInside);
  Accesses found;
  analysis.accesses = &found.expressions;
  SmallVector<AffineExpr> full = analysis.identity(), kept;
  for (auto [d, index] : llvm::enumerate(full))
    if (!reduced[d])
      kept.push_back(index);
  for (prim::ReduceOp reduction : reductions.rows) {
    analysis.element(reduction.getOperand(), full);
    analysis.element(reduction.getResult(), kept);
  }
  for (prim::ReduceOp column : reductions.columns) {
    prim::ElementOf operand = prim::columnOperand(column, space, full);
    analysis.element(operand.tensor, operand.index);
  }
  for (Value result : results) {
    if (reductions.isColumn(result))
      continue;
    ArrayRef<AffineExpr> position = prim::isWalkedOver(result, space) ? full : kept;
    prim::forEachPiece(result, space, position, [&](Value piece, ArrayRef<AffineExpr> at) {
      analysis.element(piece, position);
      found.expressions.insert(analysis.offsetOf(result, at));
    });
  }
  found.numSymbols = analysis.numSymbols();
  return found;
}

/// True if every access goes on, where the inner of two dimensions ends, with the next of the
/// outer.
bool Description::areNeighbours(int64_t outer, int64_t inner, ArrayRef<int64_t> extents) const {
  return reduced[outer] == reduced[inner] &&
         llvm::all_of(accesses.expressions, [&](AffineExpr access) {
           auto a = prim::coefficientOf(access, static_cast<unsigned>(outer));
           auto c = prim::coefficientOf(access, static_cast<unsigned>(inner));
           return a && c && *a == *c * extents[inner];
         });
}

/// True if loops of these extents, some of the space's dimensions in one, reach the same elements.
/// An index may be short for no other reason than its dimension's own extent: (16 * d0 + d1)
/// floordiv 16 is d0 as long as d1 < 16, and another number where d1 walks d0 as well.
bool Description::isWalkedBy(ArrayRef<int64_t> extents) const {
  MLIRContext *context = body.getParentOp()->getContext();
  SmallVector<AffineExpr> index = AccessAnalysis(context, extents, {}).identity();
  llvm::SmallDenseSet<AffineExpr> wanted;
  for (AffineExpr access : accesses.expressions)
    wanted.insert(access.replaceDims(index));
  return llvm::all_of(walk(extents).expressions,
                      [&](AffineExpr access) { return wanted.contains(access); });
}

/// The extents of the space, neighbours that may be one collapsed into the inner.
SmallVector<int64_t>
Description::collapse(llvm::function_ref<bool(ArrayRef<int64_t>)> mayBe) const {
  SmallVector<int64_t> extents(space);
  auto rank = static_cast<int64_t>(extents.size());
  int64_t inner = rank - 1;
  while (inner > 0 && extents[inner] == 1)
    --inner;
  for (int64_t outer = inner - 1; outer >= 0; --outer) {
    if (extents[outer] == 1)
      continue;
    SmallVector<int64_t> together(extents);
    together[inner] *= together[outer];
    together[outer] = 1;
    if (areNeighbours(outer, inner, extents) && mayBe(together))
      extents = together;
    else
      inner = outer;
  }
  return extents;
}

/// The same where every access walks them as one. That is seen by walking again, once in most
/// cases.
SmallVector<int64_t> Description::collapse() const {
  SmallVector<int64_t> extents = collapse([](ArrayRef<int64_t>) { return true; });
  if (ArrayRef<int64_t>(extents) == ArrayRef<int64_t>(space) || isWalkedBy(extents))
    return extents;
  return collapse([&](ArrayRef<int64_t> together) { return isWalkedBy(together); });
}

prim::KernelSpecAttr Description::get() const {
  Builder b(body.getParentOp()->getContext());
  SmallVector<int64_t> dimensions, inPlace;
  for (auto [d, isReduced] : llvm::enumerate(reduced))
    if (isReduced)
      dimensions.push_back(static_cast<int64_t>(d));
  for (BlockArgument argument : body.getArguments())
    if (prim::readsInPlace(body, kind, argument.getArgNumber()))
      inPlace.push_back(argument.getArgNumber());
  auto array = [&](ArrayRef<int64_t> numbers) { return b.getDenseI64ArrayAttr(numbers); };
  return prim::KernelSpecAttr::get(
      b.getContext(), array(collapse()), array(dimensions), array(levels), array(depths),
      array(inPlace),
      AffineMap::get(static_cast<unsigned>(space.size()), accesses.numSymbols,
                     accesses.expressions.getArrayRef(), b.getContext()));
}

void accc::describeKernel(prim::FusionOp fusion) {
  if (fusion.getKind() == prim::KernelKind::loop || fusion.getKind() == prim::KernelKind::reduce)
    fusion.setSpecAttr(Description(fusion.getBody().front(), fusion.getKind()).get());
}

void accc::describeKernels(func::FuncOp function) {
  for (auto fusion : function.front().getOps<prim::FusionOp>())
    describeKernel(fusion);
}
