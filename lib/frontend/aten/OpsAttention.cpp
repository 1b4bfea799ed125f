// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scaled dot-product attention.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// With extents of 1 before its own.
Tensor ofRank(Tensor x, int64_t rank) {
  SmallVector<int64_t> shape(rank - x.rank(), 1);
  llvm::append_range(shape, x.shape());
  return x.reshape(shape);
}

/// [..., T, D] as [B, H, T, D] with the shape of the leading dimensions.
Tensor asHeads(Tensor x, ArrayRef<int64_t> leading) {
  SmallVector<int64_t> shape(leading);
  shape.append({x.dim(-2), x.dim(-1)});
  x = x.broadcastTo(shape);
  int64_t batch = 1;
  for (int64_t extent : leading.empty() ? leading : leading.drop_back())
    batch *= extent;
  return x.reshape({batch, leading.empty() ? 1 : leading.back(), x.dim(-2), x.dim(-1)});
}

/// Booleans as 0 and -inf.
Tensor asBias(Tensor mask, Type type) {
  if (!mask.elementType().isInteger(1))
    return mask.convert(type);
  Tensor zero = mask.full(RankedTensorType::get(mask.shape(), type), 0);
  return prim::select(mask, zero, -std::numeric_limits<double>::infinity());
}

/// Scores of positions behind a query's own are -inf.
Tensor causalScores(Node &node, Tensor s) {
  SmallVector<int64_t> plane = {s.dim(2), s.dim(3)};
  Tensor visible = node.iota(plane, 1) <= node.iota(plane, 0);
  return prim::select(visible.broadcastTo(s.shape()), s, -std::numeric_limits<double>::infinity());
}

/// Each head of keys or values for as many neighbouring ones of the queries as share it.
Tensor repeatHeads(Tensor x, Tensor q) {
  if (x.dim(1) == 0 || q.dim(1) % x.dim(1) != 0)
    fail("the number of query heads is no multiple of that of key heads");
  int64_t shared = q.dim(1) / x.dim(1);
  return shared == 1 ? x
                     : x.broadcast({x.dim(0), x.dim(1), shared, x.dim(2), x.dim(3)}, {0, 1, 3, 4})
                           .reshape({x.dim(0), q.dim(1), x.dim(2), x.dim(3)});
}

/// With a dropout between softmax and values, which the composite does not have.
Tensor droppingAttention(Node &node, Tensor q, Tensor k, Tensor v, Value mask, bool causal,
                         double scale, double ratio) {
  Tensor s = prim::dotGeneral(q, repeatHeads(k, q), {0, 1}, {0, 1}, {3}, {3}) * scale;
  if (causal)
    s = causalScores(node, s);
  if (mask)
    s = s + node.broadcastTo(asBias(node.wrap(mask), s.elementType()), s.shape());
  Tensor p = node.make<nn::SoftmaxOp>({s}, {node.i64("dimension", 3)});
  p = node.make<nn::DropoutOp>(
      {p, node.forward().randomKey()},
      {node.f64("ratio", ratio), node.i64("stream", node.forward().nextStream())}, {p.type()});
  return prim::dotGeneral(p, repeatHeads(v, q), {0, 1}, {0, 1}, {3}, {2});
}

double scaleOf(Node &node, Tensor q) {
  return node.has("scale") ? node.real("scale")
                           : 1.0 / std::sqrt(static_cast<double>(std::max<int64_t>(q.dim(-1), 1)));
}

/// Of no queries, no keys or values of no extent: zeros, for which PyTorch broadcasts nothing.
Tensor attentionOfNone(Node &node, Tensor q, Tensor k, Tensor v) {
  SmallVector<int64_t> shape(q.shape().drop_back());
  shape.push_back(v.dim(-1));
  Tensor zeros = node.full(shape, q.elementType(), 0);
  for (Tensor x : {q, k, v})
    zeros = zeroDependence(zeros, x);
  return zeros;
}

