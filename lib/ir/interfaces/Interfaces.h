// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interfaces through which the compiler knows an op, and the types their methods speak of.
#ifndef ACCC_IR_INTERFACES_INTERFACES_H
#define ACCC_IR_INTERFACES_INTERFACES_H

#include "ir/interfaces/Chunks.h"
#include "ir/interfaces/ElementEmitter.h"
#include "ir/interfaces/Gradients.h"
#include "ir/interfaces/ReferenceArray.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace accc {

/// How fusion treats an op; see the interface `Fusible`.
enum class FusionClass {
  Pointwise,
  View,
  Reduction,
  Window,
  // These walk their data in an order of their own: a kernel has at most one of them.
  Scatter,
  Scan,
  Sort,
  /// Never part of a kernel.
  Opaque,
  /// A kernel of its own, which works in its results.
  Matrix
};

/// The op's kernel may end the step with a data error: an index out of range. No variable changes
/// before all such kernels have run.
template <typename ConcreteType>
class ReportsErrors : public mlir::OpTrait::TraitBase<ConcreteType, ReportsErrors> {};

/// Computing an element takes more than a few instructions.
template <typename ConcreteType>
class Expensive : public mlir::OpTrait::TraitBase<ConcreteType, Expensive> {};

/// Of 16-bit floats the op reads and gives these, and its definition says what it rounds. Every
/// other op of a model in 16-bit floats computes in f32, and what it gives is rounded once.
template <typename ConcreteType>
class RoundsItself : public mlir::OpTrait::TraitBase<ConcreteType, RoundsItself> {};

/// All processes that train a model together run the op at the same time, each with its own values.
/// Results are of the operands' types, one each.
template <typename ConcreteType>
class Collective : public mlir::OpTrait::TraitBase<ConcreteType, Collective> {};

/// The gradient with respect to every operand is zero: comparisons, rounding, random bits, ...
template <typename ConcreteType>
class ZeroGradient : public mlir::OpTrait::TraitBase<ConcreteType, ZeroGradient> {};

/// The result is constant between jumps: rounding, the sign. Who asks for a gradient through such
/// an op has one, of zeros, while other ops of ZeroGradient give none.
template <typename ConcreteType>
class PiecewiseConstant : public mlir::OpTrait::TraitBase<ConcreteType, PiecewiseConstant> {};

} // namespace accc

#include "ir/interfaces/Interfaces.h.inc"

#endif
