// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler asks of an op. Everything it knows of an op hangs on these.
#ifndef ACCC_IR_INTERFACES
#define ACCC_IR_INTERFACES

include "mlir/IR/OpBase.td"

def Decomposable : OpInterface<"Decomposable"> {
  let description = [{How a composite op becomes `prim`.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        Builds the op's value out of simpler ops before it. Gives one value for each result, of the
        result's type. May use other `nn` ops, which are decomposed in turn; never itself.
        Fails only with a diagnostic.
      }], "::mlir::LogicalResult", "decompose",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def Differentiable : OpInterface<"Differentiable"> {
  let description = [{
    The op's vector-Jacobian product. An `nn` op without this interface is differentiated through its
    decomposition; a `prim` op without it must carry the trait `ZeroGradient`.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        For the cotangents of the results (`gradients.of(result)`), adds the cotangent of each operand
        that is wanted (`gradients.add(operand, value)`). The walk sums over uses, skips ops whose
        results have no cotangent, and materialises zeros only when a rule asks for them.
      }], "::mlir::LogicalResult", "differentiate", (ins "::accc::Gradients &":$gradients)>
  ];
}

def Evaluable : OpInterface<"Evaluable"> {
  let description = [{The op's value, in double precision: the oracle.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        Computes the results from the operands' values. `results` is filled with one array for each
        result, of the result's shape. Bad data (an index out of range) fails with a diagnostic.
      }], "::mlir::LogicalResult", "evaluate",
      (ins "::llvm::ArrayRef<::accc::ReferenceArray>":$operands,
           "::llvm::SmallVectorImpl<::accc::ReferenceArray> &":$results)>
  ];
}

def Fusible : OpInterface<"Fusible"> {
  let description = [{
    What fusion and code generation ask: the op's class, and its element rules. Which of the rules are
    meaningful follows from the class, and for the last line from the op.

    | class | rules |
    | pointwise | `emitScalar`: element i of the result from element i of every operand |
    | view | `emitElement`: an index map: which elements of which operands, at a given index |
    | reduction | `getAccumulatorType`, `getInitial`, `emitCombine` |
    | window, scatter, window scatter, scan, sort | how its emitter in codegen walks the data is the emitter's; what it does with elements is asked of the op: `emitCombine` where it combines them, `emitPrecedes` where it orders them |
    | opaque | none: a contraction is a library call |
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"The op's class.", "::accc::FusionClass", "getFusionClass", (ins), [{}],
      [{ return ConcreteOp::kFusionClass; }]>,
    InterfaceMethod<[{
        Whether the op's kernel may end the step with a data error: an index out of range. No variable
        changes before all such kernels have run.
      }], "bool", "reportsErrors", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Pointwise: scalar arithmetic (`arith` and `math` ops) on operands that are all scalars or all
        1-D vectors of the same length. Booleans are i1; element types are those of the op.
      }], "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands), [{}],
      [{ llvm_unreachable("not a pointwise op"); }]>,
    InterfaceMethod<[{
        View: the element of result 0 at `index` (one affine expression for each dimension), asked
        through `emitter`, which knows how to get elements of the operands.
      }], "::mlir::Value", "emitElement",
      (ins "::accc::ElementEmitter &":$emitter, "::llvm::ArrayRef<::mlir::AffineExpr>":$index), [{}],
      [{ llvm_unreachable("not a view op"); }]>,
    InterfaceMethod<[{
        Ops that accumulate in registers (reductions, window reductions, running ones): the type they do
        it in, for elements of the given type, both without a sign. 16-bit floats are summed in f32.
      }], "::mlir::Type", "getAccumulatorType", (ins "::mlir::Type":$elementType), [{}],
      [{ return elementType.isF16() || elementType.isBF16()
             ? ::mlir::Float32Type::get(elementType.getContext()) : elementType; }]>,
    InterfaceMethod<[{
        Reduction: the neutral element, as an attribute of the accumulator's type. Of an op that orders
        the elements of windows: one that precedes no other.
      }], "::mlir::TypedAttr", "getInitial", (ins "::mlir::Type":$elementType), [{}],
      [{ llvm_unreachable("not a reduction"); }]>,
    InterfaceMethod<[{
        Reduction: combines two accumulators, scalars or vectors alike. Scatter: what takes the place of
        the element `a`, where `b` is scattered to it.
      }], "::mlir::Value", "emitCombine",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$a, "::mlir::Value":$b), [{}],
      [{ llvm_unreachable("combines no elements"); }]>,
    InterfaceMethod<[{
        Ops that order elements (sort, arg_reduce, the windows that look for their greatest): where `a`
        goes strictly before `b`, i1; scalars or vectors alike.
      }], "::mlir::Value", "emitPrecedes",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$a, "::mlir::Value":$b), [{}],
      [{ llvm_unreachable("orders no elements"); }]>
  ];
}

#endif
