// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a library cannot do, and what it is asked for once.
#include "CallReference.h"
#include "LibraryCalls.h"
#include "StandIn.h"
#include "Support.h"

#include <algorithm>
#include <array>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

TEST_CASE("gpu library calls: what cannot be done says why") {
  StandIn gpu;
  auto why = [](const accc_library_call &call) {
    return gpuPlatform().whyUnsupported(call).value_or("");
  };
  accc_library_call call = matmul(1, 2, 2, 2);
  CHECK(why(call) == "");
  call.dtypes[1] = ACCC_F64;
  CHECK_THAT(why(call), Contains("matmul: operands of f32 and f64 with a result of f32"));
  std::ranges::fill(call.dtypes, ACCC_I32);
  CHECK_THAT(why(call), Contains("matmul: operands of i32"));
  std::ranges::fill(call.dtypes, ACCC_F64);
  call.compute = ACCC_COMPUTE_TF32;
  CHECK_THAT(why(call), Contains("number 1 of accc_compute for f64"));
  call = matmul(1, 4, 4, 4);
  call.u.matmul.a_column_stride = 2;
  CHECK_THAT(why(call), Contains("neither the rows nor the columns of an operand are contiguous"));
  call = matmul(1, 4, 4, 4, false, false, true);
  CHECK(why(call) == "");
  call.epilogue = ACCC_EPILOGUE_BIAS;
  CHECK_THAT(why(call), Contains("a bias for a result whose rows are not contiguous"));
  call.u.matmul.accumulate = 1;
  CHECK_THAT(why(call), Contains("matmul: it accumulates and adds a bias"));
  call.epilogue = 2;
  CHECK_THAT(why(call), Contains("number 2 of accc_epilogue"));
  call = matmul(int64_t(1) << 40, 1, 1, 1);
  CHECK_THAT(why(call), Contains("a batch of 1099511627776"));
  call.kind = 17;
  CHECK_THAT(why(call), Contains("kind 17 is unknown"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  CHECK(why(call) == "");
  call.epilogue = ACCC_EPILOGUE_BIAS;
  CHECK_THAT(why(call), Contains("convolution: number 1 of accc_epilogue"));
  call.epilogue = ACCC_EPILOGUE_NONE;
  call.u.convolution.filter_layout = 2;
  CHECK_THAT(why(call), Contains("its layout is unknown"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  call.dtypes[2] = ACCC_F64;
  CHECK_THAT(why(call), Contains("convolution: operands of f32 and f32 with a result of f64"));
  ConvolutionSpec large = convolutionSpecs[0];
  large.batch = int64_t(1) << 32;
  CHECK_THAT(why(convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, large)),
             Contains("elements, more than cuDNN counts"));
}

TEST_CASE("gpu library calls: equal ones are one, with one algorithm") {
  StandIn gpu;
  const std::array same{matmul(1, 3, 4, 5), matmul(1, 3, 4, 5)};
  const accc_library_call other = matmul(1, 3, 5, 4);
  std::array entries{entryOf(same[0], {}, {}, {}), entryOf(same[0], {}, {}, {}),
                     entryOf(other, {}, {}, {})};
  entries[0].num_library_calls = 2;
  accc_code code = codeOf(entries);
  auto device = gpuPlatform().open(accc_model_description{}, code, {});
  constexpr const char *choice = "cublasLtMatmulAlgoGetHeuristic";
  auto twice = device->prepare(entries[0]);
  CHECK(gpu.calls(choice) == 1);
  auto again = device->prepare(entries[1]);
  CHECK(gpu.calls(choice) == 1);
  auto another = device->prepare(entries[2]);
  CHECK(gpu.calls(choice) == 2);
}

TEST_CASE("gpu library calls: buffers that lie otherwise may want another algorithm") {
  StandIn gpu;
  const std::array same{matmul(1, 2, 2, 2), matmul(1, 2, 2, 2)};
  constexpr uint64_t bytes = 4 * sizeof(float);
  const std::vector<accc_step> steps{{ACCC_STEP_LIBRARY_CALL, 0, 0, 0, 3, "aligned", ""},
                                     {ACCC_STEP_LIBRARY_CALL, 1, 0, 3, 3, "between", ""}};
  std::vector<accc_buffer> buffers(6, {ACCC_ARENA, ACCC_READ, 0, bytes});
  buffers[5].offset = 3 * sizeof(float);
  accc_entry entry = entryOf(same[0], {}, steps, buffers);
  entry.num_library_calls = 2, entry.arena_size = ACCC_ALIGNMENT;
  accc_code code = codeOf({&entry, 1});
  auto device = gpuPlatform().open(accc_model_description{}, code, {});
  auto prepared = device->prepare(entry);
  CHECK(gpu.calls("cublasLtMatmulAlgoGetHeuristic") == 2);
}
