// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gradient of max-pooling, and where the maxima are. One task is a plane: windows do not cross the
// dimensions in which the window is 1, so planes are independent.
#include "codegen/kernel/Domain.h"
#include "codegen/kernel/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
struct Geometry {
  Value operand;
  ArrayRef<int64_t> window, strides, dilations, padLow;
  SmallVector<int64_t> positions; // shape of the window positions
};

/// The row-major index in the operand of the first greatest element of the window at `position`, and
/// whether the window has any element at all (it has, by the op's constraints, unless padding exceeds it).
Value firstMaximum(BodyEmitter &emitter, const Geometry &g, ArrayRef<AffineExpr> position) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto type = cast<RankedTensorType>(g.operand.getType());
  Type scalar = BodyEmitter::registerType(type.getElementType());
  Value best, where;
  Value none = emitter.indices().constant(-1);
  ReferenceArray::forEachIndex(g.window, [&](ArrayRef<int64_t> offset) {
    SmallVector<AffineExpr> at;
    SmallVector<IndexRange> ranges;
    AffineExpr linear = getAffineConstantExpr(0, b.getContext());
    for (size_t d = 0; d < offset.size(); ++d) {
      AffineExpr e = position[d] * g.strides[d] + (offset[d] * g.dilations[d] - g.padLow[d]);
      at.push_back(e);
      ranges.push_back({e, 0, type.getDimSize(static_cast<unsigned>(d))});
      linear = linear * type.getDimSize(static_cast<unsigned>(d)) + e;
    }
    Value lowest = isa<FloatType>(scalar)
                       ? emitter.constant(b.getFloatAttr(scalar, -INFINITY))
                       : emitter.constant(b.getIntegerAttr(
                             scalar, APInt::getSignedMinValue(scalar.getIntOrFloatBitWidth())));
    Value x = emitter.toVector(emitter.select(
        ranges, [&] { return emitter.element(g.operand, at); }, [&] { return lowest; }));
    Value here = emitter.toVector(emitter.select(
        ranges, [&] { return emitter.indexValue(linear, b.getI64Type()); }, [&] { return none; }));
    if (!best) {
      best = x;
      where = here;
      return;
    }
    // Greater, or the first element inside the operand, or NaN where there was none before.
    Value greater;
    if (isa<FloatType>(scalar)) {
      Value gt = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::UGT, x, best);
      Value bestIsNumber = b.create<arith::CmpFOp>(loc, arith::CmpFPredicate::ORD, best, best);
      greater = b.create<arith::AndIOp>(loc, gt, bestIsNumber);
    } else {
      greater = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, x, best);
    }
    Value first = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, where,
                                         emitter.toVector(emitter.indices().constant(0)));
    Value better = b.create<arith::OrIOp>(loc, greater, first);
    best = b.create<arith::SelectOp>(loc, better, x, best);
    where = b.create<arith::SelectOp>(loc, better, here, where);
  });
  return where;
}

/// Adds the lanes of `source` at the row-major indices `where` of output 0, one after the other, because
/// windows overlap.
void addAt(BodyEmitter &emitter, Value where, Value source, Value mask, ArrayRef<int64_t> shape) {
  OpBuilder &b = emitter.builder();
  Location loc = emitter.loc();
  auto vector = dyn_cast<VectorType>(where.getType());
  int64_t count = ReferenceArray::count(shape);
  auto one = [&](Value at, Value value) {
    AffineExpr linear = emitter.indices().addSymbol(at, count);
    SmallVector<AffineExpr> to;
    int64_t stride = count;
    for (size_t d = 0; d < shape.size(); ++d) {
      AffineExpr rest = d == 0 ? linear : linear % stride;
      stride /= shape[d];
      to.push_back(rest.floorDiv(stride));
    }
    emitter.store(0, to, b.create<arith::AddFOp>(loc, emitter.loadOutput(0, to), value));
  };
  if (!vector) {
    one(where, source);
    return;
  }
  for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
    auto extract = [&](Value v) -> Value { return b.create<vector::ExtractOp>(loc, v, ArrayRef<int64_t>{lane}); };
    BodyEmitter::Scope scope(emitter);
    OpBuilder::InsertionGuard guard(b);
    Value at = extract(where), value = extract(source);
    if (mask) {
      auto inside = b.create<scf::IfOp>(loc, extract(mask), /*withElseRegion=*/false);
      b.setInsertionPointToStart(inside.thenBlock());
      one(at, value);
    } else {
      one(at, value);
    }
  }
}

