// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/NodeBuilder.h"
#include "support/ProblemCollector.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"

#include <charconv>
#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

// ---- known values ----

namespace {
/// A constant may stand for more elements than memory holds.
void checkListable(DenseElementsAttr value, const Twine &what) {
  if (value && value.getNumElements() > (int64_t(1) << 24))
    fail("the " + what + " has " + Twine(value.getNumElements()) + " elements");
}
} // namespace

// Where a value must be known, the initial value of a parameter counts, and so does what is
// computed from it.
DenseElementsAttr NodeBuilder::given(Value value) const {
  return knownValue(value, function.initialValues());
}

/// "'Cast_7' (Cast)", of what `location()` of the importer made.
static std::string nodeText(Location loc) {
  std::string text = "'" + accc::nodeName(loc) + "'";
  if (auto name = dyn_cast<NameLoc>(loc))
    if (auto op = dyn_cast<NameLoc>(name.getChildLoc()))
      text += " (" + op.getName().str() + ")";
  return text;
}

std::string NodeBuilder::whyUnknown(Value value) const {
  FoldingStop stop = findFoldingStop(value, function.initialValues());
  if (!stop.argument)
    return "the node " + nodeText(stop.producer->getLoc()) +
           " is not computed at compile time, though what it reads is known";
  Variable *variable = function.findVariable(stop.argument);
  std::string kind = !variable ? "input" : variable->isBuffer ? "buffer" : "parameter";
  std::string source = "the " + kind + " '" + accc::nodeName(stop.argument.getLoc()) + "'";
  if (!stop.producer)
    return "it is " + source;
  return "the node " + nodeText(stop.producer->getLoc()) + " computes it from " + source;
}

DenseElementsAttr NodeBuilder::knownElements(Value tensor, const Twine &what) const {
  DenseElementsAttr value = given(tensor);
  checkListable(value, what);
  if (!value)
    fail("the " + what + " must be known at compile time, but " + whyUnknown(tensor));
  return value;
}

SmallVector<int64_t> NodeBuilder::knownIntegers(Value tensor, const Twine &what) const {
  DenseElementsAttr value = knownElements(tensor, what);
  if (!value.getElementType().isIntOrIndex())
    fail("the " + what + " must be integers");
  SmallVector<int64_t> result;
  bool isUnsigned =
      value.getElementType().isUnsignedInteger() || value.getElementType().isInteger(1);
  for (const APInt &element : value.getValues<APInt>())
    result.push_back(isUnsigned ? static_cast<int64_t>(element.getZExtValue())
                                : element.getSExtValue());
  return result;
}

SmallVector<double> NodeBuilder::knownReals(Value tensor, const Twine &what) const {
  DenseElementsAttr value = given(tensor);
  checkListable(value, what);
  SmallVector<double> result;
  if (!value || !isa<FloatType>(value.getElementType())) {
    for (int64_t element : knownIntegers(tensor, what))
      result.push_back(static_cast<double>(element));
    return result;
  }
  for (APFloat element : value.getValues<APFloat>()) {
    bool lost = false;
    if (&element.getSemantics() == &APFloat::IEEEsingle()) {
      result.push_back(asWritten(element.convertToFloat()));
      continue;
    }
    element.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    result.push_back(element.convertToDouble());
  }
  return result;
}

double accc::frontend::asWritten(float value) {
  if (!std::isfinite(value))
    return value;
  char text[64];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  double result = 0;
  std::from_chars(text, end, result);
  return result;
}

// ---- checks ----

int64_t NodeBuilder::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank)
    fail("the axis " + Twine(value) + " is outside a tensor of rank " + Twine(rank));
  return value < 0 ? value + rank : value;
}

SmallVector<int64_t> NodeBuilder::axes(ArrayRef<int64_t> values, int64_t rank) const {
  SmallVector<int64_t> result;
  for (int64_t value : values)
    result.push_back(axis(value, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail("an axis is named twice");
  return result;
}

// ---- building ----

Tensor NodeBuilder::constant(DenseElementsAttr value) const {
  return wrap(builder().create<prim::ConstantOp>(loc(), value.getType(), value));
}

Tensor NodeBuilder::integers(ArrayRef<int64_t> values, ArrayRef<int64_t> shape) const {
  return constant(DenseElementsAttr::get(tensorType(shape, builder().getI64Type()), values));
}

Tensor NodeBuilder::reals(ArrayRef<double> values, ArrayRef<int64_t> shape,
                          Type elementType) const {
  RankedTensorType type = tensorType(shape, elementType);
  if (elementType.isF64())
    return constant(DenseElementsAttr::get(type, values));
  SmallVector<float> rounded(llvm::map_range(values, [](double x) { return float(x); }));
  return constant(DenseElementsAttr::get(type.clone(builder().getF32Type()), ArrayRef(rounded)))
      .convert(elementType);
}

Tensor NodeBuilder::full(ArrayRef<int64_t> shape, Type elementType, double value) const {
  return prim::full(builder(), loc(), tensorType(shape, elementType), value);
}

Tensor NodeBuilder::scalar(double value, Type elementType) const {
  return full({}, elementType, value);
}

Tensor NodeBuilder::broadcastTo(Tensor a, ArrayRef<int64_t> shape) const {
  int64_t shift = static_cast<int64_t>(shape.size()) - a.rank();
  bool fits = shift >= 0;
  for (int64_t i = 0; fits && i < a.rank(); ++i)
    fits = a.dim(i) == 1 || a.dim(i) == shape[i + shift];
  if (!fits)
    fail("the shape " + show(a.shape()) + " does not broadcast to " + show(shape));
  tensorType(shape, a.elementType());
  return a.broadcastTo(shape);
}

Tensor NodeBuilder::iota(ArrayRef<int64_t> shape, int64_t dimension) const {
  return prim::iota(builder(), loc(), tensorType(shape, builder().getI64Type()), dimension);
}

SmallVector<int64_t> frontend::broadcastShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  SmallVector<int64_t> shape(rank);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.size() ? 1 : a[i - (rank - a.size())];
    int64_t y = i < rank - b.size() ? 1 : b[i - (rank - b.size())];
    if (x != y && x != 1 && y != 1)
      fail("the shapes " + show(a) + " and " + show(b) + " do not broadcast");
    shape[i] = x == 1 ? y : x;
  }
  return shape;
}

