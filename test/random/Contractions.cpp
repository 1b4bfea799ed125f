// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products: dot_general, matrix products, convolutions and their transposes.
#include "Sketch.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Contracts some dimensions of one value with those of another, which has them in any order.
bool dotGeneral(Sketch &s) {
  Value lhs = s.floats(1, 4);
  ArrayRef<int64_t> shape = Sketch::shapeOf(lhs);
  struct Dimension {
    int64_t extent;
    char kind; // batch, contracting, free
    int64_t lhs;
  };
  SmallVector<Dimension> rhs;
  SmallVector<int64_t> lhsBatch, lhsContracting, rhsBatch, rhsContracting;
  for (auto [i, extent] : llvm::enumerate(shape)) {
    int64_t dimension = static_cast<int64_t>(i), choice = s.random.below(10);
    if (choice < 2)
      rhs.push_back({extent, 'b', dimension});
    else if (choice < 6)
      rhs.push_back({extent, 'c', dimension});
  }
  for (int64_t n = s.random.between(0, 2); n > 0; --n)
    rhs.push_back({s.extent(), 'f', -1});
  s.random.shuffle(rhs);
  SmallVector<int64_t> rhsShape;
  for (auto [i, dimension] : llvm::enumerate(rhs)) {
    rhsShape.push_back(dimension.extent);
    if (dimension.kind == 'b') {
      lhsBatch.push_back(dimension.lhs);
      rhsBatch.push_back(static_cast<int64_t>(i));
    } else if (dimension.kind == 'c') {
      lhsContracting.push_back(dimension.lhs);
      rhsContracting.push_back(static_cast<int64_t>(i));
    }
  }
  if (ReferenceArray::count(rhsShape) > s.style.maxElements)
    return false;
  Value other = s.of(s.tensor(rhsShape, Sketch::typeOf(lhs).getElementType()));
  return bool(s.one("prim.dot_general", {lhs, other},
                    {s.list("lhs_batch", lhsBatch), s.list("rhs_batch", rhsBatch),
                     s.list("lhs_contracting", lhsContracting),
                     s.list("rhs_contracting", rhsContracting)}));
}

bool linear(Sketch &s) {
  Value x = s.floats(1, 3);
  int64_t in = Sketch::shapeOf(x).back(), out = s.extent();
  bool transposed = s.random.chance(0.5);
  Type element = Sketch::typeOf(x).getElementType();
  SmallVector<Value> operands{
      x, s.of(s.tensor(transposed ? ArrayRef<int64_t>{out, in} : ArrayRef<int64_t>{in, out},
                       element))};
  if (s.random.chance(0.7))
    operands.push_back(s.of(s.tensor({out}, element)));
  return bool(s.one("nn.linear", operands, s.flag("transpose_w", transposed)));
}

bool matmul(Sketch &s) {
  Value a = s.floats(1, 4);
  SmallVector<int64_t> shape;
  int64_t rank = Sketch::rankOf(a);
  for (int64_t i = 0; i + 2 < rank; ++i)
    shape.push_back(s.random.chance(0.2) ? 1 : Sketch::shapeOf(a)[i]);
  if (s.random.chance(0.4))
    shape.erase(shape.begin(), shape.begin() + s.random.between(0, shape.size()));
  shape.push_back(Sketch::shapeOf(a).back());
  if (shape.size() > 1 || s.random.chance(0.7))
    shape.push_back(s.extent());
  return bool(s.one("nn.matmul", {a, s.of(s.tensor(shape, Sketch::typeOf(a).getElementType()))}));
}

// ---- convolutions ----

struct Geometry {
  int64_t spatial, groups;
  SmallVector<int64_t> kernel, strides, dilations, low, high;
};

/// An activation [N, C, spatial...]: one that there is, or a new one.
Value activation(Sketch &s) {
  Value found = s.find([&](Value v) {
    return s.hasFloatType(v) && Sketch::rankOf(v) >= 3 && Sketch::rankOf(v) <= 5 &&
           Sketch::typeOf(v).getNumElements() > 0;
  });
  if (found && s.random.chance(0.7))
    return found;
  SmallVector<int64_t> shape = s.shape(s.random.chance(0.2) ? 3 : 4, s.random.chance(0.1) ? 5 : 4);
  return s.random.chance(0.7) ? s.input(s.tensor(shape)) : s.parameter(s.tensor(shape));
}

