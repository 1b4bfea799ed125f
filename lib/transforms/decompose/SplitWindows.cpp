// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Combine.h"
#include "ir/prim/Geometry.h"
#include "ir/prim/Tensor.h"
#include "support/WorkScope.h"
#include "transforms/Passes.h"

namespace accc {
#define GEN_PASS_DEF_SPLITWINDOWSPASS
#include "transforms/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::prim;

namespace {

/// A window of one dimension; positions outside the operand do not count.
struct Window {
  int64_t size, stride, dilation, low, positions;

  bool isIdentity(int64_t extent) const {
    return size == 1 && stride == 1 && low == 0 && positions == extent;
  }
  int64_t reach() const { return (size - 1) * dilation + 1; }
  bool overlaps() const { return positions > 1 && (dilation > 1 || stride < size); }
};

SmallVector<Window> windowsOf(const WindowGeometry &g) {
  SmallVector<Window> windows;
  for (auto [d, positions] : llvm::enumerate(g.positions()))
    windows.push_back({g.window[d], g.strides[d], g.dilations[d], g.low[d], positions});
  return windows;
}

/// The first `count` elements along dimension d.
Tensor firstOf(Tensor x, int64_t d, int64_t count) {
  return x.dim(d) == count ? x : x.sliceDim(d, 0, count);
}

/// An op whose windows extend along dimension d alone.
template <typename Op, typename... Arguments>
Tensor alongDimension(Tensor x, int64_t d, const Window &w, Arguments... arguments) {
  SmallVector<int64_t> ones(x.rank(), 1), zeros(x.rank(), 0),
      sizes = ones, strides = ones, dilations = ones, low = zeros, high = zeros;
  sizes[d] = w.size;
  strides[d] = w.stride;
  dilations[d] = w.dilation;
  low[d] = w.low;
  high[d] = std::max<int64_t>(0, (w.positions - 1) * w.stride + w.reach() - x.dim(d) - w.low);
  Tensor y = x.wrap(x.getBuilder().create<Op>(x.getLoc(), x.get(), arguments..., sizes, strides,
                                              dilations, low, high));
  return firstOf(y, d, w.positions);
}

// ---- reduce_window ----

class Reduction {
public:
  explicit Reduction(ReduceWindowOp op)
      : kind(op.getKind()), type(op.getType().getElementType()),
        isUnsigned(type.isUnsignedInteger()) {}

  Tensor run(Tensor x, ArrayRef<Window> windows) const {
    if (kind == ReduceKind::sum && isa<FloatType>(type) &&
        type.getIntOrFloatBitWidth() < 32) // the parts are not rounded
      x = x.convert(x.getBuilder().getF32Type());
    Tensor y = reduceBlocks(x, windows);
    for (auto [d, w] : llvm::enumerate(windows))
      if (w.overlaps())
        y = reduceOverlapping(y, static_cast<int64_t>(d), w);
    return y.convert(type);
  }

private:
  /// Padded or cut to `extent` elements from -low on; what is outside of `x` does not count.
  Tensor inBounds(Tensor x, int64_t d, int64_t low, int64_t extent) const {
    SmallVector<int64_t> lows(x.rank(), 0), highs(x.rank(), 0);
    lows[d] = low;
    highs[d] = extent - low - x.dim(d);
    if (lows[d] == 0 && highs[d] == 0)
      return x;
    OpBuilder &builder = x.getBuilder();
    auto scalar = RankedTensorType::get({}, x.elementType());
    TypedAttr neutral = neutralElement(kind, x.elementType(), isUnsigned);
    auto number = dyn_cast<FloatAttr>(neutral);
    auto filler = number ? DenseElementsAttr::get(scalar, number.getValue())
                         : DenseElementsAttr::get(scalar, cast<IntegerAttr>(neutral).getValue());
    SmallVector<int64_t> interior(x.rank(), 0);
    return x.wrap(builder.create<PadOp>(x.getLoc(), x.get(),
                                        builder.create<ConstantOp>(x.getLoc(), filler), lows, highs,
                                        interior));
  }

  /// Along dimensions whose windows share no element: blocks, of which each is reduced.
  Tensor reduceBlocks(Tensor x, ArrayRef<Window> windows) const {
    SmallVector<int64_t> split, reduced;
    Tensor y = x;
    for (auto [index, w] : llvm::enumerate(windows)) {
      auto d = static_cast<int64_t>(index);
      split.push_back(x.dim(d));
      if (w.overlaps() || w.isIdentity(x.dim(d)))
        continue;
      Window block = w;
      if (w.positions == 1) { // with any dilation
        Tensor all = inBounds(y, d, w.low, w.reach());
        SmallVector<int64_t> starts(y.rank(), 0), limits(all.shape()), strides(y.rank(), 1);
        strides[d] = w.dilation;
        y = all.slice(starts, limits, strides);
        block.stride = w.size;
      } else {
        y = inBounds(y, d, w.low, w.positions * w.stride);
      }
      split.back() = w.positions;
      split.push_back(block.stride);
      reduced.push_back(static_cast<int64_t>(split.size()) - 1);
    }
    if (reduced.empty())
      return y;
    y = y.reshape(split);
    size_t next = 0;
    for (auto [d, w] : llvm::enumerate(windows))
      if (!w.overlaps() && !w.isIdentity(x.dim(static_cast<int64_t>(d))))
        y = firstOf(y, reduced[next++], w.size);
    return reduce(kind, y, reduced);
  }

