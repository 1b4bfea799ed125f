// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains the same batch with train_step, and with grad_step and apply_step: every loss, parameter,
// buffer and piece of optimizer state must be the same, to the bit, after each of three steps. One
// of the two has a step in between whose target is no class, which must throw and change nothing.
//
//   apart MODEL.so BATCH.safetensors LEARNING_RATE
#include "Expect.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using accc::Tensor;

/// A step with a class that is not there. Returns what is wrong, which is nothing where the target
/// is no list of classes.
static std::string spoiledStep(accc::Trainer &trainer, const accc::TensorMap &batch) {
  auto target = batch.find("target");
  if (target == batch.end() || target->second.dtype() != accc::DType::i64)
    return "";
  accc::TensorMap spoiled = batch;
  Tensor classes = target->second.clone();
  static_cast<int64_t *>(classes.raw())[classes.size_bytes() / sizeof(int64_t) - 1] = 1 << 30;
  spoiled.insert_or_assign("target", classes);
  try {
    (void)trainer.step(spoiled).loss();
  } catch (const accc::Error &error) {
    return error.kind() == accc::ErrorKind::data ? "" : error.what();
  }
  return "a step with a class that is not there ended without an error";
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  accc::Model model = accc::Model::load(argv[1]);
  accc::TensorMap batch = accc::load_safetensors(argv[2]);
  accc::TrainerOptions options{.learning_rate = std::strtod(argv[3], nullptr), .seed = 7};
  accc::Trainer together(model, options), apart(model, options);
  for (int step = 0; step < 3; ++step) {
    accc::Result gradients = apart.grad_step(batch);
    double loss = gradients.loss();
    apart.apply_step(gradients);
    if (std::string problem = spoiledStep(together, batch); !problem.empty()) {
      std::printf("step %d: %s\n", step, problem.c_str());
      ++wrong;
    }
    double expected = together.step(batch).loss();
    if (std::memcmp(&loss, &expected, sizeof loss) != 0) {
      std::printf("step %d: grad_step's loss is %.9g, train_step's %.9g\n", step, loss, expected);
      ++wrong;
    }
    for (const accc_variable &variable : model.variables())
      if (!equal(apart.parameter(variable.tensor.name), together.parameter(variable.tensor.name))) {
        std::printf("step %d: %s differs\n", step, variable.tensor.name);
        ++wrong;
      }
  }
  std::printf("grad_step and apply_step beside train_step: %d differences\n", wrong.load());
  return wrong != 0;
}
