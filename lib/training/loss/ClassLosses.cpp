// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/loss/ClassLosses.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

// -100 is what PyTorch ignores where nothing is said.
ClassLoss::ClassLoss(Spec &spec)
    : ignoreIndex(spec.integer("ignore_index").value_or(-100)), classDim(spec.integer("class_dim")),
      weight(spec.numbers("weight")) {}

int64_t ClassLoss::classDimension(int64_t rank) const {
  int64_t dimension = classDim.value_or(rank == 1 ? 0 : 1);
  if (dimension < 0)
    dimension += rank;
  return dimension < 0 || dimension >= rank ? -1 : dimension;
}

/// Scores of rank 3 may be [N, C, d], as PyTorch's losses take them, or [N, d, C], as a language
/// model gives them. Where both readings take the same target nothing would tell a wrong one:
/// fails.
static LogicalResult askForClasses(RankedTensorType output, Location loc) {
  int64_t n = output.getDimSize(0), second = output.getDimSize(1), last = output.getDimSize(2);
  auto reading = [&](int64_t dimension, int64_t classes, int64_t positions) {
    return llvm::formatv("class_dim={0}: {1} classes, a target of shape [{2}, {3}]", dimension,
                         classes, n, positions)
        .str();
  };
  std::string readings = reading(1, second, last) + "; or " + reading(2, last, second);
  if (second == last)
    return emitError(loc) << "the scores " << output
                          << " can be read in two ways, and the target's shape does not tell "
                             "them apart; say which in --loss: "
                          << readings;
  emitWarning(loc) << "the scores " << output
                   << " can be read in two ways: taken as PyTorch does it, by the first; say which "
                      "in --loss: "
                   << readings;
  return success();
}

FailureOr<RankedTensorType> ClassLoss::targetType(RankedTensorType output, Location loc) const {
  int64_t dimension = classDimension(output.getRank());
  if (!isa<FloatType>(output.getElementType()) || dimension < 0)
    return emitError(loc) << "the loss needs float scores of shape [N, C, ...] for C classes"
                          << (classDim ? " at class_dim=" + std::to_string(*classDim)
                                       : std::string())
                          << ", and the output is " << output;
  if (output.getRank() == 3 && !classDim && failed(askForClasses(output, loc)))
    return failure();
  int64_t classes = output.getDimSize(dimension);
  if (!weight.empty() && static_cast<int64_t>(weight.size()) != classes)
    return emitError(loc) << "the loss has " << weight.size() << " class weights for " << classes
                          << " classes";
  SmallVector<int64_t> shape(output.getShape());
  shape.erase(shape.begin() + dimension);
  return RankedTensorType::get(shape, IntegerType::get(output.getContext(), 64));
}

Tensor ClassLoss::classesSecond(Tensor tensor) const {
  int64_t dimension = classDimension(tensor.rank());
  if (tensor.rank() == 1)
    return tensor;
  SmallVector<int64_t> permutation;
  for (int64_t i = 0; i < tensor.rank(); ++i)
    if (i != dimension)
      permutation.push_back(i);
  permutation.insert(permutation.begin() + 1, dimension);
  return tensor.transpose(permutation);
}

Value ClassLoss::weightConstant(Tensor output) const { return constantOf(output, weight); }

IntegerAttr ClassLoss::ignoreIndexAttr(OpBuilder &builder) const {
  return builder.getI64IntegerAttr(ignoreIndex);
}
