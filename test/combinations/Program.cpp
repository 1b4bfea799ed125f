// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Program.h"

#include "Batches.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <thread>

using namespace accc;

// Of libgomp, which the runtime has, too: another runtime of OpenMP would bring threads of its own.
extern "C" void GOMP_parallel(void (*function)(void *), void *data, unsigned threads,
                              unsigned flags);
extern "C" int omp_get_thread_num();

// ---- What it is made of ----

Program::Program(const std::string &library, const std::string &inputs, const std::string &out,
                 Settings told)
    : settings(std::move(told)), model(Model::load(library)), given(load_safetensors(inputs)),
      scratch(out + ".scratch"), trainer(begin(model, options())) {
  if (!setting("moved").empty())
    moveWeights();
}

std::string Program::setting(std::string_view name) const {
  auto found = settings.find(name);
  return found == settings.end() ? "" : found->second;
}

/// A trainer with the weights that the program begins with.
Trainer Program::begin(const Model &of, const TrainerOptions &with) const {
  Trainer begun(of, with);
  if (std::string from = setting("weights"); from.ends_with(".so")) {
    Trainer(Model::load(from), with).save(scratch);
    begun.load(scratch);
  } else if (!from.empty()) {
    begun.load(from);
  }
  return begun;
}

/// Each weight to the float beside it: what becomes of the numbers is their sensitivity to
/// rounding.
void Program::moveWeights() {
  for (const accc_variable &variable : model.variables())
    if (variable.trainable && variable.tensor.dtype == ACCC_F32) {
      Tensor value = trainer.parameter(variable.tensor.name).clone();
      int i = std::atoi(setting("moved").c_str());
      for (float &weight : value.data<float>())
        weight = std::nextafter(weight, i++ * 7 % 5 < 2 ? -1e30f : 1e30f);
      trainer.set_parameter(variable.tensor.name, value);
    }
}

/// A variable's name where the step that its optimizer belongs to has none.
std::string Program::nameless(const std::string &variable) const {
  std::string prefix = "optimizer." + setting("step") + ".";
  if (setting("step").empty() || !variable.starts_with(prefix))
    return variable;
  return "optimizer." + variable.substr(prefix.size());
}

TrainerOptions Program::options() const {
  TrainerOptions options{.seed = 7, .threads = std::atoi(setting("threads").c_str())};
  if (std::string rate = setting("rate"); !rate.empty())
    options.learning_rate = std::strtod(rate.c_str(), nullptr);
  options.graph = setting("graph") != "0";
  return options;
}

std::string entryName(const Call &call, const std::string &kind) {
  return call.step.empty() ? kind : kind + "." + call.step;
}

/// The entry point of the sizes that the program trains with.
const accc_entry &Program::entryOf(const Call &call, const std::string &kind) const {
  std::string entry = entryName(call, kind);
  return model.entry(entry, model.sizes().front().empty() ? "" : setting("sizes"));
}

TensorMap Program::batchOf(const Call &call, const std::string &kind, int more) const {
  return batchFor(entryOf(call, kind), given, int(call.number) + more);
}

/// Gives inputs the tensors that fit among the last outputs, or variables.
void Program::share(const Call &call, TensorMap &batch) {
  TensorMap values = call.from.contains("outputs") ? last : TensorMap();
  if (call.from.contains("variables"))
    for (const accc_variable &variable : model.variables())
      values.emplace(variable.tensor.name, trainer.parameter(variable.tensor.name));
  for (auto &[input, tensor] : batch)
    for (auto &[output, value] : values)
      if (value.dtype() == DType::f32 && value.dtype() == tensor.dtype() &&
          value.shape() == tensor.shape()) {
        tensor = call.is("shared") ? value : value.clone();
        std::printf("%s: %s is %s\n", call.text.c_str(), input.c_str(), output.c_str());
        break;
      }
}

// ---- The call ----

/// Does the work where the call says.
template <typename Work> void Program::elsewhere(const Call &call, Work work) {
  std::exception_ptr failure;
  std::function<void()> guarded = [&] {
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
  };
  if (call.is("beside")) {
    std::exception_ptr other;
    std::thread thread([&] {
      try {
        disturb(call);
      } catch (...) {
        other = std::current_exception();
      }
    });
    guarded();
    thread.join();
    if (other)
      std::rethrow_exception(other);
  } else if (call.is("thread")) {
    std::thread(guarded).join();
  } else if (call.is("team")) {
    auto first = [](void *function) {
      if (omp_get_thread_num() == 0)
        (*static_cast<std::function<void()> *>(function))();
    };
    GOMP_parallel(first, &guarded, 2, 0);
  } else {
    guarded();
  }
  if (failure)
    std::rethrow_exception(failure);
}

