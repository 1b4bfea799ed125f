// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/RunOrder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

using namespace accc;

namespace {

/// The same by looking everywhere: groups of nodes by name, and whether a way leads over a third.
class Slow {
public:
  explicit Slow(int count) {
    for (int i = 0; i < count; ++i)
      names.push_back(i);
  }

  void addEdge(int from, int to) { edges.insert({from, to}); }

  bool merge(int a, int b) {
    a = names[a], b = names[b];
    if (a == b)
      return true;
    if (leadsOverAThird(a, b) || leadsOverAThird(b, a))
      return false;
    std::replace(names.begin(), names.end(), a, b);
    return true;
  }

private:
  bool leadsOverAThird(int from, int to) const {
    std::set<int> seen{from};
    std::vector<int> pending{from};
    while (!pending.empty()) {
      int at = pending.back();
      pending.pop_back();
      for (auto [x, y] : edges) {
        int source = names[x], target = names[y];
        if (source != at || target == at)
          continue;
        if (target == to) {
          if (at != from)
            return true;
        } else if (seen.insert(target).second) {
          pending.push_back(target);
        }
      }
    }
    return false;
  }

  std::vector<int> names;
  std::set<std::pair<int, int>> edges;
};

} // namespace

TEST_CASE("a way over a third node keeps two apart") {
  RunOrder order;
  RunOrder::Node a = order.add(), b = order.add(), c = order.add();
  order.addEdge(a, b);
  order.addEdge(b, c);
  order.addEdge(a, c);
  CHECK(!order.merge(a, c));
  CHECK(!order.merge(c, a));
  CHECK(order.merge(b, a));
  CHECK(order.merge(a, c)); // b is part of it now
  CHECK(order.merge(b, c));
}

TEST_CASE("merges are what a search through everything allows") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    int count = 4 + static_cast<int>(random() % 20);
    auto any = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
    RunOrder order;
    Slow slow(count);
    for (int i = 0; i < count; ++i)
      order.add();
    for (int i = 0, edges = count * (1 + any(3)); i < edges; ++i) {
      int from = any(count - 1), to = from + 1 + any(count - from - 1);
      order.addEdge(from, to);
      slow.addEdge(from, to);
    }
    for (int i = 0; i < 6 * count; ++i) {
      int a = any(count), b = any(count);
      INFO("seed " << seed << ", merge " << i << " of " << a << " and " << b);
      REQUIRE(order.merge(a, b) == slow.merge(a, b));
    }
  }
}

// Every merge puts the same nodes before one: where labels run out they are given anew.
TEST_CASE("an order has room for any number of moves to one place") {
  RunOrder order;
  std::vector<RunOrder::Node> first, between, second;
  RunOrder::Node last = order.add();
  for (int i = 0; i < 300; ++i) {
    first.push_back(order.add());
    between.push_back(order.add());
    second.push_back(order.add());
    order.addEdge(between.back(), second.back());
    order.addEdge(last, between.back());
    order.addEdge(first.back(), second.back());
    last = between.back();
  }
  for (size_t i = 1; i < first.size(); ++i) {
    REQUIRE(order.merge(first[0], first[i]));
    REQUIRE(order.merge(second[0], second[i]));
  }
  CHECK(!order.merge(between[0], second[0]));
  CHECK(order.merge(between.back(), second[0]));
}
