// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains with --data-parallel in groups of threads. With one batch for all, a power of two of them
// does, to the bit, what one does alone: x / n is exact. With batches of their own all end with the
// same bits. What fails in one changes nothing in any. Batch norms that are synchronized know of
// more rows, and so do their unbiased variances, which are left out.
//
//   together LIBRARY.so PLAIN.so OTHER.so BATCH.safetensors LEARNING_RATE
//
// PLAIN is compiled without --data-parallel, OTHER with another optimizer and for several
// architectures.
#include "Expect.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

using accc::Tensor;
using accc::TensorMap;
using accc::Trainer;

static bool equal(const TensorMap &a, const TensorMap &b) {
  if (a.size() != b.size())
    return false;
  for (const auto &[name, tensor] : a) {
    auto other = b.find(name);
    if (other == b.end() || tensor.size_bytes() != other->second.size_bytes() ||
        std::memcmp(tensor.raw(), other->second.raw(), tensor.size_bytes()) != 0)
      return false;
  }
  return true;
}

/// The message of what the call throws, which must be of this kind where one is given; empty where
/// it throws nothing.
static std::string errorOf(const std::function<void()> &call,
                           std::optional<accc::ErrorKind> kind = std::nullopt) {
  try {
    call();
  } catch (const accc::Error &error) {
    return kind && error.kind() != *kind ? "an error of another kind" : error.what();
  }
  return "";
}

static bool synchronizes(const std::string &library) {
  const std::string manifest = accc::Model::load(library).description().manifest;
  return manifest.find("\"sync_batch_norm\"") != std::string::npos;
}

static bool close(const Tensor &a, const Tensor &b) {
  constexpr double kRounding = 1e-4; // after some steps
  if (a.dtype() != accc::DType::f32 || a.size() != b.size())
    return equal(a, b);
  double error = 0, scale = 0;
  for (int64_t i = 0; i < a.size(); ++i) {
    double x = a.data<float>()[i], y = b.data<float>()[i];
    error += (x - y) * (x - y);
    scale += y * y;
  }
  return error <= kRounding * kRounding * scale;
}

/// But for rounding: statistics that are synchronized are sums in another order.
static bool close(const TensorMap &a, const TensorMap &b) {
  return a.size() == b.size() && std::ranges::all_of(a, [&](const auto &item) {
           auto other = b.find(item.first);
           return other != b.end() && close(item.second, other->second);
         });
}

/// But for running variances, where batch norms are synchronized.
static bool equalButVariances(const std::string &library, TensorMap a, TensorMap b) {
  if (synchronizes(library))
    for (TensorMap *map : {&a, &b})
      std::erase_if(*map, [](const auto &item) { return item.first.ends_with("running_var"); });
  return equal(a, b);
}

class Tests {
public:
  Tests(char **arguments)
      : library(arguments[1]), plain(arguments[2]), other(arguments[3]),
        batch(accc::load_safetensors(arguments[4])),
        rate(static_cast<float>(std::atof(arguments[5]))) {}

  void run() {
    bool matters = !equal(after(library, batch, 0, steps), after(library, batch, 1, steps));
    TensorMap alone = after(library, batch, seed, steps);
    TensorMap without = after(plain, batch, seed, steps);
    expect(synchronizes(library) ? close(alone, without) : equal(alone, without),
           "without a group, the library does not train as without the option");
    // What draws random numbers draws others in each.
    if (!matters) {
      for (int ranks : {2, 4})
        checkEqualBatches(ranks, alone);
    }
    checkOwnBatches();
    checkSeeds();
    checkBadData();
    checkLibraries();
    checkMachines();
    checkEntries(/*isUpdate=*/false);
    checkEntries(/*isUpdate=*/true);
    checkLearningRates();
    checkSharing();
  }

private:
  static constexpr int steps = 4, seed = 7;

  accc::TrainerOptions options(std::shared_ptr<accc::Group> group = nullptr,
                               int64_t from = seed) const {
    return {.learning_rate = rate, .seed = from, .threads = 1, .group = std::move(group)};
  }

  TensorMap after(const std::string &path, const TensorMap &given, int64_t from, int count) const {
    Trainer trainer(accc::Model::load(path), options(nullptr, from));
    for (int i = 0; i < count; ++i)
      trainer.step(given);
    return variables(trainer);
  }

  /// Rows in another order, or an element changed.
  TensorMap batchOf(int rank) const {
    TensorMap own;
    for (const auto &[name, tensor] : batch) {
      own.emplace(name, tensor.clone());
      if (tensor.dtype() == accc::DType::f32)
        for (float &value : own.at(name).data<float>())
          value *= 1.0f + 0.25f * static_cast<float>(rank);
    }
    return own;
  }

