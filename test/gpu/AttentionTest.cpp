// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attentions and their gradients by cuDNN.
#include "LibraryCalls.h"
#include "StandIn.h"
#include "Support.h"
#include "core/CheckCall.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

/// The buffers of a call as numbers, in the order of accc_call_kind.
struct Buffers {
  std::vector<std::vector<double>> values;
  std::vector<int32_t> types;
};

/// Computes in double what the call must come to. A place is of batch, head and position.
class Reference {
public:
  Reference(const accc_library_call &call, bool isPacked)
      : a(call.u.attention), kind(call.kind), type(call.dtypes[0]), isPacked(isPacked) {}

  /// Inputs that all types have, and what follows from them.
  Buffers compute() {
    size_t ofV = sizeOf(a.v, a.key_heads, a.keys, a.value_features);
    q = random(isPacked ? ofV : sizeOf(a.q, a.heads, a.queries, a.features), 1);
    k = isPacked ? q : random(sizeOf(a.k, a.key_heads, a.keys, a.features), 2);
    v = isPacked ? q : random(ofV, 3);
    dy = random(sizeOf(a.y, a.heads, a.queries, a.value_features), 4);
    bias = random(size_t(a.batch * a.heads * a.queries * a.keys), 5); // it may read less
    y.resize(dy.size()), dq.resize(q.size()), dk.resize(k.size()), dv.resize(v.size());
    stats.resize(size_t(a.batch * a.heads * a.queries));
    for (int64_t b = 0; b < a.batch; ++b)
      for (int64_t h = 0; h < a.heads; ++h)
        for (int64_t t = 0; t < a.queries; ++t)
          computeQuery(b, h, t);
    if (isPacked) {
      for (size_t i = 0; i < dq.size(); ++i)
        dq[i] += dk[i] + dv[i];
      dk = dv = dq;
    }
    Buffers all = {{q, k, v, y, stats, dy, dq, dk, dv},
                   {type, type, type, type, ACCC_F32, type, type, type, type}};
    if (a.has_bias) {
      std::ptrdiff_t at = kind == ACCC_CALL_ATTENTION ? 3 : 6;
      all.values.insert(all.values.begin() + at, bias);
      all.types.insert(all.types.begin() + at, type);
    }
    return all;
  }

private:
  static std::vector<double> random(size_t count, uint32_t seed) {
    std::vector<double> values;
    for (float each : randomFloats(count, seed))
      values.push_back(std::round(each * 16) / 16);
    return values;
  }

  static size_t at(const accc_head_view &view, int64_t b, int64_t h, int64_t t, int64_t i) {
    return size_t(view.offset + b * view.strides[0] + h * view.strides[1] + t * view.strides[2] +
                  i);
  }

  size_t sizeOf(const accc_head_view &view, int64_t heads, int64_t positions,
                int64_t features) const {
    return at(view, a.batch - 1, heads - 1, positions - 1, features);
  }

  void computeQuery(int64_t b, int64_t h, int64_t t) {
    int64_t keyHead = h / (a.heads / a.key_heads),
            keys = a.causal ? std::min(t + 1, a.keys) : a.keys;
    std::vector<double> share(size_t(keys), 0), dShare(size_t(keys), 0);
    double sum = 0, rowSum = 0;
    for (int64_t s = 0; s < keys; ++s) {
      double score = 0;
      for (int64_t i = 0; i < a.features; ++i)
        score += q[at(a.q, b, h, t, i)] * k[at(a.k, b, keyHead, s, i)];
      score *= a.scale;
      if (a.has_bias)
        score +=
            bias[at({0, {a.bias_strides[0], a.bias_strides[1], a.bias_strides[2]}}, b, h, t, s)];
      sum += share[size_t(s)] = std::exp(score);
    }
    stats[size_t((b * a.heads + h) * a.queries + t)] = std::log(sum);
    for (int64_t s = 0; s < keys; ++s) {
      share[size_t(s)] /= sum;
      for (int64_t i = 0; i < a.value_features; ++i) {
        size_t result = at(a.y, b, h, t, i), value = at(a.v, b, keyHead, s, i);
        y[result] += share[size_t(s)] * v[value];
        dv[value] += share[size_t(s)] * dy[result];
        dShare[size_t(s)] += dy[result] * v[value];
      }
      rowSum += share[size_t(s)] * dShare[size_t(s)];
    }
    for (int64_t s = 0; s < keys; ++s) {
      double dScore = share[size_t(s)] * (dShare[size_t(s)] - rowSum) * a.scale;
      for (int64_t i = 0; i < a.features; ++i) {
        size_t query = at(a.q, b, h, t, i), key = at(a.k, b, keyHead, s, i);
        dq[query] += dScore * k[key];
        dk[key] += dScore * q[query];
      }
    }
  }

