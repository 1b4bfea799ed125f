// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains with --data-parallel, by SGD, in groups of two threads whose batches have unequal sizes. A
// step moves what it trains by the mean of what each process's step alone moves it by.
//
//   unequal LIBRARY.so BATCH.safetensors
//
// LIBRARY is compiled for several sizes, of which BATCH has enough rows.
#include "Expect.h"

#include <array>
#include <cmath>
#include <thread>
#include <vector>

using accc::Tensor;
using accc::TensorMap;
using accc::Trainer;

/// The first rows of each tensor, as many as the entry point takes.
static TensorMap rowsFor(const accc_entry &entry, const TensorMap &batch) {
  TensorMap result;
  for (int32_t i = 0; i < entry.num_inputs; ++i) {
    const accc_tensor &input = entry.inputs[i].tensor;
    auto given = batch.find(std::string_view(input.name));
    if (given == batch.end())
      continue;
    Tensor rows(given->second.dtype(), accc::Shape(input.shape, input.shape + input.rank));
    std::memcpy(rows.raw(), given->second.raw(), rows.size_bytes());
    result.emplace(input.name, rows);
  }
  return result;
}

/// Whether the third is where the means of the first two moves lead, but for rounding.
static bool isMean(const Tensor &start, const Tensor &a, const Tensor &b, const Tensor &mean) {
  constexpr double rounding = 1e-2, least = 1e-9; // of a bias before a batch norm: but rounding
  double error = 0, scale = 0;
  for (int64_t i = 0; i < start.size(); ++i) {
    double from = start.data<float>()[i], found = mean.data<float>()[i] - from;
    double expected = (double(a.data<float>()[i]) + b.data<float>()[i]) / 2 - from;
    error += (found - expected) * (found - expected);
    scale += expected * expected;
  }
  return error <= rounding * rounding * scale + least;
}

static TensorMap afterStep(const std::string &library, const TensorMap &batch,
                           std::shared_ptr<accc::Group> group = nullptr) {
  Trainer trainer(accc::Model::load(library),
                  {.learning_rate = 0.1, .threads = 1, .group = std::move(group)});
  trainer.step(batch);
  return variables(trainer);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const std::string library = argv[1];
  const TensorMap batch = accc::load_safetensors(argv[2]);
  Trainer untrained(accc::Model::load(library));
  const TensorMap start = variables(untrained);
  std::vector<TensorMap> batches, alone;
  for (const accc_entry &entry : untrained.model().entries())
    if (entry.name == std::string_view("train_step")) {
      batches.push_back(rowsFor(entry, batch));
      alone.push_back(afterStep(library, batches.back()));
    }
  for (size_t a = 0; a < batches.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      std::array<TensorMap, 2> ends;
      std::vector<std::thread> threads;
      for (auto &group : accc::thread_groups(2))
        threads.emplace_back([&, group = std::move(group)]() mutable {
          const auto rank = static_cast<size_t>(group->rank());
          try {
            ends[rank] = afterStep(library, batches[rank ? b : a], std::move(group));
          } catch (const accc::Error &error) {
            expect(false, error.what());
          }
        });
      for (std::thread &thread : threads)
        thread.join();
      for (const accc_variable &variable : untrained.model().variables()) {
        const std::string name = variable.tensor.name;
        if (variable.role == ACCC_PARAMETER && ends[0].contains(name))
          expect(isMean(start.at(name), alone[a].at(name), alone[b].at(name), ends[0].at(name)),
                 name + " does not move by the mean, of sizes " + std::to_string(a) + " and " +
                     std::to_string(b));
      }
    }
  return wrong != 0;
}
