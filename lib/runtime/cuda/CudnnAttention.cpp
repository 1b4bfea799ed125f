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
  uint64_t offset;     ///< of the first element
  uint64_t perBatch;   ///< from one element of the batch to the next
  uint64_t perKeyHead; ///< from one head of keys to the next, or the heads that share it
  uint64_t bytes;      ///< up to behind the last element
};

/// `shared`: heads for each head of keys.
Buffer bufferOf(const accc_attention &a, int64_t shared, int64_t positions, int64_t features,
                const accc_head_view &view, uint64_t elementBytes = sizeof(uint16_t)) {
  const auto &strides = view.strides;
  int64_t last = view.offset + (a.batch - 1) * strides[0] +
                 (a.key_heads * shared - 1) * strides[1] + (positions - 1) * strides[2] + features;
  auto bytes = [&](int64_t elements) { return static_cast<uint64_t>(elements) * elementBytes; };
  return {bytes(view.offset), bytes(strides[0]), bytes(shared * strides[1]), bytes(last)};
}

/// In the order of accc_call_kind.
std::vector<Buffer> buffersOf(const accc_library_call &call) {
  const accc_attention &a = call.u.attention;
  int64_t shared = a.heads / a.key_heads;
  auto ofQueries = [&](const accc_head_view &view, int64_t features) {
    return bufferOf(a, shared, a.queries, features, view);
  };
  auto ofKeys = [&](const accc_head_view &view, int64_t features) {
    return bufferOf(a, 1, a.keys, features, view);
  };
  Buffer rows =
      bufferOf(a, shared, a.queries, 1, {0, {a.heads * a.queries, a.queries, 1}}, sizeof(float));
  std::vector<Buffer> all = {ofQueries(a.q, a.features), ofKeys(a.k, a.features),
                             ofKeys(a.v, a.value_features)};
  auto addBias = [&] {
    const int64_t(&s)[3] = a.bias_strides;
    if (a.has_bias)
      all.push_back(bufferOf(a, shared, a.queries, a.keys, {0, {s[0], s[1], s[2]}}));
  };
  if (call.kind == ACCC_CALL_ATTENTION) {
    addBias();
    all.insert(all.end(), {ofQueries(a.y, a.value_features), rows});
  } else {
    all.insert(all.end(),
               {ofQueries(a.y, a.value_features), rows, ofQueries(a.dy, a.value_features)});
    addBias();
    all.insert(all.end(), {ofQueries(a.dq, a.features), ofKeys(a.dk, a.features),
                           ofKeys(a.dv, a.value_features)});
  }
  return all;
}

/// How much of a call is computed at once, of which the whole is a multiple.
struct Part {
  int64_t batch, keyHeads;
};

/// The plans of gradients keep a 16-bit number for each pair of a query and a key, in tiles of
/// these, which is to stay well within what plans may want (CudnnPlannedGraph).
Part partOf(const accc_attention &a, bool isGradient) {
  if (!isGradient)
    return {a.batch, a.key_heads};
  constexpr double most = double(int64_t(1) << 30) - double(int64_t(1) << 20), tile = 128;
  double each = 2 * double(a.heads / a.key_heads) * (double(a.queries) + tile) *
                (double(a.keys) + tile); // of a head of keys
  // The most of `all` that fits, and be it 1.
  auto fitting = [&](int64_t all, double bytes) {
    int64_t parts = 1;
    while (parts < all && (all % parts != 0 || double(all / parts) * bytes > most))
      ++parts;
    return all / parts;
  };
  int64_t batch = fitting(a.batch, double(a.key_heads) * each);
  return {batch, batch == 1 ? fitting(a.key_heads, each) : a.key_heads};
}

Part partOf(const accc_library_call &call) {
  return partOf(call.u.attention, call.kind == ACCC_CALL_ATTENTION_BACKWARD);
}

/// The call of one part. It has the strides of the whole.
accc_library_call callOfPart(accc_library_call call) {
  Part part = partOf(call);
  accc_attention &a = call.u.attention;
  a.heads = a.heads / a.key_heads * part.keyHeads;
  a.key_heads = part.keyHeads;
  a.batch = part.batch;
  return call;
}

/// Of what each part has of the buffers.
uint64_t alignmentOfParts(const accc_library_call &call, uint64_t alignment) {
  Part part = partOf(call);
  const accc_attention &a = call.u.attention;
  for (const Buffer &each : buffersOf(call)) {
    alignment = std::gcd(alignment, each.offset);
    if (part.batch < a.batch)
      alignment = std::gcd(alignment, uint64_t(part.batch) * each.perBatch);
    if (part.keyHeads < a.key_heads)
      alignment = std::gcd(alignment, uint64_t(part.keyHeads) * each.perKeyHead);
  }
  return alignment;
}

/// The graph's sums of rows lie at the beginning of the scratch, the plan's workspace behind them,
/// aligned as memory of the device's is.
class Attention final : public CudnnPlannedCall {
public:
  Attention(const CudnnSession &session, const accc_library_call &call, uint64_t alignment)
      : CudnnPlannedCall(session), batch(call.u.attention.batch),
        keyHeads(call.u.attention.key_heads), part(partOf(call)), buffers(buffersOf(call)),
        graph(session.functions, CudnnMachine{.handle = session.handle}, callOfPart(call),
              alignmentOfParts(call, alignment)),
        rowSumBytes((CudnnAttentionGraph::rowSumBytes(callOfPart(call)) + 255) / 256 * 256) {}

  /// Once, before anything else. False where there is no plan.
  bool choose(std::string &offers) {
    std::vector<uint64_t> bytes;
    for (const Buffer &each : buffers)
      bytes.push_back(each.bytes);
    return CudnnPlannedCall::choose(graph, bytes, offers);
  }

private:
  uint64_t ownScratchBytes() const override { return rowSumBytes; }

  void execute(const CudnnPlan &plan, std::span<const CUdeviceptr> addresses,
               CUdeviceptr scratch) override {
    for (int64_t b = 0; b < batch; b += part.batch)
      for (int64_t h = 0; h < keyHeads; h += part.keyHeads)
        executePart(plan, addresses, b, h, scratch);
  }

  /// The part whose first element of the batch and first head of keys these are.
  void executePart(const CudnnPlan &plan, std::span<const CUdeviceptr> addresses, int64_t b,
                   int64_t h, CUdeviceptr scratch) {
    std::vector<CudnnOperand> operands;
    for (size_t i = 0; i < addresses.size(); ++i)
      operands.push_back({CudnnAttentionGraph::idOf(i),
                          reinterpret_cast<void *>(addresses[i] + buffers[i].offset +
                                                   uint64_t(b) * buffers[i].perBatch +
                                                   uint64_t(h) * buffers[i].perKeyHead)});
    if (rowSumBytes)
      operands.push_back({CudnnAttentionGraph::rowSumsId, reinterpret_cast<void *>(scratch)});
    for (const CudnnNumber &number : graph.numbers())
      operands.push_back({number.id, const_cast<float *>(&number.value)}); // read only
    session.execute(plan, operands, scratch + rowSumBytes,
                    "an attention (compiled with --no-library-attention, models have none)");
  }

  const int64_t batch, keyHeads;
  const Part part;
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