std::pair<Tensor, Tensor> NodeBuilder::broadcast(Tensor a, Tensor b) const {
  SmallVector<int64_t> shape = broadcastShape(a.shape(), b.shape());
  return {broadcastTo(a, shape), broadcastTo(b, shape)};
}

Tensor NodeBuilder::reshape(Tensor a, ArrayRef<int64_t> shape) const {
  if (tensorType(shape, a.elementType()).getNumElements() != a.size())
    fail("a tensor of shape " + show(a.shape()) + " cannot be reshaped to " + show(shape));
  return a.reshape(shape);
}

Tensor NodeBuilder::concatenate(ArrayRef<Tensor> inputs, int64_t axis) const {
  if (inputs.empty())
    fail("nothing to concatenate");
  axis = this->axis(axis, inputs.front().rank());
  int64_t extent = 0;
  for (const Tensor &input : inputs) {
    bool fits = input.elementType() == inputs.front().elementType() &&
                input.rank() == inputs.front().rank();
    for (int64_t d = 0; fits && d < input.rank(); ++d)
      fits = d == axis || input.dim(d) == inputs.front().dim(d);
    if (!fits)
      fail("tensors of shapes " + show(inputs.front().shape()) + " and " + show(input.shape()) +
           " (or of different element types) cannot be concatenated along axis " + Twine(axis));
    extent += input.dim(axis);
  }
  SmallVector<int64_t> shape(inputs.front().shape());
  shape[axis] = extent;
  tensorType(shape, inputs.front().elementType());
  return prim::concatenate(inputs, axis);
}

NamedAttribute NodeBuilder::attr(StringRef name, Attribute value) const {
  return builder().getNamedAttr(name, value);
}
NamedAttribute NodeBuilder::i64(StringRef name, int64_t value) const {
  return attr(name, builder().getI64IntegerAttr(value));
}
NamedAttribute NodeBuilder::f64(StringRef name, double value) const {
  return attr(name, builder().getF64FloatAttr(value));
}
NamedAttribute NodeBuilder::flag(StringRef name, bool value) const {
  return attr(name, builder().getBoolAttr(value));
}
NamedAttribute NodeBuilder::list(StringRef name, ArrayRef<int64_t> value) const {
  return attr(name, builder().getDenseI64ArrayAttr(value));
}

// Not the typed builders: those end the process where inference fails, and here it may.
Operation *NodeBuilder::createOp(StringRef name, bool segments, ArrayRef<Value> operands,
                                 ArrayRef<NamedAttribute> attributes, ArrayRef<Type> types) const {
  OperationState state(loc(), name);
  SmallVector<int32_t> sizes;
  for (Value operand : operands) {
    sizes.push_back(operand ? 1 : 0);
    if (operand)
      state.operands.push_back(operand);
  }
  NamedAttrList all(attributes);
  if (segments)
    all.set("operandSegmentSizes", builder().getDenseI32ArrayAttr(sizes));
  DictionaryAttr dictionary = all.getDictionary(&context());
  state.types.append(types.begin(), types.end());

  auto info = RegisteredOperationName::lookup(name, &context());
  if (!info)
    fail("the compiler lacks the operation " + name);
  auto emitError = [&] { return mlir::emitError(loc()) << "in " << name << ": "; };
  std::vector<uint64_t> storage(info->getOpPropertyByteSize() / sizeof(uint64_t) + 1);
  OpaqueProperties properties(storage.data());
  bool good = true;
  if (info->getOpPropertyByteSize() > 0) {
    info->initOpProperties(properties, OpaqueProperties(nullptr));
    info->populateDefaultProperties(properties);
    good = succeeded(info->setOpPropertiesFromAttribute(*info, properties, dictionary, emitError));
  }
  if (good && types.empty()) {
    auto *inference = info->getInterface<InferTypeOpInterface>();
    SmallVector<Type> inferred;
    good =
        inference && succeeded(inference->inferReturnTypes(&context(), loc(), state.operands,
                                                           dictionary, properties, {}, inferred));
    state.types.assign(inferred.begin(), inferred.end());
  }
  if (info->getOpPropertyByteSize() > 0)
    info->destroyOpProperties(properties);
  if (!good)
    fail("is not valid here"); // the diagnostics that MLIR gave say why
  state.attributes = all;
  Operation *op = builder().create(state);
  if (failed(op->getName().verifyInvariants(op)))
    fail("is not valid here");
  return op;
}
