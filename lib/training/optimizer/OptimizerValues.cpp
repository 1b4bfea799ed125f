// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/OptimizerValues.h"

#include "support/ModuleLocation.h"

using namespace mlir;
using namespace accc;

std::string accc::stateName(StringRef step, StringRef state) {
  return ("optimizer." + (step.empty() ? "" : step + ".") + state).str();
}

RankedTensorType accc::wideType(Value parameter) {
  auto type = cast<RankedTensorType>(parameter.getType());
  return prim::isHalf(type.getElementType()) ? type.clone(Float32Type::get(type.getContext()))
                                             : type;
}

Type accc::scalarType(ArrayRef<Value> tensors) {
  MLIRContext *context = tensors.front().getContext();
  bool isWide = llvm::any_of(
      tensors, [](Value tensor) { return getElementTypeOrSelf(tensor.getType()).isF64(); });
  return isWide ? Type(Float64Type::get(context)) : Type(Float32Type::get(context));
}

RankedTensorType accc::countType(MLIRContext *context) {
  return RankedTensorType::get({}, IntegerType::get(context, 64));
}

prim::Tensor accc::inOptimizer(OpBuilder &builder, Value value) {
  return {builder, withModule(NameLoc::get(builder.getStringAttr("optimizer")), "optimizer"),
          value};
}

prim::Tensor accc::behindBarrier(OpBuilder &builder, Value value) {
  prim::Tensor x = inOptimizer(builder, value);
  return x.wrap(builder.create<prim::OptimizationBarrierOp>(x.getLoc(), value));
}

prim::Tensor accc::lerp(prim::Tensor from, prim::Tensor to, double weight) {
  prim::Tensor change = to - from;
  return weight < 0.5 ? from + change * weight : to - change * (1.0 - weight);
}

prim::Tensor accc::lerp(prim::Tensor from, prim::Tensor to, prim::Tensor weight) {
  prim::Tensor change = to - from;
  return select(weight < 0.5, from + change * weight, to - change * (1.0 - weight));
}
