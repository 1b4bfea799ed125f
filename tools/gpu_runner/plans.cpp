// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How cuDNN would compute the convolutions and attentions of models, for devices that need not be
// here.
#include "Commands.h"
#include "DeviceProperties.h"
#include "DistinctCalls.h"

#include "core/CheckCall.h"
#include "core/DescribeCall.h"
#include "cuda/CudnnAttentionGraph.h"
#include "cuda/CudnnConvolutionGraph.h"

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

using namespace accc;
using namespace accc::tool;
using namespace accc::detail;
using Json = nlohmann::ordered_json;

namespace {

struct PlanOptions {
  std::vector<std::string> libraries;
  PlannedDevice device = PlannedDevice::H100;
};

/// The engine and workspace of the plan, or what is wrong where there is none.
template <typename Graph>
Json planOf(const CudnnFunctions &functions, const CudnnNode &properties,
            const accc_library_call &call) {
  Graph graph(functions, {.properties = properties.raw()}, call, ACCC_ALIGNMENT);
  std::string offers;
  auto plans = graph.plans(1, offers);
  if (plans.empty())
    return {{"wrong", offers}};
  return {{"engine", plans.front().engine}, {"workspace", plans.front().workspaceBytes}};
}

/// A line for each convolution or attention of an entry point that trains; how many have no plan.
int printPlans(const CudnnFunctions &functions, const CudnnNode &properties, const Model &model) {
  const accc_entry *entry = model.find_entry("train_step");
  int without = 0;
  for (const DistinctCall &each : distinctCalls(entry ? *entry : model.entries().front())) {
    if (each.call->kind == ACCC_CALL_MATMUL)
      continue;
    Json plan = (isAttention(*each.call)
                     ? planOf<CudnnAttentionGraph>
                     : planOf<CudnnConvolutionGraph>)(functions, properties, *each.call);
    Json line{{"model", model.name()},
              {"call", describe(*each.call)},
              {"type", to_string(static_cast<DType>(each.call->dtypes[0]))},
              {"compute", each.call->compute == ACCC_COMPUTE_TF32 ? "tf32" : "full"},
              {"times", each.times}};
    without += plan.contains("wrong");
    line.update(plan);
    std::cout << line << std::endl;
  }
  return without;
}

int plans(const PlanOptions &options) {
  std::string why;
  const CudnnFunctions *functions = findPlanner(why);
  if (!functions)
    throw Error(ErrorKind::machine, "plans need cuDNN: " + why);
  CudnnNode properties = propertiesOf(*functions, options.device);
  int without = 0;
  for (const std::string &library : options.libraries)
    without += printPlans(*functions, properties, Model::describe(library));
  return without ? 1 : 0;
}

} // namespace

void accc::tool::addPlans(CLI::App &app, Action &action) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App *command = app.add_subcommand(
      "plans",
      "lists how cuDNN would compute the convolutions and attentions of models; needs no device");
  command->add_option("LIB", options->libraries, "models")->required();
  command->add_option("--device", options->device, "the device (default: h100)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, PlannedDevice>(
          std::begin(plannedDevices), std::end(plannedDevices))));
  command->callback([options, &action] { action = [options] { return plans(*options); }; });
}
