// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How cuDNN would compute the convolutions of models, for devices that need not be here.
#include "Commands.h"
#include "DeviceProperties.h"
#include "DistinctCalls.h"

#include "core/DescribeCall.h"
#include "cuda/CudnnPlans.h"

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

/// A line for each convolution of an entry point that trains; how many have no plan.
int printPlans(const CudnnFunctions &functions, const CudnnNode &properties, const Model &model) {
  const accc_entry *entry = model.find_entry("train_step");
  int without = 0;
  for (const DistinctCall &each : distinctCalls(entry ? *entry : model.entries().front())) {
    if (each.call->kind == ACCC_CALL_MATMUL)
      continue;
    CudnnConvolutionGraph graph(functions, {.properties = properties.raw()}, *each.call,
                                ACCC_ALIGNMENT);
    std::string offers;
    auto plans = graph.plans(1, offers);
    Json line{{"model", model.name()},
              {"call", describe(*each.call)},
              {"type", to_string(static_cast<DType>(each.call->dtypes[0]))},
              {"compute", each.call->compute == ACCC_COMPUTE_TF32 ? "tf32" : "full"},
              {"times", each.times}};
    if (plans.empty())
      line["wrong"] = offers, ++without;
    else
      line["engine"] = plans.front().engine, line["workspace"] = plans.front().workspaceBytes;
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
      "plans", "lists how cuDNN would compute the convolutions of models; needs no device");
  command->add_option("LIB", options->libraries, "models")->required();
  command->add_option("--device", options->device, "a100 or h100 (default)")
      ->transform(CLI::CheckedTransformer(std::map<std::string, PlannedDevice>{
          {"a100", PlannedDevice::A100}, {"h100", PlannedDevice::H100}}));
  command->callback([options, &action] { action = [options] { return plans(*options); }; });
}
