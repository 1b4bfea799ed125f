// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Expressions of TorchScript's code.
#include "frontend/torchscript/Builtins.h"
#include "frontend/torchscript/Interpreter.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

std::vector<IValue> Interpreter::evaluateAll(ArrayRef<Expression> expressions, Frame &frame) {
  std::vector<IValue> values;
  for (const Expression &each : expressions)
    values.push_back(evaluate(each, frame));
  return values;
}

IValue Interpreter::evaluate(const Expression &expression, Frame &frame) {
  using enum Expression::Kind;
  switch (expression.kind) {
  case Name: {
    if (auto found = frame.names.find(expression.text); found != frame.names.end())
      return found->second;
    if (expression.text == "inf")
      return std::numeric_limits<double>::infinity();
    if (expression.text == "nan")
      return std::numeric_limits<double>::quiet_NaN();
    fail("uses '" + expression.text + "', which nothing defines");
  }
  case Integer:
    return expression.integer;
  case Complex:
    return caller.complexNumber(opBuilder.getUnknownLoc(), expression.real, expression.imaginary);
  case Real:
    return expression.real;
  case String:
    return expression.text;
  case Boolean:
    return expression.integer != 0;
  case None:
    return aten::NoValue();
  case Attribute:
    return evaluateAttribute(expression, frame);
  case Call:
    return evaluateCall(expression, frame);
  case Subscript:
    return evaluateSubscript(expression, frame);
  case List:
    return heap.list(evaluateAll(expression.operands, frame));
  case Tuple:
    return heap.tuple(evaluateAll(expression.operands, frame));
  case Dict: {
    std::vector<std::pair<IValue, IValue>> items;
    for (size_t i = 0; i + 1 < expression.operands.size(); i += 2) {
      IValue key = evaluate(expression.operands[i], frame);
      items.push_back({std::move(key), evaluate(expression.operands[i + 1], frame)});
    }
    return heap.dict(std::move(items));
  }
  case Negation: {
    Arguments arguments{{evaluate(expression.operands.front(), frame)}, {}};
    return callOperator("aten", "neg", arguments, frame);
  }
  }
  llvm_unreachable("all kinds of expressions");
}

// ---- names and attributes ----

std::string Interpreter::dottedName(const Expression &expression, const Frame &frame) const {
  if (expression.kind == Expression::Kind::Name)
    return frame.names.contains(expression.text) ? "" : expression.text;
  if (expression.kind != Expression::Kind::Attribute)
    return "";
  std::string outer = dottedName(expression.operands.front(), frame);
  return outer.empty() ? "" : outer + "." + expression.text;
}

IValue Interpreter::evaluateAttribute(const Expression &expression, Frame &frame) {
  std::string name = dottedName(expression, frame);
  StringRef constant = name;
  if (constant.consume_front("CONSTANTS.c")) {
    size_t index;
    if (constant.getAsInteger(10, index) || index >= constants.size())
      fail("the archive has no constant '" + name + "'");
    return constants[index];
  }
  if (StringRef(name).starts_with("__torch__.")) {
    if (const Function *function = code.findFunction(name))
      return function;
    if (const Class *type = code.findClass(name))
      return type;
    auto [outer, member] = StringRef(name).rsplit('.');
    if (const Class *type = code.findClass(outer))
      return heap.member(*type, member);
  }
  if (!name.empty())
    fail("'" + name + "' is not supported");
  return readAttribute(evaluate(expression.operands.front(), frame), expression.text);
}

IValue Interpreter::readAttribute(const IValue &object, const std::string &name) {
  if (object.is<Broken>())
    return object;
  if (const Tuple *tuple = object.tuple()) {
    auto found = llvm::find(tuple->names, name);
    if (found != tuple->names.end())
      return tuple->elements[static_cast<size_t>(found - tuple->names.begin())];
  }
  Object *holder = object.object();
  if (!holder)
    fail(kindOf(object) + " has no attribute '" + name + "'");
  if (auto found = holder->attributes.find(name); found != holder->attributes.end()) {
    if (holder->path && !replaced.contains({holder, name}))
      read.insert({holder, name});
    return found->second;
  }
  if (auto constant = holder->type->constants.find(name);
      constant != holder->type->constants.end()) {
    Function scope;
    scope.name = holder->type->name;
    scope.file = holder->type->file;
    Frame frame{&scope, "", {}};
    return evaluate(constant->second, frame);
  }
  fail("an object of the class '" + holder->type->name + "' has no attribute '" + name + "'");
}

