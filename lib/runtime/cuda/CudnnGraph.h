// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN's graphs of operations, by its backend interface: descriptors whose attributes are set and
// which are then finalized.
#ifndef ACCC_RUNTIME_CUDA_CUDNNGRAPH_H
#define ACCC_RUNTIME_CUDA_CUDNNGRAPH_H

#include "CudnnFunctions.h"

#include <utility>
#include <vector>

namespace accc::detail {

/// What graphs are planned for: a device, by a handle, or its properties, which need none (cuDNN
/// 9.8, in a library of such headers).
struct CudnnMachine {
  cudnnHandle_t handle = nullptr;
  cudnnBackendDescriptor_t properties = nullptr;
};

/// How cuDNN names the type of an attribute that is a T.
template <typename T> inline constexpr cudnnBackendAttributeType_t cudnnAttributeType{};
#define ACCC_CUDNN_ATTRIBUTE(type, name)                                                           \
  template <> inline constexpr auto cudnnAttributeType<type> = name;
ACCC_CUDNN_ATTRIBUTE(cudnnHandle_t, CUDNN_TYPE_HANDLE)
ACCC_CUDNN_ATTRIBUTE(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE)
ACCC_CUDNN_ATTRIBUTE(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE)
ACCC_CUDNN_ATTRIBUTE(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE)
ACCC_CUDNN_ATTRIBUTE(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE)
ACCC_CUDNN_ATTRIBUTE(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE)
ACCC_CUDNN_ATTRIBUTE(cudnnReduceTensorOp_t, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE)
ACCC_CUDNN_ATTRIBUTE(bool, CUDNN_TYPE_BOOLEAN)
ACCC_CUDNN_ATTRIBUTE(char, CUDNN_TYPE_CHAR)
ACCC_CUDNN_ATTRIBUTE(int64_t, CUDNN_TYPE_INT64)
ACCC_CUDNN_ATTRIBUTE(float, CUDNN_TYPE_FLOAT)
ACCC_CUDNN_ATTRIBUTE(double, CUDNN_TYPE_DOUBLE)
ACCC_CUDNN_ATTRIBUTE(void *, CUDNN_TYPE_VOID_PTR)
#undef ACCC_CUDNN_ATTRIBUTE

/// A descriptor of the backend interface. What goes wrong is kept and comes out of finalize(): a
/// graph that the library does not take is no error of ours.
class CudnnNode {
public:
  CudnnNode(const CudnnFunctions &functions, cudnnBackendDescriptorType_t type)
      : functions(&functions) {
    note(functions.cudnnBackendCreateDescriptor(type, &descriptor));
  }
  CudnnNode(CudnnNode &&other) noexcept
      : functions(other.functions), descriptor(std::exchange(other.descriptor, nullptr)),
        status(other.status) {}
  CudnnNode &operator=(CudnnNode &&other) noexcept {
    std::swap(functions, other.functions);
    std::swap(descriptor, other.descriptor);
    std::swap(status, other.status);
    return *this;
  }
  ~CudnnNode() {
    if (descriptor)
      functions->cudnnBackendDestroyDescriptor(descriptor);
  }

  /// All of an array or a vector.
  template <typename Values>
  CudnnNode &setAll(cudnnBackendAttributeName_t name, const Values &all) {
    return set(name, cudnnAttributeType<typename Values::value_type>, int64_t(all.size()),
               all.data());
  }
  template <typename T> CudnnNode &set(cudnnBackendAttributeName_t name, const T &one) {
    return set(name, cudnnAttributeType<T>, 1, &one);
  }
  CudnnNode &set(cudnnBackendAttributeName_t name, const CudnnNode &one) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one.descriptor);
  }
  /// One of CudnnMachine's.
  CudnnNode &setDescriptor(cudnnBackendAttributeName_t name, cudnnBackendDescriptor_t one) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &one);
  }
  /// The operations of a graph.
  CudnnNode &setDescriptors(cudnnBackendAttributeName_t name,
                            const std::vector<cudnnBackendDescriptor_t> &all) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, int64_t(all.size()), all.data());
  }

  /// The first failure since the descriptor was made, or success.
  cudnnStatus_t finalize() {
    if (status == CUDNN_STATUS_SUCCESS)
      note(functions->cudnnBackendFinalize(descriptor));
    return status;
  }

  /// Those that there are, at most `most`. None where the library refuses.
  template <typename T> std::vector<T> get(cudnnBackendAttributeName_t name, int64_t most) const {
    std::vector<T> all(static_cast<size_t>(most));
    all.resize(get(name, cudnnAttributeType<T>, most, all.data()));
    return all;
  }
  /// Into descriptors that were made for it; how many were.
  size_t get(cudnnBackendAttributeName_t name, std::vector<CudnnNode> &into) const;
  /// How many descriptors there are.
  int64_t count(cudnnBackendAttributeName_t name) const;

  cudnnBackendDescriptor_t raw() const { return descriptor; }

private:
  void note(cudnnStatus_t found) {
    if (status == CUDNN_STATUS_SUCCESS)
      status = found;
  }
  CudnnNode &set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
                 const void *values) {
    if (status == CUDNN_STATUS_SUCCESS)
      note(functions->cudnnBackendSetAttribute(descriptor, name, type, count, values));
    return *this;
  }
  size_t get(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t most,
             void *into) const;

  const CudnnFunctions *functions;
  cudnnBackendDescriptor_t descriptor = nullptr;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNGRAPH_H
