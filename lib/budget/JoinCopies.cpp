// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/JoinCopies.h"

#include "fusion/JoinKernels.h"
#include "schedule/order/Order.h"
#include "support/TensorBytes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace accc;

namespace {
/// So many kernels are tried for each copy.
constexpr size_t kMostPartners = 4;

/// A kernel that reads what a copy reads or gives.
struct Partner {
  prim::FusionOp kernel;
  double saved = 0;  // bytes that are not moved if both are one
  int64_t apart = 0; // steps
  int64_t at = 0;    // its step
};

bool canBeJoined(prim::FusionOp kernel) {
  return kernel.getKind() == prim::KernelKind::loop || kernel.getKind() == prim::KernelKind::reduce;
}

llvm::SmallSetVector<Value, 8> storagesReadBy(Operation *op) {
  llvm::SmallSetVector<Value, 8> read;
  for (Value operand : op->getOperands())
    read.insert(storageOf(operand));
  return read;
}

/// Whether a step other than the kernel reads the value.
bool isReadBesides(Value storage, Operation *kernel, const Order &order) {
  return llvm::any_of(order.steps, [&](Operation *step) {
    return step != kernel && storagesReadBy(step).contains(storage);
  });
}

double savedBy(prim::FusionOp copy, prim::FusionOp other, const Order &order) {
  double saved = 0;
  llvm::SmallSetVector<Value, 8> read = storagesReadBy(copy), readByOther = storagesReadBy(other);
  for (Value storage : read)
    if (readByOther.contains(storage))
      saved += static_cast<double>(tensorBytes(storage));
  for (Value result : copy.getOutputs())
    if (readByOther.contains(result))
      saved +=
          static_cast<double>(tensorBytes(result)) * (isReadBesides(result, other, order) ? 1 : 2);
  return saved;
}

/// The most promising first.
SmallVector<Partner> partnersOf(prim::FusionOp copy, const Order &order) {
  SmallVector<Partner> partners;
  int64_t here = order.indexOf(copy);
  for (int64_t at = 0; at < order.firstUpdate; ++at) {
    auto other = dyn_cast<prim::FusionOp>(order.steps[at]);
    if (!other || other == copy || !canBeJoined(other))
      continue;
    // Small values lie in caches.
    if (double saved = savedBy(copy, other, order);
        saved >= static_cast<double>(tensorBytes(copy.getOutputs().front())) / 2)
      partners.push_back({other, saved, std::abs(at - here), at});
  }
  llvm::sort(partners, [](const Partner &a, const Partner &b) {
    return std::tuple(-a.saved, a.apart, a.at) < std::tuple(-b.saved, b.apart, b.at);
  });
  partners.truncate(std::min(partners.size(), kMostPartners));
  return partners;
}

prim::FusionOp nextCopy(func::FuncOp function) {
  for (auto kernel : function.getOps<prim::FusionOp>())
    if (kernel->hasAttr(kComputedAgain))
      return kernel;
  return {};
}
} // namespace

void accc::joinCopies(func::FuncOp function, const Target &target,
                      function_ref<bool(func::FuncOp)> fits) {
  while (prim::FusionOp copy = nextCopy(function)) {
    copy->removeAttr(kComputedAgain);
    FailureOr<Order> order = orderSteps(function);
    if (failed(order))
      continue;
    for (const Partner &partner : partnersOf(copy, *order)) {
      IRMapping mapping;
      OwningOpRef<func::FuncOp> trial(cast<func::FuncOp>(function->clone(mapping)));
      auto inTrial = [&](prim::FusionOp kernel) {
        return cast<prim::FusionOp>(mapping.lookup(kernel.getOperation()));
      };
      if (!joinKernels(inTrial(copy), inTrial(partner.kernel), target) || !fits(*trial))
        continue;
      function.getBody().takeBody(trial->getBody());
      break;
    }
  }
}
