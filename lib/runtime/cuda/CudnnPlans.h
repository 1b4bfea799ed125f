// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A convolution, or a gradient of one, as a graph of cuDNN's, and the plans for it.
#ifndef ACCC_RUNTIME_CUDA_CUDNNPLANS_H
#define ACCC_RUNTIME_CUDA_CUDNNPLANS_H

#include "CudnnGraph.h"
#include "accc/abi.h"

#include <array>
#include <string>

namespace accc::detail {

/// One of cuDNN's ways to compute a graph, ready to be executed. The call's buffers have the
/// identifiers cudnnBufferIds.
struct CudnnPlan {
  CudnnNode node;
  int64_t engine, workspaceBytes;
};

inline constexpr std::array<int64_t, 3> cudnnBufferIds = {1, 2, 3};

class CudnnConvolutionGraph {
public:
  /// `call` is one that Cudnn::whyNot() has nothing against, without an empty operand; `alignment`
  /// is that of all its buffers in bytes.
  CudnnConvolutionGraph(const CudnnFunctions &functions, const CudnnMachine &machine,
                        const accc_library_call &call, uint64_t alignment);

  /// The first `most` plans, those first that cuDNN expects to be faster, that are reproducible and
  /// multiply as the call wants. `offers` then lists others that came before, and what is wrong
  /// with each.
  std::vector<CudnnPlan> plans(size_t most, std::string &offers);

private:
  CudnnNode tensor(size_t buffer, uint64_t alignment) const;
  CudnnNode convolution() const;
  CudnnNode operation(const CudnnNode &convolution) const;
  std::vector<CudnnNode> configurations(cudnnBackendHeurMode_t mode) const;
  std::string whatIsWrong(const CudnnNode &engine) const;

  const CudnnFunctions &functions;
  const CudnnMachine machine;
  const accc_library_call call;
  std::vector<CudnnNode> tensors, described; // `described`: the convolution, then its operation
  CudnnNode graph;
  std::string refused; // why there is no graph, where there is none
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNPLANS_H