template <typename Op> Geometry geometryOf(Op op) {
  Geometry g{op.getOperand(), op.getWindow(), op.getStrides(), op.getDilations(), op.getPadLow(), {}};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(g.operand.getType()).getShape();
  for (size_t d = 0; d < shape.size(); ++d)
    g.positions.push_back((shape[d] + g.padLow[d] + op.getPadHigh()[d] -
                           ((g.window[d] - 1) * g.dilations[d] + 1)) /
                              g.strides[d] +
                          1);
  return g;
}
} // namespace

FailureOr<KernelFunction> codegen::emitWindowScatterKernel(exec::KernelOp kernel, ModuleOp module,
                                                           const KernelOptions &options,
                                                           ErrorTable &errors) {
  Operation *yield = kernel.getBody().front().getTerminator();
  Operation *op = yield->getNumOperands() == 1 ? yield->getOperand(0).getDefiningOp() : nullptr;
  auto scatter = dyn_cast_or_null<prim::WindowScatterOp>(op);
  auto argWindow = dyn_cast_or_null<prim::ArgWindowOp>(op);
  if (!scatter && !argWindow)
    return kernel.emitError("bug in accc: a window_scatter kernel yields one window_scatter or arg_window");
  Geometry g = scatter ? geometryOf(scatter) : geometryOf(argWindow);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(g.operand.getType()).getShape();
  auto rank = static_cast<unsigned>(shape.size());

  Domain domain(g.positions);
  func::FuncOp function = createKernelFunction(kernel, module);
  BodyEmitter emitter(kernel, function, errors, rank);
  OpBuilder &b = emitter.builder();
  IndexEmitter &index = emitter.indices();
  SmallVector<unsigned> outer, inner;
  int64_t planes = 1, planePositions = 1, planeElements = 1;
  for (unsigned i = 0; i < rank; ++i) {
    index.setDim(i, index.constant(0), std::max(shape[i], g.positions[i]));
    bool independent = g.window[i] == 1 && g.strides[i] == 1 && g.positions[i] == shape[i];
    (independent ? outer : inner).push_back(i);
    (independent ? planes : planePositions) *= g.positions[i];
    planeElements *= independent ? 1 : shape[i];
  }
  if (ReferenceArray::count(shape) == 0 || planes * planePositions == 0)
    return KernelFunction{function, 0};

  SmallVector<AffineExpr> position;
  for (unsigned i = 0; i < rank; ++i)
    position.push_back(index.dim(i));
  Domain elements(shape), flat(ArrayRef<int64_t>{ReferenceArray::count(shape)});
  int64_t cost = planeElements + planePositions * ReferenceArray::count(g.window);
  Type scalar = BodyEmitter::registerType(
      cast<RankedTensorType>(op->getResult(0).getType()).getElementType());

  int64_t lanesDim = inner.empty() ? -1 : inner.back();
  int64_t width = lanesDim < 0 ? 1 : chooseWidth(g.positions[lanesDim], options);

  int64_t tasks = forEachRow(emitter, function, planes, cost, [&](Value plane) {
    if (!outer.empty())
      setRow(emitter, domain, outer, plane);
    if (scatter)
      forLoop(emitter, index.constant(0), index.constant(planeElements), 1, [&](Value i) {
        setRow(emitter, elements, inner, i);
        emitter.store(0, position, emitter.constant(cast<TypedAttr>(b.getZeroAttr(scalar))));
      });
    // Maxima are found for a vector of positions along the last dimension of the windows.
    SmallVector<unsigned> lines(inner);
    int64_t lineCount = planePositions, extent = 1;
    if (lanesDim >= 0) {
      lines.pop_back();
      extent = g.positions[lanesDim];
      lineCount /= extent;
      index.setVector(static_cast<unsigned>(lanesDim), width);
    }
    auto atPositions = [&](ValueRange, Value mask) {
      Value where = firstMaximum(emitter, g, position);
      if (argWindow)
        emitter.store(0, position, where);
      else
        addAt(emitter, where, emitter.toVector(emitter.element(scatter.getSource(), position)), mask, shape);
      return SmallVector<Value>();
    };
    forLoop(emitter, index.constant(0), index.constant(lineCount), 1, [&](Value line) {
      if (!lines.empty())
        setRow(emitter, domain, lines, line);
      if (lanesDim < 0)
        atPositions({}, nullptr);
      else
        vectorLoop(emitter, static_cast<unsigned>(lanesDim), std::max(extent, shape[lanesDim]), index.constant(0),
                   index.constant(extent), extent % width == 0, {}, atPositions);
    });
    index.setVector(~0u, 1);
  });
  return KernelFunction{function, tasks};
}
