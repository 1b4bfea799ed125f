// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices by cuBLASLt.
#include "CallReference.h"
#include "LibraryCalls.h"
#include "StandIn.h"
#include "Support.h"

#include <algorithm>
#include <array>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

void checkMatmul(const accc_library_call &call, size_t a, size_t b, size_t c) {
  auto fillA = randomFloats(a, 1), fillB = randomFloats(b, 2), fillC = randomFloats(c, 3);
  Tensor first = tensorOf(call.dtypes[0], fillA), second = tensorOf(call.dtypes[1], fillB),
         before = tensorOf(call.dtypes[2], fillC);
  std::vector<detail::Source> given = {{&first}, {&second}};
  std::vector<float> fillBias;
  Tensor bias;
  if (call.epilogue == ACCC_EPILOGUE_BIAS) {
    fillBias = randomFloats(size_t(call.u.matmul.n), 4);
    given.push_back({&(bias = tensorOf(call.dtypes[2], fillBias))});
  }
  checkElements(resultOf(call, given, before),
                expectedMatmul(call.u.matmul, fillA, fillB, fillC, fillBias),
                precisionOf(call.dtypes[2]));
}

void checkDense(const accc_library_call &call) {
  const accc_matmul &p = call.u.matmul;
  checkMatmul(call, size_t(p.batch[0] * p.m * p.k), size_t(p.batch[0] * p.k * p.n),
              size_t(p.batch[0] * p.m * p.n));
}

} // namespace

TEST_CASE("gpu matmul: every layout of every operand") {
  auto flags = GENERATE(range(0, 16));
  auto [batch, m, n, k] = GENERATE(from_range(matmulExtents));
  INFO("flags " << flags << ", " << batch << " x " << m << " x " << n << " x " << k);
  accc_library_call call = matmul(batch, m, n, k, flags & 1, flags & 2, flags & 4);
  call.u.matmul.accumulate = (flags & 8) != 0;
  checkDense(call);
}

TEST_CASE("gpu matmul: every type") {
  auto [a, c] = GENERATE(table<int32_t, int32_t>({{ACCC_F64, ACCC_F64},
                                                  {ACCC_F16, ACCC_F16},
                                                  {ACCC_BF16, ACCC_BF16},
                                                  {ACCC_F16, ACCC_F32},
                                                  {ACCC_BF16, ACCC_F32}}));
  auto accumulate = GENERATE(0, 1);
  accc_library_call call = matmul(2, 9, 6, 7);
  call.dtypes[0] = call.dtypes[1] = a, call.dtypes[2] = c;
  call.u.matmul.accumulate = accumulate;
  checkDense(call);
}

TEST_CASE("gpu matmul: a bias, by the library or after it") {
  auto algorithms = GENERATE("all", "plain");
  Setting setting("STANDIN_CUBLASLT", algorithms);
  SECTION("every layout of both factors") {
    auto flags = GENERATE(range(0, 4));
    auto [batch, m, n, k] = GENERATE(from_range(matmulExtents));
    INFO("flags " << flags << ", " << batch << " x " << m << " x " << n << " x " << k);
    accc_library_call call = matmul(batch, m, n, k, flags & 1, flags & 2);
    call.epilogue = ACCC_EPILOGUE_BIAS;
    checkDense(call);
  }
  SECTION("every type") {
    auto [factors, result] = GENERATE(table<int32_t, int32_t>({{ACCC_F64, ACCC_F64},
                                                               {ACCC_F16, ACCC_F16},
                                                               {ACCC_BF16, ACCC_BF16},
                                                               {ACCC_F16, ACCC_F32},
                                                               {ACCC_BF16, ACCC_F32}}));
    accc_library_call call = matmul(2, 9, 6, 7);
    call.epilogue = ACCC_EPILOGUE_BIAS;
    call.dtypes[0] = call.dtypes[1] = factors, call.dtypes[2] = result;
    checkDense(call);
  }
  SECTION("empty extents") {
    auto [batch, m, n, k] = GENERATE(from_range(emptyMatmulExtents));
    accc_library_call call = matmul(batch, m, n, k);
    call.epilogue = ACCC_EPILOGUE_BIAS;
    checkDense(call);
  }
  SECTION("several dimensions of the batch") {
    accc_library_call call = attentionMatmul();
    call.epilogue = ACCC_EPILOGUE_BIAS;
    checkMatmul(call, 120, 120, 72);
  }
}

TEST_CASE("gpu matmul: factors are rounded where the call allows it") {
  // 1 + 2^-12 has 13 bits of significand.
  const float value = 1 + 0x1p-12f;
  Tensor one = Tensor::of<float>({1}, {1}), factor = Tensor::of<float>({1}, {value});
  accc_library_call call = matmul(1, 1, 1, 1);
  CHECK(elementOf(resultOf(call, {{&factor}, {&one}}, one), 0) == value);
  call.compute = ACCC_COMPUTE_TF32;
  CHECK(elementOf(resultOf(call, {{&factor}, {&one}}, one), 0) == 1);
}

