// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parameters and checkpoints of a session as files.
#include "Scalar.h"
#include "SessionImpl.h"

#include "accc/safetensors.h"
#include "data/Manifest.h"

#include <charconv>
#include <cstring>

namespace accc {

namespace {

constexpr const char *checkpointFormat = "accc.checkpoint.1";

/// PyTorch counts batches in its batch norms; only momentum=None would need it.
bool isBatchCounter(std::string_view name) { return name.ends_with("num_batches_tracked"); }

using Aliases = std::map<std::string, std::string, std::less<>>;

/// The variable of this name, or that has it as another name; or nullptr.
const accc_variable *findVariable(const Model &model, const Aliases &aliases,
                                  std::string_view name) {
  auto alias = aliases.find(name);
  return model.find_variable(alias == aliases.end() ? name : alias->second);
}

/// The file's tensor for a variable, under any of its names; or nullptr.
const SafetensorsEntry *findEntry(const SafetensorsReader &file, const Aliases &aliases,
                                  std::string_view variable) {
  const SafetensorsEntry *entry = file.find(variable);
  for (const auto &[alias, name] : aliases)
    if (!entry && name == variable)
      entry = file.find(alias);
  return entry;
}

/// A line for each tied parameter that the file gives several values.
std::string contradictions(const SafetensorsReader &file, const Aliases &aliases) {
  std::string lines;
  for (const auto &[alias, name] : aliases) {
    const SafetensorsEntry *other = file.find(alias), *entry = findEntry(file, aliases, name);
    if (!other || other == entry)
      continue;
    Tensor a = file.read(*entry), b = file.read(*other);
    if (entry->dtype != other->dtype || entry->shape != other->shape ||
        std::memcmp(a.raw(), b.raw(), a.size_bytes()) != 0)
      lines += "\n  " + alias + ": is tied to " + entry->name + ", and the file's values differ";
  }
  return lines;
}

constexpr const char *whatIsKept =
    "\n  what an optimizer keeps depends on --optimizer, --param-group, --train, --freeze, "
    "--accumulate-gradients, --average-weights and --loss-scale; load() with allow_extra takes "
    "the parameters alone";

/// One line for each thing in which the file differs from what the model has.
std::string differences(const SafetensorsReader &file, const Model &model, const Aliases &aliases,
                        bool withOptimizer, const LoadOptions &options) {
  std::string lines;
  bool keepsOthers = false;
  for (const accc_variable &variable : model.variables()) {
    bool isState = variable.role == ACCC_OPTIMIZER_STATE;
    if (isState && !withOptimizer)
      continue;
    const SafetensorsEntry *entry = findEntry(file, aliases, variable.tensor.name);
    std::string name = variable.tensor.name, expected = to_string(variable.tensor);
    if (!entry) {
      keepsOthers |= isState;
      if (!options.allow_missing)
        lines += "\n  " + name + ": missing, expected " + expected;
      continue;
    }
    std::string got = to_string(entry->dtype, entry->shape);
    if (got != expected)
      lines += "\n  " + name + ": expected " + expected + ", the file has " + got;
  }
  for (const SafetensorsEntry &entry : file.entries()) {
    const accc_variable *variable = findVariable(model, aliases, entry.name);
    bool isState = variable && variable->role == ACCC_OPTIMIZER_STATE && !withOptimizer;
    bool wanted = variable && !isState;
    keepsOthers |= withOptimizer && !wanted && entry.name.starts_with("optimizer.");
    if (!wanted && !options.allow_extra && !isBatchCounter(entry.name))
      lines += "\n  " + entry.name +
               (isState ? ": state of the optimizer, which load_checkpoint() takes ("
                        : ": the model has no such parameter (") +
               to_string(entry.dtype, entry.shape) + " in the file)";
  }
  lines += contradictions(file, aliases);
  return keepsOthers ? lines + whatIsKept : lines;
}

template <typename Number>
Number metadataNumber(const SafetensorsReader &file, const std::string &key) {
  auto found = file.metadata().find(key);
  Number value{};
  if (found != file.metadata().end()) {
    const std::string &text = found->second;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && end == text.data() + text.size())
      return value;
  }
  throw Error(ErrorKind::data,
              file.path() + " is no checkpoint of accc: its metadata holds no " + key);
}

} // namespace

NamedTensors Session::Impl::tensors(bool withOptimizer) const {
  NamedTensors result;
  for (const accc_variable &variable : model.variables())
    if (withOptimizer || variable.role != ACCC_OPTIMIZER_STATE)
      result.emplace_back(variable.tensor.name, view(variable));
  return result;
}

