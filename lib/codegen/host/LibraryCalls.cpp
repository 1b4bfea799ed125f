// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions and attentions as the runtime's library calls see them: extents and strides.
#include "codegen/host/Host.h"
#include "ir/prim/AttentionRules.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/MergedDimensions.h"
#include "ir/prim/StridedView.h"
#include "support/Fault.h"

#include <array>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
RankedTensorType tensorOf(Value buffer) {
  return cast<exec::BufferType>(buffer.getType()).getTensor();
}

ArrayRef<int64_t> dims(DictionaryAttr config, StringRef name) {
  return cast<DenseI64ArrayAttr>(config.get(name)).asArrayRef();
}

/// The views that the call's configuration gives, or else all of each of these tensors.
SmallVector<prim::StridedView> viewsOf(exec::LibraryCallOp call, ArrayRef<Value> tensors) {
  SmallVector<prim::StridedView> views;
  if (auto given = call.getConfig().getAs<ArrayAttr>("views"))
    for (size_t i = 0; i < given.size(); ++i)
      views.push_back(prim::StridedView::at(given, i));
  else
    for (Value tensor : tensors)
      views.push_back(prim::StridedView::all(tensorOf(tensor).getShape()));
  return views;
}

LogicalResult describeMatmul(exec::LibraryCallOp call, accc_matmul &m) {
  DictionaryAttr config = call.getConfig();
  SmallVector<prim::StridedView> factors =
      viewsOf(call, {call.getInputs()[0], call.getInputs()[1]});
  ArrayRef<int64_t> batch[2] = {dims(config, "lhs_batch"), dims(config, "rhs_batch")};
  ArrayRef<int64_t> contracting[2] = {dims(config, "lhs_contracting"),
                                      dims(config, "rhs_contracting")};
  if (batch[0].size() > ACCC_MAX_BATCH_DIMS)
    return call.emitError("a contraction with more than ")
           << ACCC_MAX_BATCH_DIMS << " batch dimensions";
  int64_t free[2], freeStride[2], inner[2], innerStride[2];
  int64_t panels = 1, panelStride = 0; // of the right operand
  for (int side = 0; side < 2; ++side) {
    const prim::StridedView &factor = factors[side];
    SmallVector<int64_t> rest;
    for (int64_t d = 0; d < static_cast<int64_t>(factor.shape.size()); ++d)
      if (!llvm::is_contained(batch[side], d) && !llvm::is_contained(contracting[side], d))
        rest.push_back(d);
    auto k = prim::mergeDimensions(factor, contracting[side]),
         f = prim::mergeDimensions(factor, rest);
    if (!f && side == 1) {
      panels = factor.shape[rest[0]];
      panelStride = factor.strides[rest[0]];
      f = prim::mergeDimensions(factor, ArrayRef(rest).drop_front());
    }
    if (!k || !f)
      return emitBug(call.getLoc()) << "the dimensions of a contraction were not made contiguous";
    free[side] = f->extent;
    freeStride[side] = f->stride;
    inner[side] = k->extent;
    innerStride[side] = k->stride;
    int64_t *batchStrides = side == 0 ? m.a_batch_strides : m.b_batch_strides;
    for (auto [i, d] : llvm::enumerate(batch[side])) {
      m.batch[i] = factor.shape[d];
      batchStrides[i] = factor.strides[d];
    }
  }
  m.a_offset = factors[0].offset;
  m.b_offset = factors[1].offset;
  m.m = free[0];
  m.n = free[1];
  m.k = inner[0];
  m.a_row_stride = freeStride[0];
  m.a_column_stride = innerStride[0];
  m.b_row_stride = innerStride[1];
  m.b_column_stride = freeStride[1];
  m.batch_rank = static_cast<int32_t>(batch[0].size());
  m.c_row_stride = m.n * panels;
  m.c_column_stride = 1;
  int64_t stride = m.m * m.c_row_stride;
  for (int32_t i = m.batch_rank; i-- > 0;) {
    m.c_batch_strides[i] = stride;
    stride *= m.batch[i];
  }
  if (panels > 1) { // one product for each, side by side in the result
    if (m.batch_rank == ACCC_MAX_BATCH_DIMS)
      return call.emitError("a contraction in panels with ") << m.batch_rank << " batch dimensions";
    m.batch[m.batch_rank] = panels;
    m.b_batch_strides[m.batch_rank] = panelStride;
    m.c_batch_strides[m.batch_rank] = m.n;
    ++m.batch_rank;
  }
  // A matrix of one row or column may be read with any stride: make it one that libraries know.
  if (m.m == 1)
    m.a_row_stride = m.k * m.a_column_stride;
  if (m.k == 1) {
    m.a_column_stride = 1;
    m.b_row_stride = std::max<int64_t>(m.n * m.b_column_stride, 1);
  }
  if (m.n == 1)
    m.b_column_stride = m.b_row_stride == 1 ? m.k : 1;
  if (m.a_row_stride != 1 && m.a_column_stride != 1)
    return emitBug(call.getLoc())
           << "the left operand of a contraction has no contiguous dimension";
  if (m.b_row_stride != 1 && m.b_column_stride != 1)
    return emitBug(call.getLoc())
           << "the right operand of a contraction has no contiguous dimension";
  return success();
}