/// What an evaluation takes of a training step's batch.
static TensorMap kept(const TensorMap &batch, TensorMap wanted) {
  for (auto &[input, tensor] : wanted)
    if (auto found = batch.find(input); found != batch.end())
      tensor = found->second;
  return wanted;
}

static TensorMap gradientsOf(const Result &result) {
  TensorMap gradients;
  for (const auto &[output, tensor] : result.tensors())
    if (output.starts_with("grad."))
      gradients.emplace(output, tensor.clone());
  return gradients;
}

Result Program::compute(const Call &call, const TensorMap &batch) {
  if (call.what == "eval")
    return trainer.eval(call.step, kept(batch, batchOf(call, "eval_step")));
  if (call.is("session"))
    return trainer.session().run(entryName(call, "train_step"), batch);
  // A training step of the model's own has no gradients to give.
  const bool hasGradients = model.find_entry(entryName(call, "grad_step"));
  if (call.what == "sum" && hasGradients)
    return accumulate(call, batch);
  if (call.is("added") && model.find_entry(entryName(call, "accumulate_step"))) {
    Result result = trainer.accumulate_step(call.step, batch);
    trainer.update_step(call.step);
    return result;
  }
  if (!hasGradients || (!call.is("apart") && !call.is("copied")))
    return trainer.step(call.step, batch);
  Result gradients = trainer.grad_step(call.step, batch);
  if (call.is("copied"))
    trainer.apply_step(call.step, gradientsOf(gradients));
  else
    trainer.apply_step(call.step, gradients);
  return gradients;
}

static TensorMap cloned(const Result &result) {
  TensorMap values;
  for (const auto &[output, tensor] : result.tensors())
    values.emplace(output, tensor.clone());
  return values;
}

Result Program::accumulate(const Call &call, const TensorMap &batch) {
  Result first = trainer.grad_step(call.step, batch);
  TensorMap sum = gradientsOf(first);
  if (call.is("kept"))
    results.push_back({name + ".first", first, cloned(first)});
  if (first.has_loss())
    records.emplace(name + ".first.loss", Tensor::scalar(float(first.loss())));
  Result second = trainer.grad_step(call.step, batchOf(call, "train_step", 1));
  for (auto &[gradient, values] : sum)
    if (values.dtype() == DType::f32) {
      auto more = second[gradient].data<float>();
      for (size_t i = 0; i < more.size(); ++i)
        values.data<float>()[i] += more[i];
    }
  trainer.apply_step(call.step, sum);
  return second;
}

// ---- What it computed ----

void Program::note(const Call &call, const Result &result) {
  last = {};
  if (call.is("late")) {
    results.push_back({name, result, {}});
    return;
  }
  last = result.tensors();
  std::erase_if(last, [](const auto &output) { // which train_step does not give
    return output.first.starts_with("grad.");
  });
  for (const auto &[output, tensor] : last)
    records.emplace(name + "." + output, tensor.clone());
  if (call.is("kept"))
    results.push_back({name, result, cloned(result)});
}

/// What was read must be as it was, or be refused; what was not may be refused, too, but for the
/// loss where a run is over when its result is there.
void Program::readAgain(Kept &kept) {
  try {
    if (kept.result.has_loss())
      records.insert_or_assign(kept.name + ".loss", Tensor::scalar(float(kept.result.loss())));
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::usage || model.code().target == std::string_view("cpu"))
      throw;
  }
  try {
    for (const auto &[output, tensor] : kept.result.tensors()) {
      auto before = kept.values.find(output);
      if (before != kept.values.end() && !sameBits(before->second, tensor))
        throw std::runtime_error(output + " of " + kept.name + " is another when it is read again");
      if (before == kept.values.end() && !output.starts_with("grad."))
        records.insert_or_assign(kept.name + "." + output, tensor.clone());
    }
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::usage)
      throw;
  }
}

void Program::run(const Call &call) {
  name = std::to_string(count++) + "." + call.what;
  if (call.what == "rate") {
    trainer.set_learning_rate(call.number);
    return;
  }
  TensorMap batch = batchOf(call, "train_step");
  prepare(call, batch);
  // A clone of what a call gives, or shares; made after the trainer was changed for another.
  if (!call.from.empty())
    share(call, batch);
  if (call.is("misaligned"))
    for (auto &[input, tensor] : batch)
      tensor = misaligned(tensor);
  std::optional<Result> result;
  elsewhere(call, [&] { result = compute(call, batch); });
  note(call, *result);
}

TensorMap Program::finish() {
  for (Kept &kept : results)
    readAgain(kept);
  for (auto &[variable, value] : variablesOf(trainer))
    records.emplace("state." + nameless(variable), value);
  records.emplace("threads", Tensor::scalar(int64_t(trainer.session().threads())));
  std::remove(scratch.c_str());
  return records;
}
