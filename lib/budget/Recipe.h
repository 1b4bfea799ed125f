// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a value is computed again.
#ifndef ACCC_BUDGET_RECIPE_H
#define ACCC_BUDGET_RECIPE_H

#include "budget/Costs.h"
#include "budget/Lifetimes.h"
#include "budget/SameBits.h"
#include "ir/prim/Prim.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <vector>

namespace accc {

/// What was computed again: versions of values, all of which stand for each other.
class Copies {
public:
  /// `sameBits`: the copy is the value to the last bit.
  void add(mlir::Value value, mlir::Value copy, bool sameBits) {
    auto [it, isNew] = numbers.try_emplace(value, all.size());
    size_t number = it->second;
    if (isNew)
      all.push_back({{value}, 0});
    all[number].there.push_back(copy);
    ++all[number].copied;
    numbers[copy] = number;
    if (!sameBits)
      roundedOtherwise.insert(copy);
  }
  /// The value and its versions that are still in the function, in no order.
  llvm::SmallVector<mlir::Value> versionsOf(mlir::Value value) const {
    auto it = numbers.find(value);
    return it == numbers.end() ? llvm::SmallVector<mlir::Value>{value} : all[it->second].there;
  }
  /// How often a version of the value was computed again.
  size_t timesCopied(mlir::Value value) const {
    auto it = numbers.find(value);
    return it == numbers.end() ? 0 : all[it->second].copied;
  }
  /// The value is about to be erased: another may lie at its address.
  void forget(mlir::Value value) {
    if (auto it = numbers.find(value); it != numbers.end()) {
      llvm::erase(all[it->second].there, value);
      numbers.erase(it);
    }
    roundedOtherwise.erase(value);
  }
  /// Whether the version may differ in the last bits from what it stands for.
  bool isRoundedOtherwise(mlir::Value version) const { return roundedOtherwise.contains(version); }

private:
  struct Versions {
    llvm::SmallVector<mlir::Value> there;
    size_t copied;
  };
  std::vector<Versions> all;
  llvm::DenseMap<mlir::Value, size_t> numbers; // in `all`
  llvm::DenseSet<mlir::Value> roundedOtherwise;
};

/// The steps to be copied before step `at`, so that it and later ones can do without a value.
class Recipe {
public:
  /// Nothing if the value cannot be had there from what is in memory, kept variables and inputs, or
  /// not with the bits that are wanted.
  static std::optional<Recipe> find(mlir::Value value, int64_t at, const Lifetimes &lifetimes,
                                    const Copies &copies, const SameBits &sameBits);

  /// What it costs, in bytes (Target.h); with `expectsJoins` as if kernels became part of others
  /// that read the same.
  double cost(const Costs &costs, bool expectsJoins) const;
  /// More bytes than now are live at step `at`, beside the value itself.
  int64_t extraBytes() const { return extra; }
  /// Small values that have to be kept longer than now: until step `at`.
  llvm::ArrayRef<mlir::Value> longer() const { return extended.getArrayRef(); }

  /// Copies the steps and makes all from step `at` on read the copy. `lifetimes` is of no use then.
  void apply(const Lifetimes &lifetimes, Copies &copies) const;

private:
  /// A step that is copied for one of its results.
  struct Again {
    mlir::OpResult result;
    /// Of a fusion: the ops of its body that are needed, in order, and values of the body that are
    /// read from memory, where the fusion's result of the same number lies.
    llvm::SetVector<mlir::Operation *> body;
    llvm::MapVector<mlir::Value, mlir::Value> read;
  };

  Recipe(mlir::Value value, int64_t at, const Lifetimes &lifetimes, const Copies &copies,
         const SameBits &sameBits)
      : value(value), at(at), lifetimes(lifetimes), copies(copies),
        wantsSameBits(sameBits.areWanted(value, lifetimes.getOrder().steps[at])) {}

  bool isReadByKernel(mlir::Value outside) const;
  bool need(mlir::Value storage, int depth);
  bool computeAgain(mlir::Value storage, int depth);
  bool slice(prim::FusionOp fusion, Again &again, int depth);
  bool take(mlir::Value storage, mlir::Value version);
  mlir::Value inMemory(mlir::Value storage) const;

  mlir::Value value;
  int64_t at;
  const Lifetimes &lifetimes;
  const Copies &copies;
  bool wantsSameBits;
  bool sameBits = true;           // what is computed again has the bits of what it stands for
  bool hasJumps = false;          // results of some of its ops may be quite others if it has not
  llvm::SmallVector<Again> steps; // in the order in which they run
  llvm::DenseMap<mlir::Value, mlir::Value> available; // what stands for a value at step `at`
  llvm::SmallSetVector<mlir::Value, 4> extended;
  int64_t extra = 0;
};

} // namespace accc

#endif