/// x, w, y: the shapes of the three tensors of the trilinear form.
LogicalResult describeConvolution(exec::LibraryCallOp call, RankedTensorType x, RankedTensorType w,
                                  RankedTensorType y, accc_convolution &c) {
  DictionaryAttr config = call.getConfig();
  int64_t spatial = w.getRank() - 2;
  if (spatial < 1 || spatial > ACCC_MAX_SPATIAL_DIMS)
    return call.emitError("a convolution with ")
           << spatial << " spatial dimensions; 1 to 3 are supported";
  auto isSet = [&](StringRef name) {
    auto flag = config.getAs<BoolAttr>(name);
    return flag && flag.getValue();
  };
  bool last = isSet("channels_last"), filterLast = isSet("filter_channels_last");
  unsigned filterSpatial = filterLast ? 1 : 2;
  c.spatial_rank = static_cast<int32_t>(spatial);
  c.layout = last ? ACCC_CHANNELS_LAST : ACCC_CHANNELS_FIRST;
  c.filter_layout = filterLast ? ACCC_CHANNELS_LAST : ACCC_CHANNELS_FIRST;
  c.groups = cast<IntegerAttr>(config.get("groups")).getInt();
  c.batch = x.getDimSize(0);
  c.in_channels = w.getDimSize(filterLast ? w.getRank() - 1 : 1) * c.groups;
  c.out_channels = w.getDimSize(0);
  for (int64_t i = 0; i < spatial; ++i) {
    auto d = static_cast<unsigned>(i + (last ? 1 : 2));
    c.in_size[i] = x.getDimSize(d);
    c.out_size[i] = y.getDimSize(d);
    c.kernel[i] = w.getDimSize(static_cast<unsigned>(i) + filterSpatial);
    c.stride[i] = dims(config, "strides")[i];
    c.dilation[i] = dims(config, "dilations")[i];
    c.pad_low[i] = dims(config, "pad_low")[i];
    c.pad_high[i] = dims(config, "pad_high")[i];
  }
  return success();
}

/// Of a view [batch, position, head, feature].
accc_head_view describeView(const prim::StridedView &view) {
  return {view.offset, {view.strides[0], view.strides[2], view.strides[1]}};
}

