// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Node.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

[[noreturn]] static void wrongKind(StringRef name, const Twine &what) {
  fail("the argument '" + name + "' must be " + what);
}

const Argument &Node::find(StringRef name) const {
  if (auto given = arguments.find(name); given != arguments.end())
    return given->second;
  const Signature::Parameter *parameter = signature.find(name);
  if (!parameter || !parameter->otherwise)
    fail("the argument '" + name + "' is missing");
  return *parameter->otherwise;
}

template <typename T> const T &Node::get(StringRef name, const char *what) const {
  const T *value = std::get_if<T>(&find(name));
  if (!value)
    wrongKind(name, what);
  return *value;
}

bool Node::has(StringRef name) const { return !std::holds_alternative<NoValue>(find(name)); }

bool Node::isTensor(StringRef name) const { return std::holds_alternative<Value>(find(name)); }

bool Node::isTensorList(StringRef name) const {
  return std::holds_alternative<TensorList>(find(name));
}

bool Node::isString(StringRef name) const {
  return std::holds_alternative<std::string>(find(name));
}

// ---- tensors ----

Tensor Node::notComplex(StringRef name, Value value) const {
  if (frontend::isComplex(value.getType()))
    fail("the operator does not take complex numbers, which the argument '" + name + "' has");
  return wrap(value);
}

Tensor Node::in(StringRef name) const { return notComplex(name, get<Value>(name, "a tensor")); }

Tensor Node::floatIn(StringRef name) const {
  Tensor tensor = in(name);
  if (!isa<FloatType>(tensor.elementType()))
    wrongKind(name, "a tensor of floats");
  return tensor;
}

Tensor Node::indexIn(StringRef name) const {
  Tensor tensor = in(name);
  Type type = tensor.elementType();
  if (isa<FloatType>(type) || type.isInteger(1))
    wrongKind(name, "a tensor of integers");
  bool fits = type.isSignlessInteger(32) || type.isSignlessInteger(64);
  return fits ? tensor : tensor.convert(builder().getI64Type());
}

Value Node::optional(StringRef name) const { return has(name) ? in(name).get() : Value(); }

TensorList Node::optionalTensors(StringRef name) const {
  const TensorList &list = get<TensorList>(name, "a list of tensors");
  for (Value value : list)
    if (value)
      notComplex(name, value);
  return list;
}

TensorList Node::anyTensors(StringRef name) const {
  const TensorList &list = get<TensorList>(name, "a list of tensors");
  if (!llvm::all_of(list, [](Value value) { return bool(value); }))
    wrongKind(name, "a list of tensors without None");
  return list;
}

SmallVector<Tensor> Node::tensors(StringRef name) const {
  SmallVector<Tensor> result;
  for (Value value : anyTensors(name))
    result.push_back(notComplex(name, value));
  return result;
}

// ---- complex numbers ----

RankedTensorType Node::tensorType(StringRef name) const {
  return cast<RankedTensorType>(get<Value>(name, "a tensor").getType());
}

static bool holdsComplex(const Argument &argument) {
  if (auto *type = std::get_if<Type>(&argument))
    return frontend::isComplex(*type);
  if (auto *tensor = std::get_if<Value>(&argument))
    return frontend::isComplex(tensor->getType());
  auto *list = std::get_if<TensorList>(&argument);
  return list && llvm::any_of(*list, [](Value value) {
           return value && frontend::isComplex(value.getType());
         });
}

bool Node::isComplex(StringRef name) const { return holdsComplex(find(name)); }

bool Node::hasComplex() const {
  return llvm::any_of(arguments, [](const auto &entry) {
    return !std::holds_alternative<Type>(entry.second) && holdsComplex(entry.second);
  });
}

Complex Node::complexIn(StringRef name) const {
  return Complex::ofValue(*this, get<Value>(name, "a tensor"));
}

Node Node::withParts(llvm::function_ref<Tensor(const Complex &)> choose) const {
  Node result = *this;
  for (const Signature::Parameter &parameter : signature.parameters) {
    auto given = result.arguments.find(parameter.name);
    if (given == result.arguments.end() || !holdsComplex(given->second))
      continue;
    if (auto *type = std::get_if<Type>(&given->second))
      *type = cast<ComplexType>(*type).getElementType();
    else if (auto *tensor = std::get_if<Value>(&given->second))
      *tensor = choose(Complex::ofValue(*this, *tensor));
    else
      for (Value &each : std::get<TensorList>(given->second))
        if (each)
          each = choose(Complex::ofValue(*this, each));
  }
  return result;
}

// ---- numbers ----

int64_t Node::integer(StringRef name) const {
  const Argument &argument = find(name);
  if (std::holds_alternative<Value>(argument)) {
    SmallVector<int64_t> values = knownIntegers(in(name), "argument '" + name + "'");
    if (values.size() == 1)
      return values.front();
  }
  if (auto *boolean = std::get_if<bool>(&argument))
    return *boolean;
  return get<int64_t>(name, "an integer");
}

