// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnAttention.h"

#include "CudnnAttentionGraph.h"
#include "CudnnPlannedCall.h"

#include <algorithm>
#include <numeric>

namespace accc::detail {

namespace {

/// A buffer of the call, in bytes.
struct Buffer {
  uint64_t perBatch; ///< from one element of the batch to the next
  uint64_t rest;     ///< from the first element of one to behind its last

  uint64_t bytes(int64_t batch) const { return uint64_t(batch - 1) * perBatch + rest; }
};

Buffer bufferOf(int64_t heads, int64_t positions, int64_t features, const int64_t (&strides)[3]) {
  auto last = static_cast<uint64_t>((heads - 1) * strides[1] + (positions - 1) * strides[2]);
  return {static_cast<uint64_t>(strides[0]) * sizeof(uint16_t),
          (last + static_cast<uint64_t>(features)) * sizeof(uint16_t)};
}

/// In the order of accc_call_kind.
std::vector<Buffer> buffersOf(const accc_library_call &call) {
  const accc_attention &a = call.u.attention;
  Buffer q = bufferOf(a.heads, a.queries, a.features, a.q_strides);
  Buffer k = bufferOf(a.key_heads, a.keys, a.features, a.k_strides);
  Buffer v = bufferOf(a.key_heads, a.keys, a.value_features, a.v_strides);
  Buffer y = bufferOf(a.heads, a.queries, a.value_features, a.y_strides);
  auto rows = static_cast<uint64_t>(a.heads * a.queries) * sizeof(float);
  std::vector<Buffer> bias;
  if (a.has_bias)
    bias.push_back(bufferOf(a.heads, a.queries, a.keys, a.bias_strides));
  std::vector<Buffer> all = {q, k, v};
  auto add = [&](const std::vector<Buffer> &more) {
    all.insert(all.end(), more.begin(), more.end());
  };
  if (call.kind == ACCC_CALL_ATTENTION) {
    add(bias);
    add({y, {rows, rows}});
  } else {
    add({y, {rows, rows}, y});
    add(bias);
    add({q, k, v});
  }
  return all;
}

/// How much of the batch gradients are computed for at once. Their plans keep a 16-bit number for
/// each pair of a query and a key, in tiles of these, which is to stay well within what plans may
/// want (CudnnPlannedGraph).
int64_t batchAtOnce(const accc_library_call &call) {
  const accc_attention &a = call.u.attention;
  if (call.kind == ACCC_CALL_ATTENTION)
    return a.batch;
  constexpr double most = double(int64_t(1) << 30) - double(int64_t(1) << 20), tile = 128;
  double each = 2 * double(a.heads) * (double(a.queries) + tile) * (double(a.keys) + tile);
  int64_t batch = a.batch;
  for (int64_t parts = 2; double(batch) * each > most && parts <= a.batch; ++parts)
    if (a.batch % parts == 0)
      batch = a.batch / parts;
  return batch;
}

accc_library_call partOf(accc_library_call call) {
  call.u.attention.batch = batchAtOnce(call);
  return call;
}

/// Of the buffers of each part of the batch.
uint64_t alignmentOfParts(const accc_library_call &call, uint64_t alignment) {
  int64_t batch = batchAtOnce(call);
  if (batch < call.u.attention.batch)
    for (const Buffer &each : buffersOf(call))
      alignment = std::gcd(alignment, uint64_t(batch) * each.perBatch);
  return alignment;
}

/// The graph's sums of rows lie at the beginning of the scratch, the plan's workspace behind them,
/// aligned as memory of the device's is.
class Attention final : public CudnnPlannedCall {
public:
  Attention(const CudnnSession &session, const accc_library_call &call, uint64_t alignment)
      : CudnnPlannedCall(session), batch(call.u.attention.batch), atOnce(batchAtOnce(call)),
        buffers(buffersOf(call)), graph(session.functions, CudnnMachine{.handle = session.handle},
                                        partOf(call), alignmentOfParts(call, alignment)),
        rowSumBytes((CudnnAttentionGraph::rowSumBytes(partOf(call)) + 255) / 256 * 256) {}

  /// Once, before anything else. False where there is no plan.
  bool choose(std::string &offers) {
    std::vector<uint64_t> bytes;
    for (const Buffer &each : buffers)
      bytes.push_back(each.bytes(batch));
    return CudnnPlannedCall::choose(graph, bytes, offers);
  }

private:
  uint64_t ownScratchBytes() const override { return rowSumBytes; }

  void execute(const CudnnPlan &plan, std::span<const CUdeviceptr> addresses,
               CUdeviceptr scratch) override {
    for (int64_t first = 0; first < batch; first += atOnce) {
      std::vector<CudnnOperand> operands;
      for (size_t i = 0; i < addresses.size(); ++i)
        operands.push_back(
            {CudnnAttentionGraph::idOf(i),
             reinterpret_cast<void *>(addresses[i] + uint64_t(first) * buffers[i].perBatch)});
      if (rowSumBytes)
        operands.push_back({CudnnAttentionGraph::rowSumsId, reinterpret_cast<void *>(scratch)});
      for (const CudnnNumber &number : graph.numbers())
        operands.push_back({number.id, const_cast<float *>(&number.value)}); // read only
      session.execute(plan, operands, scratch + rowSumBytes,
                      "an attention (models compiled without --library-attention have none)");
    }
  }

  const int64_t batch, atOnce;
  const std::vector<Buffer> buffers;
  const CudnnAttentionGraph graph;
  const uint64_t rowSumBytes;
};

} // namespace

std::unique_ptr<LibraryCall> planCudnnAttention(const CudnnSession &session,
                                                const accc_library_call &call, uint64_t alignment,
                                                std::string &offers) {
  auto made = std::make_unique<Attention>(session, call, alignment);
  if (!made->choose(offers))
    return nullptr;
  return made;
}

} // namespace accc::detail
