// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Node.h"
#include "frontend/common/Fold.h"
#include "frontend/onnx/GraphImporter.h"
#include "support/ProblemCollector.h"

#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

Node::Node(GraphImporter &importer, Frame &frame, const onnx::NodeProto &proto, int64_t opset,
           Location loc, Entities inputs)
    : parent(importer), frame(frame), node(proto), version(opset), location(loc),
      operands(std::move(inputs)) {}

OpBuilder &Node::builder() const { return parent.builder(); }
MLIRContext &Node::context() const { return *parent.builder().getContext(); }
void Node::warn(const Twine &message) const {
  std::string name = node.name().empty() ? (node.output_size() ? node.output(0) : "") : node.name();
  parent.remark({.node = name,
                 .op = node.op_type(),
                 .message = message.str(),
                 .severity = Problem::Severity::Warning});
}

// ---- inputs ----

const Entity &Node::entity(size_t i) const {
  if (!has(i))
    fail("input " + Twine(i) + " is missing");
  return operands[i];
}

Tensor Node::in(size_t i) const {
  const Entity &entity = this->entity(i);
  if (!entity.tensor)
    fail("input " + Twine(i) + " is not a tensor");
  return wrap(entity.tensor);
}

Tensor Node::floatIn(size_t i) const {
  Tensor tensor = in(i);
  if (!isa<FloatType>(tensor.elementType()))
    fail("input " + Twine(i) + " must be a tensor of floats");
  return tensor;
}

Tensor Node::numberIn(size_t i) const {
  Tensor tensor = in(i);
  if (tensor.elementType().isInteger(1))
    fail("input " + Twine(i) + " must be a tensor of numbers, not of booleans");
  return tensor;
}

// ---- attributes ----

const onnx::AttributeProto *Node::find(StringRef name) const {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() != name)
      continue;
    if (attribute.ref_attr_name().empty())
      return &attribute;
    for (Frame *at = &frame; at; at = at->outer)
      if (auto found = at->attributes.find(attribute.ref_attr_name());
          found != at->attributes.end())
        return found->second;
    return nullptr; // the caller left it out
  }
  return nullptr;
}

namespace {
[[noreturn]] void missing(StringRef name) { fail("the attribute '" + name + "' is missing"); }
[[noreturn]] void wrongKind(StringRef name, StringRef kind) {
  fail("the attribute '" + name + "' must be " + kind);
}
} // namespace

int64_t Node::integer(StringRef name, std::optional<int64_t> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), 0);
  if (!attribute->has_i())
    wrongKind(name, "an integer");
  return attribute->i();
}

double accc::onnx_import::asWritten(float value) {
  if (!std::isfinite(value))
    return value;
  char text[64];
  auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  double result = 0;
  std::from_chars(text, end, result);
  return result;
}

double Node::real(StringRef name, std::optional<double> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), 0.0);
  if (!attribute->has_f())
    wrongKind(name, "a float");
  return asWritten(attribute->f());
}

std::string Node::string(StringRef name, std::optional<std::string> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), std::string());
  if (!attribute->has_s())
    wrongKind(name, "a string");
  return attribute->s();
}