accc_attention describeAttention(exec::LibraryCallOp call, bool isBackward) {
  OperandRange in = call.getInputs(), out = call.getOutputs();
  SmallVector<Value> tensors = {in[0], in[1], in[2]};
  if (isBackward)
    tensors.append({in[3], in[5]});
  llvm::append_range(tensors, isBackward ? out : out.take_front());
  SmallVector<prim::StridedView> views = viewsOf(call, tensors);
  accc_attention a = {};
  prim::AttentionExtents e(views[0].shape, views[1].shape, views[2].shape);
  a.batch = e.batch, a.heads = e.heads, a.key_heads = e.keyHeads;
  a.queries = e.queries, a.keys = e.keys;
  a.features = e.features, a.value_features = e.valueFeatures;
  accc_head_view *described[] = {&a.q, &a.k, &a.v, &a.y, &a.dy, &a.dq, &a.dk, &a.dv};
  for (auto [to, view] : llvm::zip(described, views))
    *to = describeView(view);
  size_t biasAt = isBackward ? 6 : 3;
  a.has_bias = in.size() > biasAt;
  if (a.has_bias) {
    RankedTensorType bias = tensorOf(in[static_cast<unsigned>(biasAt)]);
    auto all = prim::StridedView::all(bias.getShape());
    for (unsigned d = 0; d < 3; ++d)
      a.bias_strides[d] = bias.getDimSize(d) == 1 ? 0 : all.strides[d];
  }
  a.scale = cast<FloatAttr>(call.getConfig().get("scale")).getValueAsDouble();
  a.causal = cast<BoolAttr>(call.getConfig().get("causal")).getValue();
  return a;
}
} // namespace

FailureOr<accc_library_call> codegen::describeCall(exec::LibraryCallOp call, accc_compute compute) {
  accc_library_call result = {};
  RankedTensorType a = tensorOf(call.getInputs()[0]), b = tensorOf(call.getInputs()[1]),
                   c = tensorOf(call.getOutputs()[0]);
  bool isF32 = llvm::all_of(std::array{a, b, c},
                            [](RankedTensorType type) { return type.getElementType().isF32(); });
  bool isExact = call.getConfig().contains("full_precision");
  result.compute = isF32 && !isExact ? compute : ACCC_COMPUTE_FULL;
  for (auto [dtype, type] : llvm::zip(result.dtypes, std::array{a, b, c}))
    dtype = dtypeOf(type.getElementType());
  StringRef callee = call.getCallee();
  LogicalResult status = failure();
  if (callee == "dot_general" || callee == "gemm") {
    result.kind = ACCC_CALL_MATMUL;
    result.epilogue = call.getInputs().size() > 2 ? ACCC_EPILOGUE_BIAS : ACCC_EPILOGUE_NONE;
    status = describeMatmul(call, result.u.matmul);
  } else if (callee == "convolution") {
    result.kind = ACCC_CALL_CONVOLUTION;
    status = describeConvolution(call, a, b, c, result.u.convolution);
  } else if (callee == "convolution_backward_data") {
    result.kind = ACCC_CALL_CONVOLUTION_BACKWARD_DATA;
    status = describeConvolution(call, c, b, a, result.u.convolution);
  } else if (callee == "convolution_backward_weights") {
    result.kind = ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS;
    status = describeConvolution(call, a, c, b, result.u.convolution);
  } else if (callee == "attention" || callee == "strided_attention") {
    result.kind = ACCC_CALL_ATTENTION;
    result.u.attention = describeAttention(call, /*isBackward=*/false);
    return result;
  } else if (callee == "attention_backward" || callee == "strided_attention_backward") {
    result.kind = ACCC_CALL_ATTENTION_BACKWARD;
    result.u.attention = describeAttention(call, /*isBackward=*/true);
    return result;
  } else {
    return call.emitError("no library call '") << callee << "'";
  }
  if (failed(status))
    return failure();
  return result;
}

SmallVector<Value> codegen::outputsOf(exec::LibraryCallOp call) {
  OperandRange own = call.getOutputs();
  auto places = call.getConfig().getAs<DenseI64ArrayAttr>("places");
  if (!places)
    return llvm::to_vector(own);
  return llvm::map_to_vector(places.asArrayRef(), [&](int64_t place) -> Value {
    return own[static_cast<unsigned>(place)];
  });
}
