// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Boundaries.h"

#include "accc/abi.h"
#include "driver/Signature.h"
#include "ir/nn/Nn.h"
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace accc;

// ---- what an op may be ----

static bool isPrimitive(Operation *op) {
  return isa<prim::PrimDialect>(op->getDialect()) &&
         !isa<prim::FusionOp, prim::FusionEachOp, prim::YieldOp>(op);
}
static bool isOperator(Operation *op) {
  return isPrimitive(op) || isa<nn::NnDialect>(op->getDialect());
}
static bool runsAlone(Operation *op) {
  auto slice = dyn_cast<prim::SliceOp>(op);
  return isa<prim::FusionOp, prim::FusionEachOp, prim::ReshapeOp, prim::ConstantOp>(op) ||
         (slice && slice.getContiguousBegin()) || prim::isCall(op);
}
static bool isRead(Operation *op) { return !op->use_empty(); }

static bool isReadableContraction(Operation *op) {
  auto contraction = dyn_cast<MatrixProduct>(op);
  return !contraction ||
         (contraction.getLhsBatch().size() <= ACCC_MAX_BATCH_DIMS && prim::isReadable(contraction));
}

static bool walksAsItsOpsDo(Operation *op) {
  auto fusion = dyn_cast<prim::FusionOp>(op);
  if (!fusion)
    return true;
  SmallVector<Operation *> ops;
  for (Operation &part : fusion.getBody().front().without_terminator())
    ops.push_back(&part);
  return fusion.getKind() == prim::kernelKind(ops);
}
static bool isDescribed(Operation *op) {
  auto fusion = dyn_cast<prim::FusionOp>(op);
  return !fusion || fusion.getSpec() ||
         (fusion.getKind() != prim::KernelKind::loop &&
          fusion.getKind() != prim::KernelKind::reduce);
}
static bool computesInside(Operation *op) {
  auto fusion = dyn_cast<prim::FusionOp>(op);
  return !fusion ||
         llvm::all_of(fusion.getBody().front().without_terminator(),
                      [](Operation &part) { return isPrimitive(&part) && !prim::isCall(&part); });
}

namespace {
struct Rule {
  const char *first, *last; // the phases after which it holds
  bool (*holds)(Operation *op);
  const char *otherwise; // what is wrong with the op
};
} // namespace

static constexpr Rule kRules[] = {
    {"import", "trainable", isOperator, "is not an operator of a model: those are of nn and prim"},
    {"decompose", "layout", isPrimitive, "is not a primitive"},
    {"import", "fuse", hasModestResults, "gives a tensor of more than 2^40 bytes"},
    {"layout", "fuse", isReadableContraction,
     "has operands that no matrix library can read as they lie in memory"},
    {"fuse", "fuse", runsAlone, "is in no kernel"},
    {"fuse", "fuse", isRead, "computes what nothing reads"},
    {"fuse", "fuse", walksAsItsOpsDo, "is a kernel of another kind than its ops are"},
    {"fuse", "fuse", isDescribed, "is a kernel that nobody has described"},
    {"fuse", "fuse", computesInside, "is a kernel with an op that is not a primitive of kernels"},
};

// ---- the walk ----

namespace {
int numberOf(StringRef phase) {
  int number = 0;
#define ACCC_PHASE(name, function, runs)                                                           \
  if (phase == #name)                                                                              \
    return number;                                                                                 \
  ++number;
#include "driver/Phases.def"
  llvm_unreachable("no phase has this name");
}
} // namespace

LogicalResult accc::checkBoundary(ModuleOp module, StringRef phase) {
  int number = numberOf(phase);
  if (number > numberOf("fuse"))
    return success();
  bool good = succeeded(checkSignatures(module, /*isForward=*/phase == "import"));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!llvm::hasSingleElement(function.getBody()))
      continue; // has been said
    for (Operation &op : function.front().without_terminator())
      for (const Rule &rule : kRules)
        if (number >= numberOf(rule.first) && number <= numberOf(rule.last) && !rule.holds(&op)) {
          emitError(op.getLoc()) << "'" << op.getName() << "' " << rule.otherwise;
          good = false;
        }
  }
  return success(good);
}