SmallVector<int64_t> Node::integers(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

SmallVector<double> Node::reals(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<double>(llvm::map_range(attribute->floats(), asWritten));
}

SmallVector<std::string> Node::strings(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

const onnx::GraphProto &Node::graph(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    missing(name);
  if (!attribute->has_g())
    wrongKind(name, "a graph");
  return attribute->g();
}

// ---- known values ----

DenseElementsAttr Node::known(size_t i) const { return knownValue(in(i)); }

namespace {
/// A constant may stand for more elements than memory holds.
void checkListable(DenseElementsAttr value, StringRef what) {
  if (value && value.getNumElements() > (int64_t(1) << 24))
    fail("the " + what + " has " + Twine(value.getNumElements()) + " elements");
}
} // namespace

// Where a value must be known, an initialiser is taken at its word, though its type made it a
// parameter; and so is what is computed from it.
DenseElementsAttr Node::given(size_t i) const {
  DenseElementsAttr value = known(i);
  return value ? value
               : knownValue(in(i), [&](Value variable) { return parent.initialValue(variable); });
}

/// "'Cast_7' (Cast)", of what `location()` of the importer made.
static std::string nodeText(Location loc) {
  std::string text = "'" + accc::nodeName(loc) + "'";
  if (auto name = dyn_cast<NameLoc>(loc))
    if (auto op = dyn_cast<NameLoc>(name.getChildLoc()))
      text += " (" + op.getName().str() + ")";
  return text;
}

std::string Node::whyUnknown(size_t i) const {
  FoldingStop stop =
      findFoldingStop(in(i).get(), [&](Value variable) { return parent.initialValue(variable); });
  if (!stop.argument)
    return "the node " + nodeText(stop.producer->getLoc()) +
           " is not computed at compile time, though what it reads is known";
  std::string source = (parent.initialValue(stop.argument) ? "the parameter '" : "the input '") +
                       accc::nodeName(stop.argument.getLoc()) + "'";
  if (!stop.producer)
    return "it is " + source;
  return "the node " + nodeText(stop.producer->getLoc()) + " computes it from " + source;
}

SmallVector<int64_t> Node::knownIntegers(size_t i, StringRef what) const {
  DenseElementsAttr value = given(i);
  checkListable(value, what);
  if (!value)
    fail("the " + what + " (input " + Twine(i) + ") must be known at compile time, but " +
         whyUnknown(i));
  if (!value.getElementType().isIntOrIndex())
    fail("the " + what + " (input " + Twine(i) + ") must be integers");
  SmallVector<int64_t> result;
  bool isUnsigned =
      value.getElementType().isUnsignedInteger() || value.getElementType().isInteger(1);
  for (const APInt &element : value.getValues<APInt>())
    result.push_back(isUnsigned ? static_cast<int64_t>(element.getZExtValue())
                                : element.getSExtValue());
  return result;
}

SmallVector<double> Node::knownReals(size_t i, StringRef what) const {
  DenseElementsAttr value = given(i);
  checkListable(value, what);
  SmallVector<double> result;
  if (!value || !isa<FloatType>(value.getElementType())) {
    for (int64_t element : knownIntegers(i, what))
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

int64_t Node::knownInteger(size_t i, StringRef what) const {
  SmallVector<int64_t> values = knownIntegers(i, what);
  if (values.size() != 1)
    fail("the " + what + " (input " + Twine(i) + ") must be one number");
  return values.front();
}

double Node::knownReal(size_t i, StringRef what) const {
  SmallVector<double> values = knownReals(i, what);
  if (values.size() != 1)
    fail("the " + what + " (input " + Twine(i) + ") must be one number");
  return values.front();
}

std::optional<SmallVector<int64_t>> Node::integersFrom(StringRef attribute, size_t input) const {
  if (has(input))
    return knownIntegers(input, attribute);
  if (hasAttribute(attribute))
    return integers(attribute);
  return std::nullopt;
}

// ---- checks ----

int64_t Node::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank)
    fail("the axis " + Twine(value) + " is outside a tensor of rank " + Twine(rank));
  return value < 0 ? value + rank : value;
}

SmallVector<int64_t> Node::axes(ArrayRef<int64_t> values, int64_t rank) const {
  SmallVector<int64_t> result;
  for (int64_t value : values)
    result.push_back(axis(value, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail("an axis is named twice");
  return result;
}

// ---- building ----

std::string accc::onnx_import::show(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }), ", ") +
         "]";
}

Tensor Node::constant(DenseElementsAttr value) const {
  return wrap(builder().create<prim::ConstantOp>(loc(), value.getType(), value));
}

Tensor Node::integers(ArrayRef<int64_t> values, ArrayRef<int64_t> shape) const {
  return constant(DenseElementsAttr::get(tensorType(shape, builder().getI64Type()), values));
}

Tensor Node::full(ArrayRef<int64_t> shape, Type elementType, double value) const {
  return constant(prim::splat(tensorType(shape, elementType), value));
}

Tensor Node::scalar(double value, Type elementType) const { return full({}, elementType, value); }

Tensor Node::broadcastTo(Tensor a, ArrayRef<int64_t> shape) const {
  int64_t shift = static_cast<int64_t>(shape.size()) - a.rank();
  bool fits = shift >= 0;
  for (int64_t i = 0; fits && i < a.rank(); ++i)
    fits = a.dim(i) == 1 || a.dim(i) == shape[i + shift];
  if (!fits)
    fail("the shape " + show(a.shape()) + " does not broadcast to " + show(shape));
  tensorType(shape, a.elementType());
  return a.broadcastTo(shape);
}

std::pair<Tensor, Tensor> Node::broadcast(Tensor a, Tensor b) const {
  int64_t rank = std::max(a.rank(), b.rank());
  SmallVector<int64_t> shape(rank);
  for (int64_t i = 0; i < rank; ++i) {
    int64_t x = i < rank - a.rank() ? 1 : a.dim(i - (rank - a.rank()));
    int64_t y = i < rank - b.rank() ? 1 : b.dim(i - (rank - b.rank()));
    if (x != y && x != 1 && y != 1)
      fail("the shapes " + show(a.shape()) + " and " + show(b.shape()) + " do not broadcast");
    shape[i] = x == 1 ? y : x;
  }
  return {broadcastTo(a, shape), broadcastTo(b, shape)};
}

Tensor Node::reshape(Tensor a, ArrayRef<int64_t> shape) const {
  if (tensorType(shape, a.elementType()).getNumElements() != a.size())
    fail("a tensor of shape " + show(a.shape()) + " cannot be reshaped to " + show(shape));
  return a.reshape(shape);
}

Tensor Node::concatenate(ArrayRef<Tensor> inputs, int64_t axis) const {
  if (inputs.empty())
    fail("nothing to concatenate");
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

NamedAttribute Node::attr(StringRef name, Attribute value) const {
  return builder().getNamedAttr(name, value);
}
NamedAttribute Node::i64(StringRef name, int64_t value) const {
  return attr(name, builder().getI64IntegerAttr(value));
}
NamedAttribute Node::f64(StringRef name, double value) const {
  return attr(name, builder().getF64FloatAttr(value));
}
NamedAttribute Node::flag(StringRef name, bool value) const {
  return attr(name, builder().getBoolAttr(value));
}
NamedAttribute Node::list(StringRef name, ArrayRef<int64_t> value) const {
  return attr(name, builder().getDenseI64ArrayAttr(value));
}

// Not the typed builders: those end the process where inference fails, and here it may.
Operation *Node::createOp(StringRef name, bool segments, ArrayRef<Value> operands,
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
