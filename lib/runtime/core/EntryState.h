// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session holds for one entry point from its first run on.
#ifndef ACCC_RUNTIME_CORE_ENTRYSTATE_H
#define ACCC_RUNTIME_CORE_ENTRYSTATE_H

#include "Device.h"
#include "accc/session.h"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace accc {

namespace detail {
struct EntryState;
}

/// What a Result shows: one of the runs that an entry point can have under way at once.
struct Result::Access {
  Access(detail::EntryState &owner, size_t slot);

  /// Waits for the run. Throws Error, every time, where it failed.
  void wait();
  /// The same for a caller who does not ask for this run's result: throws once what nobody was
  /// told.
  void settle();
  /// Whether start() of the entry returns before the work is done.
  bool runsAhead() const;
  /// An output, on the host, of a run that was waited for. Throws Error (usage) where it stayed on
  /// the device and a later run has overwritten it there.
  const Tensor &output(size_t index);
  /// The same as an input of another run of the session: on the device, where it still is there.
  detail::Source source(size_t index);

  detail::EntryState &owner;
  size_t slot;
  std::vector<Tensor> outputs; // in the order of the entry's outputs; see output()
  uint64_t number = 0;         // of the run among those of the slot
  bool isUnderWay = false;
  int64_t countedAs = -1;       // the session's step(), where the run counts
  std::optional<Error> failure; // of the run, once it was waited for
  bool isReported = false;      // whether a caller knows of the failure
};

namespace detail {

/// What a session keeps from run to run beside the state.
struct Progress {
  double learningRate;
  int64_t seed, step;
  int rank = 0;      // in the session's group
  double waited = 0; // seconds, for runs under way
};

struct EntryState {
  const accc_entry &entry;
  Progress &progress;
  std::unique_ptr<DeviceEntry> prepared;
  std::vector<Source> inputs;      // of the present run, in the entry's order
  std::vector<Tensor> known;       // one an input: values of those that a session knows itself
  std::deque<Result::Access> runs; // one a slot
  /// By output: slot and number of the run whose value DeviceEntry::fetch() gave last.
  std::map<size_t, std::pair<size_t, uint64_t>> fetched;

  EntryState(const accc_entry &entry, Device &device, Progress &progress);

  /// What the caller gives for an input, if anything.
  using Find = std::function<Source(const char *name)>;
  /// Whether these are the inputs of `entry`: what a session does not know itself is all there, of
  /// its shape and type.
  static bool fits(const accc_entry &entry, const Find &find);
  /// Throws Error (usage) that says of every input what the entries called `name`, none of which
  /// fits, would take; after the caller's own `problems` (lines that start with "\n  ").
  [[noreturn]] static void refuse(std::span<const accc_entry> entries, std::string_view name,
                                  const Find &find, std::string problems);

  /// Fills `inputs`; throws Error (usage) that lists all that is wrong with them, after
  /// the caller's own `problems` (lines that start with "\n  ").
  void bind(const Find &find, std::string problems);
  /// Starts a run with `inputs`. Where as many are under way as can be, it waits for the first of
  /// them, and throws what went wrong in that, if nobody was told, without starting another.
  Result::Access &start();
  /// Waits for all runs. Throws what went wrong in one of them, if nobody was told.
  void settle();

  /// What is wrong with the inputs of the run in a slot, which failed: the first index that is out
  /// of bounds, or nothing.
  std::string findBadIndex(size_t slot) const;

  /// Whether the entry is told how many steps were done.
  bool counts() const;
  /// Whether no run was started after this one, or was to be: one whose start failed may have
  /// written already.
  bool isLast(const Result::Access &run) const;

private:
  size_t next = 0;         // slot
  bool hasStarted = false; // the last run that was to be started
};

} // namespace detail
} // namespace accc

#endif // ACCC_RUNTIME_CORE_ENTRYSTATE_H
