// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Infer.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Collectives.cpp.inc"

/// Of each input. What is sent at once is one run of elements.
template <typename Op>
static LogicalResult inferTypes(std::optional<Location> loc, TypeRange inputs,
                                SmallVectorImpl<Type> &types) {
  if (inputs.empty())
    return inferError<Op>(loc, "needs at least one operand");
  for (auto [i, input] : llvm::enumerate(inputs))
    if (getElementTypeOrSelf(input) != getElementTypeOrSelf(inputs.front()))
      return inferError<Op>(loc, "operand ", i, " is ", input, ", but operand 0 is ",
                            inputs.front(), ": all have one element type");
  llvm::append_range(types, inputs);
  return success();
}

// ---- all_reduce ----

LogicalResult AllReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferTypes<AllReduceOp>(loc, adaptor.getInputs().getTypes(), types);
}

// What is differentiated is the sum of the processes' losses, of which each has its own: the
// cotangent of a term of a sum is the sum of all processes' cotangents, and of a mean their mean.
LogicalResult AllReduceOp::differentiate(Gradients &gradients) {
  SmallVector<Value> cotangents;
  for (Value output : getOutputs())
    cotangents.push_back(gradients.of(output));
  auto exchanged = gradients.builder().create<AllReduceOp>(getLoc(), cotangents, getSum());
  for (auto [input, cotangent] : llvm::zip_equal(getInputs(), exchanged.getOutputs()))
    gradients.add(input, cotangent);
  return success();
}

LogicalResult AllReduceOp::evaluate(ArrayRef<ReferenceArray> operands,
                                    SmallVectorImpl<ReferenceArray> &results) {
  llvm::append_range(results, operands);
  return success();
}

// ---- broadcast_from ----

LogicalResult BroadcastFromOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferTypes<BroadcastFromOp>(loc, adaptor.getInputs().getTypes(), types);
}

LogicalResult BroadcastFromOp::evaluate(ArrayRef<ReferenceArray> operands,
                                        SmallVectorImpl<ReferenceArray> &results) {
  llvm::append_range(results, operands);
  return success();
}
