// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training program: a model, a trainer, and what was computed so far.
#ifndef ACCC_TEST_COMBINATIONS_PROGRAM_H
#define ACCC_TEST_COMBINATIONS_PROGRAM_H

#include <accc/accc.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What a program is told beside its calls; combination.cpp lists them.
using Settings = std::map<std::string, std::string, std::less<>>;

/// A call, as combination.cpp explains it.
struct Call {
  std::string text, what, step;
  double number = 0;
  std::set<std::string, std::less<>> from, how;
  bool is(std::string_view name) const { return how.contains(name); }
};

class Program {
public:
  Program(const std::string &library, const std::string &inputs, const std::string &out,
          Settings settings);

  /// Throws what the runtime throws, and std::runtime_error where it did not do as it should.
  void run(const Call &call);
  /// All that was computed, by the numbers and names of the calls, and the state.
  accc::TensorMap finish();

private:
  /// A result that is read again, or for the first time, when all is over.
  struct Kept {
    std::string name;
    accc::Result result;
    accc::TensorMap values;
  };

  // What it is made of.
  std::string setting(std::string_view name) const;
  accc::TrainerOptions options() const;
  accc::Trainer begin(const accc::Model &of, const accc::TrainerOptions &with) const;
  void moveWeights();
  std::string nameless(const std::string &variable) const;
  const accc_entry &entryOf(const Call &call, const std::string &kind) const;
  accc::TensorMap batchOf(const Call &call, const std::string &kind, int more = 0) const;

  // What comes before a call and changes nothing (Detours.cpp).
  void prepare(const Call &call, const accc::TensorMap &batch);
  void evaluate(const Call &call);
  void detour(const Call &call);
  void resume();
  void passThrough();
  void rewrite();
  void disturb(const Call &call);

  // A call.
  void share(const Call &call, accc::TensorMap &batch);
  template <typename Work> void elsewhere(const Call &call, Work work);
  accc::Result compute(const Call &call, const accc::TensorMap &batch);
  accc::Result accumulate(const Call &call, const accc::TensorMap &batch);
  void note(const Call &call, const accc::Result &result);
  void readAgain(Kept &kept);

  const Settings settings;
  accc::Model model;
  accc::TensorMap given;
  std::string scratch; // a file
  accc::Trainer trainer;
  std::optional<accc::Trainer> second;
  accc::TensorMap records, last; // `last` shares what the call before gave
  std::vector<Kept> results;
  std::string name; // of the present call
  int count = 0;
};

/// "train_step.d" of the step d.
std::string entryName(const Call &call, const std::string &kind);

#endif
