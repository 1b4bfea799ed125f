// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of cuDNN's operations, and the plans for it.
#ifndef ACCC_RUNTIME_CUDA_CUDNNPLANS_H
#define ACCC_RUNTIME_CUDA_CUDNNPLANS_H

#include "CudnnGraph.h"

#include <deque>
#include <string>

namespace accc::detail {

/// One of cuDNN's ways to compute a graph, ready to be executed.
struct CudnnPlan {
  CudnnNode node;
  int64_t engine, workspaceBytes;
};

/// What derives from it describes the operations.
class CudnnPlannedGraph {
public:
  CudnnPlannedGraph(const CudnnPlannedGraph &) = delete;

  /// The first `most` plans, those first that cuDNN expects to be faster, that are reproducible and
  /// multiply as the call wants. `offers` then lists others that came before, and what is wrong
  /// with each.
  std::vector<CudnnPlan> plans(size_t most, std::string &offers) const;

protected:
  /// `isFullF32`: factors are f32, and must not be rounded to fewer bits.
  CudnnPlannedGraph(const CudnnFunctions &functions, const CudnnMachine &machine, bool isFullF32);
  ~CudnnPlannedGraph() = default;

  /// Finalizes a tensor or another part of operations and keeps it.
  const CudnnNode &add(CudnnNode node);
  /// ... and has it as an operation of the graph.
  void addOperation(CudnnNode node);
  /// There is no graph; the first reason counts.
  void refuse(const std::string &why);
  /// After the last operation.
  void finish();

  const CudnnFunctions &functions;

private:
  std::vector<CudnnNode> configurations(cudnnBackendHeurMode_t mode) const;
  std::string whatIsWrong(const CudnnNode &engine) const;

  const CudnnMachine machine;
  const bool isFullF32;
  std::deque<CudnnNode> nodes; // add() gives references to them
  std::vector<cudnnBackendDescriptor_t> operations;
  CudnnNode graph;
  std::string refused; // why there is no graph, where there is none
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNPLANS_H
