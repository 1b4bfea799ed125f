// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each library call as an entry of its own, on a GPU.
#include "CallReference.h"
#include "StandIn.h"
#include "Support.h"
#include "accc/tensor.h"
#include "core/Device.h"

#include <bit>
#include <cmath>
#include <cstring>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

const detail::Platform &platform() { return *detail::findPlatform("cuda"); }

/// Numbers as elements of a type, each rounded to a multiple of 1/16: all types have these.
Tensor tensorOf(int32_t type, std::vector<float> &values) {
  Tensor tensor(static_cast<DType>(type), {int64_t(values.size())});
  char *bytes = static_cast<char *>(tensor.raw());
  for (float &value : values) {
    value = std::round(value * 16) / 16;
    auto put = [&](auto element) { std::memcpy(bytes, &element, sizeof element); };
    if (type == ACCC_F64)
      put(double(value));
    else if (type == ACCC_F32)
      put(value);
    else if (type == ACCC_F16)
      put(_Float16(value));
    else
      put(uint16_t(std::bit_cast<uint32_t>(value) >> 16));
    bytes += size_of(static_cast<DType>(type));
  }
  return tensor;
}

double elementOf(const Tensor &tensor, size_t index) {
  const char *bytes = static_cast<const char *>(tensor.raw()) + index * size_of(tensor.dtype());
  auto get = [&](auto element) {
    std::memcpy(&element, bytes, sizeof element);
    return element;
  };
  switch (tensor.dtype()) {
  case DType::f64:
    return get(double());
  case DType::f16:
    return double(get(_Float16()));
  case DType::bf16:
    return std::bit_cast<float>(uint32_t(get(uint16_t())) << 16);
  default:
    return get(float());
  }
}

/// The last buffer after the call, which is made twice: as it is and replayed. It is a part of the
/// state, so that what it held before can be set.
Tensor resultOf(const accc_library_call &call, const std::vector<detail::Source> &given,
                const Tensor &before) {
  StandIn gpu;
  std::vector<accc_value> inputs;
  std::vector<accc_buffer> buffers;
  for (const detail::Source &each : given) {
    const Tensor &tensor = *each.tensor;
    inputs.push_back(
        {{"operand", int32_t(tensor.dtype()), 1, tensor.shape().data()}, ACCC_DATA, nullptr});
    buffers.push_back({ACCC_INPUT, ACCC_READ, buffers.size(), tensor.size_bytes()});
  }
  buffers.push_back({ACCC_STATE, ACCC_READ_WRITE, 0, before.size_bytes()});
  auto count = int32_t(buffers.size());
  accc_step step = {ACCC_STEP_LIBRARY_CALL, 0, 0, 0, count, "call", ""};
  accc_entry entry{};
  entry.name = "entry", entry.sizes = "";
  entry.num_inputs = count - 1, entry.inputs = inputs.data();
  entry.num_library_calls = 1, entry.library_calls = &call;
  entry.num_steps = 1, entry.steps = &step;
  entry.num_buffers = count, entry.buffers = buffers.data();
  static const char image[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
  accc_code code{};
  code.target = "cuda", code.arch = "compute_80";
  code.image = image, code.image_bytes = sizeof image;
  code.num_entries = 1, code.entries = &entry;
  accc_model_description model{};
  model.state_size = before.size_bytes();

  auto why = platform().whyUnsupported(call);
  INFO(why.value_or(""));
  REQUIRE_FALSE(why);
  auto device = platform().open(model, code, {});
  auto prepared = device->prepare(entry);
  Tensor result = before.clone();
  for (int repeat = 0; repeat < 2; ++repeat) {
    device->writeState(0, before.raw(), before.size_bytes());
    prepared->start(0, given);
    CHECK(prepared->wait(0) == ACCC_DONE);
    device->readState(0, result.raw(), result.size_bytes());
  }
  prepared.reset(), device.reset();
  CHECK(gpu.leaked() == 0);
  return result;
}

void check(const Tensor &result, const std::vector<double> &right, double precision) {
  double worst = 0, scale = 1;
  for (size_t i = 0; i < right.size(); ++i) {
    double error = std::abs(elementOf(result, i) - right[i]);
    worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    scale = std::max(scale, std::abs(right[i]));
  }
  CHECK(worst <= precision * scale);
}

/// Of a result, in relation to the largest one.
double precisionOf(int32_t type) {
  return type == ACCC_F64 ? 1e-15 : type == ACCC_F32 ? 1e-7 : type == ACCC_F16 ? 1e-3 : 8e-3;
}

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
  check(resultOf(call, given, before), expectedMatmul(call.u.matmul, fillA, fillB, fillC, fillBias),
        precisionOf(call.dtypes[2]));
}

void checkDense(const accc_library_call &call) {
  const accc_matmul &p = call.u.matmul;
  checkMatmul(call, size_t(p.batch[0] * p.m * p.k), size_t(p.batch[0] * p.k * p.n),
              size_t(p.batch[0] * p.m * p.n));
}

void checkConvolution(const accc_library_call &call) {
  auto [firstSize, secondSize, resultSize] = operandSizes(call);
  auto fillFirst = randomFloats(firstSize, 1), fillSecond = randomFloats(secondSize, 2);
  // What the result held before must not show.
  std::vector<float> garbage(resultSize, 1024);
  Tensor first = tensorOf(call.dtypes[0], fillFirst), second = tensorOf(call.dtypes[1], fillSecond);
  check(resultOf(call, {{&first}, {&second}}, tensorOf(call.dtypes[2], garbage)),
        expectedConvolution(call, fillFirst, fillSecond), precisionOf(call.dtypes[2]));
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
    auto type = GENERATE(ACCC_F64, ACCC_F16, ACCC_BF16);
    accc_library_call call = matmul(2, 9, 6, 7);
    call.epilogue = ACCC_EPILOGUE_BIAS;
    std::ranges::fill(call.dtypes, type);
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
  SECTION("with a stride") { spec.stride = {2, 1}; }
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
  checkConvolution(convolution(kind, layout, spec));
}

TEST_CASE("gpu library calls: what cannot be done says why") {
  StandIn gpu;
  auto why = [](const accc_library_call &call) {
    return platform().whyUnsupported(call).value_or("");
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
