// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a training program needs:
//
//   auto model   = accc::Model::load("resnet18.so");
//   auto trainer = accc::Trainer(model, {.learning_rate = 1e-3, .seed = 42});
//   for (const accc::TensorMap &batch : loader)
//     std::printf("%f\n", trainer.step(batch).loss());
//   trainer.save("resnet18.safetensors");
#ifndef ACCC_TRAINER_H
#define ACCC_TRAINER_H

#include "accc/session.h"

#include <set>
#include <string>

namespace accc {

using TrainerOptions = SessionOptions;

/// Time spent in the steps that train (all but eval() and average_eval()) and, on a GPU, in waiting
/// for their results, without the first call of each at each size (which also prepares buffers and
/// library kernels).
struct Throughput {
  int64_t steps = 0;
  int64_t examples = 0; ///< rows of the first input of each batch
  double seconds = 0;
  double steps_per_second() const { return seconds > 0 ? double(steps) / seconds : 0; }
  double examples_per_second() const { return seconds > 0 ? double(examples) / seconds : 0; }
};

/// Trains one model. A batch holds the model's inputs by name, and `target` if the loss has one.
/// Errors are those of Session::run. On a GPU all steps but those two return before the work is
/// done (see Session::run), except for the first call of each at each size.
class Trainer {
public:
  explicit Trainer(Model model, const TrainerOptions &options = {});

  /// Forward pass, backward pass and update: changes parameters, buffers and optimizer state.
  Result step(const TensorMap &batch) { return step({}, batch); }
  /// Loss and gradients (as outputs `grad.<parameter>`) only; running statistics are updated.
  Result grad_step(const TensorMap &batch) { return grad_step({}, batch); }
  /// The update by the gradients of a grad_step ...
  Result apply_step(const Result &gradients) { return apply_step({}, gradients); }
  /// ... or by your own gradients `grad.<parameter>` (accumulated, clipped, ...).
  Result apply_step(const TensorMap &gradients) { return apply_step({}, gradients); }
  /// Of a library that was compiled with --accumulate-gradients: adds the gradients of a batch to
  /// those of others, and changes nothing else but running statistics ...
  Result accumulate_step(const TensorMap &batch) { return accumulate_step({}, batch); }
  /// ... and updates by the mean over these batches. The next begin anew. Without any the gradients
  /// are zeros.
  Result update_step() { return update_step({}); }
  /// The model's outputs in evaluation mode. Changes nothing but parameters into which the model
  /// itself writes (embeddings with max_norm), and step_count() where it draws random numbers in
  /// evaluation, too: the next steps draw others then. Waits for the result.
  Result eval(const TensorMap &batch) { return eval({}, batch); }

  /// Of a library that was compiled with --average-weights: the same of averages over the updates
  /// in place of trained parameters, of the parameters before the first update. Changes nothing but
  /// step_count() where it draws random numbers.
  Result average_eval(const TensorMap &batch) { return average_eval({}, batch); }

  /// The same for one of several training steps, each with its loss, its parameters and its
  /// optimizer: step("d", batch) where the library was compiled with --loss d=output:d_loss.
  Result step(std::string_view name, const TensorMap &batch);
  Result grad_step(std::string_view name, const TensorMap &batch);
  Result apply_step(std::string_view name, const Result &gradients);
  Result apply_step(std::string_view name, const TensorMap &gradients);
  Result accumulate_step(std::string_view name, const TensorMap &batch);
  Result update_step(std::string_view name);
  Result eval(std::string_view name, const TensorMap &batch);
  Result average_eval(std::string_view name, const TensorMap &batch);

  /// Takes effect from the next step. Parameter groups and training steps with a learning rate of
  /// their own keep it in proportion to this, which is that of the first --optimizer.
  double learning_rate() const { return session_.learning_rate(); }
  void set_learning_rate(double value) { session_.set_learning_rate(value); }
  int64_t step_count() const { return session_.step(); }

  /// See Session.
  void save(const std::string &path) const { session_.save(path); }
  void load(const std::string &path, const LoadOptions &options = {}) {
    session_.load(path, options);
  }
  void save_averages(const std::string &path, std::string_view name = {}) const {
    session_.save_averages(path, name);
  }
  void save_checkpoint(const std::string &path) const { session_.save_checkpoint(path); }
  void load_checkpoint(const std::string &path) { session_.load_checkpoint(path); }
  void synchronize() const { session_.synchronize(); }
  Tensor parameter(std::string_view name) { return session_.variable(name); }
  void set_parameter(std::string_view name, const Tensor &value) {
    session_.set_variable(name, value);
  }

  /// Since construction or the last reset_throughput(). Both wait for all runs.
  Throughput throughput() const;
  void reset_throughput();

  /// The rows of a batch: the first extent of the first input of the model (compiled for several
  /// sizes: of the first of them); 1 where it has none.
  int64_t batch_size() const;

  const Model &model() const { return session_.model(); }
  Session &session() { return session_; }

private:
  template <typename Call> Result timed(int64_t steps, Call &&call);
  Result evaluate(const std::string &entry, const TensorMap &batch);

  Session session_;
  Throughput throughput_;             // without the time of waiting for results
  double otherWaits_ = 0;             // of Session::wait_seconds(), what is no waiting for them
  std::set<const accc_entry *> warm_; // called before
};

} // namespace accc

#endif // ACCC_TRAINER_H
