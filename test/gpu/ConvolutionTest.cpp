// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions by cuDNN, or as products of matrices.
#include "CallReference.h"
#include "LibraryCalls.h"
#include "StandIn.h"
#include "Support.h"

#include <algorithm>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

void checkConvolution(const accc_library_call &call) {
  auto [firstSize, secondSize, resultSize] = operandSizes(call);
  auto fillFirst = randomFloats(firstSize, 1), fillSecond = randomFloats(secondSize, 2);
  // What the result held before must not show.
  std::vector<float> garbage(resultSize, 1024);
  Tensor first = tensorOf(call.dtypes[0], fillFirst), second = tensorOf(call.dtypes[1], fillSecond);
  checkElements(resultOf(call, {{&first}, {&second}}, tensorOf(call.dtypes[2], garbage)),
                expectedConvolution(call, fillFirst, fillSecond), precisionOf(call.dtypes[2]));
}

} // namespace

TEST_CASE("gpu convolution: forward and both gradients, all layouts") {
  auto spec = GENERATE(from_range(convolutionSpecs));
  auto [layout, filter] =
      GENERATE(table<accc_layout, accc_layout>({{ACCC_CHANNELS_FIRST, ACCC_CHANNELS_FIRST},
                                                {ACCC_CHANNELS_LAST, ACCC_CHANNELS_FIRST},
                                                {ACCC_CHANNELS_LAST, ACCC_CHANNELS_LAST}}));
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  INFO(spec.name << ", layouts " << layout << " and " << filter << ", kind " << kind);
  checkConvolution(convolution(kind, layout, spec, filter));
}

