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
  /// How many windows may hold an element.
  int64_t around() const { return (reach() - 1) / stride + 1; }
};

WindowGeometry geometryOf(WindowScatterOp op) { return WindowGeometry::of(op); }
template <typename Op> WindowGeometry geometryOf(Op op) {
  return WindowGeometry::of(op, op.getOperand());
}

SmallVector<Window> windowsOf(const WindowGeometry &g) {
  SmallVector<Window> windows;
  for (auto [d, positions] : llvm::enumerate(g.positions())) {
    Window &w = windows.emplace_back(
        Window{g.window[d], g.strides[d], g.dilations[d], g.low[d], positions});
    if (positions == 1) // an element lies in no other
      w.stride = std::max(w.stride, w.reach());
  }
  return windows;
}

/// The first `count` elements along dimension d.
Tensor firstOf(Tensor x, int64_t d, int64_t count) {
  return x.dim(d) == count ? x : x.sliceDim(d, 0, count);
}

/// The geometry of windows that extend along dimension d of x alone.
struct AlongDimension {
  AlongDimension(Tensor x, int64_t d, const Window &w)
      : extents(x.shape()), sizes(x.rank(), 1), strides(sizes), dilations(sizes), low(x.rank(), 0),
        high(low) {
    sizes[d] = w.size;
    strides[d] = w.stride;
    dilations[d] = w.dilation;
    low[d] = w.low;
    high[d] = std::max<int64_t>(0, (w.positions - 1) * w.stride + w.reach() - x.dim(d) - w.low);
  }
  WindowGeometry get() const { return {extents, sizes, strides, dilations, low, high}; }

  SmallVector<int64_t> extents, sizes, strides, dilations, low, high;
};

/// An op whose windows extend along dimension d alone.
template <typename Op, typename... Arguments>
Tensor alongDimension(Tensor x, int64_t d, const Window &w, Arguments... arguments) {
  AlongDimension of(x, d, w);
  Tensor y = x.wrap(x.getBuilder().create<Op>(x.getLoc(), x.get(), arguments..., of.sizes,
                                              of.strides, of.dilations, of.low, of.high));
  return firstOf(y, d, w.positions);
}

// ---- reduce_window ----

class Reduction {
public:
  Reduction(ReduceKind kind, Type type)
      : kind(kind), type(type), isUnsigned(type.isUnsignedInteger()) {}