  Tensor reduceOverlapping(Tensor x, int64_t d, const Window &w) const {
    Window inside = w;
    inside.low = 0;
    return reduceInside(inBounds(x, d, w.low, (w.positions - 1) * w.stride + w.reach()), d, inside);
  }

  /// A large window without padding is a window over small ones, and what these leave.
  Tensor reduceInside(Tensor x, int64_t d, const Window &w) const {
    if (!isLargeWindow(w.size))
      return alongDimension<ReduceWindowOp>(x, d, w, kind);
    auto part = static_cast<int64_t>(std::ceil(std::sqrt(static_cast<double>(w.size))));
    while (isLargeWindow(part))
      part /= 2;
    int64_t parts = w.size / part, rest = w.size % part;
    Window small{part, 1, w.dilation, 0, x.dim(d) - (part - 1) * w.dilation};
    Window large{parts, w.stride, w.dilation * part, 0, w.positions};
    Tensor sums = alongDimension<ReduceWindowOp>(x, d, small, kind);
    Tensor y = reduceInside(sums, d, large);
    if (rest == 0)
      return y;
    Window last{rest, w.stride, w.dilation, 0, w.positions};
    Tensor tail = x.sliceDim(d, parts * part * w.dilation, x.dim(d));
    return combine(y, alongDimension<ReduceWindowOp>(tail, d, last, kind));
  }

  Tensor combine(Tensor a, Tensor b) const {
    switch (kind) {
    case ReduceKind::sum:
      return a + b;
    case ReduceKind::max:
      return max(a, b);
    default:
      return min(a, b);
    }
  }

  ReduceKind kind;
  Type type;
  bool isUnsigned;
};

// ---- arg_window ----

/// Where each window's first greatest element is, one dimension after the other from the innermost
/// on: the first greatest row has it, where that row has it.
Tensor argWindow(Tensor x, ArrayRef<Window> windows) {
  std::optional<Tensor> where; // the elements of x that are left
  Tensor left = x;
  for (int64_t d = x.rank() - 1; d >= 0; --d) {
    const Window &w = windows[d];
    if (w.isIdentity(x.dim(d)))
      continue;
    Tensor at = alongDimension<ArgWindowOp>(left, d, w);
    Tensor found = at;
    if (where) {
      Tensor outer = where->reshape({where->size()}).gather(max(at, 0.0), 0);
      found = select(at < 0.0, -1.0, outer);
    }
    left = alongDimension<ReduceWindowOp>(left, d, w, ReduceKind::max);
    where = found;
  }
  return *where;
}

/// The source of each window, added where its first greatest element is.
Tensor scatterToGreatest(WindowScatterOp op, Tensor x) {
  Tensor source = x.wrap(op.getSource());
  Tensor at = x.wrap(x.getBuilder().create<ArgWindowOp>(
      op.getLoc(), op.getOperand(), op.getWindow(), op.getStrides(), op.getDilations(),
      op.getPadLow(), op.getPadHigh()));
  if (WindowGeometry::of(op, op.getOperand()).hasEmptyWindow()) {
    source = select(at < 0.0, 0.0, source);
    at = max(at, 0.0);
  }
  RankedTensorType flat = RankedTensorType::get({x.size()}, x.elementType());
  return x.full(flat, 0.0)
      .scatter(at.reshape({at.size()}), source.reshape({source.size()}), 0, ScatterKind::add)
      .reshape(x.shape());
}

// ---- the pass ----

template <typename Op> bool isLarge(Op op) {
  return isLargeWindow(op.getWindow()) &&
         cast<RankedTensorType>(op.getOperand().getType()).getNumElements() > 0 &&
         ReferenceArray::count(WindowGeometry::of(op, op.getOperand()).positions()) > 0;
}

template <typename Op> void replace(func::FuncOp function, function_ref<Tensor(Op, Tensor)> split) {
  SmallVector<Op> large;
  function.walk([&](Op op) {
    if (isLarge(op))
      large.push_back(op);
  });
  for (Op op : large) {
    WorkScope scope(op);
    OpBuilder builder(op);
    Value result = split(op, Tensor(builder, op.getLoc(), op.getOperand()));
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

struct SplitWindowsPass : accc::impl::SplitWindowsPassBase<SplitWindowsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    replace<WindowScatterOp>(function, scatterToGreatest);
    replace<ArgWindowOp>(function, [](ArgWindowOp op, Tensor x) {
      return argWindow(x, windowsOf(WindowGeometry::of(op, op.getOperand())));
    });
    replace<ReduceWindowOp>(function, [](ReduceWindowOp op, Tensor x) {
      return Reduction(op).run(x, windowsOf(WindowGeometry::of(op, op.getOperand())));
    });
  }
};

} // namespace
