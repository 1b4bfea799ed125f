// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/ReductionLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// So few terms share a total with those of the next loop.
constexpr int64_t kLeastTerms = kMostTerms / 4;

/// The reduced dimensions that have more than one element, the innermost first.
SmallVector<unsigned> dimensionsOf(const Domain &domain) {
  SmallVector<unsigned> dims;
  for (size_t d = domain.extents.size(); d-- > 0;)
    if (domain.reduced[d] && domain.extents[d] != 1)
      dims.push_back(static_cast<unsigned>(d));
  return dims;
}

/// The length of blocks of `count`, at most `most`, that are all nearly as long; 1 of nothing.
int64_t blockOf(int64_t count, int64_t most) {
  count = std::max<int64_t>(count, 1);
  return llvm::divideCeil(count, llvm::divideCeil(count, most));
}

class NestEmitter {
public:
  NestEmitter(BodyEmitter &emitter, const Domain &domain, const ReductionNest &nest, RunBody body,
              CascadeBody cascade)
      : emitter(emitter), index(emitter.indices()), domain(domain), nest(nest), body(body),
        cascade(cascade), ranges(domain.extents.size()) {}

  SmallVector<Value> emit(ArrayRef<ReductionLoop> loops, ValueRange carried) {
    if (loops.empty()) {
      if (!nest.runDim)
        return body(carried, nullptr, nullptr);
      auto [low, high] = boundsOf(*nest.runDim);
      return body(carried, low, high);
    }
    const ReductionLoop &loop = loops.front();
    auto [low, high] = boundsOf(loop.dim);
    return forLoop(emitter, low, high, loop.step, carried, [&](Value first, ValueRange in) {
      Range outer = ranges[loop.dim];
      narrow(loop, first, high);
      auto turn = [&](ValueRange start) { return emit(loops.drop_front(), start); };
      SmallVector<Value> out = loop.cascades ? cascade(in, turn) : turn(in);
      ranges[loop.dim] = outer;
      return out;
    });
  }

private:
  /// The part of a dimension that the loops so far have come to.
  struct Range {
    Value low, high; // null: all of it
  };

  std::pair<Value, Value> boundsOf(unsigned dim) {
    Range range = ranges[dim];
    if (!range.low)
      return {index.constant(0), index.constant(domain.extents[dim])};
    return {range.low, range.high};
  }

  /// From now on the part is a turn of the loop, from `first` on.
  void narrow(const ReductionLoop &loop, Value first, Value end) {
    int64_t extent = domain.extents[loop.dim];
    if (loop.step == 1 && loop.dim != nest.runDim) {
      index.setDim(loop.dim, first, extent);
      return;
    }
    OpBuilder &b = emitter.builder();
    Value high = b.create<arith::AddIOp>(emitter.loc(), first, index.constant(loop.step));
    if (extent % loop.step != 0)
      high = b.create<arith::MinUIOp>(emitter.loc(), high, end);
    ranges[loop.dim] = {first, high};
  }

  BodyEmitter &emitter;
  IndexEmitter &index;
  const Domain &domain;
  const ReductionNest &nest;
  RunBody body;
  CascadeBody cascade;
  SmallVector<Range> ranges;
};

} // namespace

ReductionNest codegen::planLoops(const Domain &domain) {
  ReductionNest nest;
  for (unsigned dim : dimensionsOf(domain)) {
    if (nest.runDim)
      nest.loops.insert(nest.loops.begin(), {dim, /*step=*/1, /*cascades=*/false});
    else
      nest.runDim = dim;
  }
  return nest;
}

ReductionNest codegen::planCascade(const Domain &domain, int64_t termElements, int64_t mostTerms,
                                   bool runsAreTerms) {
  ReductionNest nest;
  int64_t terms = 1; // of the total that the next loop adds to
  for (unsigned dim : dimensionsOf(domain)) {
    int64_t extent = domain.extents[dim], step = 1;
    if (!nest.runDim) {
      nest.runDim = dim;
      int64_t run = blockOf(llvm::divideCeil(extent, termElements), mostTerms);
      step = run * termElements;
      terms = runsAreTerms ? 1 : run;
    } else if (extent == 0) {
      nest.loops.insert(nest.loops.begin(), {dim, step, /*cascades=*/false});
    }
    while (step < extent) {
      int64_t turns = llvm::divideCeil(extent, step);
      bool cascades = terms * turns > kMostTerms && terms > kLeastTerms;
      if (cascades)
        terms = 1;
      int64_t block = blockOf(turns, kMostTerms / terms);
      nest.loops.insert(nest.loops.begin(), {dim, step, cascades});
      terms *= block;
      step *= block;
    }
  }
  return nest;
}

SmallVector<Value> codegen::emitNest(BodyEmitter &emitter, const Domain &domain,
                                     const ReductionNest &nest, ValueRange carried, RunBody body,
                                     CascadeBody cascade) {
  return NestEmitter(emitter, domain, nest, body, cascade).emit(nest.loops, carried);
}