/// Of an nn.ModuleList the part at a position, of an nn.ModuleDict that of a key: both call their
/// parts so.
static std::optional<IValue> partOf(const Object &container, const IValue &index) {
  auto isPosition = [](StringRef name) { return llvm::all_of(name, llvm::isDigit); };
  std::string name;
  if (const std::string *key = index.get<std::string>())
    name = *key;
  else
    name = std::to_string(positionIn(
        static_cast<size_t>(llvm::count_if(
            container.attributes, [&](const auto &entry) { return isPosition(entry.first); })),
        index));
  auto found = container.attributes.find(name);
  Object *part = found == container.attributes.end() ? nullptr : found->second.object();
  return part && part->path ? std::optional<IValue>(found->second) : std::nullopt;
}

IValue Interpreter::evaluateSubscript(const Expression &expression, Frame &frame) {
  if (expression.operands.size() != 2)
    fail("has several indices");
  IValue container = evaluate(expression.operands[0], frame);
  IValue index = evaluate(expression.operands[1], frame);
  if (container.is<Broken>() || index.is<Broken>())
    return Broken();
  if (std::optional<IValue> element = evaluateBuiltin(heap, "__getitem__", {container, index}))
    return *element;
  if (Object *module = container.object(); module && module->path)
    if (std::optional<IValue> part = partOf(*module, index))
      return *part;
  fail("cannot take an element of " + kindOf(container));
}

// ---- calls ----

IValue Interpreter::callMethod(const IValue &self, const std::string &name, Arguments arguments,
                               const Frame &frame) {
  if (self.is<Broken>())
    throw Stop();
  if (self.tensor() && name == "tolist" && arguments.values.empty())
    return elementsOf(*self.tensor());
  Object *object = self.object();
  if (!object)
    fail("calls '" + name + "' of " + kindOf(self));
  auto method = object->type->methods.find(name);
  if (method == object->type->methods.end())
    fail("the class '" + object->type->name + "' has no method '" + name + "'");
  return call(method->second, object, std::move(arguments), frame.module);
}

IValue Interpreter::callValue(const IValue &callee, Arguments arguments, Frame &frame) {
  if (auto *function = callee.get<const Function *>();
      function && frame.local.contains(*function)) {
    Frame inner = frame;
    inner.function = *function;
    return runFunction(std::move(inner), nullptr, std::move(arguments));
  }
  if (auto *function = callee.get<const Function *>())
    return call(**function, nullptr, std::move(arguments), frame.module);
  if (auto *type = callee.get<const Class *>(); type && (*type)->base == "NamedTuple") {
    if (!arguments.names.empty() || arguments.values.size() != (*type)->attributes.size())
      fail("'" + (*type)->name + "' has " + Twine((*type)->attributes.size()) + " fields");
    return heap.namedTuple(**type, std::move(arguments.values));
  }
  fail("calls " + kindOf(callee));
}

