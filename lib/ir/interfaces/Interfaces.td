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
    How fusion treats the op. What it does with elements is said by an interface of its own:

    | class | rules |
    | pointwise | `Pointwise` |
    | view | `View` |
    | window | `Windowed` |
    | reduction | `Reducing` |
    | scatter, scan, sort | `Combining` where it combines elements, `Ordering` where it orders them; how its emitter in codegen walks the data is the emitter's |
    | matrix | none: its emitter reads whole matrices |
    | opaque | none: a contraction is a library call |
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"The op's class.", "::accc::FusionClass", "getFusionClass", (ins), [{}],
      [{ return ConcreteOp::kFusionClass; }]>
  ];
}

def ModeDependent : OpInterface<"ModeDependent"> {
  let description = [{An op of a model in training, which is another one when the model is evaluated.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        What takes the place of the op's results in evaluation mode, one value for each; builds what it
        needs before the op.
      }], "void", "getEvaluationValues",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::SmallVectorImpl<::mlir::Value> &":$results)>
  ];
}

def BatchDependent : OpInterface<"BatchDependent"> {
  let description = [{An op in which the rows of a batch do not count by themselves: it takes statistics over all of them.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        Lets the op take them over the rows of all processes that train together.
      }], "void", "synchronize", (ins), [{}], [{ $_op.setSynchronized(true); }]>
  ];
}

def Dimensioned : OpInterface<"Dimensioned"> {
  let description = [{
    An op whose attributes speak of dimensions of operand 0 by their numbers: they change when the
    dimensions are laid out in another order.
  }];
  let cppNamespace = "::accc";
  let methods = [
    StaticInterfaceMethod<"The attributes that have an entry for each dimension (DenseI64ArrayAttr).",
      "::llvm::ArrayRef<::llvm::StringRef>", "getAttributesOfAllDimensions", (ins), [{}],
      [{ return {}; }]>,
    StaticInterfaceMethod<[{
        The attributes that name dimensions: one (an integer), or several in increasing order
        (DenseI64ArrayAttr).
      }], "::llvm::ArrayRef<::llvm::StringRef>", "getAttributesOfSomeDimensions", (ins), [{}],
      [{ return {}; }]>
  ];
}

def Chunkable : OpInterface<"Chunkable"> {
  let description = [{
    An op of one result that can be computed chunk by chunk: along some dimensions what the op gives of chunks of
    operands is a chunk of the result, or the result is the sum of what it gives of all chunks. MLIR's
    TilingInterface, for tensors and one dimension.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        All such dimensions. By default, for ops that compute element by element: every dimension of the
        result, and of each operand of its shape.
      }], "::llvm::SmallVector<::accc::ChunkedDimension>", "getChunkedDimensions", (ins), [{}],
      [{ return ::accc::elementwiseDimensions($_op); }]>,
    InterfaceMethod<[{
        Computes a chunk along one of these dimensions from operands as that says: chunks of some, and the whole
        of the others. By default by the same op, whose attributes speak of no extents.
      }], "::mlir::Value", "createChunk",
      (ins "::mlir::OpBuilder &":$builder, "const ::accc::ChunkedDimension &":$dimension,
           "::mlir::ValueRange":$operands, "::accc::Chunk":$chunk), [{}],
      [{ return ::accc::createSameOpOnChunk(builder, $_op, dimension, operands, chunk); }]>
  ];
}

