// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallReference.h"
#include "Calls.h"
#include "Support.h"

#include <cmath>

using namespace accc;
using namespace accc::test;

namespace {

void check(const accc_library_call &call) {
  REQUIRE_FALSE(detail::whyCpuCannot(call));
  auto [firstSize, secondSize, resultSize] = operandSizes(call);
  auto first = randomFloats(firstSize, 1), second = randomFloats(secondSize, 2);
  std::vector<double> result = expectedConvolution(call, first, second);
  // What the result's buffer held before must not show.
  std::vector<float> garbage(result.size(), NAN);
  PreparedCall prepared(call, 2, {first, second, garbage});
  for (int repeat = 0; repeat < 2; ++repeat) {
    prepared.run();
    double worst = 0, scale = 1;
    for (size_t i = 0; i < result.size(); ++i) {
      double error = std::abs(prepared.buffer(2)[i] - result[i]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
      scale = std::max(scale, std::abs(result[i]));
    }
    CHECK(worst < 1e-5 * scale);
  }
}

} // namespace

TEST_CASE("convolution: forward and both gradients, both layouts") {
  auto spec = GENERATE(from_range(convolutionSpecs));
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  INFO(spec.name << ", layout " << layout << ", kind " << kind);
  check(convolution(kind, layout, spec));
}

TEST_CASE("convolution: strides over few channels") {
  // With fewer than a vector holds, a kernel of oneDNN 2.6.3 overruns its scratch memory.
  auto channels = GENERATE(1, 3, 4, 7, 8, 12);
  ConvolutionSpec spec = {"", 2, channels, 8, 1, {32, 32}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}};
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  INFO(channels << " channels, layout " << layout << ", kind " << kind);
  check(convolution(kind, layout, spec));
}

TEST_CASE("convolution: empty batches") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  ConvolutionSpec spec = convolutionSpecs[0];
  spec.batch = 0;
  check(convolution(kind, ACCC_CHANNELS_FIRST, spec));
}

TEST_CASE("convolution: copies in other layouts are no multiples of the tensors") {
  // Images of one channel, which lie in blocks of 16 as 16 times as much, and one of 2.3 GiB,
  // within which the library counts bytes in 32 bits.
  ConvolutionSpec spec = GENERATE(
      ConvolutionSpec{"", 2, 1, 2, 1, {1000, 1000}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      ConvolutionSpec{"", 1, 16, 16, 1, {6000, 6400}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  accc_library_call call = convolution(kind, ACCC_CHANNELS_FIRST, spec);
  const accc_convolution &c = call.u.convolution;
  detail::Team team(1);
  auto prepared = detail::createConvolution(kind, c, team);
  uint64_t bytes = sizeof(float) * static_cast<uint64_t>(sizeOfX(c) + sizeOfY(c));
  INFO(kind << ": " << prepared->scratchBytes() << " of " << bytes);
  CHECK(prepared->scratchBytes() <= (bytes >> 32 ? bytes / 2 : 2 * bytes));
}

TEST_CASE("convolution: one thread computes no gradient element by element") {
  // Of groups of few channels, oneDNN has nothing else channels last; with copies it has products.
  ConvolutionSpec spec = {"", 2, 3, 15, 3, {48, 48}, {33, 33}, {1, 1}, {1, 1}, {16, 16}, {16, 16}};
  accc_library_call call =
      convolution(ACCC_CALL_CONVOLUTION_BACKWARD_DATA, ACCC_CHANNELS_LAST, spec);
  const accc_convolution &c = call.u.convolution;
  detail::Team team(1);
  detail::Team::Scope scope(team);
  auto prepared = detail::createConvolution(ACCC_CALL_CONVOLUTION_BACKWARD_DATA, c, team);
  uint64_t copies = sizeof(float) * static_cast<uint64_t>(sizeOfX(c) + sizeOfY(c));
  CHECK(prepared->scratchBytes() >= copies);
}

TEST_CASE("library calls: what cannot be done says why") {
  using Catch::Matchers::Contains;
  accc_library_call call = matmul(1, 2, 2, 2);
  call.dtypes[1] = ACCC_F64;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("matmul of operands of different types"));
  std::ranges::fill(call.dtypes, ACCC_I32);
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("matmul of i32"));
  call.kind = 17;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("kind 17 is unknown"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  call.u.convolution.out_size[1] = 99;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("extent 99 where 8 follows"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  call.u.convolution.groups = 3;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("3 groups"));
}