/// Whether a value is of a type: "Tensor", "List[int]", "__torch__.Point".
bool Interpreter::matches(const IValue &value, const Expression &type, Frame &frame) {
  if (type.kind == Expression::Kind::Tuple || type.kind == Expression::Kind::List)
    return llvm::any_of(type.operands,
                        [&](const Expression &each) { return matches(value, each, frame); });
  if (type.kind == Expression::Kind::None)
    return value.isNone();
  const Expression &base = type.kind == Expression::Kind::Subscript ? type.operands.front() : type;
  std::string name = dottedName(base, frame);
  auto all = [&](ArrayRef<IValue> values) {
    return llvm::all_of(values, [&](const IValue &each) {
      return type.operands.size() != 2 || matches(each, type.operands[1], frame);
    });
  };
  if (name == "Tensor")
    return value.tensor() || value.is<aten::Selection>();
  if (name == "int")
    return value.is<int64_t>();
  if (name == "float")
    return value.is<double>();
  if (name == "bool")
    return value.is<bool>();
  if (name == "str")
    return value.is<std::string>();
  if (name == "NoneType")
    return value.isNone();
  if (name == "List" || name == "list")
    return value.list() && all(value.list()->elements);
  if (name == "Tuple" || name == "tuple")
    return value.tuple();
  if (name == "Dict" || name == "dict")
    return value.dict();
  if (name == "Optional")
    return value.isNone() || all(value);
  Object *object = value.object();
  return object && object->type == code.findClass(name);
}

/// Functions that Python's names stand for, of which some take types.
IValue Interpreter::evaluateKeywordFunction(const Expression &expression, Frame &frame,
                                            bool &isKnown) {
  const std::string &name = expression.operands.front().text;
  ArrayRef<Expression> given = ArrayRef(expression.operands).drop_front();
  isKnown = true;
  if ((name == "annotate" || name == "unchecked_cast") && given.size() == 2) {
    IValue value = evaluate(given[1], frame);
    const std::string &type = given[0].text;
    bool isNumber = type == "int" || type == "float" || type == "bool" || type == "number";
    return isNumber && value.tensor() ? elementOf(*value.tensor()) : value;
  }
  if (name == "uninitialized")
    return aten::NoValue();
  if (name == "isinstance" && given.size() == 2) {
    IValue value = evaluate(given[0], frame);
    return value.is<Broken>() ? value : IValue(matches(value, given[1], frame));
  }
  if ((name == "getattr" || name == "hasattr") && given.size() == 2) {
    IValue object = evaluate(given[0], frame);
    if (name == "getattr")
      return readAttribute(object, given[1].text);
    return object.object() && object.object()->attributes.contains(given[1].text);
  }
  if (name == "fork" && !given.empty()) { // and torch.wait() gives its result
    std::vector<IValue> values = evaluateAll(given, frame);
    IValue callee = values.front();
    values.erase(values.begin());
    return callValue(callee, {std::move(values), expression.keywords}, frame);
  }
  isKnown = false;
  return IValue();
}

IValue Interpreter::evaluateCall(const Expression &expression, Frame &frame) {
  const Expression &callee = expression.operands.front();
  try {
    std::string name = dottedName(callee, frame);
    if (callee.kind == Expression::Kind::Name && !name.empty()) {
      bool isKnown;
      IValue result = evaluateKeywordFunction(expression, frame, isKnown);
      if (isKnown)
        return result;
    }
    StringRef method = name;
    if (method.consume_back(".__new__")) {
      const Class *type = code.findClass(method);
      if (!type)
        fail("the archive has no class '" + method + "'");
      return heap.object(type);
    }
    Arguments arguments{evaluateAll(ArrayRef(expression.operands).drop_front(), frame),
                        expression.keywords};
    if (name == "ops.prim.RaiseException")
      stop(expression, frame,
           "the model raises an exception: " +
               (arguments.values.empty() ? "" : toText(arguments.values.front())));
    StringRef space = name;
    if (space.consume_front("torch."))
      return callOperator("aten", space, arguments, frame);
    if (space.consume_front("ops.")) {
      auto [library, op] = space.split('.');
      return callOperator(library, op, arguments, frame);
    }
    if (callee.kind == Expression::Kind::Name && !name.empty())
      return callOperator("aten", name, arguments, frame);
    if (callee.kind == Expression::Kind::Attribute && name.empty())
      return callMethod(evaluate(callee.operands.front(), frame), callee.text, std::move(arguments),
                        frame);
    return callValue(evaluate(callee, frame), std::move(arguments), frame);
  } catch (const ImportError &error) {
    report(expression, frame, error.message);
    return Broken();
  }
}
