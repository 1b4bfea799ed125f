// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CORE_SESSIONIMPL_H
#define ACCC_RUNTIME_CORE_SESSIONIMPL_H

#include "EntryState.h"
#include "accc/safetensors.h"

#include <set>

namespace accc {

struct Session::Impl {
  Impl(Model model, const SessionOptions &options);

  detail::EntryState &prepare(const accc_entry &entry);
  /// The entry point that takes these inputs; `problems` are the caller's own, for the error.
  const accc_entry &choose(std::string_view name, const detail::EntryState::Find &find,
                           const std::string &problems) const;
  Result run(std::string_view name, const detail::EntryState::Find &find, std::string problems);
  /// Waits for all runs under way. Throws what went wrong in one, if nobody was told.
  void settle() const;
  /// A line for every name that no entry point of the model takes.
  std::string unknownNames(const TensorMap &inputs) const;

  /// By any name of a tied parameter. Throws Error (usage) where there is none of that name.
  const accc_variable &variable(std::string_view name) const;
  /// The variable in the state block where the host can reach that and it lies there as users see
  /// it, else a copy.
  Tensor view(const accc_variable &variable) const;
  /// Gives it the value, row-major and of its shape and type.
  void write(const accc_variable &variable, const void *value);
  /// Throws Error (usage) where a parameter has no value yet.
  void requireValues() const;

  /// Whether training steps exchange anything with other processes.
  bool trainsTogether() const;
  /// Throws Error (usage) where the session has a group, with which its model exchanges nothing.
  void requireGroupFits() const;
  /// As Session::share_state().
  void shareState();

  /// Parameters and buffers, and where wanted the optimizer's state, in the model's order.
  NamedTensors tensors(bool withOptimizer) const;
  void save(const std::string &path, NamedTensors tensors) const;
  void load(const SafetensorsReader &file, bool withOptimizer, const LoadOptions &options);

  Model model;
  std::shared_ptr<Group> group;            // null: the session trains alone
  bool sharesState = false;                // whether the group began with one state
  detail::CustomOperators customOperators; // that the model calls
  detail::Progress progress;
  std::unique_ptr<detail::Device> device;
  std::vector<std::unique_ptr<detail::EntryState>> entries; // in the order of the model's; or null
  std::set<std::string_view> knownNames; // of inputs and outputs of all entry points
  /// Variables without a value yet, and where their values were looked for.
  std::set<std::string, std::less<>> unset;
  std::string weightsLookedFor;

  bool profiling = false;

private:
  void initialiseState();
  void readWeightsFile();
};

} // namespace accc

#endif // ACCC_RUNTIME_CORE_SESSIONIMPL_H