  template <typename Work> static void runAll(int ranks, Work work) {
    std::vector<std::thread> threads;
    for (auto &group : accc::thread_groups(ranks))
      threads.emplace_back([&, group = std::move(group)]() mutable {
        try {
          work(std::move(group));
        } catch (const accc::Error &error) {
          expect(false, error.what());
        }
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  void checkEqualBatches(int ranks, const TensorMap &alone) {
    runAll(ranks, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      Trainer whole(accc::Model::load(library), options(group));
      if (rank) // the first process's state counts
        for (auto &[name, tensor] : variables(whole))
          if (tensor.dtype() == accc::DType::f32)
            whole.set_parameter(name, Tensor(tensor.dtype(), tensor.shape()));
      for (int i = 0; i < steps; ++i)
        whole.step(batch);
      expect(equalButVariances(library, variables(whole), alone),
             "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                 " does not train as one alone");
    });
    runAll(ranks, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      Trainer parts(accc::Model::load(library), options(group));
      for (int i = 0; i < steps; ++i)
        parts.apply_step(parts.grad_step(batch));
      expect(equalButVariances(library, variables(parts), alone),
             "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                 ": grad_step and apply_step do not train as one alone");
    });
    runAll(ranks, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      Trainer added(accc::Model::load(library), options(group));
      for (int i = 0; i < steps; ++i) {
        added.accumulate_step(batch);
        added.update_step();
      }
      expect(equalButVariances(library, variables(added), alone),
             "rank " + std::to_string(rank) + " of " + std::to_string(ranks) +
                 ": accumulate_step and update_step do not train as one alone");
    });
  }

  void checkOwnBatches() {
    constexpr int ranks = 3;
    std::vector<TensorMap> ends(ranks), halfway(ranks);
    std::vector<float> losses(ranks);
    runAll(ranks, [&](std::shared_ptr<accc::Group> group) {
      const auto rank = static_cast<size_t>(group->rank());
      Trainer trainer(accc::Model::load(library), options(group));
      const TensorMap own = batchOf(group->rank());
      trainer.grad_step(own); // running statistics
      halfway[rank] = variables(trainer);
      for (int i = 0; i < steps; ++i)
        losses[rank] = trainer.step(own).loss();
      trainer.apply_step(trainer.grad_step(own));
      for (int i = 0; i < 2; ++i)
        trainer.accumulate_step(own);
      trainer.update_step();
      ends[rank] = variables(trainer);
    });
    for (size_t rank = 1; rank < ranks; ++rank) {
      expect(equal(halfway[rank], halfway[0]), "grad_step leaves processes with other buffers");
      expect(equal(ends[rank], ends[0]), "processes end with other bits");
      expect(std::memcmp(&losses[rank], &losses[0], sizeof(float)) == 0, // a NaN, too
             "the loss is not that of all");
    }
    expect(!equal(ends[0], halfway[0]), "nothing was trained");
  }

  /// Each draws its own numbers, those of a process alone with seed + rank; what is exchanged is
  /// their mean.
  void checkSeeds() {
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      Trainer together(accc::Model::load(library), options(group));
      Trainer alone(accc::Model::load(library), options(nullptr, seed + rank));
      expect(equal(gradientsOf(together.grad_step(batch)), gradientsOf(alone.grad_step(batch))),
             "rank " + std::to_string(rank) + " does not draw the numbers of its own seed");
    });
  }

  void checkBadData() {
    auto target = batch.find("target");
    if (target == batch.end() || target->second.dtype() != accc::DType::i64)
      return;
    constexpr int ranks = 3;
    std::vector<TensorMap> ends(ranks);
    runAll(ranks, [&](std::shared_ptr<accc::Group> group) {
      const auto rank = static_cast<size_t>(group->rank());
      Trainer trainer(accc::Model::load(library), options(group));
      const TensorMap own = batchOf(group->rank());
      trainer.step(own);
      const TensorMap before = variables(trainer);
      const int64_t count = trainer.step_count();
      TensorMap bad = own;
      bad.at("target") = target->second.clone();
      bad.at("target").data<int64_t>()[0] = 1000000;
      std::string error = errorOf([&] { trainer.step(rank == 1 ? bad : own).wait(); });
      expect(error.find(rank == 1 ? "1000000"
                                  : "another process of the group could not take this step") !=
                 std::string::npos,
             "rank " + std::to_string(rank) + " says of bad data in rank 1: " + error);
      expect(equal(variables(trainer), before), "a step that failed changed something");
      expect(trainer.step_count() == count, "a step that failed counts");
      for (int i = 1; i < steps; ++i)
        trainer.step(own);
      ends[rank] = variables(trainer);
    });
    expect(equal(ends[1], ends[0]) && equal(ends[2], ends[0]),
           "after a step that failed processes train apart");
  }

