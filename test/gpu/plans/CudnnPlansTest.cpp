// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN has a plan for what the runtime asks: the library itself says so, for devices that are not
// here.
#include "CallReference.h"
#include "Calls.h"
#include "DeviceProperties.h"
#include "cuda/CudnnAttentionGraph.h"
#include "cuda/CudnnConvolutionGraph.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <dlfcn.h>
#include <iostream>

using namespace accc;
using namespace accc::detail;
using namespace accc::test;
using namespace accc::tool;

namespace {

/// What the library says of a call: empty where it has a plan.
template <typename Graph = CudnnConvolutionGraph>
std::string whyNoPlan(const CudnnFunctions &functions, PlannedDevice device,
                      const accc_library_call &call) {
  CudnnNode properties = propertiesOf(functions, device);
  Graph graph(functions, CudnnMachine{.properties = properties.raw()}, call, ACCC_ALIGNMENT);
  std::string offers;
  return graph.plans(1, offers).empty() ? offers : "";
}

/// nullptr, with a word to ctest, where there is none.
const CudnnFunctions *planner() {
  std::string why;
  const CudnnFunctions *functions = findPlanner(why);
  if (!functions)
    std::cout << "no cuDNN: " << why << "\n";
  return functions;
}

/// The same, where cuDNN finds a driver to compile for, and be it a stub.
const CudnnFunctions *compilingPlanner() {
  const CudnnFunctions *functions = planner();
  if (functions && !::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    std::cout << "no cuDNN: to plan attentions it needs libcuda.so.1, as ctest sets it\n";
    return nullptr;
  }
  return functions;
}

/// Of sizes that models have, beside the small ones of convolutionSpecs.
const std::vector<ConvolutionSpec> modelSpecs = {
    {"ResNet's first", 64, 3, 64, 1, {224, 224}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
    {"ResNet's 3x3", 64, 64, 64, 1, {56, 56}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"of one pixel with a stride",
     64,
     256,
     512,
     1,
     {56, 56},
     {1, 1},
     {2, 2},
     {1, 1},
     {0, 0},
     {0, 0}},
    {"depthwise", 32, 96, 96, 96, {56, 56}, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}},
    {"patches", 64, 3, 768, 1, {224, 224}, {16, 16}, {16, 16}, {1, 1}, {0, 0}, {0, 0}},
    {"dilated", 4, 256, 256, 1, {33, 33}, {3, 3}, {1, 1}, {6, 6}, {6, 6}, {6, 6}},
    {"of a wave", 8, 32, 64, 1, {16000}, {10}, {5}, {1}, {0}, {0}},
    {"of a volume",
     2,
     16,
     32,
     1,
     {16, 32, 32},
     {3, 3, 3},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1},
     {1, 1, 1}},
};

} // namespace

TEST_CASE("cudnn: plans for every convolution") {
  const CudnnFunctions *functions = planner();
  if (!functions)
    return;
  auto device = GENERATE(PlannedDevice::A100, PlannedDevice::H100);
  auto specs = GENERATE(std::cref(modelSpecs), std::cref(convolutionSpecs));
  auto type = GENERATE(ACCC_F32, ACCC_F64, ACCC_F16, ACCC_BF16);
  auto compute = GENERATE(ACCC_COMPUTE_FULL, ACCC_COMPUTE_TF32);
  if (compute == ACCC_COMPUTE_TF32 && type != ACCC_F32)
    return;
  auto [layout, filter] =
      GENERATE(table<accc_layout, accc_layout>({{ACCC_CHANNELS_FIRST, ACCC_CHANNELS_FIRST},
                                                {ACCC_CHANNELS_LAST, ACCC_CHANNELS_FIRST},
                                                {ACCC_CHANNELS_LAST, ACCC_CHANNELS_LAST}}));
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  for (const ConvolutionSpec &spec : specs.get()) {
    accc_library_call call = convolution(kind, layout, spec, filter);
    std::ranges::fill(call.dtypes, type);
    call.compute = compute;
    INFO(spec.name << " on " << (device == PlannedDevice::A100 ? "A100" : "H100") << ", type "
                   << type << ", compute " << compute << ", layouts " << layout << " and " << filter
                   << ", kind " << kind);
    CHECK(whyNoPlan(*functions, device, call) == "");
  }
}

TEST_CASE("cudnn: what there are no plans for") {
  const CudnnFunctions *functions = planner();
  if (!functions)
    return;
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  accc_library_call call = convolution(kind, ACCC_CHANNELS_FIRST, modelSpecs[1]);
  SECTION("16-bit factors with an f32 result") {
    call.dtypes[0] = call.dtypes[1] = ACCC_BF16;
    CHECK(whyNoPlan(*functions, PlannedDevice::H100, call) != "");
  }
  SECTION("padding that cuts") {
    call.u.convolution.pad_low[0] = -1;
    CHECK(whyNoPlan(*functions, PlannedDevice::H100, call) == "padding that cuts");
  }
  SECTION("extents that do not fit") {
    ++call.u.convolution.out_size[0];
    CHECK(whyNoPlan(*functions, PlannedDevice::H100, call).starts_with("CUDNN_STATUS_"));
  }
}

