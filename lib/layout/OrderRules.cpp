// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout/OrderRules.h"

#include "ir/prim/Tensor.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace accc;
using namespace accc::layout;
using accc::prim::Tensor;

// ---- views ----

bool layout::isView(Operation *op) {
  return isa_and_nonnull<prim::TransposeOp, prim::BroadcastOp, prim::ReshapeOp>(op);
}

std::optional<OrderedValue> layout::operandOfView(Operation *view, ArrayRef<int64_t> order) {
  Value operand = view->getOperand(0);
  if (auto transpose = dyn_cast<prim::TransposeOp>(view))
    return OrderedValue{operand, inOrder(transpose.getPermutation(), order)};
  if (auto broadcast = dyn_cast<prim::BroadcastOp>(view)) {
    DimensionOrder from;
    for (int64_t d : order)
      if (llvm::is_contained(broadcast.getDimensions(), d))
        from.push_back(placeOf(d, broadcast.getDimensions()));
    return OrderedValue{operand, from};
  }
  if (ArrayRef(order) == ArrayRef(ownOrder(order.size())))
    return OrderedValue{operand, ownOrder(shapeOf(operand).size())};
  if (auto from = throughReshape(shapeOf(operand), shapeOf(view->getResult(0)), order))
    return OrderedValue{operand, *from};
  return std::nullopt;
}

std::optional<DimensionOrder> layout::resultOfView(Operation *view, ArrayRef<int64_t> order) {
  if (auto transpose = dyn_cast<prim::TransposeOp>(view)) {
    DimensionOrder result;
    for (int64_t d : order)
      result.push_back(placeOf(d, transpose.getPermutation()));
    return result;
  }
  if (auto broadcast = dyn_cast<prim::BroadcastOp>(view)) {
    if (broadcast.getDimensions().size() != shapeOf(broadcast).size())
      return std::nullopt; // new dimensions could lie anywhere
    return DimensionOrder(order);
  }
  return throughReshape(shapeOf(view->getResult(0)), shapeOf(view->getOperand(0)), order);
}

Value layout::createView(OpBuilder &builder, Operation *view, Value operand,
                         ArrayRef<int64_t> order) {
  Tensor from(builder, view->getLoc(), operand);
  if (isa<prim::TransposeOp>(view))
    return from;
  SmallVector<int64_t> shape = inOrder(shapeOf(view->getResult(0)), order);
  if (isa<prim::ReshapeOp>(view))
    return from.reshape(shape);
  SmallVector<int64_t> places;
  for (int64_t d : cast<prim::BroadcastOp>(view).getDimensions())
    places.push_back(placeOf(d, order));
  llvm::sort(places); // the operand lies in the same order
  return from.broadcast(shape, places);
}

static std::optional<DenseElementsAttr> splatOf(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  return elements;
}

bool layout::isFree(Value value) {
  return isa_and_nonnull<prim::IotaOp>(value.getDefiningOp()) || splatOf(value);
}

Value layout::createFree(OpBuilder &builder, Value value, ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(value.getType()).clone(inOrder(shapeOf(value), order));
  if (auto iota = value.getDefiningOp<prim::IotaOp>())
    return builder.create<prim::IotaOp>(value.getLoc(), type,
                                        placeOf(static_cast<int64_t>(iota.getDimension()), order));
  return builder.create<prim::ConstantOp>(value.getLoc(), splatOf(value)->resizeSplat(type));
}

// ---- other ops ----

/// Whether every operand and the result have the same dimensions, so that one order serves all.
/// Operands of rank 0 have none.
static bool isOfOneOrder(Operation *op, ArrayRef<int64_t> order) {
  if (isa<Pointwise>(op))
    return llvm::all_of(op->getOperands(),
                        [&](Value x) { return shapeOf(x) == shapeOf(op->getResult(0)); });
  if (isa<Windowed>(op)) {
    // Which of equal elements is the first, its number, and how a sum is rounded are a matter of
    // the windows' own order.
    ArrayRef<int64_t> window = cast<DenseI64ArrayAttr>(op->getAttr("window")).asArrayRef();
    SmallVector<int64_t> slides;
    for (int64_t d : order)
      if (window[d] != 1)
        slides.push_back(d);
    return llvm::is_sorted(slides);
  }
  if (isa<prim::OptimizationBarrierOp>(op) || op->hasTrait<Collective>())
    return true;
  return isa<Dimensioned>(op) && !isa<prim::GatherOp, prim::ScatterOp>(op);
}

/// gather and scatter by one list of indices, which stands in place of a dimension.
static std::optional<unsigned> listOfIndices(Operation *op) {
  if (isa<prim::GatherOp, prim::ScatterOp>(op) && shapeOf(op->getOperand(1)).size() == 1)
    return 1;
  return std::nullopt;
}