  void checkLibraries() {
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const bool isOther = group->rank() == 1;
      Trainer trainer(accc::Model::load(isOther ? other : library), options(group));
      std::string error = errorOf([&] { trainer.step(batch); });
      expect(error.find("do not all run the same library") != std::string::npos,
             "other libraries: " + error);
    });
    std::string error = errorOf(
        [&] { Trainer(accc::Model::load(plain), options(accc::thread_groups(1).front())); });
    expect(error.find("compile it with --data-parallel") != std::string::npos,
           "a group and a library that exchanges nothing: " + error);
  }

  /// Other code adds up in other orders, and the processes would not keep the same bits. So do
  /// libraries with other numbers of threads, where updates need these.
  void checkMachines() {
    auto load = [&](const char *arch) {
      ::setenv("ACCC_ARCH", arch, 1);
      accc::Model model = accc::Model::load(other);
      ::unsetenv("ACCC_ARCH");
      return model;
    };
    const std::array models{load("x86-64-v3"), load("haswell")};
    auto errorFor = [&](const accc::Model &model, std::shared_ptr<accc::Group> group, int threads) {
      accc::TrainerOptions given = options(group);
      given.threads = threads;
      Trainer trainer(model, given);
      return errorOf([&] { trainer.step(batch); });
    };
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const auto &model = models[static_cast<size_t>(group->rank())];
      std::string error = errorFor(model, group, 1);
      expect(error.find(std::string("same kind of machine (here cpu ") + model.code().arch) !=
                 std::string::npos,
             "other code: " + error);
    });
    const bool areByLibraries = models[0].entry("apply_step").num_library_calls > 0;
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      std::string error = errorFor(models[0], group, 1 + group->rank());
      expect((error.find("with oneDNN for ") != std::string::npos) == areByLibraries,
             "other numbers of threads: " + error);
    });
  }

  /// What one sends in train_step is not what another sends in apply_step; nor in update_step,
  /// where it is as large.
  void checkEntries(bool isUpdate) {
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      Trainer trainer(accc::Model::load(library), options(group));
      const TensorMap gradients = gradientsOf(trainer.grad_step(batch));
      const TensorMap before = variables(trainer);
      std::string error = errorOf([&] {
        if (rank)
          trainer.apply_step(gradients).wait();
        else if (isUpdate)
          trainer.update_step().wait();
        else
          trainer.step(batch).wait();
      });
      expect(error.find("run entry points, or sizes of one, that exchange other tensors") !=
                 std::string::npos,
             "other entry points: " + error);
      expect(equal(variables(trainer), before), "a step that does not fit changed something");
      error = errorOf([&] { trainer.step(batch).wait(); });
      expect(error.empty(), "a step that fits, behind one that did not: " + error);
    });
  }

  /// Equal gradients do not keep the same bits where they count otherwise.
  void checkLearningRates() {
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const int rank = group->rank();
      accc::TrainerOptions given = options(group);
      *given.learning_rate *= static_cast<float>(1 + rank);
      Trainer trainer(accc::Model::load(library), given);
      trainer.step(batch);
      expect(trainer.learning_rate() == rate, "the first step is not by the first process's rate");
      trainer.grad_step(batch).wait(); // takes none
      const TensorMap before = variables(trainer);
      if (rank)
        trainer.set_learning_rate(rate / 2);
      std::string error = errorOf([&] { trainer.step(batch).wait(); }, accc::ErrorKind::usage);
      expect(error.starts_with("train_step: the processes of the group update by other learning "
                               "rates (here "),
             "other learning rates: " + error);
      expect(equal(variables(trainer), before), "a step by other rates changed something");
      trainer.session().share_state(); // as the message says
      error = errorOf([&] { trainer.step(batch).wait(); });
      expect(error.empty(), "a step by the same rate, behind one by others: " + error);
    });
  }

  void checkSharing() {
    std::vector<TensorMap> found(2);
    runAll(2, [&](std::shared_ptr<accc::Group> group) {
      const auto rank = static_cast<size_t>(group->rank());
      Trainer trainer(accc::Model::load(library), options(group));
      trainer.step(batch);
      accc::Session &session = trainer.session();
      if (rank == 0) { // as a checkpoint would
        for (auto &[name, tensor] : variables(trainer))
          if (tensor.dtype() == accc::DType::f32)
            trainer.set_parameter(name, Tensor(tensor.dtype(), tensor.shape()));
        session.set_learning_rate(rate / 4);
        session.set_seed(seed + 10);
        session.set_step(100);
      }
      session.share_state();
      expect(session.learning_rate() == rate / 4 && session.seed() == seed + 10 &&
                 session.step() == 100,
             "share_state leaves processes with another learning rate, seed or step");
      trainer.step(batchOf(group->rank()));
      found[rank] = variables(trainer);
    });
    expect(equal(found[0], found[1]), "share_state leaves processes with other bits");
  }

  const std::string library, plain, other;
  const TensorMap batch;
  const float rate;
};

int main(int argc, char **argv) {
  if (argc != 6)
    return 2;
  try {
    Tests(argv).run();
  } catch (const accc::Error &error) {
    std::printf("%s\n", error.what());
    return 1;
  }
  return wrong ? 1 : 0;
}