void Session::Impl::load(const SafetensorsReader &file, bool withOptimizer,
                         const LoadOptions &options) {
  settle();
  Aliases aliases = detail::readAliases(model.description().manifest);
  std::string lines = differences(file, model, aliases, withOptimizer, options);
  if (!lines.empty())
    throw Error(ErrorKind::data, file.path() + " does not fit the model " +
                                     std::string(model.name()) + " (nothing was loaded):" + lines);
  // All is read before anything is changed: a disk that fails half way leaves the model as it was.
  std::vector<std::pair<const accc_variable *, Tensor>> values;
  for (const accc_variable &variable : model.variables()) {
    const SafetensorsEntry *entry = findEntry(file, aliases, variable.tensor.name);
    if (entry && (withOptimizer || variable.role != ACCC_OPTIMIZER_STATE))
      values.emplace_back(&variable, file.read(*entry));
  }
  for (const auto &[variable, value] : values) {
    write(*variable, value.raw());
    unset.erase(variable->tensor.name);
  }
}

/// Writes parameters and buffers under all their names.
void Session::Impl::save(const std::string &path, NamedTensors tensors) const {
  Aliases aliases = detail::readAliases(model.description().manifest);
  for (size_t i = 0, e = tensors.size(); i < e; ++i)
    for (const auto &[alias, name] : aliases)
      if (name == tensors[i].first)
        tensors.emplace_back(alias, tensors[i].second);
  // "pt" is what PyTorch's loaders look for.
  save_safetensors(path, tensors, {{"format", "pt"}});
}

void Session::save(const std::string &path) const {
  impl_->requireValues();
  impl_->settle();
  impl_->save(path, impl_->tensors(/*withOptimizer=*/false));
}

/// The training steps that average what they train.
static std::string stepsWithAverages(const Model &model) {
  constexpr std::string_view before = "optimizer.", behind = ".n_averaged";
  std::string names;
  for (const accc_variable &variable : model.variables()) {
    std::string_view name = variable.tensor.name;
    if (variable.role == ACCC_OPTIMIZER_STATE && name.size() > before.size() + behind.size() &&
        name.starts_with(before) && name.ends_with(behind))
      names += (names.empty() ? "" : ", ") +
               std::string(name.substr(before.size(), name.size() - before.size() - behind.size()));
  }
  return names;
}

void Session::save_averages(const std::string &path, std::string_view step) const {
  const std::string prefix = "optimizer." + (step.empty() ? "" : std::string(step) + ".");
  const accc_variable *count = impl_->model.find_variable(prefix + "n_averaged");
  if (!count) {
    const std::string others = stepsWithAverages(impl_->model);
    throw Error(ErrorKind::usage,
                "model " + std::string(impl_->model.name()) + " has no averages of parameters" +
                    (step.empty() ? "" : " of a step '" + std::string(step) + "'") +
                    (others.empty() ? ": compile it with --average-weights"
                                    : "; it has those of the steps: " + others));
  }
  impl_->requireValues();
  impl_->settle();
  NamedTensors tensors = impl_->tensors(/*withOptimizer=*/false);
  if (impl_->view(*count).item<int64_t>() > 0)
    for (auto &[name, value] : tensors)
      if (const accc_variable *average = impl_->model.find_variable(prefix + "ema." + name))
        value = impl_->view(*average).to(value.dtype());
  impl_->save(path, std::move(tensors));
}

void Session::load(const std::string &path, const LoadOptions &options) {
  impl_->load(SafetensorsReader(path), /*withOptimizer=*/false, options);
}

void Session::save_checkpoint(const std::string &path) const {
  impl_->requireValues();
  impl_->settle();
  save_safetensors(path, impl_->tensors(/*withOptimizer=*/true),
                   {{"format", checkpointFormat},
                    {"model", std::string(impl_->model.name())},
                    {"step", std::to_string(step())},
                    {"seed", std::to_string(seed())},
                    {"learning_rate", detail::shortest(learning_rate())}});
}

void Session::load_checkpoint(const std::string &path) {
  SafetensorsReader file(path);
  auto format = file.metadata().find("format");
  if (format == file.metadata().end() || format->second != checkpointFormat)
    throw Error(ErrorKind::data,
                path + " is no checkpoint of accc; parameters alone are read " + "with load()");
  auto learningRate = metadataNumber<double>(file, "learning_rate");
  auto seed = metadataNumber<int64_t>(file, "seed"), step = metadataNumber<int64_t>(file, "step");
  impl_->load(file, /*withOptimizer=*/true, {});
  set_learning_rate(learningRate);
  set_seed(seed);
  set_step(step);
}

} // namespace accc
