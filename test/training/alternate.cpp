// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains batches of two sizes in turn: with one library that holds both, and with a library for
// each that hand their state on to each other. Every number must be the same.
//
//   alternate BOTH.so LARGE.so SMALL.so BATCH.safetensors SCRATCH
//
// BATCH holds a batch for LARGE; SMALL takes half as many rows.
#include "Expect.h"

#include <cstdio>
#include <cstring>

using accc::Tensor;
using accc::TensorMap;

/// The second half of the rows of each tensor.
static TensorMap half(const TensorMap &batch) {
  TensorMap result;
  for (const auto &[name, tensor] : batch) {
    accc::Shape shape = tensor.shape();
    shape[0] /= 2;
    Tensor rows(tensor.dtype(), shape);
    std::memcpy(rows.raw(), static_cast<const char *>(tensor.raw()) + rows.size_bytes(),
                rows.size_bytes());
    result.emplace(name, rows);
  }
  return result;
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  accc::TrainerOptions options{.learning_rate = 0.01f, .seed = 7};
  accc::Trainer both(accc::Model::load(argv[1]), options);
  accc::Trainer large(accc::Model::load(argv[2]), options),
      small(accc::Model::load(argv[3]), options);
  TensorMap batches[2] = {accc::load_safetensors(argv[4]), {}};
  batches[1] = half(batches[0]);
  std::string state = std::string(argv[5]) + "/state.safetensors";

  for (int step = 0; step < 10; ++step) {
    const TensorMap &batch = batches[step % 2];
    accc::Trainer &alone = step % 2 ? small : large;
    accc::Trainer &next = step % 2 ? large : small;
    bool apart = step % 4 > 1; // gradients, then the update
    accc::Result result = apart ? both.grad_step(batch) : both.step(batch);
    accc::Result expected = apart ? alone.grad_step(batch) : alone.step(batch);
    if (result.loss() != expected.loss()) {
      std::printf("step %d: loss %.9g, alone %.9g\n", step, result.loss(), expected.loss());
      ++wrong;
    }
    if (apart) {
      both.apply_step(result);
      alone.apply_step(expected);
    }
    for (const accc_variable &variable : both.model().variables())
      if (!equal(both.parameter(variable.tensor.name), alone.parameter(variable.tensor.name))) {
        std::printf("step %d: %s differs\n", step, variable.tensor.name);
        ++wrong;
      }
    alone.save_checkpoint(state);
    next.load_checkpoint(state);
    if (both.eval(batches[0]).loss() != (&next == &large ? next : alone).eval(batches[0]).loss()) {
      std::printf("step %d: the evaluation differs\n", step);
      ++wrong;
    }
  }
  std::printf("%d differences\n", wrong.load());
  return wrong != 0;
}
