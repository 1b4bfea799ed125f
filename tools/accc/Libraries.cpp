// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the subcommands that run libraries share.
#include "Command.h"
#include "support/Suggest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>

using namespace accc;
using namespace accc::tool;

bool accc::tool::isLibrary(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return false; // to open a pipe waits for whoever writes to it
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(ErrorKind::machine, "cannot read " + path + ": " + std::strerror(errno));
  char magic[4] = {};
  file.read(magic, sizeof magic);
  return std::string_view(magic, 4) == "\x7f"
                                       "ELF";
}

std::vector<std::string> accc::tool::filesOf(const std::string &library) {
  std::vector<std::string> files = {library};
  if (!isLibrary(library))
    return files;
  Model model = Model::describe(library);
  if (const char *beside = model.description().weights_file)
    files.push_back(std::filesystem::path(model.path()).replace_filename(beside));
  return files;
}

void accc::tool::addStepOptions(CLI::App &command, StepOptions &options) {
  command.add_option("--steps", options.steps, "Number of steps")
      ->check(wholeNumber(1))
      ->capture_default_str();
  command.add_option("--seed", options.seed, "Random seed of dropout and other random ops")
      ->check(wholeNumber())
      ->default_str("0");
  command
      .add_option("--lr", options.learningRate, "Learning rate; default: the optimizer's")
      // As a float it would be infinite.
      ->check(
          finiteNumber(std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()));
}

void accc::tool::checkStepOptions(std::span<const accc_entry> entries, const StepOptions &options) {
  auto require = [&](const char *option, accc_usage usage, const char *lack) {
    auto takes = [usage](const accc_entry &entry) {
      std::span inputs(entry.inputs, static_cast<size_t>(entry.num_inputs));
      return std::ranges::any_of(inputs,
                                 [&](const accc_value &input) { return input.usage == usage; });
    };
    if (std::ranges::none_of(entries, takes))
      throw Error(ErrorKind::usage,
                  std::string(option) + ": " +
                      (entries.size() == 1 ? entries.front().name : "the library") + lack);
  };
  if (options.learningRate)
    require("--lr", ACCC_LEARNING_RATE, " takes no learning rate");
  if (options.seed)
    require("--seed", ACCC_SEED, " draws no random numbers");
}

void accc::tool::checkEntry(const Model &model, const std::string &name) {
  std::vector<std::string> names;
  for (const accc_entry &entry : model.entries())
    names.push_back(entry.name);
  try {
    (void)model.entry(name);
  } catch (const Error &error) {
    throw Error(error.kind(), error.what() + didYouMean(name, names));
  }
}

TensorMap accc::tool::randomInputs(const accc_entry &entry, uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<float> normal;
  TensorMap inputs;
  for (int i = 0; i < entry.num_inputs; ++i) {
    const accc_value &value = entry.inputs[i];
    if (value.usage != ACCC_DATA && value.usage != ACCC_TARGET && value.usage != ACCC_GRADIENT)
      continue;
    auto shape = shape_of(value.tensor);
    DType type = *dtype_of(value.tensor.dtype);
    Tensor tensor(type, Shape(shape.begin(), shape.end()));
    switch (type) {
    case DType::f32:
      for (float &element : tensor.data<float>())
        element = normal(engine);
      break;
    case DType::f64:
      for (double &element : tensor.data<double>())
        element = normal(engine);
      break;
    case DType::i32:
      for (int32_t &element : tensor.data<int32_t>())
        element = engine() & 1;
      break;
    case DType::i64:
      for (int64_t &element : tensor.data<int64_t>())
        element = engine() & 1;
      break;
    case DType::boolean:
      for (bool &element : tensor.data<bool>())
        element = engine() & 1;
      break;
    default:
      break; // zeros
    }
    inputs.emplace(value.tensor.name, std::move(tensor));
  }
  return inputs;
}

/// Small random numbers for a matrix, ones for any other float.
static Tensor randomWeight(const accc_tensor &description) {
  auto shape = shape_of(description);
  Tensor tensor(*dtype_of(description.dtype), Shape(shape.begin(), shape.end()));
  if (tensor.dtype() != DType::f32)
    return tensor; // zeros
  std::mt19937_64 engine(tensor.size_bytes());
  std::normal_distribution<float> normal(0, 0.02f);
  auto elements = tensor.data<float>();
  constexpr size_t different = 1 << 16; // then they repeat: large models are drawn in no time
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = tensor.rank() < 2 ? 1 : i < different ? normal(engine) : elements[i - different];
  return tensor;
}

void accc::tool::fillWeights(Session &session, const std::string &params) {
  if (!params.empty())
    return session.load(params);
  const Model &model = session.model();
  if (model.description().weights_file)
    return;
  for (const accc_variable &variable : model.variables())
    if (!variable.initial && variable.role != ACCC_OPTIMIZER_STATE)
      session.set_variable(variable.tensor.name, randomWeight(variable.tensor));
}

std::string accc::tool::archName(const std::string &arch) { return arch.substr(0, arch.find(':')); }

std::string_view accc::tool::chooseSizes(const Model &model,
                                         const std::vector<std::string> &wanted) {
  auto has = [](std::string_view sizes, const std::string &part) {
    return ("," + std::string(sizes) + ",").find("," + part + ",") != std::string::npos;
  };
  std::string list;
  for (std::string_view sizes : model.sizes()) {
    if (std::ranges::all_of(wanted, [&](const std::string &part) { return has(sizes, part); }))
      return sizes;
    list += (list.empty() ? "" : ", ") + std::string(sizes);
  }
  std::string text;
  for (const std::string &part : wanted)
    text += " -D " + part;
  throw Error(ErrorKind::usage,
              model.path() + " was not compiled for" + text +
                  (list.empty() ? "; it has no choice of sizes" : "; it has: " + list));
}
