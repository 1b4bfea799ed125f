// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/LinearAttention.h"

#include "ir/prim/MatrixRules.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// A state S [B, H, K, V] that every position t of a sequence moves and reads: S = exp(g_t) S + k_t
/// u_t', y_t = S' q_t. The sequence is done in chunks, of which each is a few products of matrices.
/// Inside of a chunk that begins with S, with L[t, s] = exp(g_{s+1} + ... + g_t) and E[t] = exp(g_1
/// + ... + g_t):
///
///     y_t = (E[t] S)' q_t + sum of (q_t . L[t, s] k_s) u_s over s <= t
///
/// u_t is v_t, or where what the state knows is corrected b_t (v_t - (exp(g_t) S)' k_t). Then all u
/// of a chunk solve (1 + A) u = b (v - (E S)' k) with A[t, s] = b_t k_t . L[t, s] k_s for s < t
/// (Yang et al., Parallelizing Linear Transformers with the Delta Rule, 2024).
class LinearAttention {
public:
  explicit LinearAttention(Node &node) : node(node) {
    queryHeads = node.integer("q_num_heads");
    heads = node.integer("kv_num_heads");
    Tensor query = node.floatIn(0), key = node.floatIn(1), value = node.floatIn(2);
    outer = query.elementType();
    q = split(query, queryHeads), k = split(key, heads), v = split(value, heads);
    if (queryHeads % heads != 0 || q.dim(1) != k.dim(1) || q.dim(1) != v.dim(1) ||
        q.dim(3) != k.dim(3))
      fail("queries, keys and values of the shapes " + show(query.shape()) + ", " +
           show(key.shape()) + " and " + show(value.shape()) + " with " + Twine(queryHeads) +
           " and " + Twine(heads) + " heads");
    batch = q.dim(0), positions = q.dim(1), keys = q.dim(3), values = v.dim(3);
    double scale = node.real("scale", 0.0);
    q = q * (scale != 0 ? scale : 1.0 / std::sqrt(static_cast<double>(keys)));
    readRule();
    SmallVector<int64_t> shape = {batch, heads, keys, values};
    state = node.has(3) ? node.floatIn(3).convert(type()) : node.full(shape, type(), 0);
    if (state.shape() != ArrayRef(shape))
      fail("the past state has the shape " + show(state.shape()) + " where " + show(shape) +
           " is needed");
  }

  Entities run() {
    Tensor y = node.full({batch, 0, queryHeads * values}, type(), 0);
    if (positions > 0) {
      cutIntoChunks();
      y = read();
    }
    Type kept = node.has(3) ? node.in(3).elementType() : outer;
    return {y.convert(outer), state.convert(kept)};
  }

private:
  Type type() const { return q.elementType(); }

  /// [B, T, H D] as [B, T, H, D], at least in single precision.
  Tensor split(Tensor x, int64_t count) const {
    if (x.rank() != 3 || count < 1 || x.dim(2) % count != 0)
      fail("a tensor of shape " + show(x.shape()) + " does not have " + Twine(count) + " heads");
    if (x.elementType().getIntOrFloatBitWidth() < 32)
      x = x.convert(node.builder().getF32Type());
    return x.reshape({x.dim(0), x.dim(1), count, x.dim(2) / count});
  }

  void readRule() {
    std::string rule = node.string("update_rule", "gated_delta");
    bool gated = rule == "gated" || rule == "gated_delta";
    bool corrects = rule == "delta" || rule == "gated_delta";
    if (!gated && !corrects && rule != "linear")
      fail("unknown update_rule '" + rule + "'");
    if (node.has(4) != gated || node.has(5) != corrects)
      fail("update_rule '" + rule + "' goes " + (gated ? "with" : "without") + " a decay and " +
           (corrects ? "with" : "without") + " a beta");
    if (gated) { // for each key dimension, or for each head
      Tensor given = split(node.floatIn(4), heads);
      if (given.dim(3) != 1 && given.dim(3) != keys)
        fail("the decay has the shape " + show(node.in(4).shape()));
      decay = node.broadcastTo(given, {batch, positions, heads, given.dim(3)});
    }
    if (corrects) {
      Tensor given = node.floatIn(5).convert(type());
      if (given.rank() != 3 || (given.dim(2) != heads && given.dim(2) != 1))
        fail("beta has the shape " + show(given.shape()));
      rate =
          node.broadcastTo(given, {batch, positions, heads}).reshape({batch, positions, heads, 1});
    }
  }

