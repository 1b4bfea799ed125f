// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/RunOrder.h"

#include "support/CompileLog.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;

/// Between the labels of neighbours to begin with, and at least after labels were given anew.
static constexpr int64_t kGap = int64_t(1) << 32, kLeastGap = int64_t(1) << 12;

RunOrder::Node RunOrder::add() {
  auto node = static_cast<Node>(nodes.size());
  Links &links = nodes.emplace_back();
  links.name = node;
  links.previous = last;
  links.label = last < 0 ? 0 : nodes[last].label + kGap;
  (last < 0 ? first : nodes[last].next) = node;
  last = node;
  return node;
}

void RunOrder::addEdge(Node from, Node to) {
  nodes[from].neighbours[kForward].push_back(to);
  nodes[to].neighbours[kBackward].push_back(from);
}

RunOrder::Node RunOrder::find(Node node) {
  while (nodes[node].name != node)
    node = nodes[node].name = nodes[nodes[node].name].name;
  return node;
}

/// Looks at the neighbours of the next node that a search has found. True if there is a way from
/// `low` to `high` over a third node.
bool RunOrder::expand(Search &search, Side side, Node low, Node high) {
  Node start = side == kForward ? low : high, goal = side == kForward ? high : low;
  Node at = search.found[search.next++];
  count(Counter::fusion_order_visits);
  for (Node &node : nodes[at].neighbours[side]) {
    node = find(node);
    Links &links = nodes[node];
    if (node == goal && at != start)
      return true;
    if (node == goal || node == start || links.label <= nodes[low].label ||
        links.label >= nodes[high].label || links.seen[side] == searches)
      continue;
    if (links.seen[1 - side] == searches)
      return true;
    links.seen[side] = searches;
    search.found.push_back(node);
  }
  return false;
}

bool RunOrder::merge(Node a, Node b) {
  Node low = find(a), high = find(b);
  if (low == high)
    return true;
  if (nodes[low].label > nodes[high].label)
    std::swap(low, high);
  // What needs `low` and what `high` needs, of the nodes between them, step by step: whichever is
  // complete first tells that there is no way between the two.
  ++searches;
  Search needing{{low}}, needed{{high}};
  while (!needing.isDone() && !needed.isDone())
    if (expand(needing, kForward, low, high) || expand(needed, kBackward, low, high))
      return false;

  bool forward = needing.isDone();
  Node stays = forward ? high : low, goes = forward ? low : high;
  Nodes &moved = forward ? needing.found : needed.found;
  moved.erase(moved.begin()); // where the search began
  llvm::sort(moved, [&](Node x, Node y) { return nodes[x].label < nodes[y].label; });
  for (Node node : moved)
    unlink(node);
  if (forward)
    link(high, nodes[high].next, moved);
  else
    link(nodes[low].previous, low, moved);
  unlink(goes);
  nodes[goes].name = stays;
  for (Side side : {kForward, kBackward}) {
    auto &all = nodes[stays].neighbours[side], &more = nodes[goes].neighbours[side];
    if (all.size() < more.size())
      std::swap(all, more);
    all.append(more.begin(), more.end());
    more.clear();
  }
  return true;
}

void RunOrder::unlink(Node node) {
  Links &links = nodes[node];
  (links.previous < 0 ? first : nodes[links.previous].next) = links.next;
  (links.next < 0 ? last : nodes[links.next].previous) = links.previous;
}

/// Puts nodes between two neighbours, of which one may be -1: an end of the order.
void RunOrder::link(Node left, Node right, const Nodes &moved) {
  if (moved.empty())
    return;
  auto count = static_cast<int64_t>(moved.size());
  makeRoom(left, right, count);
  bool atEnd = left < 0 || right < 0;
  int64_t gap = atEnd ? kGap : (nodes[right].label - nodes[left].label) / (count + 1);
  int64_t label = left < 0 ? nodes[right].label - gap * (count + 1) : nodes[left].label;
  for (Node node : moved) {
    Links &links = nodes[node];
    links.label = label += gap;
    links.previous = left;
    (left < 0 ? first : nodes[left].next) = node;
    left = node;
  }
  nodes[left].next = right;
  (right < 0 ? last : nodes[right].previous) = left;
}

/// Relabels the neighbourhood of two adjacent nodes whose labels leave no gap for `count` more: as
/// few nodes as have gaps enough together.
void RunOrder::makeRoom(Node left, Node right, int64_t count) {
  Node low = left, high = right;
  int64_t slots = count + 1; // between the two
  auto gap = [&] {
    return low < 0 || high < 0 ? kGap : (nodes[high].label - nodes[low].label) / slots;
  };
  if (gap() > 0)
    return;
  for (int64_t steps = 1; gap() < kLeastGap; steps *= 2)
    for (int64_t i = 0; i < steps && low >= 0 && high >= 0; ++i, slots += 2) {
      low = nodes[low].previous;
      high = nodes[high].next;
    }
  int64_t step = gap();
  int64_t label = low >= 0 ? nodes[low].label : high >= 0 ? nodes[high].label - step * slots : 0;
  for (Node at = low < 0 ? first : nodes[low].next; at != high; at = nodes[at].next) {
    nodes[at].label = label += step;
    if (at == left)
      label += step * count;
  }
}
