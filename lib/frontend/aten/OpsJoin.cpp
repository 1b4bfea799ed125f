// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What puts tensors together.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The tensors of a call in their common element type.
SmallVector<Tensor> promoted(Node &node) {
  SmallVector<Tensor> all = node.tensors("tensors");
  if (all.empty())
    fail("nothing to join");
  Type type = all.front().elementType();
  for (Tensor each : all)
    type = promoteTypes(type, each.elementType());
  for (Tensor &each : all)
    each = each.convert(type);
  return all;
}

/// Along a dimension. An empty vector does not count: PyTorch's old rule.
Tensor joined(Node &node, ArrayRef<Tensor> tensors, int64_t dim) {
  auto counts = [](Tensor each) { return each.rank() != 1 || each.dim(0) != 0; };
  SmallVector<Tensor> inputs(llvm::make_filter_range(tensors, counts));
  if (inputs.empty())
    return tensors.front();
  return node.concatenate(inputs, node.axis(dim, std::max<int64_t>(inputs.front().rank(), 1)));
}

Entities cat(Node &node) { return {joined(node, promoted(node), node.integer("dim"))}; }
Entities stack(Node &node) {
  SmallVector<Tensor> inputs = promoted(node);
  int64_t dim = node.axis(node.integer("dim"), inputs.front().rank() + 1);
  for (Tensor &each : inputs) {
    SmallVector<int64_t> shape(each.shape());
    shape.insert(shape.begin() + std::min<int64_t>(dim, each.rank()), 1);
    each = each.reshape(shape);
  }
  return {node.concatenate(inputs, dim)};
}

/// Sequences [L, ...] of several lengths, as long as the longest one.
Entities padSequence(Node &node) {
  SmallVector<Tensor> all = node.tensors("sequences");
  std::string side = node.string("padding_side");
  if (all.empty() || all.front().rank() == 0)
    fail("there are no sequences");
  if (side != "left" && side != "right")
    fail("the side '" + side + "' is not known");
  Tensor first = all.front();
  int64_t longest = 0;
  for (Tensor each : all) {
    if (each.rank() != first.rank() || each.shape().drop_front() != first.shape().drop_front())
      fail("a sequence has the shape " + show(each.shape()) + ", and the first one " +
           show(first.shape()));
    longest = std::max(longest, each.dim(0));
  }
  int64_t dim = node.boolean("batch_first") ? 0 : 1;
  for (Tensor &each : all) {
    SmallVector<int64_t> low(first.rank(), 0), high(first.rank(), 0);
    (side == "left" ? low : high).front() = longest - each.dim(0);
    each = each.convert(first.elementType()).pad(node.number("padding_value"), low, high);
    SmallVector<int64_t> shape(each.shape());
    shape.insert(shape.begin() + dim, 1);
    each = each.reshape(shape);
  }
  return {node.concatenate(all, dim)};
}

// ---- with dimensions that they lack ----

/// Vectors are rows; of three dimensions, the last one is depth.
SmallVector<int64_t> atLeast(ArrayRef<int64_t> from, int64_t rank) {
  SmallVector<int64_t> shape(from);
  if (rank > 0 && shape.empty())
    shape = {1};
  if (rank > 1 && shape.size() == 1)
    shape = {1, shape[0]};
  if (rank > 2 && shape.size() == 2)
    shape.push_back(1);
  return shape;
}
void layAs(Node &node, const Layout &layout, ArrayRef<int64_t> shape) {
  if (std::optional<Layout> view = layout.viewed(shape))
    node.lay(*view);
}
template <int64_t rank> Entities withDimensions(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> shape = atLeast(x.shape(), rank);
  if (x.shape() == ArrayRef(shape))
    return itself(node, x);
  layAs(node, node.layoutOf(x), shape);
  return {x.reshape(shape)};
}
template <int64_t rank> Entities allWithDimensions(Node &node) {
  node.share(Alias::View); // those that have as many are given themselves
  std::vector<Entity> results;
  for (auto [i, each] : llvm::enumerate(node.anyTensors("tensors"))) {
    SmallVector<int64_t> shape = atLeast(cast<RankedTensorType>(each.getType()).getShape(), rank);
    layAs(node, node.layoutOfElement(i), shape);
    results.push_back(mapParts(node, each, [&](Tensor part) { return part.reshape(shape); }));
  }
  return {Entity::ofSequence(std::move(results))};
}

