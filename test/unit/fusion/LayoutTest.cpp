// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the layout of convolutions stands on: cuts and orders of dimensions.
#include "layout/CheapestSplit.h"
#include "layout/DimensionOrder.h"

#include <catch2/catch.hpp>

using namespace accc::layout;

namespace {

/// The cost of a combination, by the same costs as were given to the split.
struct Cost {
  size_t yes, no;
  int64_t cost;
};

int64_t costOf(const std::vector<bool> &choice, const std::vector<Cost> &costs) {
  int64_t total = 0;
  for (const Cost &c : costs)
    if (choice[c.yes] && !choice[c.no])
      total += c.cost;
  return total;
}

} // namespace

TEST_CASE("a split is as cheap as the cheapest of all combinations") {
  uint32_t state = 7;
  auto random = [&](uint32_t below) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % below;
  };
  for (int round = 0; round < 200; ++round) {
    CheapestSplit split;
    constexpr size_t kChoices = 7, kNodes = kChoices + 2;
    for (size_t i = 0; i < kChoices; ++i)
      split.add();
    std::vector<Cost> costs;
    for (int i = 0; i < 20; ++i) {
      Cost cost{random(kNodes), random(kNodes), static_cast<int64_t>(random(10))};
      costs.push_back(cost);
      split.costOfYesAndNo(cost.yes, cost.no, cost.cost);
    }
    std::vector<bool> found = split.choose();
    REQUIRE(found.size() == kNodes);
    CHECK(found[split.yes()]);
    CHECK_FALSE(found[split.no()]);
    int64_t best = CheapestSplit::kNever;
    for (uint32_t bits = 0; bits < (1u << kChoices); ++bits) {
      std::vector<bool> choice{true, false};
      for (size_t i = 0; i < kChoices; ++i)
        choice.push_back(bits >> i & 1);
      best = std::min(best, costOf(choice, costs));
    }
    CHECK(costOf(found, costs) == best);
  }
}

TEST_CASE("orders of dimensions go through reshapes by whole groups") {
  CHECK(channelsLast(4) == DimensionOrder{0, 2, 3, 1});
  CHECK(channelsLast(3) == DimensionOrder{0, 2, 1});
  CHECK(inOrder({2, 3, 4, 5}, {0, 2, 3, 1}) == DimensionOrder{2, 4, 5, 3});
  CHECK(sameMemory({2, 3, 1, 1}, {0, 2, 3, 1}, {0, 1, 2, 3}));
  CHECK_FALSE(sameMemory({2, 3, 1, 4}, {0, 2, 3, 1}, {0, 1, 2, 3}));
  // Rows and columns as one dimension, and back.
  CHECK(throughReshape({2, 3, 4, 5}, {2, 3, 20}, {0, 2, 1}) == DimensionOrder{0, 2, 3, 1});
  CHECK(throughReshape({2, 3, 20}, {2, 3, 4, 5}, {0, 2, 3, 1}) == DimensionOrder{0, 2, 1});
  // The two that became one lie apart.
  CHECK_FALSE(throughReshape({2, 12, 5}, {2, 3, 4, 5}, {0, 2, 3, 1}).has_value());
  // Extents of 1 lie anywhere.
  std::optional<DimensionOrder> units = throughReshape({2, 1, 3, 4}, {2, 3, 4, 1}, {0, 2, 1, 3});
  REQUIRE(units.has_value());
  CHECK(sameMemory({2, 1, 3, 4}, *units, {0, 3, 2, 1}));
}
