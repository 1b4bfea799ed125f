// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a session holds for one entry point from its first run on.
#ifndef ACCC_RUNTIME_CORE_ENTRYSTATE_H
#define ACCC_RUNTIME_CORE_ENTRYSTATE_H

#include "Device.h"
#include "accc/session.h"

#include <functional>
#include <span>
#include <vector>

namespace accc {

/// What a Result shows.
struct Result::Access {
  const accc_entry *entry = nullptr;
  std::vector<Tensor> outputs; // in the order of the entry's outputs
};

namespace detail {

struct EntryState : Result::Access {
  std::vector<const Tensor *> inputs; // of the present run, in the entry's order
  std::vector<Tensor> known;          // one an input: values of those that a session knows itself
  std::unique_ptr<DeviceEntry> prepared;

  EntryState(const accc_entry &entry, Device &device);

  /// The caller's tensor for an input, or nullptr.
  using Find = std::function<const Tensor *(const char *name)>;
  /// Whether these are the inputs of `entry`: what a session does not know itself is all there, of
  /// its shape and type.
  static bool fits(const accc_entry &entry, const Find &find);
  /// Throws Error (usage) that says of every input what the entries called `name`, none of which
  /// fits, would take; after the caller's own `problems` (lines that start with "\n  ").
  [[noreturn]] static void refuse(std::span<const accc_entry> entries, std::string_view name,
                                  const Find &find, std::string problems);

  /// Values of the inputs that a session knows itself.
  struct Defaults {
    float learningRate;
    int64_t seed, step;
  };
  /// Fills `inputs`; throws Error (usage) that lists all that is wrong with them, after
  /// the caller's own `problems` (lines that start with "\n  ").
  void bind(const Find &find, const Defaults &defaults, std::string problems);

  /// Whether the entry is told how many steps were done.
  bool counts() const;
};

} // namespace detail
} // namespace accc

#endif // ACCC_RUNTIME_CORE_ENTRYSTATE_H
