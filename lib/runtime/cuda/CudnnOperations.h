// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of matrix products, elementwise operations and reductions, as cuDNN describes them.
#ifndef ACCC_RUNTIME_CUDA_CUDNNOPERATIONS_H
#define ACCC_RUNTIME_CUDA_CUDNNOPERATIONS_H

#include "CudnnPlans.h"

#include <array>
#include <initializer_list>
#include <span>

namespace accc::detail {

/// How a tensor of four dimensions lies in memory; strides are in elements.
struct CudnnLayout {
  using Extents = std::array<int64_t, 4>;
  Extents extents, strides;

  static CudnnLayout dense(const Extents &extents);
  /// The matrices of the last two dimensions the other way round.
  CudnnLayout transposed() const;
};

/// A number that a graph takes by value.
struct CudnnNumber {
  int64_t id;
  float value;
};

class CudnnOperations : public CudnnPlannedGraph {
public:
  /// What has to be among the operands of each execution, beside the tensors in memory.
  std::span<const CudnnNumber> numbers() const { return given; }

protected:
  /// A value of the graph's.
  struct Tensor {
    const CudnnNode *node;
    CudnnLayout layout;
  };

  /// `alignment` is that of the tensors in memory, in bytes.
  CudnnOperations(const CudnnFunctions &functions, const CudnnMachine &machine, uint64_t alignment);

  /// In memory, under an identifier of the caller's below firstOwnId.
  Tensor stored(int64_t id, cudnnDataType_t type, const CudnnLayout &layout);
  /// Of the graph alone: it need never be in memory.
  Tensor inner(const CudnnLayout &layout, cudnnDataType_t type = CUDNN_DATA_FLOAT);
  Tensor number(float value);

  /// Each computes in f32. An elementwise operation takes x, b and t, as many as it has; those
  /// after x may have extents of 1. Without `y`, the result is an inner f32 of x's extents.
  void pointwise(cudnnPointwiseMode_t mode, std::initializer_list<Tensor> operands,
                 const Tensor &y);
  Tensor pointwise(cudnnPointwiseMode_t mode, std::initializer_list<Tensor> operands);
  /// Each element's index in a dimension, and where the first is at least the second.
  Tensor indices(const Tensor &like, int64_t dimension);
  Tensor notBelow(const Tensor &a, const Tensor &b);
  void matmul(const Tensor &a, const Tensor &b, const Tensor &c);
  void reduce(cudnnReduceTensorOp_t operation, const Tensor &x, const Tensor &y);
  /// y has x's memory, with a layout of its own, rounded to its own type.
  void reshape(const Tensor &x, const Tensor &y);

  static constexpr int64_t firstOwnId = 100;

private:
  Tensor tensor(int64_t id, cudnnDataType_t type, const CudnnLayout &layout, int64_t alignment,
                cudnnBackendAttributeName_t property);
  CudnnNode elementwise(cudnnPointwiseMode_t mode, cudnnDataType_t compute) const;
  void addElementwise(CudnnNode how, std::initializer_list<Tensor> operands, const Tensor &y);

  const int64_t alignment;
  int64_t nextId = firstOwnId;
  std::vector<CudnnNumber> given;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNOPERATIONS_H
