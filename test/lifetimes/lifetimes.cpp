// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program holds after much use of the runtime: resident memory, open files, mapped libraries
// and threads must not grow, and numbers must not depend on what else is done.
//
//   lifetimes LIB.so BATCH.safetensors SCRATCH SCALE
//
// SCALE 1 is 20,000 steps; a stand-in for a GPU takes less. Memory is not measured below 0.1.
#include <accc/accc.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using accc::Model;
using accc::Tensor;
using accc::TensorMap;
using accc::Trainer;
namespace fs = std::filesystem;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ACCC_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ACCC_SANITIZED 1
#endif
#endif
#ifdef ACCC_SANITIZED
constexpr bool kMeasuresMemory = false; // a sanitizer keeps what was freed
#else
constexpr bool kMeasuresMemory = true;
#endif

static int failures = 0;

static void check(bool holds, const std::string &what) {
  if (holds)
    return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

// ---- What the process holds ----

struct Held {
  long kilobytes = 0, files = 0, mappings = 0, threads = 0;
};

static Held measure(const std::string &library) {
  Held held;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:"))
      held.kilobytes = std::atol(line.c_str() + 6);
    if (line.starts_with("Threads:"))
      held.threads = std::atol(line.c_str() + 8);
  }
  held.files = std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    held.mappings += line.find(fs::path(library).filename()) != std::string::npos;
  return held;
}

namespace {
/// The program's arguments.
struct Stress {
  std::string library, scratch;
  TensorMap batch;
  double scale;

  int times(int count) const { return std::max(1, static_cast<int>(count * scale)); }

  /// Does `work` some times to warm up and then `count` times: what it holds must stay. Memory is
  /// measured in rounds, of which a leak grows in each: an allocator may take more for threads that
  /// come and go, in one round or another.
  void repeat(const char *what, int count, const std::function<void(int)> &work) const {
    constexpr int kRounds = 4;
    const int measured = times(count), warm = std::max(1, measured / 5);
    int done = 0;
    auto workUpTo = [&](int end) {
      for (; done < end; ++done)
        work(done);
    };
    workUpTo(warm);
    const Held before = measure(library);
    Held after = before;
    long growth = std::numeric_limits<long>::max();
    for (int round = 1; round <= kRounds; ++round) {
      const long kilobytes = after.kilobytes;
      workUpTo(warm + measured * round / kRounds);
      after = measure(library);
      growth = std::min(growth, kRounds * (after.kilobytes - kilobytes));
    }
    std::printf("%-40s %6d times: %+5ld KiB of %ld, files %ld, mappings %ld, threads %ld\n", what,
                measured, growth, after.kilobytes, after.files, after.mappings, after.threads);
    check(!kMeasuresMemory || scale < 0.1 || growth < 1024, std::string(what) + ": memory grows");
    check(after.files == before.files, std::string(what) + ": files stay open");
    check(after.mappings == before.mappings, std::string(what) + ": libraries stay mapped");
    check(after.threads == before.threads, std::string(what) + ": threads stay");
  }
};
} // namespace

static accc::TrainerOptions options(int threads = 0) {
  return {.learning_rate = 0.01f, .seed = 7, .threads = threads};
}

static std::vector<float> losses(Trainer &trainer, const TensorMap &batch, int steps) {
  std::vector<float> found;
  for (int i = 0; i < steps; ++i)
    found.push_back(trainer.step(batch).loss());
  return found;
}

// ---- The ways to use it ----

