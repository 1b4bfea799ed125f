// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trainer of two adversaries, as a user writes it: round for round a step of the discriminator
// and one of the generator, the latter as a grad_step and an apply_step. Its losses and parameters
// must be those of the goldens.
//
//   rounds LIB.so GOLDENS
#include <accc/accc.h>

#include <cmath>
#include <cstdio>
#include <string>

using accc::Tensor;

/// ||a - b|| / ||b||
static double difference(std::span<const float> a, std::span<const float> b) {
  double sum = 0, squares = 0;
  for (size_t i = 0; i < b.size(); ++i) {
    sum += (a[i] - b[i]) * (a[i] - b[i]);
    squares += b[i] * b[i];
  }
  return std::sqrt(sum / squares);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const std::string folder = argv[2];
  accc::TensorMap batch = accc::load_safetensors(folder + "/inputs.safetensors");
  accc::TensorMap goldens = accc::load_safetensors(folder + "/golden.safetensors");
  accc::Trainer trainer(accc::Model::load(argv[1])); // with the rates of its optimizers

  std::vector<float> losses[2];
  for (size_t round = 0; round < goldens.at("losses.d").data<float>().size(); ++round) {
    losses[0].push_back(trainer.step("d", batch).loss());
    accc::Result gradients = trainer.grad_step("g", batch);
    losses[1].push_back(gradients.loss());
    trainer.apply_step("g", gradients);
  }
  try {
    trainer.save_averages(std::string(argv[1]) + ".safetensors");
    std::printf("averages are saved of no step\n");
    return 1;
  } catch (const accc::Error &error) {
    if (std::string(error.what()).find("it has those of the steps: g") == std::string::npos) {
      std::printf("%s\n", error.what());
      return 1;
    }
  }
  trainer.save_averages(std::string(argv[1]) + ".safetensors", "g");
  bool good = std::isfinite(trainer.eval("g", batch).loss());
  auto check = [&](const std::string &name, std::span<const float> found) {
    // What two orders of summation make of float32 in three steps of Adam.
    double relative = difference(found, goldens.at(name).data<float>());
    bool same = relative < 1e-4;
    good &= same;
    std::printf("%s %.2e %s\n", name.c_str(), relative, same ? "close" : "FAILED");
  };
  check("losses.d", losses[0]);
  check("losses.g", losses[1]);
  for (const char *name : {"judge.0.weight", "judge.3.bias", "judge.1.running_var", "make.0.weight",
                           "make.1.running_var"})
    check("param." + std::string(name), trainer.parameter(name).data<float>());
  return good ? 0 : 1;
}
