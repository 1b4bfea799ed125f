// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/KernelReductions.h"
#include "ir/prim/Pieces.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Structure.cpp.inc"

// ---- optimization_barrier ----

LogicalResult OptimizationBarrierOp::inferReturnTypes(MLIRContext *context,
                                                      std::optional<Location> loc, Adaptor adaptor,
                                                      SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getOperand().getType());
  return success();
}

LogicalResult OptimizationBarrierOp::differentiate(Gradients &gradients) {
  gradients.add(getOperand(), gradients.of(getResult()));
  return success();
}

LogicalResult OptimizationBarrierOp::evaluate(ArrayRef<ReferenceArray> operands,
                                              SmallVectorImpl<ReferenceArray> &results) {
  results.push_back(operands.front());
  return success();
}

// ---- fusion ----

static RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// fusion_c4
static LogicalResult verifySpec(FusionOp fusion, KernelSpecAttr spec) {
  Block &body = fusion.getBody().front();
  SmallVector<ReduceOp> reductions(body.getOps<ReduceOp>());
  std::optional<KernelReductions> sorted = sortReductions(reductions);
  if (!sorted)
    return fusion.emitOpError("has reductions over different spaces");
  ReduceOp first = reductions.empty() ? ReduceOp() : sorted->rows.front();
  for (ReduceOp column : sorted->columns)
    for (Operation *user : column->getUsers())
      if (!isa<YieldOp>(user))
        return fusion.emitOpError("reads what it reduces of several rows");
  if (spec.getLevels().size() != static_cast<int64_t>(reductions.size()) ||
      spec.getDepths().size() != static_cast<int64_t>(fusion.getNumResults()))
    return fusion.emitOpError("has ")
           << reductions.size() << " reductions and " << fusion.getNumResults()
           << " results, its spec speaks of " << spec.getLevels().size() << " and "
           << spec.getDepths().size();
  ValueRange results = body.getTerminator()->getOperands();
  ArrayRef<int64_t> full = first ? first.getOperand().getType().getShape() : spaceOf(results);
  ArrayRef<int64_t> kept = first ? first.getType().getShape() : full;
  for (Value result : results)
    if (ArrayRef<int64_t> shape = tensorTypeOf(result).getShape();
        shape != full && shape != kept && !sorted->isColumn(result) &&
        (first || !isWalkedOver(result, full)))
      return fusion.emitOpError("gives a ")
             << result.getType() << ", which has not the shape of its iteration space";
  return success();
}

LogicalResult FusionOp::verify() {
  Block &block = getBody().front();
  // fusion_c1
  if (block.getArgumentTypes() != getInputs().getTypes())
    return emitOpError("the region's arguments have the types (")
           << block.getArgumentTypes() << "), the inputs (" << getInputs().getTypes() << ")";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  // fusion_c2
  if (!yield)
    return emitOpError("the region does not end in prim.yield");
  // fusion_c3
  if (yield.getResults().getTypes() != getOutputs().getTypes())
    return emitOpError("the region yields the types (")
           << yield.getResults().getTypes() << "), the results have (" << getOutputs().getTypes()
           << ")";
  KernelSpecAttr spec = getSpecAttr();
  return spec ? verifySpec(*this, spec) : success();
}

// ---- fusion_each ----

static bool isFlat(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getShape() == ArrayRef<int64_t>{FusionEachOp::kAnyExtent};
}

static bool isScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0;
}

/// fusion_each_c3, and what the other constraints need to be asked at all.
static LogicalResult verifyFlatBody(FusionEachOp op) {
  Block &block = op.getBody().front();
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getResults().empty() || !llvm::all_of(yield.getResults().getTypes(), isFlat))
    return op.emitOpError("the region does not end in prim.yield of flat tensors");
  for (Type type : block.getArgumentTypes())
    if (!isFlat(type) && !isScalar(type))
      return op.emitOpError("the region takes a ")
             << type << ", which is neither flat nor of rank 0";
  for (Operation &inner : block.without_terminator()) {
    auto constant = dyn_cast<ConstantOp>(inner);
    auto broadcast = dyn_cast<BroadcastOp>(inner);
    bool allowed = constant    ? constant.getValue().isSplat()
                   : broadcast ? isScalar(broadcast.getOperand().getType())
                               : isa<Pointwise>(inner);
    if (!allowed || !llvm::all_of(inner.getResultTypes(),
                                  [](Type type) { return isFlat(type) || isScalar(type); }))
      return inner.emitOpError("is not elementwise on flat tensors, as in a prim.fusion_each");
  }
  return success();
}