  const accc_attention a;
  const int32_t kind, type;
  const bool isPacked;
  std::vector<double> q, k, v, y, stats, dy, bias, dq, dk, dv;
};

bool isOutput(const accc_library_call &call, size_t buffer) {
  size_t inputs = call.kind == ACCC_CALL_ATTENTION ? 3 : 6;
  return buffer >= inputs + size_t(call.u.attention.has_bias);
}

/// Whether a buffer is that of the one before, where q, k and v are packed.
bool isPart(const accc_library_call &call, size_t buffer) {
  size_t last = size_t(detail::countBuffers(call)) - 1;
  return buffer == 1 || buffer == 2 ||
         (call.kind == ACCC_CALL_ATTENTION_BACKWARD && buffer + 1 >= last);
}

/// Rounded to a type as the device's results are, not to what tensorOf() takes.
Tensor tensorWith(int32_t type, const std::vector<double> &values) {
  Tensor tensor(static_cast<DType>(type), {int64_t(values.size())});
  char *bytes = static_cast<char *>(tensor.raw());
  for (double value : values) {
    auto put = [&](auto element) {
      std::memcpy(bytes, &element, sizeof element);
      bytes += sizeof element;
    };
    if (type == ACCC_F32)
      put(float(value));
    else if (type == ACCC_F16)
      put(_Float16(value));
    else {
      auto single = float(value);
      uint32_t bits = 0;
      std::memcpy(&bits, &single, sizeof bits);
      put(uint16_t((bits + 0x7FFF + (bits >> 16 & 1)) >> 16));
    }
  }
  return tensor;
}

/// As it is, and into a graph, which is replayed.
constexpr int timesEnqueued = 2;

/// All buffers after the call, which is made several times and must leave the same bits each time.
std::vector<Tensor> resultsOf(const accc_library_call &call, bool isPacked, const Buffers &given,
                              int parts) {
  StandIn gpu;
  auto why = gpuPlatform().whyUnsupported(call);
  INFO(why.value_or(""));
  REQUIRE_FALSE(why);
  std::vector<Tensor> tensors;
  std::vector<accc_buffer> buffers;
  accc_model_description model{};
  for (size_t i = 0; i < size_t(detail::countBuffers(call)); ++i) {
    // What a result held before must not show.
    auto nothing = std::vector<double>(given.values[i].size(), 1024);
    tensors.push_back(tensorWith(given.types[i], isOutput(call, i) ? nothing : given.values[i]));
    buffers.push_back({ACCC_STATE, isOutput(call, i) ? ACCC_WRITE : ACCC_READ, model.state_size,
                       tensors.back().size_bytes()});
    if (isPacked && isPart(call, i)) {
      buffers.back().offset = buffers[i - 1].offset;
      continue;
    }
    model.state_size +=
        (tensors.back().size_bytes() + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
  }
  std::vector<accc_step> steps = {
      {ACCC_STEP_LIBRARY_CALL, 0, 0, 0, int32_t(buffers.size()), "call", ""}};
  accc_entry entry = entryOf(call, {}, steps, buffers);
  accc_code code = codeOf({&entry, 1});
  auto device = gpuPlatform().open(model, code, {});
  auto prepared = device->prepare(entry);
  std::vector<Tensor> results;
  for (int repeat = 0; repeat < 3; ++repeat) {
    for (size_t i = 0; i < tensors.size(); ++i)
      device->writeState(buffers[i].offset, tensors[i].raw(), tensors[i].size_bytes());
    prepared->start(0, {});
    CHECK(prepared->wait(0) == ACCC_DONE);
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor now = tensors[i].clone();
      device->readState(buffers[i].offset, now.raw(), now.size_bytes());
      if (repeat)
        CHECK(std::memcmp(now.raw(), results[i].raw(), now.size_bytes()) == 0);
      else
        results.push_back(std::move(now));
    }
  }
  const char *tune = std::getenv("ACCC_CUDA_TUNE");
  if (!tune || *tune == '0')
    CHECK(gpu.calls("cudnnBackendExecute") == timesEnqueued * parts);
  prepared.reset(), device.reset();
  CHECK(gpu.leaked() == 0);
  return results;
}

