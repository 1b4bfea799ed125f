// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains with a loss scale, with train_step and with grad_step and apply_step, on a batch of which
// every now and then an element is infinite. Such a step changes no variable but the scale, which
// moves as PyTorch's; after all others every variable is, to the bit, what a library without a
// loss scale makes of these steps alone: scales are powers of two. One element of one gradient is
// enough for a step to be skipped, whichever it is; and a scale does not grow so far that for a
// step its reciprocal, and with it every gradient, would be zero.
//
//   scaled SCALED.so LARGE.so PLAIN.so BATCH.safetensors LEARNING_RATE
//
// SCALED is compiled with --loss-scale dynamic,init_scale=1024,growth_interval=2, LARGE with
// dynamic,init_scale=1e37,growth_factor=16,growth_interval=1, and their steps have no names.
#include "Expect.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

using accc::Tensor;

static void expect(bool holds, int step, const std::string &what) {
  expect(holds, "step " + std::to_string(step) + ": " + what);
}

static accc::TensorMap spoiled(const accc::TensorMap &batch) {
  accc::TensorMap result = batch;
  for (auto &[name, tensor] : result)
    if (accc::DType type = tensor.dtype(); type == accc::DType::f32 || type == accc::DType::bf16) {
      Tensor wide = tensor.to(accc::DType::f32).clone();
      wide.data<float>().back() = std::numeric_limits<float>::infinity();
      tensor = wide.to(type);
    }
  return result;
}

static accc::TensorMap copies(const accc::TensorMap &tensors) {
  accc::TensorMap result;
  for (const auto &[name, tensor] : tensors)
    result.emplace(name, tensor.clone());
  return result;
}

static float scaleOf(accc::Trainer &trainer) {
  return trainer.parameter("optimizer.loss_scale").data<float>()[0];
}

/// apply_step with the gradients of `batch`, of which each in turn has one element that is none.
static void skipForEach(accc::Trainer &trainer, const accc::TensorMap &batch) {
  const accc::TensorMap gradients = copies(trainer.grad_step(batch).tensors());
  int number = 0;
  for (const auto &[name, tensor] : gradients) {
    if (!name.starts_with("grad."))
      continue;
    accc::TensorMap given = copies(gradients);
    auto elements = given.at(name).data<float>();
    elements[size_t(number) % elements.size()] = number % 2
                                                     ? std::numeric_limits<float>::quiet_NaN()
                                                     : -std::numeric_limits<float>::infinity();
    const accc::TensorMap before = variables(trainer);
    float scale = scaleOf(trainer);
    trainer.apply_step(given);
    expect(scaleOf(trainer) == scale / 2, number, name + " alone does not make the scale smaller");
    for (const auto &[variable, now] : variables(trainer))
      expect(equal(before.at(variable), now) || variable == "optimizer.loss_scale" ||
                 variable == "optimizer.growth_tracker",
             number, variable + " changes though " + name + " is not finite");
    ++number;
  }
}

/// A step with gradients of zero, behind which the scale's reciprocal would be subnormal.
static void growTooFar(accc::Trainer &trainer, const accc::TensorMap &batch) {
  accc::TensorMap gradients = copies(trainer.grad_step(batch).tensors());
  for (auto &[name, tensor] : gradients)
    if (name.starts_with("grad."))
      std::memset(tensor.raw(), 0, tensor.size_bytes());
  trainer.apply_step(gradients);
  expect(scaleOf(trainer) == 1e37f, 0, "a scale grows beyond those that have a reciprocal");
  expect(trainer.parameter("optimizer.growth_tracker").data<int64_t>()[0] == 0, 0,
         "finite steps are not counted anew behind a growth that is left out");
}

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  accc::Model scaled = accc::Model::load(argv[1]), large = accc::Model::load(argv[2]),
              plain = accc::Model::load(argv[3]);
  const accc::TensorMap good = accc::load_safetensors(argv[4]), bad = spoiled(good);
  accc::TrainerOptions options{.learning_rate = std::strtod(argv[5], nullptr), .seed = 7};
  accc::Trainer together(scaled, options), apart(scaled, options), without(plain, options);

  // What torch.amp.GradScaler(init_scale=1024, growth_interval=2) gives.
  struct Step {
    bool isGood;
    float scale;
    int64_t tracker;
  };
  constexpr Step kSteps[] = {{true, 1024, 1}, {true, 2048, 0}, {false, 1024, 0}, {true, 1024, 1},
                             {true, 2048, 0}, {true, 2048, 1}, {false, 1024, 0}, {false, 512, 0},
                             {true, 512, 1},  {true, 1024, 0}};
  int number = 0;
  for (const Step &step : kSteps) {
    const accc::TensorMap &batch = step.isGood ? good : bad;
    float loss = together.step(batch).loss();
    accc::Result gradients = apart.grad_step(batch);
    float again = gradients.loss();
    apart.apply_step(gradients);
    expect(std::memcmp(&loss, &again, sizeof loss) == 0, number, "grad_step has another loss");
    if (step.isGood)
      expect(without.step(batch).loss() == loss, number, "a scale changes the loss");
    else
      expect(!std::isfinite(loss), number, "an infinite input gives a finite loss");
    expect(scaleOf(together) == step.scale, number, "the loss scale is wrong");
    expect(together.parameter("optimizer.growth_tracker").data<int64_t>()[0] == step.tracker,
           number, "the number of finite steps is wrong");
    for (const accc_variable &variable : scaled.variables()) {
      std::string name = variable.tensor.name;
      expect(equal(apart.parameter(name), together.parameter(name)), number,
             name + " differs after grad_step and apply_step");
      if (plain.find_variable(name))
        expect(equal(without.parameter(name), together.parameter(name)), number,
               name + " differs from what it is without a loss scale");
    }
    ++number;
  }
  skipForEach(together, good);
  accc::Trainer grown(large, options);
  growTooFar(grown, good);
  std::printf("%d steps with a loss scale: %d differences\n", number, wrong.load());
  return wrong != 0;
}
