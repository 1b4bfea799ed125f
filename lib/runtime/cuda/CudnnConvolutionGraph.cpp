// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnConvolutionGraph.h"

#include "CudnnDescriptors.h"

namespace accc::detail {

namespace {

/// What the operation of a kind is, and what its operands and options are called.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  std::array<cudnnBackendAttributeName_t, 3> buffers; // in the order of accc_call_kind
  cudnnBackendAttributeName_t convolution, alpha, beta;
};

OperationNames namesOf(int32_t kind) {
  switch (kind) {
  case ACCC_CALL_CONVOLUTION:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  default:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

/// The first `rank` of an array of ints, as graphs take them.
template <typename Array> std::vector<int64_t> wide(const Array &values, int rank) {
  return {values.begin(), values.begin() + rank};
}

} // namespace

CudnnConvolutionGraph::CudnnConvolutionGraph(const CudnnFunctions &functions,
                                             const CudnnMachine &machine,
                                             const accc_library_call &call, uint64_t alignment)
    : CudnnPlannedGraph(functions, machine,
                        call.dtypes[0] == ACCC_F32 && call.compute == ACCC_COMPUTE_FULL),
      call(call) {
  const accc_convolution &c = call.u.convolution;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    if (c.pad_low[i] < 0 || c.pad_high[i] < 0) {
      refuse("padding that cuts");
      return;
    }
  std::array<const CudnnNode *, cudnnBufferIds.size()> tensors{};
  for (size_t i = 0; i < tensors.size(); ++i)
    tensors[i] = &add(tensor(i, alignment));
  addOperation(operation(tensors, add(convolution())));
  finish();
}

CudnnNode CudnnConvolutionGraph::tensor(size_t buffer, uint64_t alignment) const {
  CudnnTensor tensor = cudnnBuffersOf(call)[buffer];
  CudnnNode node(functions, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  node.set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnnTypeOf(call.dtypes[buffer]));
  node.setAll(CUDNN_ATTR_TENSOR_DIMENSIONS, wide(tensor.extents, tensor.rank));
  node.setAll(CUDNN_ATTR_TENSOR_STRIDES, wide(tensor.strides(), tensor.rank));
  node.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, cudnnBufferIds[buffer]);
  node.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(alignment));
  return node;
}

CudnnNode CudnnConvolutionGraph::convolution() const {
  CudnnConvolutionShape shape(call.u.convolution);
  CudnnNode node(functions, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  node.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(shape.spatial));
  node.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
           call.dtypes[0] == ACCC_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  node.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  auto set = [&](cudnnBackendAttributeName_t name, const auto &values) {
    node.setAll(name, wide(values, shape.spatial));
  };
  set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, shape.padding);
  set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, shape.paddingBehind);
  set(CUDNN_ATTR_CONVOLUTION_DILATIONS, shape.dilation);
  set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, shape.stride);
  return node;
}

CudnnNode CudnnConvolutionGraph::operation(std::span<const CudnnNode *const> tensors,
                                           const CudnnNode &convolution) const {
  OperationNames names = namesOf(call.kind);
  CudnnNode node(functions, names.type);
  for (size_t i = 0; i < tensors.size(); ++i)
    node.set(names.buffers[i], *tensors[i]);
  node.set(names.convolution, convolution);
  if (call.dtypes[0] == ACCC_F64)
    node.set(names.alpha, 1.0).set(names.beta, 0.0);
  else
    node.set(names.alpha, 1.0f).set(names.beta, 0.0f);
  return node;
}

} // namespace accc::detail