  Tensor run(Tensor x, ArrayRef<Window> windows) const {
    if (kind == ReduceKind::sum && isa<FloatType>(type) &&
        type.getIntOrFloatBitWidth() < 32) // the parts are not rounded
      x = x.convert(x.getBuilder().getF32Type());
    Tensor y = reduceBlocks(x, windows);
    for (int64_t d = x.rank() - 1; d >= 0; --d) // as the numbers of the greatest are found
      if (windows[d].overlaps())
        y = reduceOverlapping(y, d, windows[d]);
    return y.convert(type);
  }

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

private:
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
    if (!isLargeWindow(w.size))
      return alongDimension<ReduceWindowOp>(x, d, w, kind);
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

/// The numbers of the first greatest elements in windows of x along dimension d, which lie in x
/// altogether: of as many elements as a power of two, then of two of these that overlap.
Tensor numbersByHalves(Tensor x, int64_t d, const Window &w) {
  Tensor best = x, number = x.full(tensorType(x).clone(x.getBuilder().getI64Type()), 0.0);
  for (int64_t size = 1; size < w.size;) {
    int64_t later = std::min(size, w.size - size), begin = later * w.dilation;
    auto both = [&](Tensor y) {
      return std::pair(y.sliceDim(d, 0, y.dim(d) - begin), y.sliceDim(d, begin, y.dim(d)));
    };
    auto [a, b] = both(best);
    auto [numberA, numberB] = both(number);
    Tensor isGreater = b > a;
    if (isa<FloatType>(x.elementType())) // NaN is the greatest
      isGreater = bitAnd(logicalNot(a >= b), equal(a, a));
    best = select(isGreater, b, a);
    number = select(isGreater, numberB + static_cast<double>(later), numberA);
    size += later;
  }
  SmallVector<int64_t> starts(x.rank(), 0), limits(number.shape()), strides(x.rank(), 1);
  limits[d] = (w.positions - 1) * w.stride + 1;
  strides[d] = w.stride;
  return number.slice(starts, limits, strides);
}

/// The same of windows that share no element: blocks, each of which is searched.
Tensor numbersOfBlocks(Tensor x, int64_t d, const Window &w) {
  SmallVector<int64_t> split(x.shape());
  split[d] = w.positions;
  split.insert(split.begin() + d + 1, w.positions == 1 ? w.size : w.stride);
  Tensor blocks = firstOf(x.reshape(split), d + 1, w.size);
  return x.wrap(x.getBuilder().create<ArgReduceOp>(x.getLoc(), blocks, ReduceKind::max, d + 1));
}

/// The numbers of the first greatest elements in windows along dimension d.
Tensor numbersAlong(Tensor x, int64_t d, const Window &w) {
  if (!isLargeWindow(w.size))
    return alongDimension<ArgWindowOp>(x, d, w);
  bool isBlocks = !w.overlaps();
  int64_t extent = isBlocks && w.positions > 1 ? w.positions * w.stride
                                               : (w.positions - 1) * w.stride + w.reach();
  Reduction greatest(ReduceKind::max, x.elementType());
  Tensor inside = greatest.inBounds(x, d, w.low, extent);
  if (isBlocks && w.positions == 1 && w.dilation > 1) {
    SmallVector<int64_t> starts(x.rank(), 0), limits(inside.shape()), strides(x.rank(), 1);
    strides[d] = w.dilation;
    inside = inside.slice(starts, limits, strides);
  }
  Tensor number = isBlocks ? numbersOfBlocks(inside, d, w) : numbersByHalves(inside, d, w);
  // What is outside may be as great as the greatest inside, but does not count.
  Tensor begin =
      iota(x.getBuilder(), x.getLoc(), tensorType(number), d) * static_cast<double>(w.stride) -
      static_cast<double>(w.low);
  auto dilation = static_cast<double>(w.dilation);
  Tensor first = (max(-begin, 0.0) + (dilation - 1)) / dilation;
  Tensor isEmpty = bitOr(first >= static_cast<double>(w.size),
                         begin + first * dilation >= static_cast<double>(x.dim(d)));
  return select(isEmpty, -1.0, max(number, first));
}

/// The numbers of each window's first greatest element, one dimension after the other from the
/// innermost on: the first greatest row has it, where that row has it.
Tensor numbersOf(Tensor x, ArrayRef<Window> windows) {
  std::optional<Tensor> number; // of the elements of x that are left, in their windows
  Tensor left = x;
  int64_t elements = 1;
  for (int64_t d = x.rank() - 1; d >= 0; --d) {
    const Window &w = windows[d];
    if (w.isIdentity(x.dim(d)))
      continue;
    Tensor row = numbersAlong(left, d, w).convert(x.getBuilder().getI64Type()), found = row;
    if (number) {
      Tensor at = windowElements(row, AlongDimension(left, d, w).get());
      Tensor inRow = number->reshape({number->size()}).gather(max(at, 0.0), 0);
      found =
          select(bitOr(row < 0.0, inRow < 0.0), -1.0, row * static_cast<double>(elements) + inRow);
    }
    elements *= w.size;
    left = alongDimension<ReduceWindowOp>(left, d, w, ReduceKind::max);
    number = found;
  }
  return *number;
}

Tensor argWindow(ArgWindowOp op, Tensor x) {
  Tensor numbers = numbersOf(x, windowsOf(geometryOf(op)));
  return numbers.convert(op.getType().getElementType());
}

// ---- window_scatter ----

/// What finds the numbers of the windows' greatest elements, of the same windows; null where the
/// numbers come from elsewhere.
ArgWindowOp findNumbering(WindowScatterOp op) {
  auto numbering = op.getNumbers().getDefiningOp<ArgWindowOp>();
  if (!numbering)
    return nullptr;
  WindowGeometry a = geometryOf(numbering), b = geometryOf(op);
  bool isSame = a.extents == b.extents && a.window == b.window && a.strides == b.strides &&
                a.dilations == b.dilations && a.low == b.low && a.high == b.high;
  return isSame ? numbering : nullptr;
}

/// Whether the code that names the windows around an element, along each dimension alone, is short.
bool scattersAlongDimensions(WindowScatterOp op) {
  return findNumbering(op) && llvm::none_of(windowsOf(geometryOf(op)), [](const Window &w) {
           return isLargeWindow(w.around());
         });
}

/// The source of each window, added to the element that is the greatest: first along the outermost
/// dimension to what is the greatest of each row, then on to where the row has it. Which these are
/// is found where the numbers are, in the order in which windows are reduced.
Tensor scatterAlongDimensions(WindowScatterOp op) {
  ArgWindowOp numbering = findNumbering(op);
  SmallVector<Window> windows = windowsOf(geometryOf(op));
  struct Stage {
    int64_t dimension;
    Tensor operand, numbers;
  };
  SmallVector<Stage> stages;
  OpBuilder behind(numbering);
  Tensor left(behind, numbering.getLoc(), numbering.getOperand());
  for (int64_t d = left.rank() - 1; d >= 0; --d) {
    const Window &w = windows[d];
    if (w.isIdentity(left.dim(d)))
      continue;
    Type type = windowNumberType(op.getContext(), {w.size});
    stages.push_back({d, left, numbersAlong(left, d, w).convert(type)});
    left = alongDimension<ReduceWindowOp>(left, d, w, ReduceKind::max);
  }
  OpBuilder builder(op);
  Tensor added(builder, op.getLoc(), op.getSource());
  Type type = added.elementType();
  if (type.getIntOrFloatBitWidth() < 32) // what is between is not rounded
    added = added.convert(builder.getF32Type());
  for (const Stage &stage : llvm::reverse(stages)) {
    AlongDimension of(stage.operand, stage.dimension, windows[stage.dimension]);
    added = added.wrap(builder.create<WindowScatterOp>(op.getLoc(), stage.numbers, added,
                                                       of.extents, of.sizes, of.strides,
                                                       of.dilations, of.low, of.high));
  }
  return added.convert(type);
}

/// The source of each window, added where the number says.
Tensor scatterToElements(WindowScatterOp op, Tensor numbers) {
  if (scattersAlongDimensions(op))
    return scatterAlongDimensions(op);
  WindowGeometry geometry = geometryOf(op);
  Tensor source = numbers.wrap(op.getSource()), at = windowElements(numbers, geometry);
  if (geometry.hasEmptyWindow()) {
    source = select(at < 0.0, 0.0, source);
    at = max(at, 0.0);
  }
  int64_t elements = ReferenceArray::count(geometry.extents);
  Type type = source.elementType();
  source = widen(source); // what is between is not rounded
  return source.full(RankedTensorType::get({elements}, source.elementType()), 0.0)
      .scatter(at.reshape({at.size()}), source.reshape({source.size()}), 0, ScatterKind::add)
      .reshape(geometry.extents)
      .convert(type);
}

// ---- the pass ----

bool isEmpty(const WindowGeometry &geometry) {
  return ReferenceArray::count(geometry.extents) == 0 ||
         ReferenceArray::count(geometry.positions()) == 0;
}

bool isLarge(const WindowGeometry &geometry) {
  return isLargeWindow(geometry.window) && !isEmpty(geometry);
}

/// Whether windows that overlap along several dimensions hold each element so often that less is
/// read where they are reduced along one after the other, though what is between is written.
bool overlapMuch(const WindowGeometry &geometry) {
  constexpr int64_t kOften = 16;
  int64_t often = 1, dimensions = 0;
  for (const Window &w : windowsOf(geometry)) {
    if (!w.overlaps())
      continue;
    ++dimensions;
    often *= static_cast<int64_t>(llvm::divideCeil(w.size, w.stride));
  }
  return dimensions > 1 && often > kOften;
}

// The number of an element in a window of several dimensions takes more than it saves.
bool isSplit(ArgWindowOp op) { return isLarge(geometryOf(op)); }
bool isSplit(ReduceWindowOp op) {
  WindowGeometry geometry = geometryOf(op);
  return !isEmpty(geometry) && (isLargeWindow(geometry.window) || overlapMuch(geometry));
}
bool isSplit(WindowScatterOp op) {
  WindowGeometry geometry = geometryOf(op);
  return isLarge(geometry) ||
         (!isEmpty(geometry) && overlapMuch(geometry) && scattersAlongDimensions(op));
}

template <typename Op> void replace(func::FuncOp function, function_ref<Tensor(Op, Tensor)> split) {
  SmallVector<Op> found;
  function.walk([&](Op op) {
    if (isSplit(op))
      found.push_back(op);
  });
  for (Op op : found) {
    if (op->use_empty()) { // numbers of which nothing but those along each dimension were needed
      op.erase();
      continue;
    }
    WorkScope scope(op);
    OpBuilder builder(op);
    Value result = split(op, Tensor(builder, op.getLoc(), op->getOperand(0)));
    op.replaceAllUsesWith(result);
    op.erase();
  }
}

struct SplitWindowsPass : accc::impl::SplitWindowsPassBase<SplitWindowsPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    replace<WindowScatterOp>(function, scatterToElements);
    replace<ArgWindowOp>(function, argWindow);
    replace<ReduceWindowOp>(function, [](ReduceWindowOp op, Tensor x) {
      return Reduction(op.getKind(), x.elementType()).run(x, windowsOf(geometryOf(op)));
    });
  }
};

} // namespace
