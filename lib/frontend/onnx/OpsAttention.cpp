// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention and rotary embeddings.
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/LinearAttention.h"
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// [B, T, H D] as [B, H, T, D].
Tensor splitHeads(Node &node, Tensor x, int64_t heads) {
  if (x.rank() != 3 || heads < 1 || x.dim(2) % heads != 0)
    fail("a tensor of shape " + show(x.shape()) + " does not have " + Twine(heads) + " heads");
  return x.reshape({x.dim(0), x.dim(1), heads, x.dim(2) / heads}).transpose({0, 2, 1, 3});
}
Tensor joinHeads(Tensor x) {
  return x.transpose({0, 2, 1, 3}).reshape({x.dim(0), x.dim(2), x.dim(1) * x.dim(3)});
}

/// What is known of a position's visibility, as something to add to the scores or as booleans.
class Mask {
public:
  Mask(Node &node, Tensor q, Tensor k)
      : node(node), queries(q.dim(2)), keys(k.dim(2)), type(q.elementType()) {}

  void add(Tensor given) {
    // A mask may be shorter than the keys: what it does not reach is hidden.
    if (given.rank() >= 1 && given.dim(-1) != 1 && given.dim(-1) < keys) {
      SmallVector<int64_t> low(given.rank(), 0), high(given.rank(), 0);
      high.back() = keys - given.dim(-1);
      bool boolean = given.elementType().isInteger(1);
      given = boolean ? given.convert(type).pad(0.0, low, high).convert(given.elementType())
                      : given.pad(-std::numeric_limits<double>::infinity(), low, high);
    }
    if (!mask) {
      mask = given;
      return;
    }
    auto [a, b] = node.broadcast(asFloat(node.wrap(mask)), asFloat(given));
    mask = a + b;
  }

  /// Hides keys outside [p - left, p + right] for a query at position p = i + offset; -1 is no
  /// bound. `offset` is [1] or, one for each sample, [B].
  void addWindow(Tensor offset, int64_t left, int64_t right) {
    SmallVector<int64_t> shape = {offset.dim(0), 1, queries, keys};
    RankedTensorType indices = RankedTensorType::get(shape, node.builder().getI64Type());
    Tensor query =
        prim::iota(node.builder(), node.loc(), indices, 2) + offset.broadcast(shape, {0});
    Tensor ahead = prim::iota(node.builder(), node.loc(), indices, 3) - query;
    if (left >= 0)
      add(ahead >= -static_cast<double>(left));
    if (right >= 0)
      add(ahead <= static_cast<double>(right));
  }

  /// Hides keys from each sample's length on; `lengths` is [B].
  void addLengths(Tensor lengths) {
    Type i64 = node.builder().getI64Type();
    SmallVector<int64_t> shape = {lengths.dim(0), 1, 1, keys};
    Tensor key = prim::iota(node.builder(), node.loc(), RankedTensorType::get(shape, i64), 3);
    add(key < lengths.convert(i64).broadcast(shape, {0}));
  }

  Value get() const { return mask; }
  /// Booleans as 0 and -inf.
  Tensor asFloat(Tensor x) const {
    if (!x.elementType().isInteger(1))
      return x.convert(type);
    Tensor zero = node.full(x.shape(), type, 0);
    return prim::select(x, zero, -std::numeric_limits<double>::infinity());
  }

private:
  Node &node;
  int64_t queries, keys;
  Type type;
  Value mask;
};

/// Keys or values [B, H, S, D] for `heads` heads, of which neighbours share one.
Tensor shared(Tensor x, int64_t heads) {
  if (x.dim(1) == 0 || heads % x.dim(1) != 0)
    fail("the number of query heads is no multiple of that of key heads");
  return x.broadcast({x.dim(0), x.dim(1), heads / x.dim(1), x.dim(2), x.dim(3)}, {0, 1, 3, 4})
      .reshape({x.dim(0), heads, x.dim(2), x.dim(3)});
}

/// The intermediate that output 3 asks for: 0 the scores, 1 what softcap gives, 2 that with the
/// mask, 3 the probabilities. (ONNX's reference evaluator has 0 behind the softcap; the standard's
/// text and function body have not.)
Tensor scores(Node &node, Tensor q, Tensor k, const Mask &mask, double scale, double softcap) {
  int64_t mode = node.integer("qk_matmul_output_mode", 0);
  Tensor s = prim::dotGeneral(q, shared(k, q.dim(1)), {0, 1}, {0, 1}, {3}, {3}) * scale;
  if (mode == 0)
    return s;
  if (softcap > 0)
    s = prim::tanh(s / softcap) * softcap;
  if (mode == 1)
    return s;
  if (mask.get())
    s = s + node.broadcastTo(mask.asFloat(node.wrap(mask.get())), s.shape());
  return mode == 3 ? node.make<nn::SoftmaxOp>({s}, {node.i64("dimension", 3)}) : s;
}