/// Beside one another (1), below (2) or behind one another (3).
template <int64_t rank> Entities stacked(Node &node) {
  SmallVector<Tensor> inputs = promoted(node);
  for (Tensor &each : inputs)
    each = each.reshape(atLeast(each.shape(), rank));
  bool areVectors = inputs.front().rank() == 1;
  return {joined(node, inputs, rank == 3 ? 2 : rank == 2 || areVectors ? 0 : 1)};
}

/// Vectors are columns.
Entities columns(Node &node) {
  SmallVector<Tensor> inputs = promoted(node);
  for (Tensor &each : inputs)
    if (each.rank() < 2)
      each = each.reshape({each.size(), 1});
  return {joined(node, inputs, 1)};
}

/// Matrices along the diagonal of one that is 0 elsewhere.
Entities blocks(Node &node) {
  SmallVector<Tensor> inputs = promoted(node);
  int64_t width = 0, before = 0;
  for (Tensor &each : inputs) {
    each = each.reshape(atLeast(each.shape(), 2));
    if (each.rank() != 2)
      fail("a block has the shape " + show(each.shape()) + ", which is not that of a matrix");
    width += each.dim(1);
  }
  for (Tensor &each : inputs) {
    int64_t columns = each.dim(1);
    each = each.pad(0, {0, before}, {0, width - before - columns});
    before += columns;
  }
  return {node.concatenate(inputs, 0)};
}

// ---- choices of elements ----

/// All choices of an element of each vector, as rows.
Entities products(Node &node) {
  SmallVector<Tensor> vectors = node.tensors("tensors");
  if (vectors.size() == 1)
    return {vectors.front()};
  SmallVector<int64_t> shape;
  for (Tensor each : vectors) {
    if (each.rank() != 1)
      fail("a tensor has the shape " + show(each.shape()) + ", which is not that of a vector");
    shape.push_back(each.dim(0));
  }
  SmallVector<Tensor> columns;
  for (auto [d, each] : llvm::enumerate(vectors)) {
    Tensor grid = each.broadcast(shape, {static_cast<int64_t>(d)});
    columns.push_back(grid.reshape({grid.size(), 1}));
  }
  return {node.concatenate(columns, 1)};
}

/// All choices of r elements of a vector, in order, as rows.
Entities combinations(Node &node) {
  Tensor x = node.in("self");
  int64_t r = node.integer("r");
  if (x.rank() != 1 || r < 0)
    fail("cannot choose " + Twine(r) + " elements of a tensor of shape " + show(x.shape()));
  if (r == 0)
    return {node.full({0}, x.elementType(), 0)};
  int64_t n = x.dim(0), step = node.boolean("with_replacement") ? 0 : 1;
  constexpr size_t kMost = size_t(1) << 24;
  SmallVector<int64_t> positions, choice;
  // The first choice, and then with the last element that can advance advanced.
  for (int64_t i = 0; i < r; ++i)
    choice.push_back(i * step);
  while (choice.back() < n) {
    positions.append(choice);
    if (positions.size() > kMost)
      fail("there are too many choices of " + Twine(r) + " of " + Twine(n) + " elements");
    int64_t at = r - 1;
    while (at > 0 && choice[at] >= n - 1 - (r - 1 - at) * step)
      --at;
    ++choice[at];
    for (int64_t i = at + 1; i < r; ++i)
      choice[i] = choice[i - 1] + step;
  }
  int64_t count = static_cast<int64_t>(positions.size()) / r;
  return {x.gather(node.integers(positions, {count, r}), 0)};
}

// ---- chunks ----