  /// [B, T, h, D] as [B, h, N, C, D]. What fills the last chunk moves no state.
  Tensor inChunks(Tensor x) const {
    int64_t missing = chunks * length - positions;
    if (missing > 0)
      x = x.pad(0.0, {0, 0, 0, 0}, {0, missing, 0, 0});
    return x.reshape({batch, chunks, length, x.dim(2), x.dim(3)}).transpose({0, 3, 1, 2, 4});
  }

  void cutIntoChunks() {
    // Decays of single keys make a matrix for each key.
    int64_t most = decay && node.wrap(decay).dim(3) > 1 ? 16 : 64;
    length = std::min(most, positions);
    chunks = (positions + length - 1) / length;
    k = inChunks(k), v = inChunks(v);
    q = inChunks(q)
            .reshape({batch, heads, queryHeads / heads, chunks, length, keys})
            .transpose({0, 1, 3, 2, 4, 5});
    if (rate)
      rate = inChunks(node.wrap(rate));
    if (decay)
      decay = inChunks(node.wrap(decay));
    measureDecay();
  }

  Tensor runningSum(Tensor x) const { return prim::cumulative(prim::ReduceKind::sum, x, 3); }

  /// L [B, H, N, t, s, 1 or K] and E [B, H, N, t, 1 or K]. A decay may be -inf: sums are of what
  /// lies between two positions, not differences of sums.
  void measureDecay() {
    SmallVector<int64_t> shape = {batch,  heads,  chunks,
                                  length, length, decay ? node.wrap(decay).dim(4) : 1};
    Tensor t = node.iota(shape, 3), s = node.iota(shape, 4);
    if (!decay) {
      between = (t >= s).convert(type());
      return;
    }
    Tensor g = node.wrap(decay);
    Tensor sums = runningSum(prim::select(t > s, g.broadcast(shape, {0, 1, 2, 3, 5}), 0.0));
    between = prim::select(t >= s, prim::exp(sums), 0.0);
    sinceBegin = prim::exp(runningSum(g));
  }

  /// [..., t, D] times E.
  Tensor decayed(Tensor x) const {
    if (!sinceBegin)
      return x;
    Tensor e = node.wrap(sinceBegin);
    return x * e.broadcastTo(x.shape());
  }

  /// x_t . L[t, s] k_s of x [B, H, N, R, t, K]: [B, H, N, R, t, s].
  Tensor withKeys(Tensor x) const {
    Tensor l = node.wrap(between);
    int64_t rows = x.dim(3);
    SmallVector<int64_t> shape = {batch, heads, chunks, rows, length, length};
    if (l.dim(5) == 1) {
      Tensor each = prim::dotGeneral(x.reshape({batch, heads, chunks, rows * length, keys}), k,
                                     {0, 1, 2}, {0, 1, 2}, {4}, {4});
      return each.reshape(shape) *
             l.reshape(l.shape().drop_back()).broadcast(shape, {0, 1, 2, 4, 5});
    }
    Tensor weighted = l * k.broadcast(l.shape(), {0, 1, 2, 4, 5});
    return prim::dotGeneral(x, weighted, {0, 1, 2, 4}, {0, 1, 2, 3}, {5}, {5})
        .transpose({0, 1, 2, 4, 3, 5});
  }

