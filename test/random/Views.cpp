// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where elements stand: views, gathers and scatters.
#include "Sketch.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Anything of some rank, rather a float.
Value anything(Sketch &s, int64_t minRank) {
  if (s.random.chance(0.15))
    if (Value found = s.find([&](Value v) { return Sketch::rankOf(v) >= minRank; }))
      return found;
  return s.floats(minRank);
}

SmallVector<int64_t> permutation(Sketch &s, int64_t rank) {
  SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  s.random.shuffle(result);
  return result;
}

bool broadcast(Sketch &s) {
  Value x = anything(s, 0);
  // The operand's dimensions with new ones between them.
  SmallVector<int64_t> shape, dimensions;
  auto insert = [&] {
    if (s.random.chance(0.3) && shape.size() < 5)
      shape.push_back(s.extent());
  };
  for (int64_t extent : Sketch::shapeOf(x)) {
    insert();
    dimensions.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(extent == 1 && s.random.chance(0.7) ? s.extent() : extent);
  }
  insert();
  if (shape.size() > 6)
    return false;
  return bool(s.one("prim.broadcast", x, s.list("dimensions", dimensions),
                    s.tensor(shape, Sketch::typeOf(x).getElementType())));
}

bool reshape(Sketch &s) {
  Value x = anything(s, 0);
  // Merges neighbours, splits by a factor, adds and drops extents of one.
  SmallVector<int64_t> shape(Sketch::shapeOf(x));
  for (int64_t n = s.random.between(1, 3); n > 0; --n) {
    auto rank = static_cast<int64_t>(shape.size());
    int64_t i = rank ? s.random.below(rank) : 0;
    switch (s.random.below(4)) {
    case 0:
      if (i + 1 < rank) {
        shape[i] *= shape[i + 1];
        shape.erase(shape.begin() + i + 1);
      }
      break;
    case 1:
      if (int64_t factor = s.random.between(2, 4);
          rank && rank < 5 && shape[i] && shape[i] % factor == 0) {
        shape[i] /= factor;
        shape.insert(shape.begin() + i + s.random.below(2), factor);
      }
      break;
    case 2:
      if (rank < 5)
        shape.insert(shape.begin() + (rank ? s.random.below(rank + 1) : 0), 1);
      break;
    default:
      if (rank && shape[i] == 1)
        shape.erase(shape.begin() + i);
    }
  }
  return bool(s.one("prim.reshape", x, {}, s.tensor(shape, Sketch::typeOf(x).getElementType())));
}

bool transpose(Sketch &s) {
  Value x = anything(s, 1);
  return bool(s.one("prim.transpose", x, s.list("permutation", permutation(s, Sketch::rankOf(x)))));
}

bool slice(Sketch &s) {
  Value x = anything(s, 1);
  SmallVector<int64_t> starts, limits, strides;
  for (int64_t extent : Sketch::shapeOf(x)) {
    bool whole = s.random.chance(0.4);
    starts.push_back(whole ? 0 : s.random.between(0, std::max<int64_t>(extent - 1, 0)));
    limits.push_back(whole ? extent
                           : s.random.between(std::min(starts.back() + 1, extent), extent));
    strides.push_back(s.random.chance(0.7) ? 1 : s.random.between(1, 3));
  }
  return bool(
      s.one("prim.slice", x,
            {s.list("starts", starts), s.list("limits", limits), s.list("strides", strides)}));
}

bool pad(Sketch &s) {
  Value x = anything(s, 1);
  Value value =
      s.constant(s.tensor({}, Sketch::typeOf(x).getElementType()), s.random.pick({0.0, 0.0, 1.0}));
  if (s.hasFloatType(x) && s.random.chance(0.1))
    value = s.of(ArrayRef<int64_t>());
  SmallVector<int64_t> low, high, interior;
  for (int64_t i = 0; i < Sketch::rankOf(x); ++i) {
    low.push_back(s.random.chance(0.5) ? 0 : s.random.between(-1, 2));
    high.push_back(s.random.chance(0.5) ? 0 : s.random.between(-1, 2));
    interior.push_back(s.random.chance(0.8) ? 0 : s.random.between(1, 2));
  }
  return bool(s.one("prim.pad", {x, value},
                    {s.list("low", low), s.list("high", high), s.list("interior", interior)}));
}