Entities attention(Node &node) {
  Tensor q = node.floatIn(0), k = node.floatIn(1), v = node.floatIn(2);
  bool flat = q.rank() == 3;
  if (flat) {
    q = splitHeads(node, q, node.integer("q_num_heads"));
    k = splitHeads(node, k, node.integer("kv_num_heads"));
    v = splitHeads(node, v, node.integer("kv_num_heads"));
  }
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    fail("queries, keys and values must have three or four dimensions each");
  int64_t past = 0;
  if (node.has(4) != node.has(5))
    fail("past keys and past values come together");
  if (node.has(4)) {
    if (node.in(4).rank() != 4 || node.in(5).rank() != 4)
      fail("past keys and values must have four dimensions");
    past = node.in(4).dim(2);
    k = node.concatenate({node.floatIn(4), k}, 2);
    v = node.concatenate({node.floatIn(5), v}, 2);
  }
  Mask mask(node, q, k);
  if (node.has(3))
    mask.add(node.in(3));
  if (node.has(6)) {
    if (node.in(6).rank() != 1)
      fail("the lengths of keys must have one dimension");
    mask.addLengths(node.in(6));
  }
  // Where the first query stands among the keys. Without a past, nn hides what lies ahead itself.
  Type i64 = node.builder().getI64Type();
  Tensor offset = node.has(6) ? node.in(6).convert(i64) - static_cast<double>(q.dim(2))
                              : node.integers({past}, {1});
  bool causal = node.integer("is_causal", 0) != 0;
  bool explicitCausal = causal && (past != 0 || node.has(6) || node.wants(3));
  if (explicitCausal)
    mask.addWindow(offset, -1, 0);
  mask.addWindow(offset, node.integer("left_window_size", -1),
                 node.integer("right_window_size", -1));
  double scale =
      node.real("scale", 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(q.dim(3), 1))));
  double softcap = node.real("softcap", 0.0);
  Tensor y = node.make<nn::AttentionOp>({q, k, v, mask.get()},
                                        {node.f64("scale", scale),
                                         node.flag("causal", causal && !explicitCausal),
                                         node.f64("softcap", softcap)});
  Entities results = {flat ? joinHeads(y) : y, k, v};
  if (node.wants(3))
    results.push_back(scores(node, q, k, mask, scale, softcap));
  return results;
}

/// What the subgraph of an attribute makes of a tensor; the tensor where there is none.
Tensor modified(Node &node, StringRef attribute, Tensor x) {
  if (!node.hasAttribute(attribute))
    return x;
  Entities results =
      node.importer().importSubgraph(node.graph(attribute), node.scope(), {Entity(x)});
  if (results.size() != 1 || !results[0].tensor || results[0].tensor.getType() != x.type())
    fail("'" + attribute + "' must make one tensor of the same shape and type of a tensor");
  return x.wrap(results[0].tensor);
}

/// Attention whose scores and probabilities pass through subgraphs.
Entities flexAttention(Node &node) {
  Tensor q = node.floatIn(0), k = node.floatIn(1), v = node.floatIn(2);
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4 || q.dim(3) != k.dim(3) ||
      k.dim(1) != v.dim(1) || k.dim(2) != v.dim(2))
    fail("queries, keys and values have the shapes " + show(q.shape()) + ", " + show(k.shape()) +
         " and " + show(v.shape()));
  double scale =
      node.real("scale", 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(q.dim(3), 1))));
  int64_t precision = node.integer("softmax_precision", 0);
  Type result = q.elementType(),
       type = precision        ? elementType(node.context(), static_cast<int32_t>(precision))
              : result.isF64() ? result
                               : Type(node.builder().getF32Type());
  if (!isa<FloatType>(type))
    fail("'softmax_precision' must be a type of floats");
  Tensor s = prim::dotGeneral(q.convert(type), shared(k, q.dim(1)).convert(type), {0, 1}, {0, 1},
                              {3}, {3});
  Tensor p = node.make<nn::SoftmaxOp>({modified(node, "score_mod", s * scale)},
                                      {node.i64("dimension", 3)});
  p = modified(node, "prob_mod", p);
  Tensor y = prim::dotGeneral(p, shared(v, q.dim(1)).convert(type), {0, 1}, {0, 1}, {3}, {2});
  return {y.convert(result)};
}

Entities rotaryEmbedding(Node &node) {
  Tensor x = node.floatIn(0), cos = node.floatIn(1), sin = node.floatIn(2);
  bool flat = x.rank() == 3;
  if (flat)
    x = splitHeads(node, x, node.integer("num_heads"));
  if (x.rank() != 4)
    fail("the input must have three or four dimensions");
  if (node.has(3)) {
    Tensor positions = node.in(3);
    cos = cos.gather(positions, 0);
    sin = sin.gather(positions, 0);
  }
  int64_t rotated = node.integer("rotary_embedding_dim", 0);
  if (rotated > 0 && cos.rank() > 0 && (cos.dim(-1) < rotated / 2 || sin.dim(-1) < rotated / 2))
    fail("the caches are narrower than half of rotary_embedding_dim");
  Tensor y = node.make<nn::RotaryEmbeddingOp>(
      {x, cos, sin}, {node.flag("interleaved", node.integer("interleaved", 0) != 0)}, {x.type()});
  return {flat ? joinHeads(y) : y};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::attentionOps() {
  static const OpRow rows[] = {
      {"Attention", attention},
      {"RotaryEmbedding", rotaryEmbedding},
      {"LinearAttention", linearAttention},
      {"FlexAttention", flexAttention, "ai.onnx.preview"},
  };
  return rows;
}
