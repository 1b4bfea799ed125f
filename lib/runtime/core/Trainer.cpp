// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/trainer.h"

#include <chrono>

namespace accc {

Trainer::Trainer(Model model, const TrainerOptions &options)
    : session_(std::move(model), options) {}

/// The rows that an entry point works on; 0 where it takes no data.
static int64_t rows(const accc_entry &entry) {
  for (int32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].usage == ACCC_DATA)
      return entry.inputs[i].tensor.rank ? entry.inputs[i].tensor.shape[0] : 1;
  return 0;
}

template <typename Call> Result Trainer::timed(int64_t steps, Call &&call) {
  double waited = session_.wait_seconds();
  auto start = std::chrono::steady_clock::now();
  Result result = call();
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (!warm_.insert(&result.entry()).second) {
    throughput_.steps += steps;
    throughput_.examples += rows(result.entry());
    throughput_.seconds += elapsed.count();
  } else {
    result.wait();
  }
  otherWaits_ += session_.wait_seconds() - waited; // part of `elapsed`, or not to be counted
  return result;
}

Throughput Trainer::throughput() const {
  session_.synchronize();
  Throughput result = throughput_;
  result.seconds += session_.wait_seconds() - otherWaits_;
  return result;
}

void Trainer::reset_throughput() {
  session_.synchronize();
  throughput_ = {};
  otherWaits_ = session_.wait_seconds();
}

/// "train_step.d"; "train_step" where the step has no name.
static std::string entry_of(const char *kind, std::string_view name) {
  return name.empty() ? kind : std::string(kind) + "." + std::string(name);
}

Result Trainer::step(std::string_view name, const TensorMap &batch) {
  return timed(1, [&] { return session_.run(entry_of("train_step", name), batch); });
}

Result Trainer::grad_step(std::string_view name, const TensorMap &batch) {
  return timed(0, [&] { return session_.run(entry_of("grad_step", name), batch); });
}

Result Trainer::apply_step(std::string_view name, const Result &gradients) {
  static const TensorMap none;
  return timed(1, [&] { return session_.run(entry_of("apply_step", name), none, gradients); });
}

Result Trainer::apply_step(std::string_view name, const TensorMap &gradients) {
  return timed(1, [&] { return session_.run(entry_of("apply_step", name), gradients); });
}

Result Trainer::accumulate_step(std::string_view name, const TensorMap &batch) {
  return timed(0, [&] { return session_.run(entry_of("accumulate_step", name), batch); });
}

Result Trainer::update_step(std::string_view name) {
  return timed(1, [&] { return session_.run(entry_of("update_step", name), {}); });
}

Result Trainer::evaluate(const std::string &entry, const TensorMap &batch) {
  session_.synchronize();
  double waited = session_.wait_seconds();
  Result result = session_.run(entry, batch);
  result.wait();
  otherWaits_ += session_.wait_seconds() - waited;
  return result;
}

Result Trainer::eval(std::string_view name, const TensorMap &batch) {
  return evaluate(entry_of("eval_step", name), batch);
}

Result Trainer::average_eval(std::string_view name, const TensorMap &batch) {
  return evaluate(entry_of("average_eval_step", name), batch);
}

int64_t Trainer::batch_size() const {
  for (const accc_entry &entry : model().entries())
    if (int64_t count = rows(entry))
      return count;
  return 1;
}

} // namespace accc