/// `parts`: how many executions of a plan the call takes.
void checkAttention(const accc_library_call &call, int parts = 1, bool isPacked = false) {
  Buffers right = Reference(call, isPacked).compute();
  std::vector<Tensor> results = resultsOf(call, isPacked, right, parts);
  for (size_t i = 0; i < results.size(); ++i) {
    INFO("buffer " << i);
    // Shares and gradients of scores are rounded, too, before they are multiplied.
    double precision = right.types[i] == ACCC_F32 ? 1e-6 : 2 * precisionOf(right.types[i]);
    checkElements(results[i], right.values[i], precision);
  }
}

const std::vector<AttentionSpec> specs = {
    {"one query", 1, 1, 1, 1, 1, 8, 8},
    {"self attention", 2, 3, 3, 7, 7, 16, 16, false, true},
    {"causal", 2, 3, 3, 9, 9, 16, 16, true, true},
    {"causal, heads outside", 2, 2, 2, 9, 9, 8, 8, true},
    {"other keys", 2, 2, 2, 5, 11, 16, 8, false, true},
    {"causal with more keys", 1, 2, 2, 4, 7, 8, 8, true, true},
    {"causal with fewer keys", 1, 2, 2, 7, 4, 8, 8, true},
    {"grouped heads", 2, 6, 2, 5, 5, 8, 8, true, true},
    {"one head of keys", 2, 4, 1, 5, 6, 8, 16},
    {"a bias of keys", 2, 2, 2, 5, 7, 8, 8, false, true, "b"},
    {"a causal bias of heads", 2, 4, 2, 5, 5, 8, 8, true, true, "hq"},
    {"a bias of all", 2, 3, 1, 4, 9, 16, 8, false, false, "bhq"},
    {"one bias for all", 2, 3, 3, 4, 9, 8, 8, true, false, ""},
    {"packed", 2, 3, 3, 7, 7, 16, 16, true, true, nullptr, true},
    {"packed, grouped heads", 2, 4, 2, 5, 5, 8, 16, false, true, "b", true},
};

} // namespace

TEST_CASE("gpu attention: forward and gradients") {
  auto spec = GENERATE(from_range(specs));
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  auto type = GENERATE(ACCC_BF16, ACCC_F16);
  INFO(spec.name << ", kind " << kind << ", type " << type);
  accc_library_call call = attention(kind, spec);
  std::ranges::fill(call.dtypes, type);
  checkAttention(call, 1, spec.packed);
}

TEST_CASE("gpu attention: gradients in parts of the batch, where all would want too much memory") {
  // A tile of scores for each of so many heads.
  AttentionSpec spec = {"", 2, 20000, 10000, 1, 2, 8, 8};
  SECTION("") {}
  SECTION("that are aligned to little") { spec.heads = 20001, spec.keyHeads = 1; }
  SECTION("with a bias") { spec.bias = "b"; }
  checkAttention(attention(ACCC_CALL_ATTENTION_BACKWARD, spec), 2);
}