TEST_CASE("gpu convolution: gradients of kernels of one element are products of matrices") {
  Setting randomOnly("STANDIN_CUDNN", "random"); // of cuDNN's convolutions none would be taken
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION_BACKWARD_DATA, ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  auto filter = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  ConvolutionSpec spec = {"one element", 3,      5,      7,      1,     {4, 6},
                          {1, 1},        {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  SECTION("several images") {}
  SECTION("one image") { spec.batch = 1; }
  SECTION("one dimension") {
    spec.in = {12}, spec.kernel = spec.stride = spec.dilation = {1};
    spec.low = spec.high = {0};
  }
  SECTION("three dimensions") {
    spec.in = {2, 3, 4}, spec.kernel = spec.stride = spec.dilation = {1, 1, 1};
    spec.low = spec.high = {0, 0, 0};
  }
  SECTION("a dilation, which means nothing") { spec.dilation = {2, 3}; }
  SECTION("a stride") {
    if (kind != ACCC_CALL_CONVOLUTION_BACKWARD_DATA)
      return;
    spec.in = {5, 10}, spec.stride = {2, 3}; // of 3 x 4 elements
  }
  checkConvolution(convolution(kind, ACCC_CHANNELS_FIRST, spec, filter));
}

TEST_CASE("gpu convolution: kernels of one element where there is no algorithm for the products") {
  Setting nothing("STANDIN_CUBLASLT", "nothing");
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION_BACKWARD_DATA, ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  const ConvolutionSpec spec = {"one element", 3,      5,      7,      1,     {4, 6},
                                {1, 1},        {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  checkConvolution(convolution(kind, ACCC_CHANNELS_FIRST, spec));
}

TEST_CASE("gpu convolution: kernels of one element that cuDNN takes") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  ConvolutionSpec spec = {"one element", 2,      6,      8,      1,     {4, 6},
                          {1, 1},        {1, 1}, {1, 1}, {0, 0}, {0, 0}};
  SECTION("in groups") { spec.groups = 2; }
  SECTION("with padding") { spec.low = {1, 0}, spec.high = {0, 2}; }
  SECTION("with padding in front") { spec.low = {1, 0}; }
  SECTION("with a stride") { spec.stride = {2, 1}; }
  SECTION("with a stride and padding in front") { spec.stride = {2, 1}, spec.low = {1, 0}; }
  SECTION("more weights than elements, which are not aligned") { spec.in = {1, 1}; }
  checkConvolution(convolution(kind, ACCC_CHANNELS_FIRST, spec));
}

TEST_CASE("gpu convolution: every type") {
  auto type = GENERATE(ACCC_F64, ACCC_F16, ACCC_BF16);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  const ConvolutionSpec spec = {
      "asymmetric padding", 2, 3, 4, 1, {5, 4}, {3, 3}, {1, 2}, {1, 1}, {0, 2}, {2, 1}};
  accc_library_call call = convolution(kind, ACCC_CHANNELS_FIRST, spec);
  std::fill(std::begin(call.dtypes), std::end(call.dtypes), type);
  checkConvolution(call);
}

TEST_CASE("gpu convolution: in reduced precision") {
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  accc_library_call call = convolution(kind, layout, convolutionSpecs[0], layout);
  call.compute = ACCC_COMPUTE_TF32;
  checkConvolution(call);
}

TEST_CASE("gpu convolution: empty operands, and padding that cuts") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  ConvolutionSpec spec = convolutionSpecs[0];
  SECTION("no images") { spec.batch = 0; }
  SECTION("no channels") { spec.inChannels = 0; }
  SECTION("no results") { spec.in = {2, 2}, spec.low = spec.high = {0, 0}; }
  SECTION("less than nothing around") { spec.low = {-1, 2}, spec.high = {1, -2}; }
  SECTION("as much less at both ends") { spec.low = spec.high = {-1, -1}; }
  checkConvolution(convolution(kind, layout, spec));
}

/// Few channels a group, an even stride beside an odd one, and padding that differs at the ends.
static const ConvolutionSpec fewChannels = {
    "few channels a group", 2, 4, 6, 2, {8, 7}, {3, 3}, {2, 1}, {1, 1}, {1, 0}, {1, 2}};

TEST_CASE("gpu convolution: channels first where there is no algorithm channels last") {
  Setting channelsFirst("STANDIN_CUDNN", "channels_first");
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  SECTION("every shape") {
    auto filter = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
    auto spec = GENERATE(from_range(convolutionSpecs));
    INFO(spec.name << ", filter " << filter << ", kind " << kind);
    checkConvolution(convolution(kind, ACCC_CHANNELS_LAST, spec, filter));
  }
  SECTION("every type") {
    auto [type, filter] = GENERATE(table<int32_t, accc_layout>({{ACCC_F64, ACCC_CHANNELS_FIRST},
                                                                {ACCC_F16, ACCC_CHANNELS_FIRST},
                                                                {ACCC_F16, ACCC_CHANNELS_LAST},
                                                                {ACCC_BF16, ACCC_CHANNELS_FIRST},
                                                                {ACCC_BF16, ACCC_CHANNELS_LAST}}));
    INFO("type " << type << ", filter " << filter << ", kind " << kind);
    accc_library_call call = convolution(kind, ACCC_CHANNELS_LAST, fewChannels, filter);
    std::ranges::fill(call.dtypes, type);
    checkConvolution(call);
  }
  SECTION("in reduced precision") {
    accc_library_call call = convolution(kind, ACCC_CHANNELS_LAST, fewChannels, ACCC_CHANNELS_LAST);
    call.compute = ACCC_COMPUTE_TF32;
    checkConvolution(call);
  }
  SECTION("a transposition that fails") {
    Setting fail("STANDIN_FAIL", "cudnnTransformTensor:2");
    accc_library_call call = convolution(kind, ACCC_CHANNELS_LAST, fewChannels, ACCC_CHANNELS_LAST);
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { checkConvolution(call); }),
               Contains("cuDNN failed in transposing an operand of a convolution"));
  }
}

TEST_CASE("gpu convolution: channels first where there are no kernels for the layouts") {
  Setting noPlans("STANDIN_CUDNN", "algorithms");
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  accc_layout filter = ACCC_CHANNELS_LAST;
  SECTION("f64 with a filter channels last") {
    accc_library_call call = convolution(kind, layout, fewChannels, filter);
    std::ranges::fill(call.dtypes, ACCC_F64);
    checkConvolution(call);
  }
  SECTION("a filter of the other layout") {
    if (layout == ACCC_CHANNELS_LAST)
      filter = ACCC_CHANNELS_FIRST;
    accc_library_call call = convolution(kind, layout, fewChannels, filter);
    call.compute = ACCC_COMPUTE_TF32;
    checkConvolution(call);
  }
  SECTION("nor any channels first") {
    Setting randomOnly("STANDIN_CUDNN", "random");
    accc_library_call call = convolution(kind, layout, fewChannels, filter);
    std::ranges::fill(call.dtypes, ACCC_F64);
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { checkConvolution(call); }),
               Contains("f64; it offers none; channels first, 0 (other bits in every run)"));
  }
}

