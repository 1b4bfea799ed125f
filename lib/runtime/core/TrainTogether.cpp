// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the sessions of a group begin: with one model, and one state.
#include "Agreement.h"
#include "SessionImpl.h"
#include "VariableOrder.h"
#include "accc/checksum.h"

#include <algorithm>
#include <cstring>

namespace accc {

namespace {

/// Collects what must be the same in all processes.
class Fingerprint {
public:
  void add(std::string_view text) { bytes.append(text).push_back('\0'); }
  void add(uint64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof number);
  }
  uint64_t get() const {
    Xxh64 hash;
    hash.add(bytes.data(), bytes.size());
    return hash.get();
  }

private:
  std::string bytes;
};

/// Whether libraries take part in updates, and may round otherwise where they run otherwise (Muon
/// multiplies matrices). apply_step and update_step do nothing but exchange and update.
bool updatesByLibraries(const Model &model) {
  return std::ranges::any_of(model.entries(), [](const accc_entry &entry) {
    std::string_view name = entry.name;
    return entry.num_library_calls != 0 &&
           (name.starts_with("apply_step") || name.starts_with("update_step"));
  });
}

/// The code that runs, and on what: from equal gradients all are to compute equal updates, bit for
/// bit.
std::string describeMachine(const Model &model, const detail::Device &device) {
  std::string text = std::string(model.code().target) + " " + model.code().arch,
              rest = device.describe(updatesByLibraries(model));
  return rest.empty() ? text : text + " " + rest;
}

/// Of what is exchanged, and of the variables that are to stay equal.
uint64_t fingerprint(const Model &model, std::string_view machine) {
  Fingerprint print;
  print.add(machine);
  print.add(model.description().manifest);
  for (const accc_variable &variable : model.variables()) {
    print.add(to_string(variable.tensor));
    print.add(variable.tensor.name);
    for (int64_t dimension : detail::orderOf(model.description(), model.code(), variable))
      print.add(static_cast<uint64_t>(dimension));
  }
  for (const accc_entry &entry : model.entries()) {
    print.add(entry.name);
    print.add(entry.sizes);
    print.add(detail::fingerprintOf(entry));
  }
  return print.get();
}

} // namespace

bool Session::Impl::trainsTogether() const {
  return std::ranges::any_of(model.entries(),
                             [](const accc_entry &entry) { return entry.num_collectives != 0; });
}

void Session::Impl::requireGroupFits() const {
  if (group && !trainsTogether())
    throw Error(ErrorKind::usage, model.path() +
                                      ": the session is given a group of processes, with which the "
                                      "library exchanges nothing: compile it with --data-parallel");
}

void Session::Impl::shareState() {
  if (!group || group->size() == 1)
    return;
  const std::string machine = describeMachine(model, *device);
  if (!detail::isSameForAll(*group, fingerprint(model, machine)))
    throw Error(ErrorKind::usage,
                model.path() +
                    ": the processes of the group do not all run the same library, with "
                    "code for the same kind of machine (here " +
                    machine + ")");
  settle();
  const bool isFirst = group->rank() == 0;
  if (!detail::isTrueForAll(*group, !isFirst || unset.empty())) {
    if (isFirst)
      requireValues();
    throw Error(ErrorKind::usage,
                model.path() + ": parameters of the first process of the group have no value yet");
  }
  constexpr uint64_t most = uint64_t(64) << 20;
  std::vector<char> block(std::min(most, device->stateBytes()));
  for (uint64_t begin = 0, end = device->stateBytes(); begin < end; begin += block.size()) {
    const uint64_t bytes = std::min<uint64_t>(block.size(), end - begin);
    device->readState(begin, block.data(), bytes);
    group->broadcast(block.data(), bytes);
    if (!isFirst)
      device->writeState(begin, block.data(), bytes);
  }
  unset.clear();
  // What a checkpoint holds beside the variables: the first process alone may have loaded one.
  group->broadcast(&progress.learningRate, sizeof progress.learningRate);
  group->broadcast(&progress.seed, sizeof progress.seed);
  group->broadcast(&progress.step, sizeof progress.step);
  sharesState = true;
}

} // namespace accc
