// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Capturing a stream's work and doing it again.
#include "Entry.h"

using namespace standin;

struct CUgraph_st {
  std::vector<Work> work;
};

struct CUgraphExec_st {
  std::vector<Work> work;
};

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  STANDIN_ENTER(cuStreamBeginCapture, true);
  if (!Device::get().streams.contains(stream) || stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture.emplace();
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  CUresult refused = Device::get().enter("cuStreamEndCapture", true);
  *graph = nullptr;
  if (!Device::get().streams.contains(stream) || !stream->capture)
    return refused ? refused : CUDA_ERROR_ILLEGAL_STATE;
  Capture capture = std::move(*stream->capture);
  stream->capture.reset(); // even where it fails
  if (refused)
    return refused;
  if (capture.invalid)
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  *graph = new CUgraph_st{std::move(capture.work)};
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph, unsigned long long flags) {
  STANDIN_ENTER(cuGraphInstantiateWithFlags, true);
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  *made = new CUgraphExec_st{graph->work};
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  STANDIN_ENTER(cuGraphLaunch, true);
  for (const Work &work : graph->work)
    if (CUresult failed = Device::get().submit(stream, work))
      return failed;
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec graph) {
  STANDIN_ENTER(cuGraphExecDestroy, false);
  delete graph;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  STANDIN_ENTER(cuGraphDestroy, false);
  delete graph;
  return CUDA_SUCCESS;
}