/// Of models, with what may be odd about one: heads that share keys, other keys than queries,
/// numbers of them that are no multiples of anything.
static const std::vector<AttentionSpec> attentionSpecs = {
    {"GPT-2's", 8, 12, 12, 1024, 1024, 64, 64, true, true},
    {"BERT's", 16, 12, 12, 128, 128, 64, 64, false, true},
    {"ViT's", 32, 12, 12, 197, 197, 64, 64, false, true},
    {"Swin's", 64, 3, 3, 49, 49, 32, 32},
    {"Llama's with shared heads", 2, 32, 8, 512, 512, 128, 128, true, true},
    {"one head of keys", 2, 8, 1, 96, 96, 96, 96, true},
    {"across", 4, 8, 8, 256, 77, 80, 80, false, true},
    {"causal across", 4, 8, 4, 33, 70, 64, 64, true, true},
    {"small", 2, 4, 4, 16, 16, 8, 16, true, true},
    {"BERT's with padding", 16, 12, 12, 128, 128, 64, 64, false, true, "b"},
    {"across with padding", 4, 8, 4, 49, 77, 64, 64, false, true, "bq"},
    {"causal with a bias of heads", 2, 4, 4, 96, 96, 64, 64, true, true, "hq"},
    {"GPT-2's, packed", 8, 12, 12, 1024, 1024, 64, 64, true, true, nullptr, true},
    {"shared heads, packed", 2, 8, 2, 77, 77, 96, 96, false, true, nullptr, true},
};

TEST_CASE("cudnn attention: plans") {
  const CudnnFunctions *functions = compilingPlanner();
  if (!functions)
    return;
  auto [name, device] = GENERATE(from_range(std::begin(plannedDevices), std::end(plannedDevices)));
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  auto spec = GENERATE(from_range(attentionSpecs));
  bool isUsual = device == PlannedDevice::A100 || device == PlannedDevice::H100;
  if (!isUsual && spec.name != attentionSpecs.front().name)
    return; // they take long
  accc_library_call call = attention(kind, spec);
  if (spec.keyHeads == 1)
    std::ranges::fill(call.dtypes, ACCC_F16);
  INFO(spec.name << " on " << name << ", kind " << kind);
  CHECK(whyNoPlan<CudnnAttentionGraph>(*functions, device, call) == "");
}

// A quarter of a second each: `cudnn_plans_tests [sweep]` runs it.
TEST_CASE("cudnn attention: plans for any sizes on any device", "[.][sweep]") {
  const CudnnFunctions *functions = compilingPlanner();
  if (!functions)
    return;
  auto [name, device] = GENERATE(from_range(std::begin(plannedDevices), std::end(plannedDevices)));
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  auto check = [&, name = name, device = device](AttentionSpec spec) {
    spec.headsInside = true;
    for (bool packed : {false, true}) {
      if (packed && spec.queries != spec.keys)
        continue;
      spec.packed = packed;
      accc_library_call call = attention(kind, spec);
      INFO(name << ", kind " << kind << ", " << spec.queries << " queries, " << spec.keys
                << " keys, " << spec.features << " and " << spec.valueFeatures << " features, "
                << spec.keyHeads << " heads of keys, causal " << spec.causal << ", packed "
                << packed);
      CHECK(whyNoPlan<CudnnAttentionGraph>(*functions, device, call) == "");
    }
  };
  for (int64_t positions : {1, 2, 7, 16, 49, 64, 129, 577, 2048})
    for (bool causal : {false, true})
      check({"", 2, 4, 4, positions, positions, 64, 64, causal});
  for (int64_t keys : {1, 9, 77, 300})
    check({"", 2, 4, 2, 130, keys, 64, 64});
  for (int64_t features = 8; features <= 128; features += 8)
    check({"", 2, 4, 1, 100, 100, features, features, true});
  check({"", 2, 4, 4, 100, 100, 24, 128});
}

TEST_CASE("cudnn attention: what there are no plans for") {
  const CudnnFunctions *functions = compilingPlanner();
  if (!functions)
    return;
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  AttentionSpec spec = {"", 2, 4, 4, 16, 16, 64, 64, true, true};
  SECTION("rows that are not aligned") {
    spec.features = spec.valueFeatures = 20;
    CHECK(whyNoPlan<CudnnAttentionGraph>(*functions, PlannedDevice::H100, attention(kind, spec)) ==
          "none");
  }
  SECTION("gradients of many features, on older devices") {
    spec.features = spec.valueFeatures = 160;
    CHECK(whyNoPlan<CudnnAttentionGraph>(*functions, PlannedDevice::A100, attention(kind, spec)) ==
          (kind == ACCC_CALL_ATTENTION ? "" : "none"));
  }
  SECTION("gradients of so many scores that their workspace is too large") {
    spec.batch = 64, spec.heads = spec.keyHeads = 16, spec.queries = spec.keys = 1024;
    std::string why =
        whyNoPlan<CudnnAttentionGraph>(*functions, PlannedDevice::A100, attention(kind, spec));
    if (kind == ACCC_CALL_ATTENTION)
      CHECK(why == "");
    else
      CHECK_THAT(why, Catch::Matchers::Matches("7 \\(needs [0-9]+ bytes\\)"));
  }
}
