// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SessionImpl.h"

#include "VariableOrder.h"
#include "accc/weights_file.h"
#include "data/Elements.h"
#include "data/Manifest.h"

#include <unistd.h>

namespace accc {

static double learningRateOf(const Model &model, const SessionOptions &options) {
  if (options.learning_rate)
    return *options.learning_rate;
  return detail::readLearningRate(model.description().manifest).value_or(1e-3);
}

Session::Impl::Impl(Model loaded, const SessionOptions &options)
    : model(loaded.is_to_run() ? std::move(loaded) : Model::load(loaded.path())),
      group(options.group), customOperators(model.code(), model.path()),
      progress{.learningRate = learningRateOf(model, options), .seed = options.seed, .step = 0},
      device(detail::findPlatform(model.code().target)
                 ->open(model.description(), model.code(),
                        {options.threads, options.graph, group.get(), &customOperators})),
      entries(model.entries().size()) {
  for (const accc_entry &entry : model.entries()) {
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      knownNames.insert(entry.inputs[i].tensor.name);
    for (int32_t i = 0; i < entry.num_outputs; ++i)
      knownNames.insert(entry.outputs[i].tensor.name);
  }
  requireGroupFits();
  if (group)
    progress.rank = group->rank();
  initialiseState();
}

Tensor Session::Impl::view(const accc_variable &variable) const {
  auto order = detail::orderOf(model.description(), model.code(), variable);
  if (char *state = device->hostState(); state && order.empty()) {
    auto shape = shape_of(variable.tensor);
    return Tensor::borrow(static_cast<DType>(variable.tensor.dtype),
                          Shape(shape.begin(), shape.end()), state + variable.offset);
  }
  Tensor copy = detail::makeTensor(variable.tensor);
  device->readState(variable.offset, copy.raw(), copy.size_bytes());
  if (order.empty())
    return copy;
  Tensor result = detail::makeTensor(variable.tensor);
  detail::fromMemoryOrder(variable.tensor, order, copy.raw(), result.raw());
  return result;
}

void Session::Impl::write(const accc_variable &variable, const void *value) {
  auto order = detail::orderOf(model.description(), model.code(), variable);
  if (order.empty())
    return device->writeState(variable.offset, value, size_bytes_of(variable.tensor));
  Tensor laidOut = detail::makeTensor(variable.tensor);
  detail::toMemoryOrder(variable.tensor, order, value, laidOut.raw());
  device->writeState(variable.offset, laidOut.raw(), laidOut.size_bytes());
}

void Session::Impl::initialiseState() {
  for (const accc_variable &variable : model.variables()) {
    if (variable.initial)
      write(variable, variable.initial);
    else if (variable.role != ACCC_OPTIMIZER_STATE)
      unset.insert(variable.tensor.name);
  }
  if (!unset.empty() && model.description().weights_file)
    readWeightsFile();
}

void Session::Impl::readWeightsFile() {
  std::string name = model.description().weights_file;
  if (name.empty() || name.find('/') != std::string::npos)
    throw Error(ErrorKind::bug,
                model.path() + " names a weights file that is not beside it: " + name);
  weightsLookedFor = model.path().substr(0, model.path().rfind('/') + 1) + name;
  if (::access(weightsLookedFor.c_str(), F_OK) != 0)
    return; // the caller may still load() others
  SafetensorsReader file(weightsLookedFor);
  std::string problems;
  const std::string own = detail::readModelHash(model.description().manifest);
  if (auto made = file.metadata().find(weights_model_key);
      made != file.metadata().end() && made->second != own)
    problems += "\n  it holds the values of another model file";
  for (const std::string &wanted : std::set(unset)) {
    const accc_variable &variable = *model.find_variable(wanted);
    const SafetensorsEntry *entry = file.find(wanted);
    std::string expected = to_string(variable.tensor);
    if (!entry || to_string(entry->dtype, entry->shape) != expected) {
      problems += "\n  " + wanted + ": expected " + expected + ", the file has " +
                  (entry ? to_string(entry->dtype, entry->shape) : "no such tensor");
      continue;
    }
    Tensor value = file.read(*entry);
    write(variable, value.raw());
    unset.erase(wanted);
  }
  if (!problems.empty())
    throw Error(ErrorKind::data, weightsLookedFor + " does not belong to " + model.path() +
                                     "; compile the model again to get both:" + problems);
}

void Session::Impl::requireValues() const {
  if (unset.empty())
    return;
  std::string message = "model " + std::string(model.name()) + ": " + std::to_string(unset.size()) +
                        " parameters have no value yet (" + *unset.begin() +
                        (unset.size() > 1 ? ", ..." : "") + "); ";
  message += weightsLookedFor.empty()
                 ? "it was compiled without values (--weights none, or a model that has none)"
                 : "they were to be in " + weightsLookedFor + ", which is not there";
  throw Error(ErrorKind::usage, message + ": load them from a safetensors file");
}

detail::EntryState &Session::Impl::prepare(const accc_entry &entry) {
  auto index = static_cast<size_t>(&entry - model.entries().data());
  if (!entries[index]) {
    entries[index] = std::make_unique<detail::EntryState>(entry, *device, progress);
    if (profiling)
      entries[index]->prepared->startProfile();
  }
  return *entries[index];
}

const accc_entry &Session::Impl::choose(std::string_view name, const detail::EntryState::Find &find,
                                        const std::string &problems) const {
  const accc_entry &first = model.entry(name);
  if (!*first.sizes)
    return first;
  for (const accc_entry &entry : model.entries())
    if (entry.name == name && detail::EntryState::fits(entry, find))
      return entry;
  detail::EntryState::refuse(model.entries(), name, find, problems);
}

std::string Session::Impl::unknownNames(const TensorMap &inputs) const {
  std::string problems;
  for (const auto &[name, tensor] : inputs)
    if (!knownNames.contains(name))
      problems += "\n  " + name + ": the model has no such input";
  return problems;
}

Result Session::Impl::run(std::string_view name, const detail::EntryState::Find &find,
                          std::string problems) {
  detail::EntryState &entry = prepare(choose(name, find, problems));
  if (entry.entry.num_collectives && !sharesState)
    shareState();
  requireValues();
  entry.bind(find, std::move(problems));
  return Result(entry.start());
}

void Session::Impl::settle() const {
  for (const auto &entry : entries)
    if (entry)
      entry->settle();
}

Session::Session(Model model, const SessionOptions &options)
    : impl_(std::make_unique<Impl>(std::move(model), options)) {}
Session::Session(Session &&) noexcept = default;
Session &Session::operator=(Session &&) noexcept = default;
Session::~Session() = default;

const Model &Session::model() const { return impl_->model; }
int Session::threads() const { return impl_->device->threads(); }

/// Captures by reference: for the call at hand.
static auto findIn(const TensorMap &inputs) {
  return [&inputs](const char *name) -> detail::Source {
    auto found = inputs.find(std::string_view(name));
    return {found == inputs.end() ? nullptr : &found->second};
  };
}

Result Session::run(std::string_view entry, const TensorMap &inputs) {
  return impl_->run(entry, findIn(inputs), impl_->unknownNames(inputs));
}

Result Session::run(std::string_view entry, const TensorMap &inputs, const Result &more) {
  // What another session's device holds is not this one's to read.
  const bool isOwn = &more.access_->owner.progress == &impl_->progress;
  auto find = [&](const char *name) -> detail::Source {
    if (auto found = inputs.find(std::string_view(name)); found != inputs.end())
      return {&found->second};
    const accc_entry &ran = more.entry();
    for (int32_t i = 0; isOwn && i < ran.num_outputs; ++i)
      if (ran.outputs[i].tensor.name == std::string_view(name)) {
        more.requireCurrent();
        more.wait(); // where it has failed, there is nothing to go on with
        return more.access_->source(static_cast<size_t>(i));
      }
    return {more.find(name)};
  };
  return impl_->run(entry, find, impl_->unknownNames(inputs));
}

const accc_entry &Session::choose(std::string_view entry, const TensorMap &inputs) const {
  return impl_->choose(entry, findIn(inputs), impl_->unknownNames(inputs));
}

void Session::prepare(std::string_view name, std::string_view sizes) {
  impl_->prepare(impl_->model.entry(name, sizes));
  for (const accc_entry &entry : impl_->model.entries())
    if (entry.name == name && sizes.empty())
      impl_->prepare(entry);
}

void Session::share_state() { impl_->shareState(); }
void Session::synchronize() const { impl_->settle(); }
double Session::wait_seconds() const { return impl_->progress.waited; }

void Session::start_profile() {
  impl_->settle();
  impl_->profiling = true;
  for (auto &entry : impl_->entries)
    if (entry)
      entry->prepared->startProfile();
}

std::vector<ProfiledStep> Session::profile(std::string_view name, std::string_view sizes) const {
  const detail::EntryState &entry = impl_->prepare(impl_->model.entry(name, sizes));
  const std::vector<double> &seconds = entry.prepared->profile();
  std::vector<ProfiledStep> steps;
  for (const accc_step &step :
       std::span(entry.entry.steps, static_cast<size_t>(entry.entry.num_steps)))
    if (step.kind != ACCC_STEP_CHECK && step.kind != ACCC_STEP_AGREE &&
        steps.size() < seconds.size())
      steps.push_back({step.label, step.module ? step.module : "", seconds[steps.size()]});
  return steps;
}

double Session::learning_rate() const { return impl_->progress.learningRate; }
void Session::set_learning_rate(double value) { impl_->progress.learningRate = value; }
int64_t Session::seed() const { return impl_->progress.seed; }
void Session::set_seed(int64_t value) { impl_->progress.seed = value; }
int64_t Session::step() const { return impl_->progress.step; }
void Session::set_step(int64_t value) { impl_->progress.step = value; }

const accc_variable &Session::Impl::variable(std::string_view name) const {
  if (const accc_variable *found = model.find_variable(name))
    return *found;
  auto aliases = detail::readAliases(model.description().manifest);
  if (auto alias = aliases.find(name); alias != aliases.end())
    if (const accc_variable *found = model.find_variable(alias->second))
      return *found;
  throw Error(ErrorKind::usage,
              "model " + std::string(model.name()) + " has no parameter " + std::string(name));
}

Tensor Session::variable(std::string_view name) {
  const accc_variable &variable = impl_->variable(name);
  impl_->settle();
  return impl_->view(variable);
}

void Session::set_variable(std::string_view name, const Tensor &value) {
  const accc_variable &variable = impl_->variable(name);
  std::string expected = to_string(variable.tensor), got = to_string(value.dtype(), value.shape());
  if (got != expected)
    throw Error(ErrorKind::usage, std::string(name) + " of model " +
                                      std::string(impl_->model.name()) + ": expected " + expected +
                                      ", got " + got);
  if (std::string wrong = detail::whyNotKept(value); !wrong.empty())
    throw Error(ErrorKind::usage,
                std::string(name) + " of model " + std::string(impl_->model.name()) + ": " + wrong);
  impl_->settle();
  impl_->write(variable, value.raw());
  impl_->unset.erase(variable.tensor.name);
}

uint64_t Session::state_bytes() const { return impl_->device->stateBytes(); }

uint64_t Session::working_bytes() const {
  uint64_t bytes = impl_->device->workingBytes();
  for (const auto &entry : impl_->entries)
    if (entry && impl_->device->hostState())
      for (const Tensor &output : entry->runs.front().outputs)
        bytes += output.size_bytes();
  return bytes;
}

} // namespace accc