/// A dimension of what a reduction leaves, as a dimension of its operand.
static SmallVector<int64_t> keptDimensions(prim::ReduceOp op) {
  SmallVector<int64_t> kept;
  for (int64_t d : ownOrder(shapeOf(op.getOperand()).size()))
    if (!llvm::is_contained(op.getDimensions(), d))
      kept.push_back(d);
  return kept;
}

std::optional<OpOrder> layout::followOrder(Operation *op, Value value, ArrayRef<int64_t> order) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  OpOrder result;
  if (auto reduce = dyn_cast<prim::ReduceOp>(op)) {
    if (value != reduce.getOperand())
      return std::nullopt; // the reduced dimensions could lie anywhere
    SmallVector<int64_t> kept = keptDimensions(reduce);
    for (int64_t d : order)
      if (llvm::is_contained(kept, d))
        result.result.push_back(placeOf(d, kept));
    result.operands.emplace_back(order);
    return result;
  }
  std::optional<unsigned> indices = listOfIndices(op);
  if (!indices && !isOfOneOrder(op, order))
    return std::nullopt;
  if (indices && value == op->getOperand(*indices))
    return std::nullopt;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    bool own = i == indices || shapeOf(operand).size() != order.size();
    result.operands.push_back(own ? ownOrder(shapeOf(operand).size()) : DimensionOrder(order));
  }
  result.result = DimensionOrder(order);
  return result;
}

std::optional<ConvolutionLayout> ConvolutionOrders::layoutOf(Operation *op) const {
  if (!isa<ConvolutionLike>(op))
    return std::nullopt;
  return target.getConvolutionLayout(getElementTypeOrSelf(op->getResult(0)), tf32);
}

std::optional<OpOrder> ConvolutionOrders::of(Operation *op) const {
  std::optional<ConvolutionLayout> wanted = layoutOf(op);
  if (!wanted)
    return std::nullopt;
  auto convolution = cast<ConvolutionLike>(op);
  bool activations = !convolution.getChannelsLast(),
       filter = wanted->filtersLast && !convolution.getFilterChannelsLast();
  if (!activations && !filter)
    return std::nullopt;
  size_t rank = shapeOf(op->getResult(0)).size();
  auto orderIf = [&](bool changes) { return changes ? channelsLast(rank) : ownOrder(rank); };
  OpOrder order{SmallVector<DimensionOrder>(2, orderIf(activations)), orderIf(activations)};
  std::optional<unsigned> operand = convolution.getFilterOperand();
  (operand ? order.operands[*operand] : order.result) = orderIf(filter);
  return order;
}

static bool isChannelsLast(ArrayRef<int64_t> order) {
  return order == ArrayRef<int64_t>(channelsLast(order.size()));
}

/// The attributes that speak of dimensions, in the order in which these lie.
static NamedAttrList attributesInOrder(Operation *op, const OpOrder &order) {
  NamedAttrList attributes(op->getAttrs());
  Builder b(op->getContext());
  if (auto convolution = dyn_cast<ConvolutionLike>(op)) {
    std::optional<unsigned> filter = convolution.getFilterOperand();
    const DimensionOrder &filterOrder = filter ? order.operands[*filter] : order.result;
    const DimensionOrder &activations = order.operands[0]; // of every convolution
    bool wasLast = convolution.getChannelsLast(),
         wasFilterLast = convolution.getFilterChannelsLast();
    attributes.set("channels_last", b.getBoolAttr(wasLast || isChannelsLast(activations)));
    if (wasFilterLast || isChannelsLast(filterOrder))
      attributes.set("filter_channels_last", b.getBoolAttr(true));
    return attributes;
  }
  auto dimensioned = dyn_cast<Dimensioned>(op);
  if (!dimensioned)
    return attributes;
  ArrayRef<int64_t> dimensions = order.operands[0];
  for (StringRef name : dimensioned.getAttributesOfAllDimensions())
    attributes.set(name, b.getDenseI64ArrayAttr(
                             inOrder(cast<DenseI64ArrayAttr>(attributes.get(name)), dimensions)));
  for (StringRef name : dimensioned.getAttributesOfSomeDimensions()) {
    if (auto which = dyn_cast<IntegerAttr>(attributes.get(name))) {
      attributes.set(name, b.getI64IntegerAttr(placeOf(which.getInt(), dimensions)));
      continue;
    }
    SmallVector<int64_t> places;
    for (int64_t d : cast<DenseI64ArrayAttr>(attributes.get(name)).asArrayRef())
      places.push_back(placeOf(d, dimensions));
    llvm::sort(places);
    attributes.set(name, b.getDenseI64ArrayAttr(places));
  }
  return attributes;
}

Value layout::createInOrder(OpBuilder &builder, Operation *op, const OpOrder &order,
                            ValueRange operands) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(type.clone(inOrder(type.getShape(), order.result)));
  state.addAttributes(attributesInOrder(op, order).getAttrs());
  return builder.create(state)->getResult(0);
}
