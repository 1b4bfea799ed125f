// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The verifier's memory against one that remembers every byte.
#include "schedule/verify/Contents.h"

#include <catch2/catch.hpp>

#include <random>
#include <vector>

using namespace accc;

TEST_CASE("contents: every byte holds what was written there last") {
  std::mt19937 random(7);
  auto upTo = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  constexpr int64_t kBytes = 48;
  for (int round = 0; round < 200; ++round) {
    Contents contents;
    struct Byte {
      int64_t value = -1, part = 0;
    };
    std::vector<Byte> bytes(kBytes);
    for (int step = 0; step < 40; ++step) {
      int64_t begin = upTo(kBytes), end = begin + upTo(kBytes - begin + 1);
      // Few values and parts, so that what is looked for is often there.
      int64_t value = upTo(3), part = begin - upTo(2) * 4;
      int64_t other = -1;
      auto found = contents.find({begin, end}, value, part, other);
      auto expected = Contents::Finding::Holds;
      for (int64_t at = begin; at < end && expected == Contents::Finding::Holds; ++at) {
        const Byte &byte = bytes[static_cast<size_t>(at)];
        if (byte.value < 0)
          expected = Contents::Finding::Unwritten;
        else if (byte.value != value || byte.part != part + (at - begin))
          expected = Contents::Finding::HoldsAnother;
        if (expected == Contents::Finding::HoldsAnother)
          CHECK(other == byte.value);
      }
      CHECK(found == expected);
      if (upTo(2)) {
        contents.write({begin, end}, value, part);
        for (int64_t at = begin; at < end; ++at)
          bytes[static_cast<size_t>(at)] = {value, part + (at - begin)};
      }
    }
  }
}
