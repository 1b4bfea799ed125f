// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Refusals.h"

#include "Batches.h"

#include <cstring>
#include <stdexcept>

using namespace accc;

namespace {
class Refusals {
public:
  Refusals(Trainer &trainer, const std::string &step, const TensorMap &batch)
      : trainer(trainer), step(step), batch(batch), variables(variablesOf(trainer)),
        count(trainer.step_count()), rate(trainer.learning_rate()) {}

  void data() {
    for (const auto &[name, tensor] : batch) {
      TensorMap without = batch;
      without.erase(name);
      tryStep("without " + name, without, ErrorKind::usage);
      Shape shape = tensor.shape();
      shape.push_back(1);
      tryStep(name + " of another shape", with(name, tensor.reshape(shape)), ErrorKind::usage);
      DType other = tensor.dtype() == DType::f64 ? DType::f32 : DType::f64;
      tryStep(name + " of another type", with(name, Tensor(other, tensor.shape())),
              ErrorKind::usage);
    }
    tryStep("an input that there is not", with("no such input", Tensor()), ErrorKind::usage);
    const accc_entry &entry = trainer.session().choose(entryName("train_step"), batch);
    for (const accc_value &input : std::span(entry.inputs, size_t(entry.num_inputs)))
      if (auto found = batch.find(std::string_view(input.tensor.name));
          input.indices && found != batch.end() && found->second.dtype() == DType::i64 &&
          found->second.size() > 0) {
        Tensor indices = found->second.clone();
        indices.data<int64_t>().back() = input.indices->end + 7;
        tryStep("an index that there is not", with(input.tensor.name, indices), ErrorKind::data);
      }
  }

  void others(const std::string &scratch) {
    expect("an entry point that there is not", ErrorKind::usage,
           [&] { trainer.session().run("no_step", batch); });
    expect("a variable that there is not", ErrorKind::usage,
           [&] { trainer.set_parameter("no such variable", Tensor()); });
    if (!variables.empty()) {
      const auto &[name, value] = *variables.begin();
      Shape shape = value.shape();
      shape.push_back(2);
      expect("a variable of another shape", ErrorKind::usage,
             [&] { trainer.set_parameter(name, Tensor(value.dtype(), shape)); });
    }
    save_safetensors(scratch, {{"no such variable", Tensor()}});
    expect("the weights of something else", ErrorKind::data, [&] { trainer.load(scratch); });
    expect("a checkpoint of something else", ErrorKind::data,
           [&] { trainer.load_checkpoint(scratch); });
    expect("a file that is not there", ErrorKind::usage, [&] { trainer.load(scratch + ".none"); });
  }

  /// The gradients of a step that two later ones have overwritten.
  void overwritten(const std::string &scratch) {
    if (!trainer.model().find_entry(entryName("grad_step")))
      return;
    trainer.save_checkpoint(scratch); // running statistics move
    Result old = trainer.grad_step(step, batch);
    for (int i = 0; i < 2; ++i)
      trainer.grad_step(step, batch);
    trainer.load_checkpoint(scratch);
    expect("gradients that later steps have overwritten", ErrorKind::usage,
           [&] { trainer.apply_step(step, old); });
  }

private:
  std::string entryName(const std::string &kind) const {
    return step.empty() ? kind : kind + "." + step;
  }

  TensorMap with(const std::string &name, const Tensor &tensor) const {
    TensorMap changed = batch;
    changed.insert_or_assign(name, tensor);
    return changed;
  }

  void tryStep(const std::string &what, const TensorMap &inputs, ErrorKind kind) {
    expect(what, kind, [&] { trainer.step(step, inputs).wait(); });
    if (trainer.model().find_entry(entryName("grad_step")))
      expect(what + ", apart", kind,
             [&] { trainer.apply_step(step, trainer.grad_step(step, inputs)).wait(); });
  }

  template <typename Call> void expect(const std::string &what, ErrorKind kind, Call call) {
    try {
      call();
    } catch (const Error &error) {
      if (error.kind() != kind)
        throw std::runtime_error(what + ": an error of the wrong kind: " + error.what());
      requireUnchanged(what);
      return;
    }
    throw std::runtime_error(what + ": was not refused");
  }

  void requireUnchanged(const std::string &what) {
    for (const auto &[name, value] : variables)
      if (!sameBits(trainer.parameter(name), value))
        throw std::runtime_error(what + ": was refused, but " + name + " has changed");
    if (trainer.step_count() != count || trainer.learning_rate() != rate)
      throw std::runtime_error(what +
                               ": was refused, but step count or learning rate have changed");
  }

  Trainer &trainer;
  const std::string &step;
  const TensorMap &batch;
  const TensorMap variables;
  const int64_t count;
  const double rate;
};
} // namespace

void tryRefusals(Trainer &trainer, const std::string &step, const TensorMap &batch,
                 const std::string &scratch) {
  Refusals refusals(trainer, step, batch);
  refusals.data();
  refusals.others(scratch);
  refusals.overwritten(scratch);
}
