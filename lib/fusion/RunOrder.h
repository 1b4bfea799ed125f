// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An order in which everything can run, kept while nodes become one.
#ifndef ACCC_FUSION_RUNORDER_H
#define ACCC_FUSION_RUNORDER_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace accc {

/// A directed graph without cycles, in a topological order. Two nodes become one if no way leads
/// from the one to the other over a third. The order limits the search for such ways to what stands
/// between the two, and is mended after each merge (Bender, Fineman, Gilbert, Tarjan, "A new
/// approach to incremental cycle detection and related problems", 2016, has the idea of a search
/// from both ends).
class RunOrder {
public:
  using Node = int32_t;

  /// Adds a node behind all others.
  Node add();
  /// `to` needs `from`, and stands behind it.
  void addEdge(Node from, Node to);

  /// Makes one of two nodes, which both names stand for from then on. False if that would close a
  /// cycle; then nothing changes.
  bool merge(Node a, Node b);

private:
  using Nodes = std::vector<Node>;
  enum Side { kForward, kBackward };

  /// What a search has found from its end.
  struct Search {
    Nodes found;
    size_t next = 0; // the first whose neighbours have not been looked at
    bool isDone() const { return next == found.size(); }
  };

  Node find(Node node);
  bool expand(Search &search, Side side, Node first, Node second);
  void unlink(Node node);
  void link(Node left, Node right, const Nodes &moved);
  void makeRoom(Node left, Node right, int64_t count);

  struct Links {
    llvm::SmallVector<Node, 2> neighbours[2]; // by Side; may name a node more than once
    Node name;                                // another node that stands for this one, or itself
    Node previous = -1, next = -1;
    int64_t label = 0;          // rises along the order
    int64_t seen[2] = {-1, -1}; // the last search from that side that found it
  };
  std::vector<Links> nodes;
  Node first = -1, last = -1;
  int64_t searches = 0;
};

} // namespace accc

#endif
