// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a value is computed again.
#ifndef ACCC_BUDGET_RECIPE_H
#define ACCC_BUDGET_RECIPE_H

#include "budget/Lifetimes.h"
#include "ir/prim/Prim.h"
#include "target/Target.h"

#include "llvm/ADT/SetVector.h"

namespace accc {

/// What was computed again.
class Copies {
public:
  void add(mlir::Value value, mlir::Value copy) {
    mlir::Value origin = originOf(value);
    origins[copy] = origin;
    copies[origin].push_back(copy);
  }
  /// The value that `value` is a copy of, or that itself.
  mlir::Value originOf(mlir::Value value) const {
    auto it = origins.find(value);
    return it == origins.end() ? value : it->second;
  }
  /// In no order.
  llvm::ArrayRef<mlir::Value> copiesOf(mlir::Value origin) const {
    auto it = copies.find(origin);
    return it == copies.end() ? llvm::ArrayRef<mlir::Value>() : it->second;
  }

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> copies;
  llvm::DenseMap<mlir::Value, mlir::Value> origins;
};

/// The steps to be copied before step `at`, so that it and later ones can do without a value.
class Recipe {
public:
  /// Nothing if the value cannot be had there from what is in memory, kept variables and inputs.
  static std::optional<Recipe> find(mlir::Value value, int64_t at, const Lifetimes &lifetimes,
                                    const Copies &copies);

  /// What it costs, in bytes (Target.h).
  double cost(const Target &target) const;
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

  Recipe(mlir::Value value, int64_t at, const Lifetimes &lifetimes, const Copies &copies)
      : value(value), at(at), lifetimes(lifetimes), copies(copies) {}

  bool need(mlir::Value storage, int depth);
  bool computeAgain(mlir::Value storage, int depth);
  bool slice(prim::FusionOp fusion, Again &again, int depth);
  mlir::Value inMemory(mlir::Value storage) const;

  mlir::Value value;
  int64_t at;
  const Lifetimes &lifetimes;
  const Copies &copies;
  llvm::SmallVector<Again> steps;                     // in the order in which they run
  llvm::DenseMap<mlir::Value, mlir::Value> available; // what stands for a value at step `at`
  llvm::SmallSetVector<mlir::Value, 4> extended;
  int64_t extra = 0;
};

} // namespace accc

#endif