double Node::real(StringRef name) const {
  if (auto *integer = std::get_if<int64_t>(&find(name)))
    return static_cast<double>(*integer);
  return get<double>(name, "a number");
}

double Node::number(StringRef name) const {
  const Argument &argument = find(name);
  if (auto *boolean = std::get_if<bool>(&argument))
    return *boolean;
  if (std::holds_alternative<Value>(argument)) {
    SmallVector<double> values = knownReals(in(name), "argument '" + name + "'");
    if (values.size() != 1)
      wrongKind(name, "one number");
    return values.front();
  }
  return real(name);
}

bool Node::isInteger(StringRef name) const { return std::holds_alternative<int64_t>(find(name)); }

bool Node::isNumber(StringRef name) const {
  return isInteger(name) || std::holds_alternative<double>(find(name));
}

bool Node::isBoolean(StringRef name) const { return std::holds_alternative<bool>(find(name)); }

bool Node::boolean(StringRef name) const {
  if (auto *integer = std::get_if<int64_t>(&find(name)))
    return *integer != 0;
  return get<bool>(name, "True or False");
}

std::string Node::string(StringRef name) const { return get<std::string>(name, "a string"); }

SmallVector<int64_t> Node::integers(StringRef name) const {
  const Argument &argument = find(name);
  if (auto *one = std::get_if<int64_t>(&argument))
    return {*one};
  // An empty list of a file has no type.
  if (auto *none = std::get_if<TensorList>(&argument); none && none->empty())
    return {};
  return get<Integers>(name, "a list of integers");
}

SmallVector<int64_t> Node::integers(StringRef name, size_t count) const {
  SmallVector<int64_t> values = integers(name);
  if (values.size() == 1)
    values.assign(count, values.front());
  if (values.size() != count)
    wrongKind(name, "a list of " + Twine(count) + " integers, but has " + Twine(values.size()));
  return values;
}

SmallVector<double> Node::reals(StringRef name) const {
  const Argument &argument = find(name);
  if (auto *integers = std::get_if<Integers>(&argument))
    return SmallVector<double>(integers->begin(), integers->end());
  return get<Reals>(name, "a list of numbers");
}

SmallVector<bool> Node::booleans(StringRef name) const {
  return get<Booleans>(name, "a list of True and False");
}

Type Node::elementType(StringRef name, Type otherwise) const {
  Type type = anyElementType(name, otherwise);
  if (frontend::isComplex(type))
    fail("the operator does not give complex numbers, for which the argument '" + name + "' asks");
  return type;
}

Type Node::anyElementType(StringRef name, Type otherwise) const {
  return has(name) ? get<Type>(name, "a dtype") : otherwise;
}

MemoryFormat Node::memoryFormat(MemoryFormat otherwise) const {
  return has("memory_format") ? get<MemoryFormat>("memory_format", "a memory format") : otherwise;
}

Layout Node::layoutOf(ArrayRef<int64_t> shape) const {
  return memory.layout.shape() == shape ? memory.layout : Layout::unknown(shape, signature.name);
}

void Node::takeEffects(const Node &other) {
  if (other.shared)
    shared = other.shared;
  laid = other.laid;
}

// ---- axes ----

int64_t Node::dim(StringRef name, Tensor x) const {
  return axis(integer(name), std::max<int64_t>(x.rank(), 1));
}

SmallVector<int64_t> Node::dims(StringRef name, Tensor x) const {
  SmallVector<int64_t> given = has(name) ? integers(name) : SmallVector<int64_t>();
  if (given.empty()) {
    given.resize(x.rank());
    std::iota(given.begin(), given.end(), 0);
  }
  if (x.rank() == 0) {
    axes(given, 1);
    return {};
  }
  return axes(given, x.rank());
}

int64_t accc::aten::clampIndex(int64_t index, int64_t extent) {
  return std::clamp<int64_t>(index < 0 ? index + extent : index, 0, extent);
}

SlicedRange accc::aten::slicedRange(const Node &node, Tensor x) {
  int64_t dim = node.dim("dim", x), step = node.integer("step");
  if (x.rank() == 0 || step < 1)
    fail("cannot slice a tensor of shape " + show(x.shape()) + " in steps of " + Twine(step));
  int64_t extent = x.dim(dim);
  int64_t start = node.has("start") ? clampIndex(node.integer("start"), extent) : 0;
  int64_t end = node.has("end") ? clampIndex(node.integer("end"), extent) : extent;
  // A longer step than the dimension takes the same elements, and no sum with it overflows.
  return {dim, start, std::max(start, end), std::min(step, extent + 1)};
}

Tensor accc::aten::asVector(Tensor x) { return x.rank() == 0 ? x.reshape({1}) : x; }
