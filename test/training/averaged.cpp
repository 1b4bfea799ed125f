// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains with averages of the weights: what is trained is the same to the bit as without them, the
// averages are those of the weights that every update left, average_eval() evaluates them, and
// files and checkpoints hold them.
//
//   averaged AVERAGED.so PLAIN.so BATCH.safetensors LEARNING_RATE DECAY BOUND
//
// BOUND is what the outputs of other kernels may differ by.
#include "Expect.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

using accc::Tensor;
using accc::TensorMap;
using accc::Trainer;

/// ‖a − b‖ at most `bound` times ‖b‖.
static bool isNear(const Tensor &a, const Tensor &b, double bound) {
  const Tensor found = a.to(accc::DType::f64), expected = b.to(accc::DType::f64);
  auto x = found.data<double>(), y = expected.data<double>();
  double distance = 0, norm = 0;
  for (size_t i = 0; i < y.size(); ++i) {
    distance += (x[i] - y[i]) * (x[i] - y[i]);
    norm += y[i] * y[i];
  }
  return std::sqrt(distance) <= bound * std::sqrt(norm);
}

/// Of each parameter that has an average, what is in it.
static TensorMap averagesOf(Trainer &trainer) {
  TensorMap averages;
  for (const accc_variable &variable : trainer.model().variables()) {
    const std::string name = "optimizer.ema." + std::string(variable.tensor.name);
    if (trainer.model().find_variable(name))
      averages.emplace(variable.tensor.name, trainer.parameter(name).clone());
  }
  return averages;
}

static void expectSame(const TensorMap &a, const TensorMap &b, const std::string &what) {
  for (const auto &[name, tensor] : b)
    expect(a.contains(name) && equal(a.at(name), tensor), what + ": " + name + " differs");
}

/// Follows the updates of `trainer`, in double precision.
static void follow(TensorMap &expected, Trainer &trainer, bool isFirst, double decay) {
  for (auto &[name, average] : expected) {
    const Tensor parameter = trainer.parameter(name).to(accc::DType::f64);
    auto p = parameter.data<double>();
    auto sum = average.data<double>();
    for (size_t i = 0; i < sum.size(); ++i)
      sum[i] = isFirst ? p[i] : decay * sum[i] + (1 - decay) * p[i];
  }
}

static void train(Trainer &averaged, Trainer &plain, const TensorMap &batch, double decay) {
  TensorMap expected = averagesOf(averaged);
  expect(!expected.empty(), "there are no averages");
  for (auto &[name, average] : expected)
    average = average.to(accc::DType::f64).clone();
  for (int step = 0; step < 4; ++step) {
    if (step == 2) // as an update by given gradients
      averaged.apply_step(gradientsOf(averaged.grad_step(batch)));
    else
      averaged.step(batch);
    if (step == 2)
      plain.apply_step(gradientsOf(plain.grad_step(batch)));
    else
      plain.step(batch);
    expectSame(variables(averaged), variables(plain), "step " + std::to_string(step));
    follow(expected, averaged, step == 0, decay);
  }
  for (const auto &[name, average] : averagesOf(averaged))
    expect(isNear(average, expected.at(name), 1e-6), "the average of " + name + " is another");
}

/// average_eval() beside eval() of a trainer that has the averages as its weights.
static void evaluate(Trainer &averaged, Trainer &plain, const TensorMap &batch,
                     const std::string &file, double bound) {
  averaged.save_averages(file);
  plain.load(file);
  const TensorMap before = variables(averaged);
  const TensorMap found = averaged.average_eval(batch).tensors(),
                  expected = plain.eval(batch).tensors();
  for (const auto &[name, tensor] : expected)
    expect(isNear(found.at(name), tensor, bound), "average_eval gives another " + name);
  expectSame(variables(averaged), before, "behind average_eval");
}

int main(int argc, char **argv) {
  if (argc != 7)
    return 2;
  accc::Model model = accc::Model::load(argv[1]), other = accc::Model::load(argv[2]);
  const TensorMap batch = accc::load_safetensors(argv[3]);
  const accc::TrainerOptions options{.learning_rate = std::strtod(argv[4], nullptr), .seed = 7};
  const std::string file = std::string(argv[1]) + ".safetensors";
  Trainer averaged(model, options), plain(other, options), again(model, options);
  const double bound = std::strtod(argv[6], nullptr);

  // Before the first update the average is what there is.
  evaluate(averaged, plain, batch, file, bound);
  averaged.save(file + ".weights");
  expectSame(accc::load_safetensors(file), accc::load_safetensors(file + ".weights"), "saved");

  plain.load(file);
  train(averaged, plain, batch, std::strtod(argv[5], nullptr));

  averaged.save_checkpoint(file + ".checkpoint");
  again.load_checkpoint(file + ".checkpoint");
  averaged.step(batch);
  again.step(batch);
  expectSame(variables(again), variables(averaged), "from a checkpoint");

  evaluate(averaged, plain, batch, file, bound);
  for (const auto &[name, average] : averagesOf(averaged)) {
    const Tensor own = plain.parameter(name);
    expect(equal(own, average.to(own.dtype())), "the file holds another average of " + name);
  }
  try {
    plain.save_averages(file);
    expect(false, "a library without averages saves them");
  } catch (const accc::Error &error) {
    expect(error.kind() == accc::ErrorKind::usage &&
               std::string(error.what()).find("--average-weights") != std::string::npos,
           error.what());
  }
  std::printf("averages of weights: %d differences\n", wrong.load());
  return wrong != 0;
}