  /// Chunk n of [B, H, N, ...].
  static Tensor at(Tensor x, int64_t n) {
    SmallVector<int64_t> shape(x.shape());
    shape.erase(shape.begin() + 2);
    return x.sliceDim(2, n, n + 1).reshape(shape);
  }
  Tensor stacked(ArrayRef<Tensor> parts) const {
    SmallVector<Tensor> chunk;
    for (Tensor part : parts)
      chunk.push_back(part.reshape({part.dim(0), part.dim(1), 1, part.dim(2), part.dim(3)}));
    return node.concatenate(chunk, 2);
  }

  /// u = first - second S of each chunk.
  std::pair<Tensor, Tensor> corrections() const {
    Tensor b = node.wrap(rate);
    Tensor a = withKeys(k.reshape({batch, heads, chunks, 1, length, keys}))
                   .reshape({batch, heads, chunks, length, length}) *
               b.broadcastTo({batch, heads, chunks, length, length});
    Tensor known = node.concatenate({v, decayed(k)}, 4);
    known = known * b.broadcastTo(known.shape());
    int64_t matrices = batch * heads * chunks;
    Tensor solved = prim::solveTriangular(a.reshape({matrices, length, length}),
                                          known.reshape({matrices, length, values + keys}),
                                          prim::Triangle::unitLower)
                        .reshape(known.shape());
    return {solved.sliceDim(4, 0, values), solved.sliceDim(4, values, values + keys)};
  }

  /// Moves the state through all chunks, and reads it.
  Tensor read() {
    std::optional<std::pair<Tensor, Tensor>> corrected;
    if (rate)
      corrected = corrections();
    Tensor l = node.wrap(between);
    SmallVector<int64_t> last = {batch, heads, chunks, length, l.dim(5)};
    Tensor toEnd = k * l.sliceDim(3, length - 1, length).reshape(last).broadcastTo(k.shape());
    SmallVector<Tensor> states, updates;
    for (int64_t n = 0; n < chunks; ++n) {
      Tensor u = at(corrected ? corrected->first : v, n);
      if (corrected)
        u = u - prim::dotGeneral(at(corrected->second, n), state, {0, 1}, {0, 1}, {3}, {2});
      states.push_back(state);
      updates.push_back(u);
      if (sinceBegin) {
        Tensor kept = at(node.wrap(sinceBegin).sliceDim(3, length - 1, length), n); // [B, H, 1, G]
        state = state * kept.transpose({0, 1, 3, 2}).broadcastTo(state.shape());
      }
      state = state + prim::dotGeneral(at(toEnd, n), u, {0, 1}, {0, 1}, {2}, {2});
    }
    int64_t rows = q.dim(3);
    SmallVector<int64_t> grouped = {batch, heads, chunks, rows, length, keys},
                         flat = {batch, heads, chunks, rows * length, keys};
    Tensor old = q;
    if (sinceBegin) {
      Tensor e = node.wrap(sinceBegin);
      SmallVector<int64_t> each(grouped);
      each.back() = e.dim(4);
      old = q * e.broadcast(each, {0, 1, 2, 4, 5}).broadcastTo(grouped);
    }
    Tensor y = prim::dotGeneral(old.reshape(flat), stacked(states), {0, 1, 2}, {0, 1, 2}, {4}, {3});
    Tensor p = withKeys(q).reshape({batch, heads, chunks, rows * length, length});
    y = y + prim::dotGeneral(p, stacked(updates), {0, 1, 2}, {0, 1, 2}, {4}, {3});
    return y.reshape({batch, heads, chunks, rows, length, values})
        .transpose({0, 2, 4, 1, 3, 5})
        .reshape({batch, chunks * length, queryHeads * values})
        .sliceDim(1, 0, positions);
  }

  Node &node;
  int64_t queryHeads, heads, batch, positions, keys, values;
  int64_t chunks = 0, length = 0; // N and C
  Type outer;
  Tensor q = node.in(0), k = q, v = q, state = q;
  Value decay, rate, between, sinceBegin; // between: L, sinceBegin: E
};

} // namespace

Entities accc::onnx_import::linearAttention(Node &node) { return LinearAttention(node).run(); }
