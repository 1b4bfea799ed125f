// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Passes.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "support/TensorBytes.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace accc {
#define GEN_PASS_DEF_FUSEHORIZONTALLYPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {
/// Writes the body of a fusion for flat tensors into `flat`; false if it does more than elementwise
/// arithmetic on tensors of one shape and on scalars. Where all are scalars, as the counters of
/// batch norms are, they are flat tensors of one element.
bool flatten(prim::FusionOp fusion, Block &flat) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(fusion.getOutputs().front().getType()).getShape();
  if (fusion.getKind() != prim::KernelKind::loop)
    return false;
  bool ofScalars = shape.empty();
  auto isScalar = [&](Type type) {
    return !ofScalars && cast<RankedTensorType>(type).getRank() == 0;
  };
  auto flatType = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return isScalar(type) ? tensor
                          : tensor.clone(ArrayRef<int64_t>{prim::FusionEachOp::kAnyExtent});
  };
  int64_t elements = ReferenceArray::count(shape);
  auto fits = [&](Type type) {
    return isScalar(type) || cast<RankedTensorType>(type).getNumElements() == elements;
  };
  IRMapping mapping;
  Block &body = fusion.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    if (!fits(argument.getType()))
      return false;
    mapping.map(argument, flat.addArgument(flatType(argument.getType()), argument.getLoc()));
  }
  OpBuilder b(fusion.getContext());
  b.setInsertionPointToEnd(&flat);
  for (Operation &op : body) {
    if (isa<prim::YieldOp>(op)) {
      b.clone(op, mapping);
      continue;
    }
    Type type = op.getResult(0).getType();
    if (op.getNumResults() != 1 || !fits(type))
      return false;
    if (isa<prim::ReshapeOp>(op)) {
      if (op.getOperand(0).getType() != type && isScalar(op.getOperand(0).getType()))
        return false;
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    } else if (auto constant = dyn_cast<prim::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      mapping.map(op.getResult(0),
                  b.create<prim::ConstantOp>(op.getLoc(), flatType(type),
                                             value.resizeSplat(cast<ShapedType>(flatType(type)))));
    } else if (auto broadcast = dyn_cast<prim::BroadcastOp>(op)) {
      if (!isScalar(broadcast.getOperand().getType()))
        return false;
      mapping.map(op.getResult(0),
                  b.create<prim::BroadcastOp>(op.getLoc(), flatType(type),
                                              mapping.lookup(broadcast.getOperand()),
                                              broadcast.getDimensions()));
    } else if (isa<Pointwise>(op)) {
      OperationState state(op.getLoc(), op.getName());
      for (Value operand : op.getOperands())
        state.addOperands(mapping.lookup(operand));
      state.addTypes(flatType(type));
      state.addAttributes(op.getAttrs());
      mapping.map(op.getResult(0), b.create(state)->getResult(0));
    } else {
      return false;
    }
  }
  return true;
}

/// Fusions with equal flat bodies.
struct Bucket {
  std::unique_ptr<Region> body;
  SmallVector<prim::FusionOp> fusions;
};

/// Fusions of one sort, by what they compute of flat tensors.
class Buckets {
public:
  /// Nothing, unless it is elementwise arithmetic.
  void add(prim::FusionOp fusion) {
    auto body = std::make_unique<Region>();
    if (!flatten(fusion, body->emplaceBlock()))
      return;
    std::string text = prim::describeBody(body->front());
    Bucket &bucket = buckets[StringRef(text).copy(texts)];
    if (bucket.fusions.empty())
      bucket.body = std::move(body);
    bucket.fusions.push_back(fusion);
  }

  SmallVector<std::reference_wrapper<Bucket>> ofSeveral() {
    SmallVector<std::reference_wrapper<Bucket>> several;
    for (auto &[text, bucket] : buckets)
      if (bucket.fusions.size() > 1)
        several.push_back(bucket);
    return several;
  }

private:
  llvm::MapVector<StringRef, Bucket> buckets;
  llvm::BumpPtrAllocator texts;
};

struct FuseHorizontallyPass : accc::impl::FuseHorizontallyPassBase<FuseHorizontallyPass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    Buckets updates, rounded;
    for (auto fusion : block.getOps<prim::FusionOp>()) {
      if (isUpdate(fusion))
        updates.add(fusion);
      else if (roundsArguments(fusion))
        rounded.add(fusion);
    }
    for (Bucket &bucket : updates.ofSeveral())
      merge(bucket, block.getTerminator());
    for (Bucket &bucket : rounded.ofSeveral())
      merge(bucket, bucket.fusions.front());
    for (Operation &op : block)
      if (op.hasTrait<Collective>())
        mergeSent(op);
  }

private:
  /// All that it computes are new values of variables, which no kernel reads: such fusions do not
  /// depend on each other.
  bool isUpdate(prim::FusionOp fusion) {
    return !fusion->use_empty() && llvm::all_of(fusion->getOpResults(), [&](Value output) {
      return llvm::all_of(output.getUses(),
                          [&](OpOperand &use) { return accc::isUpdate(getOperation(), use); });
    });
  }

  /// All that it reads are arguments, which are there before the first kernel, and what it writes
  /// is smaller than these: parameters in 16 bits, which live as long as those that read them. (To
  /// compute more so early would take memory.)
  static bool roundsArguments(prim::FusionOp fusion) {
    auto bytes = [](ValueRange values) {
      int64_t sum = 0;
      for (Value value : values)
        sum += tensorBytes(value);
      return sum;
    };
    return llvm::all_of(fusion.getInputs(), llvm::IsaPred<BlockArgument>) &&
           bytes(fusion.getOutputs()) < bytes(fusion.getInputs());
  }

  /// What an exchange alone reads does not depend on each other, and it waits for the last of it
  /// anyway.
  static void mergeSent(Operation &exchange) {
    llvm::SetVector<Operation *> senders;
    for (Value sent : exchange.getOperands())
      if (Operation *op = sent.getDefiningOp())
        senders.insert(op);
    Buckets buckets;
    for (Operation *op : senders)
      if (auto fusion = dyn_cast<prim::FusionOp>(op))
        if (llvm::all_of(fusion->getUsers(), [&](Operation *user) { return user == &exchange; }))
          buckets.add(fusion);
    for (Bucket &bucket : buckets.ofSeveral())
      merge(bucket, &exchange);
  }

  static void merge(Bucket &bucket, Operation *before) {
    SmallVector<Value> inputs, outputs;
    SmallVector<Location> locations;
    for (prim::FusionOp fusion : bucket.fusions) {
      locations.push_back(fusion.getLoc());
      llvm::append_range(inputs, fusion.getInputs());
      llvm::append_range(outputs, fusion.getOutputs());
    }
    prim::FusionOp first = bucket.fusions.front();
    OpBuilder b(before);
    auto each = b.create<prim::FusionEachOp>(
        b.getFusedLoc(locations), ValueRange(outputs).getTypes(), inputs, first.getName());
    each.getBody().takeBody(*bucket.body);
    for (auto [old, now] : llvm::zip_equal(outputs, each.getOutputs()))
      old.replaceAllUsesWith(now);
    for (prim::FusionOp fusion : bucket.fusions)
      fusion.erase();
  }
};
} // namespace
