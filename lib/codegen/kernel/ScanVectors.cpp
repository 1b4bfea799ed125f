// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scans on a CPU, whose lanes are those of vectors: along the innermost dimension where the scan
// leaves it, so that neighbours are walked together, and for an arg_reduce of the innermost
// dimension along that itself.
#include "codegen/kernel/Scan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Several registers as one vector hide the latency of comparing and adding.
constexpr int64_t kUnroll = 4;

class VectorScan {
public:
  VectorScan(exec::KernelOp kernel, func::FuncOp function, const Scan &scan,
             const KernelTarget &target, ErrorTable &errors)
      : scan(scan), target(target), domain(scan.shape()), function(function),
        emitter(kernel, function, target, errors, static_cast<unsigned>(domain.extents.size())),
        b(emitter.builder()), loc(emitter.loc()), index(emitter.indices()),
        lanesDim(static_cast<unsigned>(domain.innermost())), extent(domain.extents[scan.along]),
        lines(emitter, domain, scan.along, lanesDim) {}

  KernelFunction emit();

private:
  Value elementHere() { return emitter.toVector(emitter.element(scan.operand, position)); }
  Value select(Value condition, Value a, Value c) {
    return b.create<arith::SelectOp>(loc, condition, a, c);
  }
  Value precedes(Value a, Value c) { return scan.argReduce.emitPrecedes(b, a, c); }
  /// Element 0 of the row.
  Value first() {
    BodyEmitter::Scope scope(emitter);
    index.setDim(scan.along, index.constant(0), extent);
    return elementHere();
  }
  void walkColumns();
  void walkRow();

  Scan scan;
  const KernelTarget &target;
  Domain domain;
  func::FuncOp function;
  BodyEmitter emitter;
  OpBuilder &b;
  Location loc;
  IndexEmitter &index;
  unsigned lanesDim;
  int64_t extent;
  Lines lines;
  ArrayRef<AffineExpr> position = lines.position;
};

/// A vector of neighbours, each a scan of its own.
void VectorScan::walkColumns() {
  Type element = BodyEmitter::registerType(getElementTypeOrSelf(scan.operand));
  Value x = first();
  SmallVector<Value> carried{emitter.convertFloat(x, scan.accumulator)};
  if (scan.argReduce) {
    carried.push_back(emitter.toVector(index.constant(0)));
  } else {
    BodyEmitter::Scope scope(emitter);
    index.setDim(scan.along, index.constant(0), extent);
    emitter.store(0, position, x);
  }
  SmallVector<Value> last =
      forLoop(emitter, index.constant(1), index.constant(extent), 1, carried,
              [&](Value i, ValueRange in) -> SmallVector<Value> {
                index.setDim(scan.along, i, extent);
                Value x = elementHere();
                if (scan.argReduce) {
                  Value better = precedes(x, in[0]);
                  return {select(better, x, in[0]), select(better, emitter.toVector(i), in[1])};
                }
                Value next = scan.cumulative.emitCombine(b, in[0],
                                                         emitter.convertFloat(x, scan.accumulator));
                emitter.store(0, position, emitter.convertFloat(next, element));
                return {next};
              });
  if (scan.argReduce)
    emitter.store(0, lines.withoutAlong, last[1]);
}

/// Each lane finds the first of its elements, in the order of the op; then the least index at which
/// a lane has one that no other lane's precedes.
void VectorScan::walkRow() {
  Value start;
  {
    BodyEmitter::Scope scope(emitter);
    target.setLanes(emitter, ~0u, 1);
    index.setDim(scan.along, index.constant(0), extent);
    start = emitter.element(scan.operand, position);
  }
  int64_t width = target.chooseLanes(extent, kUnroll);
  target.setLanes(emitter, scan.along, width);
  SmallVector<Value> own = target.loopOverLanes(
      emitter, scan.along, extent, index.constant(0), index.constant(extent), extent % width == 0,
      {emitter.toVector(start), emitter.toVector(index.constant(0))},
      [&](ValueRange in, Value mask) -> SmallVector<Value> {
        Value x = elementHere();
        Value at = index.materialise(index.evaluate(index.dim(scan.along)));
        Value better = precedes(x, in[0]);
        if (mask)
          better = b.create<arith::AndIOp>(loc, better, mask);
        return {select(better, x, in[0]), select(better, emitter.toVector(at), in[1])};
      });
  Value best = target.combineLanes(emitter, own[0],
                                   [&](Value a, Value c) { return select(precedes(c, a), c, a); });
  Value place = select(precedes(emitter.toVector(best), own[0]),
                       emitter.toVector(index.constant(extent)), own[1]);
  place = target.combineLanes(emitter, place, [&](Value a, Value c) -> Value {
    return b.create<arith::MinUIOp>(loc, a, c);
  });
  target.setLanes(emitter, ~0u, 1);
  emitter.store(0, lines.withoutAlong, place);
}

KernelFunction VectorScan::emit() {
  if (lanesDim == scan.along) {
    int64_t tasks = forEachRow(emitter, function, lines.count, extent, [&](Value line) {
      lines.enter(line);
      walkRow();
    });
    return {function, target.getLaunchShape(function, tasks)};
  }
  int64_t columns = domain.extents[lanesDim], width = target.chooseLanes(columns, kUnroll);
  target.setLanes(emitter, lanesDim, width);
  auto blocks = static_cast<int64_t>(llvm::divideCeil(columns, width));
  int64_t count = lines.count * blocks;
  int64_t tasks = forEachRow(emitter, function, count, extent * width, [&](Value task) {
    auto [line, block] = index.divide(task, blocks, count);
    lines.enter(line);
    Value low = b.create<arith::MulIOp>(loc, block, index.constant(width));
    Value high = b.create<arith::MinUIOp>(
        loc, b.create<arith::AddIOp>(loc, low, index.constant(width)), index.constant(columns));
    target.loopOverLanes(emitter, lanesDim, columns, low, high, columns % width == 0, {},
                         [&](ValueRange, Value) {
                           walkColumns();
                           return SmallVector<Value>();
                         });
  });
  return {function, target.getLaunchShape(function, tasks)};
}

} // namespace

KernelFunction codegen::emitScanInVectors(exec::KernelOp kernel, ModuleOp module, const Scan &scan,
                                          const KernelTarget &target, ErrorTable &errors) {
  func::FuncOp function = target.createFunction(kernel, module, /*inLanes=*/true);
  return VectorScan(kernel, function, scan, target, errors).emit();
}
