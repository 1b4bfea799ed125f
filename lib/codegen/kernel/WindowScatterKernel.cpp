// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of max-pooling, and where the maxima are. One task is a plane: windows do not cross
// the dimensions in which the window is 1, so planes are independent.
#include "codegen/kernel/FirstMaximum.h"

#include "support/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
/// Adds the lanes of `source` at the row-major indices `where` of output 0, one after the other,
/// because windows overlap. A lane whose window holds no element, where the index is -1, adds
/// nothing, and so does one outside `mask`.
void addAt(BodyEmitter &emitter, const Windows &w, Value where, Value source, Value mask) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto op = cast<Combining>(w.op);
  auto vector = dyn_cast<VectorType>(where.getType());
  int64_t count = ReferenceArray::count(w.shape());
  auto add = [&](Value at, Value value) {
    AffineExpr linear = emitter.indices().addSymbol(at, count);
    SmallVector<AffineExpr> to;
    int64_t stride = count;
    for (size_t d = 0; d < w.shape().size(); ++d) {
      AffineExpr rest = d == 0 ? linear : linear % stride;
      stride /= w.shape()[d];
      to.push_back(rest.floorDiv(stride));
    }
    emitter.store(0, to, op.emitCombine(b, emitter.loadOutput(0, to), value));
  };
  bool maybeEmpty = w.geometry.hasEmptyWindow();
  int64_t lanes = vector ? vector.getNumElements() : 1;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    auto extract = [&](Value v) -> Value {
      return vector ? b.create<vector::ExtractOp>(loc, v, ArrayRef<int64_t>{lane}) : v;
    };
    BodyEmitter::Scope scope(emitter);
    OpBuilder::InsertionGuard guard(b);
    Value at = extract(where), value = extract(source);
    Value condition = mask ? extract(mask) : Value();
    if (maybeEmpty) {
      Value holds = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, at,
                                            emitter.indices().constant(0));
      condition = condition ? b.create<arith::AndIOp>(loc, condition, holds) : holds;
    }
    if (condition) {
      auto inside = b.create<scf::IfOp>(loc, condition, /*withElseRegion=*/false);
      b.setInsertionPointToStart(inside.thenBlock());
    }
    add(at, value);
  }
}
} // namespace

FailureOr<KernelFunction> codegen::emitWindowScatterKernel(exec::KernelOp kernel, ModuleOp module,
                                                           const KernelTarget &target,
                                                           ErrorTable &errors) {
  Windows g = Windows::of(kernel);
  if (!g.op)
    return emitBug(kernel.getLoc())
           << "a window_scatter kernel yields one window_scatter or arg_window";
  ArrayRef<int64_t> shape = g.shape();
  auto rank = static_cast<unsigned>(shape.size());

  if (target.lanesAreThreads())
    return emitWindowGather(kernel, target.createFunction(kernel, module, /*inLanes=*/true), g,
                            target, errors);
  // Windows overlap: unless lanes have columns of their own, they cannot add side by side.
  bool inColumns = rank > 0 && g.isIndependent(rank - 1) && shape[rank - 1] > 1;
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/inColumns);
  if (ReferenceArray::count(g.source ? shape : ArrayRef<int64_t>(g.positions)) == 0)
    return KernelFunction{function, target.getLaunchShape(function, 0)};
  if (inColumns)
    return emitWindowColumns(kernel, function, g, target, errors);

  Domain domain(g.positions);
  BodyEmitter emitter(kernel, function, target, errors, rank);
  OpBuilder &b = emitter.builder();
  IndexEmitter &index = emitter.indices();
  SmallVector<unsigned> outer, inner;
  int64_t planes = 1, planePositions = 1, planeElements = 1;
  for (unsigned i = 0; i < rank; ++i) {
    index.setDim(i, index.constant(0), std::max(shape[i], g.positions[i]));
    bool independent = g.isIndependent(i);
    (independent ? outer : inner).push_back(i);
    (independent ? planes : planePositions) *= g.positions[i];
    planeElements *= independent ? 1 : shape[i];
  }

  SmallVector<AffineExpr> position;
  for (unsigned i = 0; i < rank; ++i)
    position.push_back(index.dim(i));
  Domain elements(shape), flat(ArrayRef<int64_t>{ReferenceArray::count(shape)});
  int64_t cost = planeElements + planePositions * ReferenceArray::count(g.window());
  Type scalar =
      BodyEmitter::registerType(cast<RankedTensorType>(g.operand.getType()).getElementType());

  int64_t lanesDim = inner.empty() ? -1 : static_cast<int64_t>(inner.back());
  int64_t width = lanesDim < 0 ? 1 : target.chooseLanes(g.positions[lanesDim]);

  int64_t tasks = forEachRow(emitter, function, planes, cost, [&](Value plane) {
    if (!outer.empty())
      setRow(emitter, domain, outer, plane);
    if (g.source)
      forLoop(emitter, index.constant(0), index.constant(planeElements), 1, [&](Value i) {
        setRow(emitter, elements, inner, i);
        emitter.store(0, position, emitter.constant(cast<TypedAttr>(b.getZeroAttr(scalar))));
      });
    // Maxima are found for a vector of positions along the last dimension of the windows.
    SmallVector<unsigned> lines(inner);
    int64_t lineCount = 1, extent = 1;
    if (lanesDim >= 0) {
      lines.pop_back();
      extent = g.positions[lanesDim];
      target.setLanes(emitter, static_cast<unsigned>(lanesDim), width);
    }
    for (unsigned d : lines)
      lineCount *= g.positions[d];
    auto atPositions = [&](ValueRange, Value mask) {
      Value where = firstMaximumIndex(emitter, g, position);
      if (g.source)
        addAt(emitter, g, where, emitter.toVector(emitter.element(g.source, position)), mask);
      else
        emitter.store(0, position, where);
      return SmallVector<Value>();
    };
    forLoop(emitter, index.constant(0), index.constant(lineCount), 1, [&](Value line) {
      if (!lines.empty())
        setRow(emitter, domain, lines, line);
      if (lanesDim < 0)
        atPositions({}, nullptr);
      else
        target.loopOverLanes(emitter, static_cast<unsigned>(lanesDim),
                             std::max(extent, shape[lanesDim]), index.constant(0),
                             index.constant(extent), extent % width == 0, {}, atPositions);
    });
    target.setLanes(emitter, ~0u, 1);
  });
  return KernelFunction{function, target.getLaunchShape(function, tasks)};
}
