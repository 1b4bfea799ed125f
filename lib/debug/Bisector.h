// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the phase, the rewrite and the op, or the kernel, that breaks a model: the IR after every
// phase is run by the reference interpreter on the same inputs, and every kernel against it.
#ifndef ACCC_DEBUG_BISECTOR_H
#define ACCC_DEBUG_BISECTOR_H

#include "debug/Evaluation.h"
#include "debug/Verdicts.h"
#include "target/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <set>

namespace accc {

class Bisector {
public:
  /// A phase, on any module.
  using Transform = llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)>;

  /// Both tables must outlive the bisector; `weights` may be filled up to the first judgement.
  Bisector(const TensorMap &inputs, const WeightTable &weights, double learningRate)
      : inputs(inputs), weights(weights), learningRate(learningRate) {}

  /// Judges what `phase`, called `name`, made of the module that was judged last, and remembers it
  /// for the next. Of a broken phase the rewrite is looked for that breaks it. Fails with a
  /// diagnostic if the module cannot be evaluated.
  mlir::LogicalResult judge(llvm::StringRef name, mlir::ModuleOp module, Transform phase);

  /// The kernels of a module of fused step functions as libraries for `target`, in `folder`. A
  /// kernel whose library cannot be made fails with a diagnostic.
  mlir::FailureOr<std::vector<KernelProbe>>
  probeKernels(mlir::ModuleOp module, const Target &target, const std::string &folder);

  std::vector<PhaseVerdict> verdicts;
  /// What the model computes in its first step: loss, outputs, `grad.<parameter>`.
  NamedArrays exact;

private:
  void addExact(llvm::StringRef entry, const NamedArrays &results);
  std::vector<std::string> findSuspects(llvm::StringRef entry, mlir::ModuleOp now);
  std::string findRewrite(Transform phase, llvm::StringRef entry, const NamedArrays &expected);

  const TensorMap &inputs;
  const WeightTable &weights;
  double learningRate;
  NamedArrays start;
  llvm::StringMap<NamedArrays> known;
  std::set<std::string> judgedSteps; ///< training steps that `exact` has results of
  mlir::OwningOpRef<mlir::ModuleOp> previous;
};

} // namespace accc

#endif
