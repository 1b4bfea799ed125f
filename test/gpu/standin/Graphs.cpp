// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Capturing a stream's work and doing it again.
#include "Entry.h"

#include <algorithm>
#include <iterator>
#include <set>

using namespace standin;

struct CUgraph_st {
  std::vector<CapturedWork> work;
};

struct CUgraphExec_st {
  std::vector<CapturedWork> work;
};

namespace standin {

void Capture::add(Work piece) {
  CapturedWork &added = work.emplace_back(std::move(piece));
  for (CUgraphNode node : last)
    added.waitsFor.push_back(node->place);
  last = {&nodes.emplace_back(CUgraphNode_st{work.size() - 1})};
}

CUresult getCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *, CUgraph *,
                        const CUgraphNode **nodes, size_t *count) {
  STANDIN_ENTER(cuStreamGetCaptureInfo, true);
  if (!Device::get().streams.contains(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  *status = !stream->capture           ? CU_STREAM_CAPTURE_STATUS_NONE
            : stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
  *count = 0;
  if (stream->capture) {
    *nodes = stream->capture->last.data();
    *count = stream->capture->last.size();
  }
  return CUDA_SUCCESS;
}

CUresult updateCaptureDependencies(CUstream stream, CUgraphNode *nodes, size_t count,
                                   unsigned int flags) {
  STANDIN_ENTER(cuStreamUpdateCaptureDependencies, true);
  if (!Device::get().streams.contains(stream) || !stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  Capture &capture = *stream->capture;
  std::vector<CUgraphNode> wanted(nodes, nodes + count);
  for (CUgraphNode node : wanted)
    if (std::none_of(capture.nodes.begin(), capture.nodes.end(),
                     [&](const CUgraphNode_st &own) { return &own == node; }))
      return CUDA_ERROR_INVALID_VALUE;
  if (flags == CU_STREAM_ADD_CAPTURE_DEPENDENCIES)
    capture.last.insert(capture.last.end(), wanted.begin(), wanted.end());
  else
    capture.last = std::move(wanted);
  return CUDA_SUCCESS;
}

/// The places of captured work in the order in which it is done: that of the capture, or the
/// latest first of what waits for nothing any more.
static std::vector<size_t> orderOf(const std::vector<CapturedWork> &work) {
  bool late = setting("STANDIN_GRAPHS", "") == "late";
  std::vector<std::vector<size_t>> followers(work.size());
  std::vector<size_t> open(work.size()), order;
  std::set<size_t> ready;
  for (size_t i = 0; i < work.size(); ++i) {
    open[i] = work[i].waitsFor.size();
    for (size_t before : work[i].waitsFor)
      followers[before].push_back(i);
    if (open[i] == 0)
      ready.insert(i);
  }
  while (!ready.empty()) {
    auto next = late ? std::prev(ready.end()) : ready.begin();
    order.push_back(*next);
    ready.erase(next);
    for (size_t follower : followers[order.back()])
      if (--open[follower] == 0)
        ready.insert(follower);
  }
  return order;
}

} // namespace standin

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode) {
  STANDIN_ENTER(cuStreamBeginCapture, true);
  if (!Device::get().streams.contains(stream) || stream->capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  stream->capture.emplace(Capture{mode});
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  const std::lock_guard lock(Device::get().mutex);
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
  for (size_t place : orderOf(graph->work))
    if (CUresult failed = Device::get().submit(stream, graph->work[place].work))
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
