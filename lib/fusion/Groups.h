// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The groups of ops that become kernels, and what may be one.
#ifndef ACCC_FUSION_GROUPS_H
#define ACCC_FUSION_GROUPS_H

#include "fusion/Fuse.h"
#include "fusion/RunOrder.h"
#include "ir/prim/Prim.h"
#include "target/Target.h"

#include "llvm/ADT/SetVector.h"

#include <vector>

namespace accc {

namespace prim {
struct KernelReductions;
}

/// How an op of a function takes part in fusion.
enum class Part {
  Library, // runs alone: a contraction, what is a kernel already; or a barrier
  Alias,   // between kernels a place in memory (a reshape, a slice): no code; free inside a kernel
  Free,    // constants, iota, broadcasts: computed again in every kernel that reads them
  Member   // belongs to exactly one group
};

/// Partitions the ops of one block, each of which has a user.
class Groups {
public:
  Groups(mlir::Block &block, const Target &target);

  Part partOf(mlir::Operation *op) const;
  /// Belongs to no group: every kernel that reads it computes it, or sees through it.
  bool comesAlong(mlir::Operation *op) const {
    Part part = partOf(op);
    return part == Part::Free || part == Part::Alias;
  }
  /// -1 for ops that are not members.
  int64_t groupOf(mlir::Operation *op) const;
  const llvm::SmallVector<mlir::Operation *> &members(int64_t group) const {
    return groups[group].ops;
  }
  /// Computed behind an optimization barrier: part of the optimizer.
  bool isOptimizer(int64_t group) const { return groups[group].isOptimizer; }
  int64_t size() const { return static_cast<int64_t>(groups.size()); }
  /// Whether `a` stands before `b`, in constant time (the block numbers its ops anew after each
  /// change). A copy stands where its original does.
  bool isBefore(mlir::Operation *a, mlir::Operation *b) const {
    return position.lookup(a) < position.lookup(b);
  }

  /// Groups that read a value of `group`, directly or through free ops, in program order.
  llvm::SmallVector<int64_t> readers(int64_t group) const;

  /// Makes `a` and `b` one if they may be; says why not otherwise.
  FusionDecision merge(int64_t a, int64_t b);

  /// Makes all groups one if they may be: nothing may run between them.
  FusionDecision mergeAll();

  /// Whether a group as it is may be one kernel.
  FusionDecision check(int64_t group) const { return mayBeOne(groups[group].ops); }
  /// Puts `op`, a copy of `original` that stands behind it, into a group, or none (-1) if it comes
  /// along. It takes part as the original does, whoever else still reads what it reads. After the
  /// last merge only, as is the next.
  void add(mlir::Operation *op, mlir::Operation *original, int64_t group);
  void remove(mlir::Operation *op);
  /// Before `op` is erased: another may get its address.
  void forget(mlir::Operation *op);

  /// Values of a set of ops that are used outside of it.
  llvm::SmallVector<mlir::Value> outputs(llvm::ArrayRef<mlir::Operation *> ops) const;

  /// Visits what really reads the value: looks through free ops and reshapes.
  void forEachUser(mlir::Value value, llvm::function_ref<void(mlir::Operation *)> visit) const;
  /// Whether something that really reads the value is such; looks no further than the first.
  bool anyUser(mlir::Value value, llvm::function_ref<bool(mlir::Operation *)> isSuch) const;

private:
  struct Group {
    llvm::SmallVector<mlir::Operation *> ops; // in program order; empty once merged into another
    RunOrder::Node node;
    bool isOptimizer;
    mlir::Attribute chunk; // see fusion/Chunk.h
  };
  Part findPart(mlir::Operation *op) const;
  bool isWholeInMemory(mlir::Value value) const;
  /// What no kernel computes, and what reads its operands from memory.
  bool standsAlone(mlir::Operation *op) const;
  bool sortsIn(mlir::Value result) const;
  bool mayHaveColumns(const prim::KernelReductions &reductions) const;
  bool isWorthAKernel(mlir::Value value) const;
  bool computesForRuns(llvm::ArrayRef<mlir::Operation *> ops) const;
  FusionDecision mayBeOne(llvm::ArrayRef<mlir::Operation *> ops) const;

  const Target &target;

  llvm::DenseMap<mlir::Operation *, Part> parts;
  llvm::DenseMap<mlir::Operation *, int64_t> position, group;
  std::vector<Group> groups;
  RunOrder order; // of what runs: groups and single library calls
};

} // namespace accc

#endif
