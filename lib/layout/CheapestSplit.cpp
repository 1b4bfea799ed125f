// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The maximum flow from yes to no by Dinic's algorithm: blocking flows along shortest ways.
#include "layout/CheapestSplit.h"

#include <algorithm>
#include <queue>

using namespace accc::layout;

static constexpr size_t kUnreached = ~size_t(0);

CheapestSplit::CheapestSplit() : outgoing(2) {}

CheapestSplit::Choice CheapestSplit::add() {
  outgoing.emplace_back();
  return outgoing.size() - 1;
}

void CheapestSplit::addEdge(size_t from, size_t to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
}

void CheapestSplit::costOfYesAndNo(Choice a, Choice b, int64_t cost) {
  if (a == b || a == no() || b == yes() || cost <= 0)
    return; // cannot happen, or costs nothing
  addEdge(a, b, cost);
  addEdge(b, a, 0);
}

/// How far from yes every node is, by edges that have capacity left; false if no cannot be reached.
bool CheapestSplit::findDistances() {
  distance.assign(outgoing.size(), kUnreached);
  distance[yes()] = 0;
  std::queue<size_t> pending({yes()});
  for (; !pending.empty(); pending.pop())
    for (size_t e : outgoing[pending.front()])
      if (edges[e].capacity > 0 && distance[edges[e].to] == kUnreached) {
        distance[edges[e].to] = distance[pending.front()] + 1;
        pending.push(edges[e].to);
      }
  return distance[no()] != kUnreached;
}

/// Sends up to `amount` from `node` to no along one shortest way; gives what arrived. Ways are
/// followed on a stack of our own, as they may be as long as a model is deep.
int64_t CheapestSplit::push(size_t node, int64_t amount) {
  std::vector<size_t> way;
  while (node != no()) {
    if (next[node] == outgoing[node].size()) { // a dead end
      if (way.empty())
        return 0;
      node = edges[way.back() ^ 1].to;
      way.pop_back();
      ++next[node];
      continue;
    }
    size_t e = outgoing[node][next[node]];
    if (edges[e].capacity > 0 && distance[edges[e].to] == distance[node] + 1) {
      way.push_back(e);
      node = edges[e].to;
    } else {
      ++next[node];
    }
  }
  for (size_t e : way)
    amount = std::min(amount, edges[e].capacity);
  for (size_t e : way) {
    edges[e].capacity -= amount;
    edges[e ^ 1].capacity += amount;
  }
  return amount;
}

std::vector<bool> CheapestSplit::choose() {
  while (findDistances()) {
    next.assign(outgoing.size(), 0);
    while (push(yes(), kNever) > 0)
      ;
  }
  std::vector<bool> result;
  for (size_t d : distance)
    result.push_back(d != kUnreached);
  return result;
}
