// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many yes-or-no choices at once, where some pairs had better be made alike: a minimum cut.
#ifndef ACCC_LAYOUT_CHEAPESTSPLIT_H
#define ACCC_LAYOUT_CHEAPESTSPLIT_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace accc::layout {

/// Choices with costs, all of them at least 0. Choose once, when all costs are known.
class CheapestSplit {
public:
  using Choice = size_t;
  static constexpr int64_t kNever = int64_t(1) << 50;

  CheapestSplit();

  Choice add();
  /// A decision that is fixed: its side of the minimum cut.
  Choice yes() const { return 0; }
  Choice no() const { return 1; }

  /// What it costs to say yes to `a` and no to `b`.
  void costOfYesAndNo(Choice a, Choice b, int64_t cost);

  /// For every choice, whether it is yes in the cheapest of all combinations; of several, the one
  /// with the fewest yes.
  std::vector<bool> choose();

private:
  struct Edge {
    size_t to;
    int64_t capacity;
  };
  void addEdge(size_t from, size_t to, int64_t capacity);
  bool findDistances();
  int64_t push(size_t node, int64_t amount);

  std::vector<Edge> edges; // edge e and its reverse e ^ 1
  std::vector<std::vector<size_t>> outgoing;
  std::vector<size_t> distance, next;
};

} // namespace accc::layout

#endif
