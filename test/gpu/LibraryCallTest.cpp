// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a library cannot do.
#include "CallReference.h"
#include "LibraryCalls.h"
#include "StandIn.h"
#include "Support.h"

#include <algorithm>

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