TEST_CASE("gpu attention: gradients in parts of the heads, where one of the batch wants too much") {
  AttentionSpec spec = {"", 2, 36000, 18000, 1, 2, 8, 8};
  SECTION("outside of positions") {}
  SECTION("inside of positions") { spec.headsInside = true; }
  SECTION("with a bias of heads") { spec.bias = "h"; }
  SECTION("with a bias that heads share") { spec.bias = "b"; }
  SECTION("packed") { spec.keys = 1, spec.packed = true; }
  checkAttention(attention(ACCC_CALL_ATTENTION_BACKWARD, spec), 4, spec.packed);
}

TEST_CASE("gpu attention: no plan") {
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  AttentionSpec spec = {"", 2, 6, 2, 5, 5, 8, 8, true, true};
  std::string what = kind == ACCC_CALL_ATTENTION
                         ? "attention b 2 h 6/2 q 5 k 5 d 8 causal, bf16; "
                         : "attention backward b 2 h 6/2 q 5 k 5 d 8 causal, bf16; ";
  auto message = [&] {
    return errorOf(ErrorKind::machine, [&] { checkAttention(attention(kind, spec)); });
  };
  SECTION("that is reproducible") {
    Setting randomOnly("STANDIN_CUDNN", "random");
    std::string text = message();
    CHECK_THAT(text, Contains("cuDNN has no reproducible plan for an attention (" + what));
    CHECK_THAT(text, Contains("it offers 0 (other bits in every run))"));
    CHECK_THAT(text, Contains("compile the model with --no-library-attention"));
  }
  SECTION("whose rows are not aligned") {
    spec.features = spec.valueFeatures = 6;
    CHECK_THAT(message(), Contains("d 6 causal, bf16; it offers none)"));
  }
  SECTION("as the graph is refused") {
    Setting fail("STANDIN_FAIL", "cudnnBackendFinalize:9");
    CHECK_THAT(message(), Contains("it offers CUDNN_STATUS_EXECUTION_FAILED)"));
  }
}

TEST_CASE("gpu attention: a plan that does not run") {
  Setting broken("STANDIN_CUDNN", "broken");
  accc_library_call call = attention(ACCC_CALL_ATTENTION, specs[1]);
  SECTION("") {
    Setting unmeasured("ACCC_CUDA_TUNE", "0"); // one that fails is not taken
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { checkAttention(call); }),
               Contains("cuDNN failed in an attention") && Contains("--no-library-attention"));
  }
  SECTION("and is measured") {
    Setting tune("ACCC_CUDA_TUNE", "1");
    checkAttention(call);
  }
}

TEST_CASE("gpu attention: what cannot be done says why") {
  StandIn gpu;
  auto why = [](const accc_library_call &call) {
    return gpuPlatform().whyUnsupported(call).value_or("");
  };
  accc_library_call call = attention(ACCC_CALL_ATTENTION, specs[1]);
  CHECK(why(call) == "");
  call.dtypes[1] = ACCC_F16;
  CHECK_THAT(why(call), Contains("attention: queries and keys of bf16, values of f16 and a result "
                                 "of bf16, not all of f16 or all of bf16"));
  std::ranges::fill(call.dtypes, ACCC_F32);
  CHECK_THAT(why(call), Contains("attention: queries and keys of f32"));
  call = attention(ACCC_CALL_ATTENTION_BACKWARD, specs[1]);
  call.compute = ACCC_COMPUTE_TF32;
  CHECK_THAT(why(call), Contains("attention's gradients: number 1 of accc_compute for bf16"));
  call.compute = ACCC_COMPUTE_FULL;
  call.u.attention.key_heads = 2;
  CHECK_THAT(why(call), Contains("its 3 heads do not divide among 2 of keys"));
}