def MatrixProduct : OpInterface<"MatrixProduct"> {
  let description = [{
    Sums products of two operands over contracted dimensions, for every index of the batch dimensions:
    prim.dot_general, and what is more than that.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"", "::mlir::Value", "getLhs">, InterfaceMethod<"", "::mlir::Value", "getRhs">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getLhsBatch">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getRhsBatch">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getLhsContracting">,
    InterfaceMethod<"", "::llvm::ArrayRef<int64_t>", "getRhsContracting">,
    InterfaceMethod<"Whether no option may round the factors.", "bool", "getFullPrecision">,
    InterfaceMethod<"Whether the result is f32 and the factors are of 16 bits.", "bool", "getWideResult">
  ];
}

def ConvolutionLike : OpInterface<"ConvolutionLike"> {
  let description = [{A convolution of x with a filter w, or its gradient with respect to one of the two.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"Whether x, y and their gradients are [N, spatial..., C].", "bool", "getChannelsLast">,
    InterfaceMethod<"Whether w and its gradient are [O, kernel..., C / groups].", "bool", "getFilterChannelsLast">,
    InterfaceMethod<"The number of the operand that is w; none where the result is its gradient.",
                    "std::optional<unsigned>", "getFilterOperand">
  ];
}

def AttentionLike : OpInterface<"AttentionLike"> {
  let description = [{
    softmax(scale q k^T + bias) v for each head, or its gradient: q [B, T, H, D], k [B, S, Hk, D], v [B, S, Hk, Dv],
    bias [B or 1, H or 1, T or 1, S]. The three are operands, or views of operands.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"", "::mlir::Value", "getQ">,
    InterfaceMethod<"", "::mlir::Value", "getK">,
    InterfaceMethod<"", "::mlir::Value", "getV">,
    InterfaceMethod<"The types of q, k and v themselves.",
                    "::llvm::SmallVector<::mlir::RankedTensorType, 3>", "getFactorTypes", (ins), "", [{
      ::llvm::SmallVector<::mlir::RankedTensorType, 3> types;
      for (::mlir::Value factor : {$_op.getQ(), $_op.getK(), $_op.getV()})
        types.push_back(::llvm::cast<::mlir::RankedTensorType>(factor.getType()));
      return types;
    }]>,
    InterfaceMethod<"What is added to scores; may be null.", "::mlir::Value", "getBias">,
    InterfaceMethod<"Whether the query at t sees keys s <= t alone.", "bool", "getCausal">
  ];
}

def CustomCallLike : OpInterface<"CustomCallLike"> {
  let description = [{
    A call of a function that the user gives for an operator of his own (accc/custom_op.h): its forward or
    its backward function.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"The operator, `domain::name`.", "::llvm::StringRef", "getCallee">,
    InterfaceMethod<"The file name of the library that gives the function.", "::llvm::StringRef", "getLibrary">,
    InterfaceMethod<"The operator's attributes.", "::mlir::DictionaryAttr", "getConfig">,
    InterfaceMethod<"Whether it calls the backward function.", "bool", "isBackward">,
    InterfaceMethod<"The types of the operator's inputs.",
                    "::llvm::SmallVector<::mlir::Type>", "getOperatorInputs">,
    InterfaceMethod<"The types of the operator's outputs.",
                    "::llvm::SmallVector<::mlir::Type>", "getOperatorOutputs">,
    InterfaceMethod<[{
        For each of the operator's inputs, outputs, gradients of outputs and gradients of inputs, one after
        the other, which of the call's operands or (counted on behind these) results it is; -1: none.
      }], "::llvm::SmallVector<int32_t>", "getPlaces">
  ];
}

def Pointwise : OpInterface<"Pointwise"> {
  let description = [{Element i of the result from element i of every operand.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        Scalar arithmetic (`arith` and `math` ops) on operands that are all scalars or all 1-D vectors
        of the same length. Booleans are i1; element types are those of the op.
      }], "::mlir::Value", "emitScalar",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands)>
  ];
}

def View : OpInterface<"View"> {
  let description = [{An index map: which elements of which operands make an element of the result.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        The element of result 0 at `index` (one affine expression for each dimension), asked through
        `emitter`, which knows how to get elements of the operands.
      }], "::mlir::Value", "emitElement",
      (ins "::accc::ElementEmitter &":$emitter, "::llvm::ArrayRef<::mlir::AffineExpr>":$index)>
  ];
}

def Windowed : OpInterface<"Windowed"> {
  let description = [{
    An element of the result from elements around a place of the operands: an index map that computes. Its
    neighbours read many of the same elements.
  }];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"As View's.", "::mlir::Value", "emitElement",
      (ins "::accc::ElementEmitter &":$emitter, "::llvm::ArrayRef<::mlir::AffineExpr>":$index)>
  ];
}

def Combining : OpInterface<"Combining"> {
  let description = [{What becomes of two elements that meet: reductions, running ones, scatters.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<[{
        Combines two accumulators, scalars or vectors alike. Scatter: what takes the place of the
        element `a`, where `b` is scattered to it.
      }], "::mlir::Value", "emitCombine",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$a, "::mlir::Value":$b)>,
    InterfaceMethod<[{
        The type in which elements of the given type are accumulated in registers, both without a sign.
        16-bit floats are summed in f32.
      }], "::mlir::Type", "getAccumulatorType", (ins "::mlir::Type":$elementType), [{}],
      [{ return elementType.isF16() || elementType.isBF16()
             ? ::mlir::Float32Type::get(elementType.getContext()) : elementType; }]>
  ];
}

def Reducing : OpInterface<"Reducing", [Combining]> {
  let description = [{Combines any number of elements, none included.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"The neutral element, as an attribute of the accumulator's type.",
      "::mlir::TypedAttr", "getInitial", (ins "::mlir::Type":$elementType)>
  ];
}

def Ordering : OpInterface<"Ordering"> {
  let description = [{A strict order of elements: sort, arg_reduce, windows that look for their greatest.}];
  let cppNamespace = "::accc";
  let methods = [
    InterfaceMethod<"Where `a` goes strictly before `b`, i1; scalars or vectors alike.",
      "::mlir::Value", "emitPrecedes",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$a, "::mlir::Value":$b)>,
    InterfaceMethod<"An element that goes before no other, of the type without a sign.",
      "::mlir::TypedAttr", "getLast", (ins "::mlir::Type":$elementType)>
  ];
}

#endif
