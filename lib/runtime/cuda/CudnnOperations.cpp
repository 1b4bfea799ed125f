// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnOperations.h"

namespace accc::detail {

/// Of what is not in memory, or not on the device: nothing stands on it.
static constexpr int64_t anyAlignment = 16;

/// In place of a property for a tensor in memory, which has none.
static constexpr cudnnBackendAttributeName_t inMemory = CUDNN_ATTR_TENSOR_UNIQUE_ID;

CudnnLayout CudnnLayout::dense(const Extents &extents) {
  return {extents, {extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], 1}};
}

CudnnLayout CudnnLayout::transposed() const {
  CudnnLayout result = *this;
  std::swap(result.extents[2], result.extents[3]);
  std::swap(result.strides[2], result.strides[3]);
  return result;
}

CudnnOperations::CudnnOperations(const CudnnFunctions &functions, const CudnnMachine &machine,
                                 uint64_t alignment)
    : CudnnPlannedGraph(functions, machine, /*isFullF32=*/false), alignment(int64_t(alignment)) {}

CudnnOperations::Tensor CudnnOperations::tensor(int64_t id, cudnnDataType_t type,
                                                const CudnnLayout &layout, int64_t bytes,
                                                cudnnBackendAttributeName_t property) {
  CudnnNode node(functions, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  node.set(CUDNN_ATTR_TENSOR_DATA_TYPE, type);
  node.setAll(CUDNN_ATTR_TENSOR_DIMENSIONS, layout.extents);
  node.setAll(CUDNN_ATTR_TENSOR_STRIDES, layout.strides);
  node.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, id);
  node.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, bytes);
  if (property != inMemory)
    node.set(property, true);
  return {&add(std::move(node)), layout};
}

CudnnOperations::Tensor CudnnOperations::stored(int64_t id, cudnnDataType_t type,
                                                const CudnnLayout &layout) {
  // To its own elements it is aligned whatever the others are.
  int64_t elementBytes = type == CUDNN_DATA_FLOAT ? sizeof(float) : sizeof(uint16_t);
  return tensor(id, type, layout, std::max(alignment, elementBytes), inMemory);
}

CudnnOperations::Tensor CudnnOperations::inner(const CudnnLayout &layout, cudnnDataType_t type) {
  return tensor(nextId++, type, layout, anyAlignment, CUDNN_ATTR_TENSOR_IS_VIRTUAL);
}

CudnnOperations::Tensor CudnnOperations::number(float value) {
  given.push_back({nextId, value});
  return tensor(nextId++, CUDNN_DATA_FLOAT, CudnnLayout::dense({1, 1, 1, 1}), anyAlignment,
                CUDNN_ATTR_TENSOR_IS_BY_VALUE);
}

CudnnNode CudnnOperations::elementwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute) const {
  CudnnNode node(functions, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  node.set(CUDNN_ATTR_POINTWISE_MODE, mode);
  node.set(CUDNN_ATTR_POINTWISE_MATH_PREC, compute);
  return node;
}

void CudnnOperations::addElementwise(CudnnNode how, std::initializer_list<Tensor> operands,
                                     const Tensor &y) {
  constexpr std::array names = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
  CudnnNode node(functions, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  node.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, add(std::move(how)));
  for (size_t i = 0; i < operands.size(); ++i)
    node.set(names[i], *(operands.begin() + i)->node);
  node.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, *y.node);
  addOperation(std::move(node));
}

void CudnnOperations::pointwise(cudnnPointwiseMode_t mode, std::initializer_list<Tensor> operands,
                                const Tensor &y) {
  addElementwise(elementwise(mode, CUDNN_DATA_FLOAT), operands, y);
}

CudnnOperations::Tensor CudnnOperations::pointwise(cudnnPointwiseMode_t mode,
                                                   std::initializer_list<Tensor> operands) {
  Tensor y = inner(CudnnLayout::dense(operands.begin()->layout.extents));
  pointwise(mode, operands, y);
  return y;
}

CudnnOperations::Tensor CudnnOperations::indices(const Tensor &like, int64_t dimension) {
  Tensor y = inner(CudnnLayout::dense(like.layout.extents), CUDNN_DATA_INT32);
  CudnnNode how = elementwise(CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_POINTWISE_AXIS, dimension);
  addElementwise(std::move(how), {like}, y);
  return y;
}

CudnnOperations::Tensor CudnnOperations::notBelow(const Tensor &a, const Tensor &b) {
  Tensor y = inner(CudnnLayout::dense(a.layout.extents), CUDNN_DATA_BOOLEAN);
  addElementwise(elementwise(CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN), {a, b}, y);
  return y;
}

void CudnnOperations::matmul(const Tensor &a, const Tensor &b, const Tensor &c) {
  CudnnNode how(functions, CUDNN_BACKEND_MATMUL_DESCRIPTOR);
  how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_DATA_FLOAT);
  CudnnNode node(functions, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
  node.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, *a.node);
  node.set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, *b.node);
  node.set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, *c.node);
  node.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, add(std::move(how)));
  addOperation(std::move(node));
}

void CudnnOperations::reduce(cudnnReduceTensorOp_t operation, const Tensor &x, const Tensor &y) {
  CudnnNode how(functions, CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
  how.set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT);
  how.set(CUDNN_ATTR_REDUCTION_OPERATOR, operation);
  CudnnNode node(functions, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
  node.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, *x.node);
  node.set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, *y.node);
  node.set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, add(std::move(how)));
  addOperation(std::move(node));
}

void CudnnOperations::reshape(const Tensor &x, const Tensor &y) {
  CudnnNode node(functions, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR);
  node.set(CUDNN_ATTR_OPERATION_RESHAPE_XDESC, *x.node);
  node.set(CUDNN_ATTR_OPERATION_RESHAPE_YDESC, *y.node);
  addOperation(std::move(node));
}

} // namespace accc::detail
