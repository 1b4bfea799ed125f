// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains in threads that stand for processes, each on the one batch that it is given, and writes
// the losses and what the last process holds at the end.
//
//   distributed LIBRARY.so STEPS LEARNING_RATE OUT.safetensors BATCH0.safetensors...
#include <accc/accc.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

int main(int argc, char **argv) {
  if (argc < 6)
    return 2;
  const int first = 5, ranks = argc - first, steps = std::atoi(argv[2]);
  const auto rate = static_cast<float>(std::atof(argv[3]));
  std::vector<std::thread> threads;
  for (auto &group : accc::thread_groups(ranks))
    threads.emplace_back([=, group = std::move(group)] {
      try {
        const int rank = group->rank();
        const accc::TensorMap batch = accc::load_safetensors(argv[first + rank]);
        accc::Trainer trainer(accc::Model::load(argv[1]),
                              {.learning_rate = rate, .threads = 1, .group = group});
        std::vector<float> losses;
        for (int i = 0; i < steps; ++i)
          losses.push_back(trainer.step(batch).loss());
        if (rank + 1 < ranks)
          return;
        accc::TensorMap all;
        for (const accc_variable &variable : trainer.model().variables())
          if (variable.role != ACCC_OPTIMIZER_STATE)
            all.emplace(variable.tensor.name, trainer.parameter(variable.tensor.name).clone());
        all.emplace("losses", accc::Tensor::of<float>({steps}, std::span<const float>(losses)));
        accc::save_safetensors(argv[4], {all.begin(), all.end()});
      } catch (const accc::Error &error) {
        std::printf("%s\n", error.what());
        std::exit(1);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}