/// Each tensor in so many equal chunks along a dimension, padded with zeros; chunk number i of all
/// tensors is row i, flat.
Entities chunks(Node &node) {
  SmallVector<Tensor> inputs = promoted(node);
  int64_t dim = node.axis(node.integer("dim"), inputs.front().rank());
  int64_t count = node.integer("num_chunks");
  if (count < 1)
    fail("the number of chunks is " + Twine(count));
  for (Tensor &each : inputs) {
    if (each.rank() <= dim)
      fail("a tensor of shape " + show(each.shape()) + " has no dimension " + Twine(dim));
    SmallVector<int64_t> low(each.rank(), 0), high(each.rank(), 0);
    high[dim] = (count - each.dim(dim) % count) % count;
    each = each.pad(0, low, high);
    SmallVector<int64_t> shape(each.shape().take_front(dim));
    int64_t rest = each.size();
    for (int64_t extent : shape)
      rest = extent == 0 ? 0 : rest / extent;
    shape.append({count, rest / count});
    each = each.reshape(shape);
  }
  return {node.concatenate(inputs, dim + 1)};
}

/// The powers 0, 1, ... of each element, or in descending order: [..., elements, powers].
Tensor powers(Node &node, bool isAscending) {
  Tensor x = node.in("x");
  if (!isa<FloatType>(x.elementType())) // as of any product
    x = x.convert(node.builder().getI64Type());
  if (x.rank() == 0)
    fail("a tensor without dimensions has no powers side by side");
  int64_t count = node.has("N") ? node.integer("N") : x.dim(-1), dim = x.rank();
  if (count < 0 || count > int64_t(1) << 24)
    fail("N is " + Twine(count));
  SmallVector<int64_t> shape(x.shape());
  shape.push_back(count);
  if (count == 0)
    return node.full(shape, x.elementType(), 0);
  Tensor bases = x.broadcastAlong(shape, {dim});
  Tensor factors = prim::select(prim::equal(node.iota(shape, dim), 0.0), bases.full(1.0), bases);
  Tensor ascending = prim::cumulative(prim::ReduceKind::prod, factors, dim);
  return isAscending ? ascending : ascending.reverse({dim});
}
Entities vandermonde(Node &node) { return {powers(node, node.boolean("increasing"))}; }
Entities linalgVandermonde(Node &node) { return {powers(node, /*isAscending=*/true)}; }

} // namespace

ArrayRef<OpRow> accc::aten::joinOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"cat(tensors, dim=0)", byParts<cat>, None, selected::concatenate},
      {"concat(tensors, dim=0)", byParts<cat>, None, selected::concatenate},
      {"concatenate(tensors, dim=0)", byParts<cat>, None, selected::concatenate},
      {"stack(tensors, dim=0)", byParts<stack>, None, selected::stack},
      {"pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side='right')",
       padSequence},
      {"hstack(tensors)", byParts<stacked<1>>},
      {"vstack(tensors)", byParts<stacked<2>>},
      {"row_stack(tensors)", byParts<stacked<2>>},
      {"dstack(tensors)", byParts<stacked<3>>},
      {"column_stack(tensors)", byParts<columns>},
      {"atleast_1d(self)", byParts<withDimensions<1>>, View},
      {"atleast_2d(self)", byParts<withDimensions<2>>, View},
      {"atleast_3d(self)", byParts<withDimensions<3>>, View},
      {"atleast_1d.Sequence(tensors)", allWithDimensions<1>, View},
      {"atleast_2d.Sequence(tensors)", allWithDimensions<2>, View},
      {"atleast_3d.Sequence(tensors)", allWithDimensions<3>, View},
      {"block_diag(tensors)", byParts<blocks>},
      {"cartesian_prod(tensors)", byParts<products>},
      {"combinations(self, r=2, with_replacement=False)", byParts<combinations>},
      {"_chunk_cat(tensors, dim, num_chunks)", byParts<chunks>},
      {"vander(x, N=None, increasing=False)", vandermonde},
      {"linalg_vander(x, *, N=None)", linalgVandermonde},
  };
  return rows;
}