TEST_CASE("gpu convolution: channels first where the library refuses to list algorithms") {
  Setting noPlans("STANDIN_CUDNN", "algorithms");
  auto status = GENERATE("3000", "3002"); // not supported, and that of a shape
  Setting fail("STANDIN_FAIL",
               std::string("cudnnGetConvolutionBackwardDataAlgorithm_v7:1:") + status);
  checkConvolution(convolution(ACCC_CALL_CONVOLUTION_BACKWARD_DATA, ACCC_CHANNELS_LAST, fewChannels,
                               ACCC_CHANNELS_LAST));
}

TEST_CASE("gpu convolution: transposes nothing that it need not") {
  Setting fail("STANDIN_FAIL", "cudnnTransformTensor:1");
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  SECTION("where there are algorithms") {
    checkConvolution(convolution(kind, layout, fewChannels, layout));
  }
  SECTION("of one channel, which lies alike in both layouts") {
    Setting channelsFirst("STANDIN_CUDNN", "channels_first");
    const ConvolutionSpec one = {"one channel", 2,      1,      1,      1,     {5, 4},
                                 {3, 3},        {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    checkConvolution(convolution(kind, layout, one, layout));
  }
}

TEST_CASE("gpu convolution: what rounds is not taken in full f32") {
  Setting rounding("STANDIN_CUDNN", "rounding");
  accc_library_call call =
      convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { checkConvolution(call); }),
             Contains("3 (rounds its sums), 5 (rounds its operands), 4 (rounds its operands)"));
  call.compute = ACCC_COMPUTE_TF32;
  checkConvolution(call);
  call.compute = ACCC_COMPUTE_FULL;
  std::ranges::fill(call.dtypes, ACCC_F16);
  checkConvolution(call);
}

TEST_CASE("gpu convolution: plans for every shape and layout") {
  Setting plans("STANDIN_CUDNN", "plans");
  auto spec = GENERATE(from_range(convolutionSpecs));
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  INFO(spec.name << ", layout " << layout << ", kind " << kind);
  checkConvolution(convolution(kind, layout, spec, layout));
}

TEST_CASE("gpu convolution: of plans that are measured one that fails is not taken") {
  Setting broken("STANDIN_CUDNN", "broken"), measured("ACCC_CUDA_TUNE", "1");
  checkConvolution(convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]));
}

TEST_CASE("gpu convolution: algorithms of the older interface, on request and without plans") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  accc_library_call call = convolution(kind, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  SECTION("on request") {
    Setting older("ACCC_CUDA_PLANS", "0");
    Setting fail("STANDIN_FAIL", "cudnnBackendCreateDescriptor:1"); // is not called
    checkConvolution(call);
  }
  SECTION("where a part of a graph is refused") {
    auto at = GENERATE(1, 2, 3, 4, 5, 6, 7); // tensors, convolution, operation, graph, heuristics
    Setting fail("STANDIN_FAIL", "cudnnBackendFinalize:" + std::to_string(at));
    checkConvolution(call);
  }
}

TEST_CASE("gpu convolution: a plan that fails") {
  Setting unmeasured("ACCC_CUDA_TUNE", "0"); // one that fails is not taken
  Setting fail("STANDIN_FAIL", "cudnnBackendExecute:1");
  accc_library_call call =
      convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, convolutionSpecs[0]);
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { checkConvolution(call); }),
             Contains("cuDNN failed in a convolution (ACCC_CUDA_PLANS=0 takes cuDNN's older "
                      "interface): CUDNN_STATUS_EXECUTION_FAILED"));
}

TEST_CASE("gpu convolution: algorithms that are not reproducible are not taken") {
  Setting randomOnly("STANDIN_CUDNN", "random");
  auto errorIn = [](accc_layout layout) {
    return errorOf(ErrorKind::machine, [&] {
      checkConvolution(convolution(ACCC_CALL_CONVOLUTION, layout, convolutionSpecs[0], layout));
    });
  };
  CHECK_THAT(errorIn(ACCC_CHANNELS_FIRST),
             Contains("cuDNN has no reproducible algorithm for a convolution (conv nchw") &&
                 Contains("it offers 0 (other bits in every run)") && !Contains("channels first"));
  CHECK_THAT(errorIn(ACCC_CHANNELS_LAST),
             Contains("cuDNN has no reproducible algorithm for a convolution (conv nhwc") &&
                 Contains("; it offers 0 (other bits in every run)") &&
                 Contains("; channels first, 0 (other bits in every run)"));
}
