// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnAttentionGraph.h"

#include <limits>

namespace accc::detail {

namespace {

CudnnLayout layoutOf(int64_t batch, int64_t heads, int64_t positions, int64_t features,
                     const accc_head_view &view) {
  return {{batch, heads, positions, features},
          {view.strides[0], view.strides[1], view.strides[2], 1}};
}

/// Extents of 1 where it repeats.
CudnnLayout biasLayoutOf(const accc_attention &a) {
  const int64_t extents[] = {a.batch, a.heads, a.queries};
  CudnnLayout::Extents own = {1, 1, 1, a.keys};
  for (size_t d = 0; d < 3; ++d)
    own[d] = a.bias_strides[d] ? extents[d] : 1;
  CudnnLayout layout = CudnnLayout::dense(own);
  for (size_t d = 0; d < 3; ++d)
    if (a.bias_strides[d])
      layout.strides[d] = a.bias_strides[d];
  return layout;
}

} // namespace

CudnnAttentionGraph::CudnnAttentionGraph(const CudnnFunctions &functions,
                                         const CudnnMachine &machine, const accc_library_call &call,
                                         uint64_t alignment)
    : CudnnOperations(functions, machine, alignment), a(call.u.attention),
      type(call.dtypes[0] == ACCC_F16 ? CUDNN_DATA_HALF : CUDNN_DATA_BFLOAT16),
      q(layoutOf(a.batch, a.heads, a.queries, a.features, a.q)),
      k(layoutOf(a.batch, a.key_heads, a.keys, a.features, a.k)),
      v(layoutOf(a.batch, a.key_heads, a.keys, a.value_features, a.v)),
      y(layoutOf(a.batch, a.heads, a.queries, a.value_features, a.y)),
      rows(CudnnLayout::dense({a.batch, a.heads, a.queries, 1})),
      scores(CudnnLayout::dense({a.batch, a.heads, a.queries, a.keys})),
      scale(number(float(a.scale))) {
  if (call.kind == ACCC_CALL_ATTENTION)
    forward();
  else
    backward();
  finish();
}

uint64_t CudnnAttentionGraph::rowSumBytes(const accc_library_call &call) {
  const accc_attention &a = call.u.attention;
  return call.kind == ACCC_CALL_ATTENTION
             ? 0
             : static_cast<uint64_t>(a.batch * a.heads * a.queries) * sizeof(float);
}

/// With the bias, which is that buffer of the call's, if there is one.
CudnnAttentionGraph::Tensor CudnnAttentionGraph::biased(Tensor all, size_t buffer) {
  if (!a.has_bias)
    return all;
  return pointwise(CUDNN_POINTWISE_ADD, {all, stored(idOf(buffer), type, biasLayoutOf(a))});
}

/// -infinity where a key comes after its query.
CudnnAttentionGraph::Tensor CudnnAttentionGraph::masked(Tensor all) {
  if (!a.causal)
    return all;
  Tensor row = indices(all, 2), column = indices(all, 3);
  Tensor isSeen = notBelow(row, column);
  Tensor nothing = number(-std::numeric_limits<float>::infinity());
  return pointwise(CUDNN_POINTWISE_BINARY_SELECT, {all, nothing, isSeen});
}

void CudnnAttentionGraph::forward() {
  const size_t results = a.has_bias ? 4 : 3; // the first of them
  Tensor products = inner(scores);
  matmul(stored(idOf(0), type, q), stored(idOf(1), type, k.transposed()), products);
  Tensor score = masked(biased(scaled(products), 3));
  Tensor most = inner(rows);
  reduce(CUDNN_REDUCE_TENSOR_MAX, score, most);
  Tensor power = pointwise(CUDNN_POINTWISE_EXP, {pointwise(CUDNN_POINTWISE_SUB, {score, most})});
  Tensor sum = inner(rows);
  reduce(CUDNN_REDUCE_TENSOR_ADD, power, sum);
  Tensor logarithm = pointwise(CUDNN_POINTWISE_LOG, {sum});
  pointwise(CUDNN_POINTWISE_ADD, {most, logarithm},
            stored(idOf(results + 1), CUDNN_DATA_FLOAT, rows));
  Tensor share = inner(scores, type); // as the units that multiply matrices take it
  pointwise(CUDNN_POINTWISE_DIV, {power, sum}, share);
  matmul(share, stored(idOf(2), type, v), stored(idOf(results), type, y));
}

/// left right, the heads that share a head of the result added.
void CudnnAttentionGraph::sumProducts(const Tensor &left, const Tensor &right,
                                      const Tensor &result) {
  if (a.heads == a.key_heads) {
    matmul(left, right, result);
    return;
  }
  CudnnLayout::Extents extents = result.layout.extents;
  extents[1] = a.heads;
  Tensor all = inner(CudnnLayout::dense(extents), type);
  matmul(left, right, all);
  reduce(CUDNN_REDUCE_TENSOR_ADD, all, result);
}

/// The order of the operations is the library's; so is that dq is a product of its own, which it
/// computes from the gradients of the scores in its workspace: of sums into dq in f32 it has no way
/// that gives the same bits again.
void CudnnAttentionGraph::backward() {
  Tensor query = stored(idOf(0), type, q), key = stored(idOf(1), type, k.transposed());
  Tensor value = stored(idOf(2), type, v.transposed()), result = stored(idOf(3), type, y);
  Tensor stats = stored(idOf(4), CUDNN_DATA_FLOAT, rows);
  auto gradient = [&](size_t buffer, const CudnnLayout &of, const accc_head_view &view) {
    const CudnnLayout::Extents &e = of.extents;
    return stored(idOf(buffer), type, layoutOf(e[0], e[1], e[2], e[3], view));
  };
  const size_t results = a.has_bias ? 7 : 6; // the first of them
  Tensor dy = gradient(5, y, a.dy), dq = gradient(results, q, a.dq);
  Tensor dk = gradient(results + 1, k, a.dk), dv = gradient(results + 2, v, a.dv);
  Tensor rowSum = inner(rows);
  reduce(CUDNN_REDUCE_TENSOR_ADD, pointwise(CUDNN_POINTWISE_MUL, {dy, result}), rowSum);
  Tensor rowSums = stored(rowSumsId, CUDNN_DATA_FLOAT, rows);
  pointwise(CUDNN_POINTWISE_MUL, {rowSum, number(1)}, rowSums);

  Tensor products = inner(scores);
  matmul(query, key, products);
  Tensor score = masked(pointwise(CUDNN_POINTWISE_SUB, {biased(scaled(products), 6), stats}));
  Tensor share = pointwise(CUDNN_POINTWISE_EXP, {score});
  CudnnLayout turned = scores.transposed();
  Tensor shareTurned = inner(turned, type);
  reshape(share, shareTurned);
  sumProducts(shareTurned, dy, dv);

  Tensor dShare = inner(scores);
  matmul(dy, value, dShare);
  Tensor without = pointwise(CUDNN_POINTWISE_SUB, {dShare, rowSums});
  Tensor dScore = scaled(pointwise(CUDNN_POINTWISE_MUL, {without, share}));
  Tensor dScoreTurned = inner(turned, type);
  reshape(dScore, dScoreTurned);
  sumProducts(dScoreTurned, query, dk);
  Tensor keyTurned = inner(k, type);
  reshape(key, keyTurned);
  matmul(dScore, keyTurned, dq);
}

} // namespace accc::detail
