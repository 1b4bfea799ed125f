// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 16-bit floats on machines that do not compute in them. LLVM would do so by calls of the
// compiler's library, which is not there where a model runs.
#include "codegen/kernel/Lower.h"
#include "ir/prim/Tensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace accc;

static bool isHalf(Type type) { return prim::isHalf(getElementTypeOrSelf(type)); }
static bool isHalfValue(Value value) { return isHalf(value.getType()); }

/// The same shape over f32.
static Type inF32(Type type) {
  Type f32 = Float32Type::get(type.getContext());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(f32)) : f32;
}

bool codegen::hasHalfFloats(ModuleOp module) {
  auto result = module.walk([](Operation *op) {
    return llvm::any_of(op->getResultTypes(), isHalf) ? WalkResult::interrupt()
                                                      : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// A conversion between f64 and 16 bits goes by f32, as in PyTorch.
static void splitConversion(Operation *op) {
  OpBuilder b(op);
  Value x = op->getOperand(0);
  Type to = op->getResult(0).getType(), between = inF32(to);
  auto isDouble = [](Type type) { return getElementTypeOrSelf(type).isF64(); };
  Value result;
  if (isDouble(x.getType()))
    result = b.create<arith::TruncFOp>(
        op->getLoc(), to, b.create<arith::TruncFOp>(op->getLoc(), between, x).getResult());
  else if (isDouble(to))
    result = b.create<arith::ExtFOp>(op->getLoc(), to,
                                     b.create<arith::ExtFOp>(op->getLoc(), between, x).getResult());
  else
    return;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void codegen::computeHalvesInF32(ModuleOp module) {
  SmallVector<Operation *> conversions, computing;
  module.walk([&](Operation *op) {
    if (!llvm::any_of(op->getOperands(), isHalfValue) &&
        !llvm::any_of(op->getResults(), isHalfValue))
      return;
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      conversions.push_back(op);
    else if (isa<vector::ReductionOp>(op) ||
             (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
              !isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op)))
      computing.push_back(op);
  });
  for (Operation *op : conversions)
    splitConversion(op);
  for (Operation *op : computing) {
    OpBuilder b(op);
    Operation *wide = b.clone(*op);
    for (OpOperand &operand : wide->getOpOperands())
      if (isHalfValue(operand.get())) {
        b.setInsertionPoint(wide);
        operand.set(
            b.create<arith::ExtFOp>(op->getLoc(), inF32(operand.get().getType()), operand.get()));
      }
    b.setInsertionPoint(op);
    for (auto [narrow, result] : llvm::zip_equal(op->getResults(), wide->getResults())) {
      Value value = result;
      if (isHalfValue(narrow)) {
        result.setType(inF32(narrow.getType()));
        value = b.create<arith::TruncFOp>(op->getLoc(), narrow.getType(), result);
      }
      narrow.replaceAllUsesWith(value);
    }
    op->erase();
  }
}

LogicalResult codegen::keepBFloatsAsIntegers(ModuleOp module) {
  Type bits = IntegerType::get(module.getContext(), 16);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](BFloat16Type) -> std::optional<Type> { return bits; });
  replacer.addReplacement([&](FloatAttr value) -> std::optional<Attribute> {
    if (!value.getType().isBF16())
      return std::nullopt;
    return IntegerAttr::get(bits, value.getValue().bitcastToAPInt());
  });
  replacer.addReplacement([&](DenseElementsAttr values) -> std::optional<Attribute> {
    if (!values.getElementType().isBF16())
      return std::nullopt;
    return values.bitcast(bits);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return verify(module); // arithmetic that was left would now be of integers
}
