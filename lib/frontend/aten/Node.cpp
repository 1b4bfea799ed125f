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

bool Node::isString(StringRef name) const {
  return std::holds_alternative<std::string>(find(name));
}

// ---- tensors ----

Tensor Node::in(StringRef name) const { return wrap(get<Value>(name, "a tensor")); }

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
  return get<TensorList>(name, "a list of tensors");
}

SmallVector<Tensor> Node::tensors(StringRef name) const {
  SmallVector<Tensor> result;
  for (Value value : optionalTensors(name)) {
    if (!value)
      wrongKind(name, "a list of tensors without None");
    result.push_back(wrap(value));
  }
  return result;
}

// ---- numbers ----

int64_t Node::integer(StringRef name) const {
  const Argument &argument = find(name);
  if (auto *tensor = std::get_if<Value>(&argument)) {
    SmallVector<int64_t> values = knownIntegers(*tensor, "argument '" + name + "'");
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
  if (auto *tensor = std::get_if<Value>(&argument)) {
    SmallVector<double> values = knownReals(*tensor, "argument '" + name + "'");
    if (values.size() != 1)
      wrongKind(name, "one number");
    return values.front();
  }
  return real(name);
}

bool Node::isInteger(StringRef name) const { return std::holds_alternative<int64_t>(find(name)); }

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
  return has(name) ? get<Type>(name, "a dtype") : otherwise;
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
