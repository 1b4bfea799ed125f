// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/precision/Averages.h"

#include "ir/prim/Tensor.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

/// The sum by which each of its terms was divided, if the value is such quotients: where it was
/// zero, perhaps by another number.
static ReduceOp divisorOf(Value value) {
  auto quotient = value.getDefiningOp<DivOp>();
  auto repeated = quotient ? quotient.getRhs().getDefiningOp<BroadcastOp>() : nullptr;
  if (!repeated)
    return nullptr;
  Value divisor = repeated.getOperand();
  if (auto guarded = divisor.getDefiningOp<SelectOp>())
    divisor = guarded.getOnFalse();
  auto sum = divisor.getDefiningOp<ReduceOp>();
  if (!sum || sum.getKind() != ReduceKind::sum || sum.getOperand() != quotient.getLhs())
    return nullptr;
  return llvm::none_of(sum.getDimensions(),
                       [&](int64_t d) { return llvm::is_contained(repeated.getDimensions(), d); })
             ? sum
             : nullptr;
}

void transforms::divideAverages(Value probabilities, Value shown) {
  ReduceOp divisor = divisorOf(probabilities);
  if (!divisor)
    return;
  SmallVector<ReduceOp> averages;
  for (Operation *user : shown.getUsers())
    if (isa<MulOp>(user))
      for (Operation *reader : user->getUsers())
        if (auto sum = dyn_cast<ReduceOp>(reader); sum && sum.getKind() == ReduceKind::sum &&
                                                   sum.getDimensions() == divisor.getDimensions() &&
                                                   !llvm::is_contained(averages, sum))
          averages.push_back(sum);
  if (averages.empty())
    return;
  OpBuilder b(shown.getContext());
  b.setInsertionPointAfterValue(shown);
  Tensor total = sum(Tensor(b, shown.getLoc(), shown), divisor.getDimensions());
  total = select(equal(total, 0.0), 1.0, total); // of a row that a mask hides
  for (ReduceOp average : averages) {
    b.setInsertionPointAfter(average);
    Tensor quotient = Tensor(b, average.getLoc(), average) / total;
    average.getResult().replaceAllUsesExcept(quotient, quotient.get().getDefiningOp());
  }
}
