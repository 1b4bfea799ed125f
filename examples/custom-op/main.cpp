// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains a network whose weights have four bits to tell two spirals apart. The program knows
// nothing of the custom operator that rounds them: the compiled model names its library, which the
// runtime loads.
#include "accc/accc.h"

#include <cstdio>
#include <exception>

int main(int argc, char **argv) {
  try {
    accc::Trainer trainer(accc::Model::load(argc > 1 ? argv[1] : ACCC_MODEL_quantized),
                          {.learning_rate = 0.01, .seed = 1});
    const accc::TensorMap data = accc::load_safetensors(SPIRALS_DATA);
    const accc::Tensor &points = data.at("points"), &labels = data.at("labels");
    const int64_t size = trainer.batch_size();
    float loss = 0;
    for (int epoch = 1; epoch <= 60; ++epoch) {
      float sum = 0;
      int64_t batches = points.dim(0) / size;
      for (int64_t i = 0; i < batches; ++i)
        sum += trainer
                   .step({{"points", points.rows(i * size, (i + 1) * size)},
                          {"target", labels.rows(i * size, (i + 1) * size)}})
                   .loss();
      loss = sum / float(batches);
      if (epoch % 20 == 0)
        std::printf("epoch %d loss %.4f\n", epoch, loss);
    }
    trainer.save("quantized.safetensors");
    if (!(loss < 0.3f)) {
      std::fprintf(stderr, "the loss is over 0.3: something is wrong\n");
      return 1;
    }
    return 0;
  } catch (const accc::Error &error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