TEST_CASE("gpu matmul: a bias is added in full, whatever the factors are rounded to") {
  Setting plain("STANDIN_CUBLASLT", GENERATE("all", "plain"));
  const float value = 1 + 0x1p-12f;
  Tensor one = Tensor::of<float>({1}, {1}), bias = Tensor::of<float>({1}, {value});
  accc_library_call call = matmul(1, 1, 1, 1);
  call.compute = ACCC_COMPUTE_TF32, call.epilogue = ACCC_EPILOGUE_BIAS;
  CHECK(elementOf(resultOf(call, {{&one}, {&one}, {&bias}}, one), 0) == 1 + value);
}

TEST_CASE("gpu matmul: empty extents") {
  auto accumulate = GENERATE(0, 1);
  auto [batch, m, n, k] = GENERATE(from_range(emptyMatmulExtents));
  auto transposed = GENERATE(false, true);
  accc_library_call call = matmul(batch, m, n, k, false, false, transposed);
  call.u.matmul.accumulate = accumulate;
  checkDense(call);
}

TEST_CASE("gpu matmul: no batch dimension, and several with gaps") {
  const char *algorithms = GENERATE("", "strided"); // by addresses, or one call after the other
  Setting setting("STANDIN_CUBLASLT", algorithms);
  accc_library_call call = matmul(1, 6, 5, 4);
  call.u.matmul.batch_rank = 0;
  checkDense(call);

  call = attentionMatmul();
  checkMatmul(call, 120, 120, 72);
  accc_matmul &p = call.u.matmul;
  // Three dimensions that no two of lie as one.
  p.k = 2;
  p.batch_rank = 3;
  p.batch[2] = 2;
  p.a_batch_strides[2] = 2, p.b_batch_strides[2] = 0, p.c_batch_strides[2] = 80;
  checkMatmul(call, 120, 120, 160);
}

TEST_CASE("gpu matmul: several steps make one call, each with operands of its own") {
  // The second result begins behind the first: its address is a multiple of 4 or 32 bytes only.
  auto [call, sizeOfOperand, sizeOfResult] = GENERATE(table<accc_library_call, size_t, size_t>(
      {{matmul(1, 3, 1, 2), 6, 3}, {attentionMatmul(), 120, 72}}));
  auto fillA = randomFloats(sizeOfOperand, 1), fillB = randomFloats(sizeOfOperand, 2),
       fillC = randomFloats(2 * sizeOfResult, 3);
  Tensor a = tensorOf(ACCC_F32, fillA), b = tensorOf(ACCC_F32, fillB),
         before = tensorOf(ACCC_F32, fillC);
  std::vector<float> firstC(fillC.begin(), fillC.begin() + int64_t(sizeOfResult)),
      secondC(fillC.begin() + int64_t(sizeOfResult), fillC.end());
  auto expected = expectedMatmul(call.u.matmul, fillA, fillB, firstC, {}),
       second = expectedMatmul(call.u.matmul, fillB, fillA, secondC, {});
  expected.insert(expected.end(), second.begin(), second.end());
  checkElements(resultOf(call, {{&a}, {&b}, {&b}, {&a}}, before, 2), expected, 1e-7);
}

TEST_CASE("gpu matmul: what lies elsewhere in the next capture is known before it") {
  StandIn gpu;
  Tensor operand(DType::f32, {120});
  std::ranges::fill(operand.data<float>(), 1.0f);
  accc_value input = {{"operand", ACCC_F32, 1, operand.shape().data()}, ACCC_DATA, nullptr};
  const accc_library_call call = attentionMatmul();
  uint64_t bytes = operand.size_bytes();
  const std::vector<accc_value> inputs{input, input};
  const std::vector<accc_step> steps{{ACCC_STEP_LIBRARY_CALL, 0, 0, 0, 3, "call", ""}};
  const std::vector<accc_buffer> buffers{{ACCC_INPUT, ACCC_READ, 0, bytes},
                                         {ACCC_INPUT, ACCC_READ, 1, bytes},
                                         {ACCC_ARENA, ACCC_WRITE, 0, 72 * sizeof(float)}};
  std::array entries{entryOf(call, inputs, steps, buffers), accc_entry{}};
  entries[0].arena_size = bytes;
  entries[1].name = "larger", entries[1].sizes = "", entries[1].arena_size = 1 << 20;
  accc_code code = codeOf(entries);
  auto device = gpuPlatform().open(accc_model_description{}, code, {});
  auto prepared = device->prepare(entries[0]);
  auto run = [&] {
    prepared->start(0, {{&operand}, {&operand}});
    CHECK(prepared->wait(0) == ACCC_DONE);
  };
  run(), run();
  CHECK(gpu.calls("cuGraphInstantiateWithFlags") == 1);
  auto larger = device->prepare(entries[1]); // another arena for both
  run();
  CHECK(gpu.calls("cuGraphInstantiateWithFlags") == 2);
}

TEST_CASE("gpu matmul: a result with gaps is cleared between them") {
  accc_library_call call = matmul(2, 3, 4, 0);
  accc_matmul &p = call.u.matmul;
  p.c_row_stride = 6, p.c_batch_strides[0] = 20;
  checkMatmul(call, 0, 0, 40);
}

TEST_CASE("gpu matmul: a right operand that the batch shares") {
  accc_library_call call = matmul(3, 4, 5, 6);
  call.u.matmul.b_batch_strides[0] = 0;
  checkMatmul(call, 72, 30, 60);
}
