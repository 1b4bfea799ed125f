// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Agreement.h"

#include "Scalar.h"
#include "accc/checksum.h"
#include "accc/error.h"

#include <array>
#include <bit>
#include <span>
#include <string_view>

namespace accc::detail {

bool isTrueForAll(Group &group, bool isTrue) {
  int64_t others = isTrue ? 0 : 1;
  group.sum(&others, 1, DType::i64);
  return others == 0;
}

/// Of each number whether all processes have it.
template <size_t Count>
static std::array<bool, Count> areSameForAll(Group &group, std::array<uint64_t, Count> numbers) {
  std::array<uint64_t, Count> first = numbers;
  group.broadcast(first.data(), sizeof first);
  std::array<int64_t, Count> others;
  for (size_t i = 0; i < Count; ++i)
    others[i] = first[i] != numbers[i];
  group.sum(others.data(), Count, DType::i64);
  std::array<bool, Count> same;
  for (size_t i = 0; i < Count; ++i)
    same[i] = others[i] == 0;
  return same;
}

bool isSameForAll(Group &group, uint64_t number) {
  return areSameForAll(group, std::array{number}).front();
}

uint64_t fingerprintOf(const accc_entry &entry) {
  const std::string_view name = entry.name; // equal steps of a GAN train other parameters
  Xxh64 ofName;
  ofName.add(name.data(), name.size());
  std::vector<uint64_t> numbers{ofName.get()};
  for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
    if (step.kind != ACCC_STEP_COLLECTIVE)
      continue;
    numbers.push_back(static_cast<uint64_t>(entry.collectives[step.index].kind));
    numbers.push_back(static_cast<uint64_t>(entry.collectives[step.index].dtype));
    for (int32_t i = 0; i < step.num_buffers / 2; ++i)
      numbers.push_back(entry.buffers[step.first_buffer + i].bytes);
  }
  Xxh64 hash;
  hash.add(numbers.data(), numbers.size() * sizeof(uint64_t));
  return hash.get();
}

double learningRateOf(const accc_entry &entry, const std::vector<Source> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (entry.inputs[i].usage == ACCC_LEARNING_RATE && !inputs[i].entry)
      return floatOf(*inputs[i].tensor);
  return 0;
}

void requireSameForAll(Group &group, const accc_entry &entry, uint64_t fingerprint,
                       double learningRate) {
  const std::array numbers{fingerprint, std::bit_cast<uint64_t>(learningRate)};
  const auto [isSameEntry, isSameRate] = areSameForAll(group, numbers);
  if (!isSameEntry)
    throw Error(ErrorKind::usage, std::string(entry.name) +
                                      ": the processes of the group run entry points, or sizes of "
                                      "one, that exchange other tensors");
  if (isSameRate)
    return;
  const auto narrow = static_cast<float>(learningRate); // that of most entries is one
  throw Error(ErrorKind::usage,
              std::string(entry.name) +
                  ": the processes of the group update by other learning rates "
                  "(here " +
                  (narrow == learningRate ? shortest(narrow) : shortest(learningRate)) +
                  "): set the same in all, or share_state() gives them that of "
                  "the first process");
}

} // namespace accc::detail
