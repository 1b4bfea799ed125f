// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/trainer.h"

#include <chrono>
#include <utility>

namespace accc {

Trainer::Trainer(Model model, const TrainerOptions &options)
    : session_(std::move(model), options) {}

template <typename Call>
Result Trainer::timed(bool &warm, int64_t steps, int64_t examples, Call &&call) {
  auto start = std::chrono::steady_clock::now();
  Result result = call();
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (std::exchange(warm, true)) {
    throughput_.steps += steps;
    throughput_.examples += examples;
    throughput_.seconds += elapsed.count();
  }
  return result;
}

Result Trainer::step(const TensorMap &batch) {
  return timed(warm_step_, 1, batch_size(), [&] { return session_.run("train_step", batch); });
}

Result Trainer::grad_step(const TensorMap &batch) {
  return timed(warm_grad_, 0, batch_size(), [&] { return session_.run("grad_step", batch); });
}

Result Trainer::apply_step(const Result &gradients) {
  static const TensorMap none;
  return timed(warm_apply_, 1, 0, [&] { return session_.run("apply_step", none, gradients); });
}

Result Trainer::apply_step(const TensorMap &gradients) {
  return timed(warm_apply_, 1, 0, [&] { return session_.run("apply_step", gradients); });
}

Result Trainer::eval(const TensorMap &batch) { return session_.run("eval_step", batch); }

int64_t Trainer::batch_size() const {
  for (const accc_entry &entry : model().entries())
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      if (entry.inputs[i].usage == ACCC_DATA)
        return entry.inputs[i].tensor.rank ? entry.inputs[i].tensor.shape[0] : 1;
  return 1;
}

} // namespace accc