bool concatenate(Sketch &s) {
  Value x = anything(s, 1);
  int64_t dimension = s.random.below(Sketch::rankOf(x));
  SmallVector<Value> inputs{x};
  for (int64_t n = s.random.between(0, 3); n > 0; --n) {
    SmallVector<int64_t> shape(Sketch::shapeOf(x));
    Value other = s.find([&](Value v) {
      auto type = Sketch::typeOf(v);
      if (type.getElementType() != Sketch::typeOf(x).getElementType() ||
          type.getRank() != Sketch::rankOf(x))
        return false;
      for (int64_t i = 0; i < type.getRank(); ++i)
        if (i != dimension && type.getDimSize(i) != shape[i])
          return false;
      return true;
    });
    inputs.push_back(other ? other : x);
  }
  s.random.shuffle(inputs);
  return bool(s.one("prim.concatenate", inputs, s.integer("dimension", dimension)));
}

/// Slices that take all of a value apart, and perhaps a gate or a rotation of two halves.
bool takeApart(Sketch &s) {
  Value x = s.floats(1);
  int64_t dimension = s.random.below(Sketch::rankOf(x)), extent = Sketch::shapeOf(x)[dimension];
  if (extent < 2)
    return false;
  bool halves = extent % 2 == 0 && s.random.chance(0.7);
  SmallVector<Value> pieces;
  for (int64_t start = 0; start < extent;) {
    SmallVector<int64_t> starts(Sketch::rankOf(x), 0), limits(Sketch::shapeOf(x)),
        strides(Sketch::rankOf(x), 1);
    starts[dimension] = start;
    limits[dimension] = start = halves ? start + extent / 2 : s.random.between(start + 1, extent);
    pieces.push_back(
        s.one("prim.slice", x,
              {s.list("starts", starts), s.list("limits", limits), s.list("strides", strides)}));
  }
  if (!halves || s.random.chance(0.3))
    return bool(pieces.back());
  if (s.random.chance(0.5))
    return bool(s.one("prim.mul", {pieces[0], s.one("prim.logistic", pieces[1])}));
  return bool(s.one("prim.concatenate", {s.one("prim.neg", pieces[1]), pieces[0]},
                    s.integer("dimension", dimension)));
}

bool reverse(Sketch &s) {
  Value x = anything(s, 1);
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0; i < Sketch::rankOf(x); ++i)
    if (s.random.chance(0.5))
      dimensions.push_back(i);
  return bool(s.one("prim.reverse", x, s.list("dimensions", dimensions)));
}

bool barrier(Sketch &s) { return bool(s.one("prim.optimization_barrier", anything(s, 0))); }

constexpr Production kViews[] = {
    {"broadcast", 6, broadcast},  {"reshape", 8, reshape}, {"transpose", 8, transpose},
    {"slice", 8, slice},          {"pad", 5, pad},         {"concatenate", 6, concatenate},
    {"take_apart", 6, takeApart}, {"reverse", 2, reverse}, {"barrier", 1, barrier},
};

// ---- by indices ----

bool gather(Sketch &s) {
  Value data = anything(s, 1);
  int64_t axis = s.random.below(Sketch::rankOf(data));
  int64_t extent = Sketch::shapeOf(data)[axis];
  if (extent == 0)
    return false;
  Value indices = s.indices(s.shape(0, 2), extent);
  return bool(s.one("prim.gather", {data, indices}, s.integer("axis", axis)));
}

/// An embedding: a table of parameters that an input chooses from, perhaps twice.
bool embedding(Sketch &s) {
  int64_t rows = s.random.between(2, 12), features = s.extent();
  Value table = s.of({rows, features});
  SmallVector<int64_t> shape = s.shape(1, 2);
  bool done = bool(s.one("prim.gather", {table, s.indices(shape, rows)}, s.integer("axis", 0)));
  if (s.random.chance(0.3))
    done |=
        bool(s.one("prim.gather", {table, s.indices(s.shape(1, 1), rows)}, s.integer("axis", 0)));
  return done;
}

bool scatter(Sketch &s) {
  Value data = s.floats(1, 3);
  int64_t axis = s.random.below(Sketch::rankOf(data));
  int64_t extent = Sketch::shapeOf(data)[axis];
  if (extent == 0)
    return false;
  SmallVector<int64_t> positions = s.shape(0, 2), shape(Sketch::shapeOf(data));
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, positions.begin(), positions.end());
  Value updates = s.of(s.tensor(shape, Sketch::typeOf(data).getElementType()));
  auto kind = s.random.chance(0.5) ? prim::ScatterKind::add : prim::ScatterKind(s.random.below(5));
  return bool(s.one("prim.scatter", {data, s.indices(positions, extent), updates},
                    {s.integer("axis", axis), s.choice<prim::ScatterKindAttr>("kind", kind)}));
}

constexpr Production kIndices[] = {
    {"gather", 5, gather}, {"embedding", 4, embedding}, {"scatter", 5, scatter}};

} // namespace

ArrayRef<Production> accc::test::viewProductions() { return kViews; }
ArrayRef<Production> accc::test::indexProductions() { return kIndices; }
