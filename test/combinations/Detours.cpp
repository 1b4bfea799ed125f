// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program may do between two calls without changing what it computes.
#include "Batches.h"
#include "Program.h"
#include "Refusals.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

using namespace accc;

void Program::prepare(const Call &call, const TensorMap &batch) {
  if (call.is("refused") || call.is("evaluated") || call.is("detour")) // which write there
    for (auto &[output, tensor] : last)
      tensor = tensor.clone();
  if (call.is("refused"))
    tryRefusals(trainer, call.step, batch, scratch);
  if (call.is("evaluated"))
    evaluate(call);
  if (call.is("detour"))
    detour(call);
  if (call.is("resumed"))
    resume();
  if (call.is("through"))
    passThrough();
  if (call.is("rewritten"))
    rewrite();
  if (call.is("moved"))
    trainer = Trainer(std::move(trainer));
  if (call.is("profiled"))
    trainer.session().start_profile();
  if (call.is("prepared"))
    for (const accc_entry &entry : model.entries())
      trainer.session().prepare(entry.name, entry.sizes);
  if (call.is("another"))
    disturb(call);
}

/// An evaluation, which changes nothing unless the model writes or draws in it.
void Program::evaluate(const Call &call) {
  const accc_entry &entry = entryOf(call, "eval_step");
  auto inputs = std::span(entry.inputs, size_t(entry.num_inputs));
  auto buffers = std::span(entry.buffers, size_t(entry.num_buffers));
  if (std::any_of(inputs.begin(), inputs.end(),
                  [](const accc_value &input) { return input.usage == ACCC_STEP; }) ||
      std::any_of(buffers.begin(), buffers.end(), [](const accc_buffer &buffer) {
        return buffer.space == ACCC_STATE && (buffer.access & ACCC_WRITE);
      }))
    return;
  trainer.eval(call.step, batchOf(call, "eval_step", 3));
  if (model.find_entry(entryName(call, "average_eval_step")))
    trainer.average_eval(call.step, batchOf(call, "average_eval_step", 3));
}

/// A step with which the data may be at fault: weights that were trained so may have no inverse.
static void tryRun(Trainer &trainer, const accc_entry &entry, const TensorMap &batch) {
  try {
    trainer.session().run(entry.name, batch).wait();
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::data)
      throw;
  }
}

/// Training at every size, and back to where it was.
void Program::detour(const Call &call) {
  trainer.save_checkpoint(scratch);
  trainer.set_learning_rate(0.5f);
  trainer.session().set_seed(99);
  for (const accc_entry &entry : model.entries())
    if (entry.name == entryName(call, "train_step"))
      for (int number : {5, 6})
        tryRun(trainer, entry, batchFor(entry, given, number));
  trainer.load_checkpoint(scratch);
}

/// A trainer in place of this one, whose results end with it.
void Program::resume() {
  for (Kept &kept : results)
    readAgain(kept);
  results.clear();
  trainer.save_checkpoint(scratch);
  for (auto &[output, tensor] : last)
    tensor = tensor.clone();
  trainer = Trainer(model, {.learning_rate = 0.5f, .seed = 99, .threads = options().threads});
  trainer.load_checkpoint(scratch);
}

static std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A checkpoint that another library reads and writes.
void Program::passThrough() {
  Trainer other = begin(Model::load(setting("other")), {.learning_rate = 0.5f, .seed = 99});
  trainer.save_checkpoint(scratch);
  std::string before = contents(scratch);
  other.load_checkpoint(scratch);
  other.save_checkpoint(scratch);
  if (contents(scratch) != before)
    throw std::runtime_error("a checkpoint that another library read and wrote is another");
  trainer.load_checkpoint(scratch);
}

/// Other values for all variables, and the old ones again.
void Program::rewrite() {
  TensorMap values = variablesOf(trainer);
  for (auto &[variable, value] : values) {
    Tensor other = value.clone();
    std::memset(other.raw(), 0, other.size_bytes());
    trainer.set_parameter(variable, other);
  }
  for (auto &[variable, value] : values)
    trainer.set_parameter(variable, value);
}

/// Steps of another trainer, whose state is its own.
void Program::disturb(const Call &call) {
  if (!second)
    second.emplace(begin(Model::load(setting("other")), options()));
  for (const accc_entry &entry : second->model().entries())
    if (std::string_view(entry.name).starts_with("train_step"))
      for (int number : {1, 2})
        tryRun(*second, entry, batchFor(entry, given, int(call.number) + number));
}