Entities scaledDotProductAttention(Node &node) {
  Tensor q = node.floatIn("query"), k = node.floatIn("key"), v = node.floatIn("value");
  if (q.rank() < 2 || k.rank() < 2 || v.rank() < 2)
    fail("queries, keys and values have the shapes " + show(q.shape()) + ", " + show(k.shape()) +
         " and " + show(v.shape()));
  if (q.dim(-2) == 0 || k.dim(-2) == 0 || v.dim(-1) == 0)
    return {attentionOfNone(node, q, k, v)};
  int64_t rank = std::max({q.rank(), k.rank(), v.rank()});
  q = ofRank(q, rank);
  k = ofRank(k, rank);
  v = ofRank(v, rank);
  double ratio = node.real("dropout_p");
  double scale = scaleOf(node, q);
  bool causal = node.boolean("is_causal"), grouped = node.boolean("enable_gqa");

  // Leading dimensions broadcast, but for the heads of a grouped attention.
  SmallVector<int64_t> ofQueries(q.shape().drop_back(2)), ofKeys(k.shape().drop_back(2));
  ArrayRef<int64_t> ofValues = v.shape().drop_back(2);
  for (size_t d = 0; d < ofQueries.size(); ++d) {
    bool isHeads = grouped && d + 1 == ofQueries.size();
    int64_t common = std::max({ofKeys[d], ofValues[d], isHeads ? 0 : ofQueries[d]});
    ofKeys[d] = common;
    if (!isHeads)
      ofQueries[d] = common;
  }
  SmallVector<int64_t> shape(ofQueries);
  shape.append({q.dim(-2), v.dim(-1)});
  Tensor queries = asHeads(q, ofQueries), keys = asHeads(k, ofKeys), values = asHeads(v, ofKeys);

  Value mask = node.optional("attn_mask");
  if (mask) {
    Tensor given = node.wrap(mask);
    if (given.rank() > 4 || q.rank() > 4) {
      SmallVector<int64_t> wide(ofQueries);
      wide.append({q.dim(-2), k.dim(-2)});
      given = node.broadcastTo(given, wide)
                  .reshape({queries.dim(0), queries.dim(1), q.dim(-2), k.dim(-2)});
    } else if (q.rank() == 3 && given.rank() == 3) {
      // [B, T, S] for heads that stand in the place of the batch.
      given = given.reshape({1, given.dim(0), given.dim(1), given.dim(2)});
    }
    mask = given.elementType().isInteger(1) ? given : given.convert(q.elementType());
  }
  Tensor y =
      ratio > 0 ? droppingAttention(node, queries, keys, values, mask, causal, scale, ratio)
                : node.make<nn::AttentionOp>({queries, keys, values, mask},
                                             {node.f64("scale", scale), node.flag("causal", causal),
                                              node.f64("softcap", 0.0)});
  return {y.reshape(shape)};
}

/// The operators of attention kernels take grouped heads as they come.
void allowGroupedHeads(Node &node) {
  Tensor q = node.floatIn("query"), k = node.floatIn("key");
  if (q.rank() != 4 || k.rank() != 4 || k.dim(0) != q.dim(0) || k.dim(3) != q.dim(3))
    fail("queries and keys have the shapes " + show(q.shape()) + " and " + show(k.shape()));
  node.set("enable_gqa", k.dim(1) != q.dim(1));
}

/// The logarithm of the sum of each row's e^score, also of 16 bits in f32.
Tensor logSumExp(Node &node) {
  Tensor q = prim::widen(node.floatIn("query"));
  Tensor k = repeatHeads(prim::widen(node.floatIn("key")), q);
  Tensor s = prim::dotGeneral(q, k, {0, 1}, {0, 1}, {3}, {3}) * scaleOf(node, q);
  if (node.boolean("is_causal"))
    s = causalScores(node, s);
  if (node.has("attn_mask"))
    s = s + node.broadcastTo(asBias(node.in("attn_mask"), s.elementType()), s.shape());
  Tensor greatest = prim::reduce(prim::ReduceKind::max, s, {3});
  Tensor sum = prim::sum(prim::exp(s - greatest.broadcastAlong(s.shape(), {3})), {3});
  return detach(greatest + prim::log(sum));
}

Entities flashAttention(Node &node) {
  allowGroupedHeads(node);
  Entities results = scaledDotProductAttention(node);
  results.push_back(logSumExp(node));
  return results;
}

/// From queries, keys and values alone: what stands in the place of `logsumexp` is something else
/// where PyTorch took the forward operator apart. With the gradient of a mask where it is asked
/// for.
Entities attentionBackward(Node &node, bool ofMask) {
  if (node.real("dropout_p") != 0)
    fail("is not supported with a dropout, whose mask the file does not hold");
  allowGroupedHeads(node);
  Tensor q = node.floatIn("query"), k = node.floatIn("key"), v = node.floatIn("value");
  if (!ofMask && q.dim(2) > 0 && k.dim(2) > 0 && v.dim(-1) > 0) {
    Value mask = node.optional("attn_mask");
    if (mask && !node.wrap(mask).elementType().isInteger(1))
      mask = node.wrap(mask).convert(q.elementType());
    Operation *made = node.create<nn::AttentionBackwardOp>(
        {q, k, v, node.floatIn("grad_out").convert(q.elementType()), mask},
        {node.f64("scale", scaleOf(node, q)), node.flag("causal", node.boolean("is_causal"))});
    return {made->getResult(0), made->getResult(1), made->getResult(2)};
  }
  SmallVector<Primal> operands = {{"query", q}, {"key", k}, {"value", v}};
  if (ofMask)
    operands.push_back({"attn_mask", node.floatIn("attn_mask")});
  return llvm::to_vector_of<Entity>(
      pullBack(node, scaledDotProductAttention, operands, node.floatIn("grad_out")));
}

