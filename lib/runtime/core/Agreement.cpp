// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Agreement.h"

#include "accc/checksum.h"
#include "accc/error.h"

#include <span>
#include <vector>

namespace accc::detail {

bool isTrueForAll(Group &group, bool isTrue) {
  int64_t others = isTrue ? 0 : 1;
  group.sum(&others, 1, DType::i64);
  return others == 0;
}

bool isSameForAll(Group &group, uint64_t number) {
  uint64_t first = number;
  group.broadcast(&first, sizeof first);
  return isTrueForAll(group, first == number);
}

uint64_t fingerprintOf(const accc_entry &entry) {
  std::vector<uint64_t> numbers;
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

void requireSameForAll(Group &group, const accc_entry &entry, uint64_t fingerprint) {
  if (!isSameForAll(group, fingerprint))
    throw Error(ErrorKind::usage, std::string(entry.name) +
                                      ": the processes of the group run entry points, or sizes of "
                                      "one, that exchange other tensors");
}

} // namespace accc::detail
