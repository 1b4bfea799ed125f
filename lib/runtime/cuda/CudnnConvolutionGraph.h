// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_CUDNNCONVOLUTIONGRAPH_H
#define ACCC_RUNTIME_CUDA_CUDNNCONVOLUTIONGRAPH_H

#include "CudnnPlans.h"
#include "accc/abi.h"

#include <array>
#include <span>

namespace accc::detail {

/// Identifiers of the call's buffers in the graph.
inline constexpr std::array<int64_t, 3> cudnnBufferIds = {1, 2, 3};

/// A convolution, or a gradient of one, as a graph of cuDNN's.
class CudnnConvolutionGraph : public CudnnPlannedGraph {
public:
  /// `call` is one that Cudnn::whyNot() has nothing against, without an empty operand; `alignment`
  /// is that of all its buffers in bytes.
  CudnnConvolutionGraph(const CudnnFunctions &functions, const CudnnMachine &machine,
                        const accc_library_call &call, uint64_t alignment);

private:
  CudnnNode tensor(size_t buffer, uint64_t alignment) const;
  CudnnNode convolution() const;
  CudnnNode operation(std::span<const CudnnNode *const> tensors,
                      const CudnnNode &convolution) const;

  const accc_library_call call;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNCONVOLUTIONGRAPH_H
