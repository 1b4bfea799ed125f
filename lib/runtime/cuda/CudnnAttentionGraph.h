// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CUDNNATTENTIONGRAPH_H
#define ACCC_RUNTIME_CUDA_CUDNNATTENTIONGRAPH_H

#include "CudnnOperations.h"
#include "accc/abi.h"

namespace accc::detail {

/// An attention, or its gradients, as a graph of cuDNN's. The library knows such graphs by their
/// operations, and computes each in one or two kernels that never write the scores.
class CudnnAttentionGraph : public CudnnOperations {
public:
  /// `call` is one that Cudnn::whyNot() has nothing against; `alignment` is that of all its buffers
  /// in bytes.
  CudnnAttentionGraph(const CudnnFunctions &functions, const CudnnMachine &machine,
                      const accc_library_call &call, uint64_t alignment);

  /// Identifiers in the graph: of the call's buffers, and of rowSumBytes() bytes that gradients
  /// need beside their workspace.
  static constexpr int64_t idOf(size_t buffer) { return int64_t(buffer) + 1; }
  static constexpr int64_t rowSumsId = 50;
  /// 0: the graph has none.
  static uint64_t rowSumBytes(const accc_library_call &call);

private:
  void forward();
  void backward();
  Tensor masked(Tensor scores);
  Tensor scaled(const Tensor &scores) { return pointwise(CUDNN_POINTWISE_MUL, {scores, scale}); }
  Tensor biased(Tensor scores, size_t buffer);
  void sumProducts(const Tensor &left, const Tensor &right, const Tensor &result);

  const accc_attention a;
  const cudnnDataType_t type;
  const CudnnLayout q, k, v, y;
  const CudnnLayout rows, scores; ///< a number a query, and one a pair of query and key
  const Tensor scale;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNATTENTIONGRAPH_H