Entities flashAttentionBackward(Node &node) { return attentionBackward(node, false); }

// ---- of GPUs, which programs hold that PyTorch took apart on one ----

/// The argument as scaled_dot_product_attention has it.
void rename(Node &node, StringRef from, StringRef to) {
  node.set(to, node.has(from) ? Argument(node.in(from).get()) : NoValue());
}

/// What the kernel gives, so many results: attention, logsumexp, and states of random numbers and
/// extents for a backward pass, which has no use for them here.
Entities resultsOfKernel(Node &node, Tensor y, Tensor sums, size_t count) {
  Entities results = {y, sums};
  while (results.size() < count)
    results.push_back(node.full({0}, node.builder().getI64Type(), 0));
  return results;
}

Entities flashAttentionOfGpu(Node &node) {
  node.set("attn_mask", NoValue());
  Entities results = flashAttention(node);
  return resultsOfKernel(node, node.wrap(results[0].tensor), node.wrap(results[1].tensor), 9);
}
Entities flashAttentionOfGpuBackward(Node &node) {
  node.set("attn_mask", NoValue());
  return flashAttentionBackward(node);
}

/// Has the sums of a multiple of 32 rows, of which nothing reads the last ones.
Entities efficientAttention(Node &node) {
  rename(node, "attn_bias", "attn_mask");
  Entities results = flashAttention(node);
  Tensor sums = node.wrap(results[1].tensor);
  auto rows = static_cast<uint64_t>(sums.dim(2));
  auto more = static_cast<int64_t>(llvm::alignTo<32>(rows) - rows);
  sums = node.boolean("compute_log_sumexp")
             ? sums.pad(std::numeric_limits<double>::infinity(), {0, 0, 0}, {0, 0, more})
             : node.full({sums.dim(0), sums.dim(1), 0}, sums.elementType(), 0);
  return resultsOfKernel(node, node.wrap(results[0].tensor), sums, 4);
}
Entities efficientAttentionBackward(Node &node) {
  rename(node, "attn_bias", "attn_mask");
  rename(node, "grad_out_", "grad_out");
  SmallVector<bool> asked = node.booleans("grad_input_mask");
  bool ofMask = asked.size() == 4 && asked[3] && node.has("attn_mask");
  Entities gradients = attentionBackward(node, ofMask);
  gradients.resize(4);
  return gradients;
}

Entities cudnnAttention(Node &node) {
  rename(node, "attn_bias", "attn_mask");
  Entities results = flashAttention(node);
  Tensor sums = node.wrap(results[1].tensor);
  SmallVector<int64_t> columns(sums.shape());
  columns.push_back(1);
  return resultsOfKernel(node, node.wrap(results[0].tensor), sums.reshape(columns), 9);
}
Entities cudnnAttentionBackward(Node &node) {
  rename(node, "attn_bias", "attn_mask");
  return attentionBackward(node, false);
}

} // namespace

ArrayRef<OpRow> accc::aten::attentionOps() {
  static const OpRow rows[] = {
      {"scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, "
       "is_causal=False, *, scale=None, enable_gqa=False)",
       scaledDotProductAttention, Alias::None, selected::attention},
      {"_scaled_dot_product_flash_attention_for_cpu(query, key, value, dropout_p=0.0, "
       "is_causal=False, *, attn_mask=None, scale=None)",
       flashAttention},
      {"_scaled_dot_product_flash_attention_for_cpu_backward(grad_out, query, key, value, out, "
       "logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None)",
       flashAttentionBackward},
      {"_scaled_dot_product_flash_attention(query, key, value, dropout_p=0.0, is_causal=False, "
       "return_debug_mask=False, *, scale=None)",
       flashAttentionOfGpu},
      {"_scaled_dot_product_flash_attention_backward(grad_out, query, key, value, out, logsumexp, "
       "cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, *, "
       "scale=None)",
       flashAttentionOfGpuBackward},
      {"_scaled_dot_product_efficient_attention(query, key, value, attn_bias, "
       "compute_log_sumexp, dropout_p=0.0, is_causal=False, *, scale=None)",
       efficientAttention},
      {"_scaled_dot_product_efficient_attention_backward(grad_out_, query, key, value, attn_bias, "
       "out, logsumexp, philox_seed, philox_offset, dropout_p, grad_input_mask, is_causal=False, "
       "*, scale=None)",
       efficientAttentionBackward},
      {"_scaled_dot_product_cudnn_attention(query, key, value, attn_bias, compute_log_sumexp, "
       "dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None)",
       cudnnAttention},
      {"_scaled_dot_product_cudnn_attention_backward(grad_out, query, key, value, out, logsumexp, "
       "philox_seed, philox_offset, attn_bias, cum_seq_q, cum_seq_k, max_q, max_k, dropout_p, "
       "is_causal, *, scale=None)",
       cudnnAttentionBackward},
  };
  return rows;
}