LogicalResult FusionEachOp::verify() {
  // fusion_each_c3
  if (failed(verifyFlatBody(*this)))
    return failure();
  // fusion_each_c1
  size_t count = getOutputs().size() / outputsPerSegment();
  if (count == 0 || getOutputs().size() != count * outputsPerSegment() ||
      getInputs().size() != count * inputsPerSegment())
    return emitOpError("has ") << getInputs().size() << " inputs and " << getOutputs().size()
                               << " outputs, the region " << inputsPerSegment() << " and "
                               << outputsPerSegment();
  // fusion_each_c2
  auto fits = [](Value value, Type inside, int64_t elements) {
    RankedTensorType type = tensorTypeOf(value);
    return type.getElementType() == cast<RankedTensorType>(inside).getElementType() &&
           (isFlat(inside) ? type.getNumElements() == elements : type.getRank() == 0);
  };
  TypeRange yielded = getBody().front().getTerminator()->getOperandTypes();
  for (unsigned segment = 0; segment < count; ++segment) {
    int64_t elements = segmentElements(segment);
    for (auto [value, inside] :
         llvm::zip(getInputs().slice(segment * inputsPerSegment(), inputsPerSegment()),
                   getBody().getArgumentTypes()))
      if (!fits(value, inside, elements))
        return emitOpError("segment ")
               << segment << " reads a " << value.getType() << ", the region takes a " << inside;
    for (auto [value, inside] :
         llvm::zip(getOutputs().slice(segment * outputsPerSegment(), outputsPerSegment()), yielded))
      if (!fits(value, inside, elements))
        return emitOpError("segment ")
               << segment << " gives a " << value.getType() << ", the region yields a " << inside;
  }
  return success();
}

int64_t FusionEachOp::segmentElements(unsigned segment) {
  return tensorTypeOf(getOutputs()[segment * outputsPerSegment()]).getNumElements();
}

std::unique_ptr<Region> FusionEachOp::instantiate(int64_t elements) {
  auto body = std::make_unique<Region>();
  IRMapping mapping;
  getBody().cloneInto(body.get(), mapping);
  auto sized = [&](Type type) -> Type {
    return isFlat(type) ? cast<RankedTensorType>(type).clone(ArrayRef<int64_t>{elements}) : type;
  };
  for (BlockArgument argument : body->getArguments())
    argument.setType(sized(argument.getType()));
  for (Operation &op : body->front().without_terminator()) {
    for (Value result : op.getResults())
      result.setType(sized(result.getType()));
    if (auto constant = dyn_cast<ConstantOp>(op))
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue())
                                .resizeSplat(cast<ShapedType>(op.getResult(0).getType())));
  }
  return body;
}

// ---- bodies ----

bool prim::isCall(Operation *op) {
  return isa<MatrixProduct, ConvolutionLike, AttentionLike, CustomCallLike>(op) ||
         op->hasTrait<Collective>();
}

/// The kind of a kernel that has the op; none if the op leaves that to others.
static std::optional<KernelKind> kindOf(Operation *op) {
  auto fusible = dyn_cast<Fusible>(op);
  switch (fusible ? fusible.getFusionClass() : FusionClass::Opaque) {
  case FusionClass::Reduction:
    return KernelKind::reduce;
  case FusionClass::Scatter:
    return KernelKind::scatter;
  case FusionClass::Scan:
    return KernelKind::scan;
  case FusionClass::Sort:
    return KernelKind::sort;
  case FusionClass::Matrix:
    return KernelKind::matrix;
  case FusionClass::Pointwise:
  case FusionClass::View:
  case FusionClass::Window:
  case FusionClass::Opaque:
    return std::nullopt;
  }
  llvm_unreachable("no such class");
}

KernelKind prim::kernelKind(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (std::optional<KernelKind> kind = kindOf(op))
      return *kind;
  return KernelKind::loop;
}

bool prim::isAnchor(Operation *op) {
  return kindOf(op).value_or(KernelKind::reduce) != KernelKind::reduce;
}

bool prim::worksInResults(Operation *op) { return kindOf(op) == KernelKind::matrix; }

std::string prim::describeBody(Block &body) {
  std::string text;
  llvm::raw_string_ostream os(text);
  DenseMap<Value, unsigned> numbers;
  for (BlockArgument argument : body.getArguments()) {
    numbers[argument] = static_cast<unsigned>(numbers.size());
    os << argument.getType() << ",";
  }
  for (Operation &op : body) {
    os << "\n" << op.getName() << "(";
    for (Value operand : op.getOperands())
      os << numbers.lookup(operand) << ",";
    os << ")" << op.getAttrDictionary() << ":";
    for (Value result : op.getResults()) {
      os << result.getType() << ",";
      numbers[result] = static_cast<unsigned>(numbers.size());
    }
  }
  return text;
}

bool prim::mayReportErrors(Block &body) {
  return llvm::any_of(body, [](Operation &op) { return op.hasTrait<ReportsErrors>(); });
}
