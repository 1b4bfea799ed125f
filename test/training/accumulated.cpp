// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains with accumulate_step and update_step, to the bit as with other entry points: one batch as
// with train_step; several as with the gradients of grad_steps, added up and divided here, in an
// apply_step. A checkpoint between two batches loses nothing; a batch with a class that is not
// there adds nothing.
//
//   accumulated LIBRARY.so BATCH.safetensors LEARNING_RATE
#include "Expect.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

using accc::Tensor;
using accc::TensorMap;
using accc::Trainer;

static void expectEqual(Trainer &a, Trainer &b, const std::string &when) {
  for (const accc_variable &variable : a.model().variables())
    expect(equal(a.parameter(variable.tensor.name), b.parameter(variable.tensor.name)),
           when + ": " + variable.tensor.name + " differs");
}

/// The batch whose rows begin at another one.
static TensorMap rotated(const TensorMap &batch, int64_t by) {
  TensorMap result;
  for (const auto &[name, tensor] : batch) {
    Tensor other = tensor.clone();
    const int64_t rows = tensor.rank() == 0 ? 1 : tensor.shape()[0];
    if (rows > 1) {
      const size_t bytes = tensor.size_bytes() / rows, first = bytes * (by % rows);
      const auto *from = static_cast<const char *>(tensor.raw());
      auto *to = static_cast<char *>(other.raw());
      std::memcpy(to, from + first, tensor.size_bytes() - first);
      std::memcpy(to + tensor.size_bytes() - first, from, first);
    }
    result.emplace(name, other);
  }
  return result;
}

static void forEach(TensorMap &tensors,
                    const std::function<void(const std::string &, float &, size_t)> &change) {
  for (auto &[name, tensor] : tensors) {
    auto elements = tensor.data<float>();
    for (size_t i = 0; i < elements.size(); ++i)
      change(name, elements[i], i);
  }
}

/// A batch with a class that is not there, or none where the target is no list of classes.
static TensorMap spoiled(const TensorMap &batch) {
  auto target = batch.find("target");
  if (target == batch.end() || target->second.dtype() != accc::DType::i64)
    return {};
  TensorMap result = batch;
  Tensor classes = target->second.clone();
  static_cast<int64_t *>(classes.raw())[classes.size_bytes() / sizeof(int64_t) - 1] = 1 << 30;
  result.insert_or_assign("target", classes);
  return result;
}

static void addSpoiled(Trainer &trainer, const TensorMap &batch) {
  const TensorMap bad = spoiled(batch);
  if (bad.empty())
    return;
  const int64_t count = trainer.step_count();
  try {
    (void)trainer.accumulate_step(bad).loss();
    expect(false, "a batch with a class that is not there is added");
  } catch (const accc::Error &error) {
    expect(error.kind() == accc::ErrorKind::data, error.what());
  }
  expect(trainer.step_count() == count, "a batch that was not added counts");
}

static void trainByOne(const accc::Model &model, const accc::TrainerOptions &options,
                       const TensorMap &batch) {
  Trainer whole(model, options), added(model, options);
  for (int step = 0; step < 3; ++step) {
    const TensorMap own = rotated(batch, step);
    accc::Result expected = whole.step(own), found = added.accumulate_step(own);
    for (const auto &[name, tensor] : expected.tensors())
      expect(equal(tensor, found[name]), "accumulate_step gives another " + name);
    addSpoiled(added, own);
    added.update_step();
    expectEqual(whole, added, "one batch, step " + std::to_string(step));
  }
}

static void trainBySeveral(const accc::Model &model, const accc::TrainerOptions &options,
                           const TensorMap &batch, const std::string &checkpoint) {
  Trainer apart(model, options), added(model, options);
  for (int step = 0; step < 2; ++step) {
    TensorMap sums;
    for (int64_t part = 0; part < 3; ++part) {
      const TensorMap own = rotated(batch, part);
      TensorMap gradients = gradientsOf(apart.grad_step(own));
      for (const auto &[name, tensor] : gradients)
        if (tensor.dtype() != accc::DType::f32)
          return; // would have to be rounded as they are
      if (part == 0)
        sums = gradients;
      else
        forEach(sums, [&](const std::string &name, float &sum, size_t i) {
          sum += gradients.at(name).data<float>()[i];
        });
      added.accumulate_step(own);
      if (part == 1) {
        added.save_checkpoint(checkpoint);
        added.accumulate_step(own);
        added.load_checkpoint(checkpoint);
      }
    }
    forEach(sums, [](const std::string &, float &sum, size_t) { sum /= 3; });
    apart.apply_step(sums);
    added.update_step();
    expectEqual(apart, added, "three batches, step " + std::to_string(step));
  }
  TensorMap zeros = gradientsOf(apart.grad_step(batch));
  Trainer other(model, options), none(model, options);
  forEach(zeros, [](const std::string &, float &gradient, size_t) { gradient = 0; });
  other.apply_step(zeros);
  none.update_step();
  expectEqual(other, none, "no batch");
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  accc::Model model = accc::Model::load(argv[1]);
  const TensorMap batch = accc::load_safetensors(argv[2]);
  accc::TrainerOptions options{.learning_rate = std::strtod(argv[3], nullptr), .seed = 7};
  trainByOne(model, options, batch);
  trainBySeveral(model, options, batch, std::string(argv[1]) + ".checkpoint");
  std::printf("accumulate_step and update_step beside others: %d differences\n", wrong.load());
  return wrong != 0;
}