static void steps(const Stress &stress) {
  Trainer trainer(Model::load(stress.library), options());
  stress.repeat("steps", 20'000, [&](int) { trainer.step(stress.batch).wait(); });
  stress.repeat("evaluations", 2'000, [&](int) { trainer.eval(stress.batch).wait(); });
  stress.repeat("steps in two", 2'000,
                [&](int) { trainer.apply_step(trainer.grad_step(stress.batch)).wait(); });
}

static void loads(const Stress &stress) {
  stress.repeat("loads of the library", 500, [&](int) {
    Trainer trainer(Model::load(stress.library), options());
    trainer.step(stress.batch).wait();
  });
  stress.repeat("loads without a step", 500, [&](int) { (void)Model::load(stress.library); });
}

/// Each by a thread of its own, which ends.
static void threads(const Stress &stress) {
  const int count = stress.times(50);
  Trainer alone(Model::load(stress.library), options(1));
  const std::vector<float> expected = losses(alone, stress.batch, count);
  std::atomic<int> wrong = 0;
  stress.repeat("trainers in eight threads", 12, [&](int) {
    std::vector<std::thread> team;
    for (int i = 0; i < 8; ++i)
      team.emplace_back([&] {
        Trainer trainer(Model::load(stress.library), options(1));
        wrong += losses(trainer, stress.batch, count) != expected;
      });
    for (std::thread &thread : team)
      thread.join();
  });
  check(wrong == 0, "trainers in threads disturb each other");
}

/// While a trainer steps, others come and go.
static void comings(const Stress &stress) {
  Model model = Model::load(stress.library);
  const int count = stress.times(2'000);
  Trainer alone(model, options(1));
  const std::vector<float> expected = losses(alone, stress.batch, count);
  std::atomic<bool> done = false;
  std::thread others([&] {
    while (!done) {
      Trainer trainer(Model::load(stress.library), options(1));
      trainer.step(stress.batch).wait();
    }
  });
  Trainer trainer(model, options(1));
  check(losses(trainer, stress.batch, count) == expected, "others disturb a trainer");
  done = true;
  others.join();
}

static void files(const Stress &stress) {
  Trainer trainer(Model::load(stress.library), options()),
      straight(Model::load(stress.library), options());
  const std::string state = stress.scratch + "/checkpoint", weights = stress.scratch + "/weights";
  bool same = true;
  stress.repeat("checkpoints and weights", 300, [&](int) {
    trainer.save_checkpoint(state);
    trainer.save(weights);
    trainer.step(stress.batch).wait();
    trainer.load(weights);
    trainer.load_checkpoint(state);
    same &= trainer.step(stress.batch).loss() == straight.step(stress.batch).loss();
  });
  check(same, "a trainer that was loaded goes on otherwise");
}

/// Copies of what trainers gave, and results that are not read any more, when these are gone.
static void results(const Stress &stress) {
  std::optional<accc::Result> kept;
  Tensor copy;
  bool same = true;
  stress.repeat("results past their trainer", 300, [&](int i) {
    Trainer trainer(Model::load(stress.library), options());
    kept = trainer.grad_step(stress.batch);
    Tensor loss = (*kept)["loss"].clone();
    if (i > 0)
      same &= std::memcmp(loss.raw(), copy.raw(), loss.size_bytes()) == 0;
    copy = loss;
  });
  check(same, "a copy of a result changes");
}

/// Whatever is wrong with a batch, the next step is as if it had not been.
static void errors(const Stress &stress) {
  Trainer trainer(Model::load(stress.library), options()),
      straight(Model::load(stress.library), options());
  TensorMap missing = stress.batch, shaped = stress.batch, labelled = stress.batch;
  missing.erase(missing.begin());
  shaped.begin()->second = Tensor(accc::DType::f32, {3, 5});
  Tensor &target = labelled.at("target");
  target = target.clone();
  std::fill_n(target.data<int64_t>().begin(), target.size(), int64_t(1) << 40);
  int thrown = 0, count = 0;
  bool same = true;
  stress.repeat("steps that throw", 10'000, [&](int i) {
    const TensorMap *wrong[] = {&missing, &shaped, &labelled};
    ++count;
    try {
      trainer.step(*wrong[i % 3]).wait();
    } catch (const accc::Error &) {
      ++thrown;
    }
    if (i % 100 == 0)
      same &= trainer.step(stress.batch).loss() == straight.step(stress.batch).loss();
  });
  check(thrown == count, "a wrong batch is taken");
  check(same, "a wrong batch changes the steps after it");
  stress.repeat("files that cannot be read", 1'000, [&](int) {
    for (const char *path : {"/nowhere/x", "/proc/self/exe", "/proc/self"}) {
      try {
        trainer.load(path);
        check(false, "a file that is none is loaded");
      } catch (const accc::Error &) {
      }
      try {
        (void)Model::load(path);
        check(false, "a library that is none is loaded");
      } catch (const accc::Error &) {
      }
    }
  });
}

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Stress stress{argv[1], argv[3], accc::load_safetensors(argv[2]), std::atof(argv[4])};
  for (auto way : {steps, loads, threads, comings, files, results, errors})
    way(stress);
  std::printf("%d failures\n", failures);
  return failures != 0;
}