Geometry geometry(Sketch &s, Value x, int64_t channels) {
  Geometry g;
  g.spatial = Sketch::rankOf(x) - 2;
  g.groups = channels > 0 && s.random.chance(0.3) ? channels : 1;
  if (s.random.chance(0.1) && channels > 0 && channels % 2 == 0)
    g.groups = 2;
  for (int64_t i = 0; i < g.spatial; ++i) {
    g.kernel.push_back(s.random.between(1, 3));
    g.strides.push_back(s.random.chance(0.7) ? 1 : 2);
    g.dilations.push_back(s.random.chance(0.85) ? 1 : 2);
    g.low.push_back(s.random.chance(0.5) ? 0 : s.random.between(0, g.kernel.back() - 1));
    g.high.push_back(s.random.chance(0.5) ? 0 : s.random.between(0, g.kernel.back() - 1));
  }
  return g;
}

SmallVector<NamedAttribute> attributesOf(Sketch &s, const Geometry &g) {
  return {s.list("strides", g.strides), s.list("dilations", g.dilations), s.list("pad_low", g.low),
          s.list("pad_high", g.high), s.integer("groups", g.groups)};
}

bool convolution(Sketch &s) {
  Value x = activation(s);
  int64_t channels = Sketch::shapeOf(x)[1];
  Geometry g = geometry(s, x, channels);
  int64_t out = g.groups * s.random.between(1, g.groups > 2 ? 2 : 6);
  SmallVector<int64_t> shape{out, channels / g.groups};
  shape.append(g.kernel);
  SmallVector<Value> operands{x, s.of(shape)};
  if (s.random.chance(0.5))
    operands.push_back(s.of({out}));
  return bool(s.one("nn.convolution", operands, attributesOf(s, g)));
}

bool convTranspose(Sketch &s) {
  Value x = activation(s);
  int64_t channels = Sketch::shapeOf(x)[1];
  Geometry g = geometry(s, x, channels);
  int64_t out = s.random.between(1, 4);
  SmallVector<int64_t> shape{channels, out}, output;
  shape.append(g.kernel);
  for (int64_t stride : g.strides)
    output.push_back(s.random.chance(0.7) ? 0 : stride - 1);
  SmallVector<Value> operands{x, s.of(shape)};
  if (s.random.chance(0.5))
    operands.push_back(s.of({out * g.groups}));
  SmallVector<NamedAttribute> attributes = attributesOf(s, g);
  attributes.push_back(s.list("output_padding", output));
  return bool(s.one("nn.conv_transpose", operands, attributes));
}

/// The three primitives in either layout, as a derivative of a derivative would have them.
bool convolutionLike(Sketch &s) {
  Value x = activation(s);
  SmallVector<int64_t> xShape(Sketch::shapeOf(x));
  bool last = s.random.chance(0.5);
  int64_t channels = last ? xShape.back() : xShape[1];
  Geometry g = geometry(s, x, channels);
  int64_t out = g.groups * s.random.between(1, 3);
  SmallVector<int64_t> wShape{out, channels / g.groups}, yShape{xShape.front()};
  wShape.append(g.kernel);
  if (!last)
    yShape.push_back(out);
  for (int64_t i = 0; i < g.spatial; ++i) {
    int64_t span = xShape[i + (last ? 1 : 2)] + g.low[i] + g.high[i] -
                   ((g.kernel[i] - 1) * g.dilations[i] + 1);
    if (span < 0)
      return false;
    yShape.push_back(span / g.strides[i] + 1);
  }
  if (last)
    yShape.push_back(out);
  SmallVector<NamedAttribute> attributes = attributesOf(s, g);
  attributes.push_back(s.flag("channels_last", last));
  switch (s.random.below(3)) {
  case 0:
    return bool(s.one("prim.convolution", {x, s.of(wShape)}, attributes, s.tensor(yShape)));
  case 1:
    return bool(s.one("prim.convolution_backward_data", {s.of(yShape), s.of(wShape)}, attributes,
                      s.tensor(xShape)));
  default:
    return bool(s.one("prim.convolution_backward_weights", {x, s.of(yShape)}, attributes,
                      s.tensor(wShape)));
  }
}

constexpr Production kContractions[] = {
    {"dot_general", 8, dotGeneral},
    {"linear", 8, linear},
    {"matmul", 6, matmul},
    {"convolution", 8, convolution},
    {"conv_transpose", 2, convTranspose},
    {"convolution_like", 2, convolutionLike},
};

} // namespace

ArrayRef<Production> accc::test::contractionProductions() { return kContractions; }
