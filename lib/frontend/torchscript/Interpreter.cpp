// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Statements and calls of functions.
#include "frontend/torchscript/Interpreter.h"
#include "support/WorkScope.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

// Far beyond any model, with its loops unrolled.
static constexpr int64_t kMostStatements = int64_t(1) << 20;
static constexpr size_t kMostProblems = 1000;
// Functions that call themselves.
static constexpr int kDeepest = 600;

namespace {

/// One level deeper, or no further.
class Deeper {
public:
  explicit Deeper(int &depth) : depth(depth) {
    if (++depth > kDeepest) {
      --depth;
      throw ImportAbort{"the program calls functions more than " + std::to_string(kDeepest) +
                        " levels deep"};
    }
  }
  ~Deeper() { --depth; }
  Deeper(const Deeper &) = delete;
  Deeper &operator=(const Deeper &) = delete;

private:
  int &depth;
};

} // namespace

// ---- problems ----

void Interpreter::report(const Expression &expression, const Frame &frame,
                         const std::string &message) {
  std::string op;
  if (expression.kind == Expression::Kind::Call)
    op = dottedName(expression.operands.front(), frame);
  std::string place = code.sourceOf(*frame.function->file, expression.position);
  problems.push_back(
      {frame.module.empty() ? frame.function->name : frame.module, op, place + ": " + message});
  if (problems.size() > kMostProblems)
    throw ImportAbort{"more than " + std::to_string(kMostProblems) +
                      " problems; the first: " + describe(problems.front())};
}

void Interpreter::stop(const Expression &expression, const Frame &frame,
                       const std::string &message) {
  report(expression, frame, message);
  throw Stop();
}

void Interpreter::countStatement() {
  if (++statements > kMostStatements)
    throw ImportAbort{"the program runs more than " + std::to_string(kMostStatements) +
                      " statements, with its loops unrolled"};
}

// ---- functions ----

IValue Interpreter::call(const Function &function, Object *self, Arguments arguments,
                         const std::string &module) {
  Deeper deeper(depth);
  return runFunction({&function, self && self->path ? *self->path : module, {}}, self,
                     std::move(arguments));
}

IValue Interpreter::runFunction(Frame frame, Object *self, Arguments arguments) {
  const Function &function = *frame.function;
  if (self)
    arguments.values.insert(arguments.values.begin(), self);
  size_t positional = arguments.positional();
  if (positional > function.parameters.size())
    fail("'" + function.name + "' has " + Twine(function.parameters.size()) +
         " arguments, but is called with " + Twine(positional));
  for (size_t i = 0; i < positional; ++i)
    frame.names[function.parameters[i].name] = arguments.values[i];
  for (auto [i, name] : llvm::enumerate(arguments.names))
    frame.names[name] = arguments.values[positional + i];
  for (const Parameter &parameter : function.parameters) {
    if (frame.names.contains(parameter.name))
      continue;
    if (!parameter.otherwise)
      fail("'" + function.name + "' is called without its argument '" + parameter.name + "'");
    Frame empty{&function, "", {}};
    frame.names[parameter.name] = evaluate(*parameter.otherwise, empty);
  }
  return run(function.body, frame).value_or(aten::NoValue());
}

// ---- statements ----

/// Whether a boolean is made of self.training, or of an argument of that name.
static bool asksForMode(const Expression &expression, const std::set<std::string> &modes) {
  using enum Expression::Kind;
  bool isTraining = expression.text == "training";
  if (expression.kind == Name && (isTraining || modes.contains(expression.text)))
    return true;
  if (expression.kind == Attribute && isTraining)
    return true;
  return llvm::any_of(expression.operands,
                      [&](const Expression &operand) { return asksForMode(operand, modes); });
}

std::optional<IValue> Interpreter::run(const Block &block, Frame &frame) {
  Deeper deeper(depth);
  for (const Statement &statement : block)
    if (std::optional<IValue> result = run(statement, frame))
      return result;
  return std::nullopt;
}

std::optional<IValue> Interpreter::run(const Statement &statement, Frame &frame) {
  using enum Statement::Kind;
  countStatement();
  switch (statement.kind) {
  case Pass:
    return std::nullopt;
  case Define:
    frame.names[statement.function->name] = statement.function.get();
    frame.local.insert(statement.function.get());
    return std::nullopt;
  case If:
    checkMode(*statement.value, frame);
    return run(holds(*statement.value, frame) ? statement.body : statement.otherwise, frame);
  case While:
    return runWhile(statement, frame);
  case For:
    return runFor(statement, frame);
  case With:
    return runWith(statement, frame);
  default:
    break;
  }
  IValue value;
  bool isName =
      statement.targets.size() == 1 && statement.targets.front().kind == Expression::Kind::Name;
  frame.target = isName ? statement.targets.front().text : "";
  try {
    if (statement.value)
      value = evaluate(*statement.value, frame);
  } catch (const ImportError &error) {
    report(*statement.value, frame, error.message);
    value = Broken();
  }
  if (statement.kind == Return)
    return value;
  if (isName && value.is<bool>() && asksForMode(*statement.value, frame.modes))
    frame.modes.insert(frame.target);
  try {
    for (const Expression &target : statement.targets)
      assign(target, value, frame);
  } catch (const ImportError &error) {
    stop(*statement.value, frame, error.message);
  }
  return std::nullopt;
}

void Interpreter::checkMode(const Expression &condition, const Frame &frame) {
  // What PyTorch's own layers and functions do in evaluation is known: EvaluationMode.cpp.
  bool isOfPyTorch = StringRef(frame.function->file->path).contains("__torch__/torch/");
  if (!importOptions.training || isOfPyTorch || !asksForMode(condition, frame.modes))
    return;
  std::string name = frame.module.empty() ? frame.function->name : frame.module;
  warn("'" + name +
       "' does by self.training what it does in the mode in which it was saved, in eval_step, too "
       "(" +
       code.sourceOf(*frame.function->file, condition.position) +
       "): evaluate it with PyTorch, or by a library of the module as it is after eval()");
}

bool Interpreter::holds(const Expression &condition, Frame &frame) {
  try {
    IValue value = evaluate(condition, frame);
    if (auto *tensor = value.tensor())
      value = elementOf(*tensor);
    if (auto *boolean = value.get<bool>())
      return *boolean;
    if (auto *integer = value.get<int64_t>())
      return *integer != 0;
    if (value.is<Broken>())
      throw Stop();
    fail("a condition is " + kindOf(value));
  } catch (const ImportError &error) {
    stop(condition, frame,
         "what happens here depends on the data, but must be known at compile time: " +
             error.message);
  }
}

std::optional<IValue> Interpreter::runWhile(const Statement &statement, Frame &frame) {
  while (holds(*statement.value, frame)) {
    countStatement();
    if (std::optional<IValue> result = run(statement.body, frame))
      return result;
  }
  return std::nullopt;
}

std::optional<IValue> Interpreter::runFor(const Statement &statement, Frame &frame) {
  IValue sequence = evaluate(*statement.value, frame);
  if (sequence.is<Broken>())
    throw Stop();
  std::optional<ArrayRef<IValue>> elements = sequence.elements();
  if (!elements)
    stop(*statement.value, frame, "a loop runs over " + kindOf(sequence));
  for (const IValue &element : std::vector<IValue>(elements->begin(), elements->end())) {
    countStatement();
    assign(statement.targets.front(), element, frame);
    if (std::optional<IValue> result = run(statement.body, frame))
      return result;
  }
  return std::nullopt;
}

/// Whether torch.autocast is on in a block of the context; nothing if the context is another.
/// PyTorch's own class, whose methods do nothing: what the block computes depends on it all the
/// same.
static std::optional<bool> autocastIn(const IValue &context) {
  Object *object = context.object();
  if (!object || object->type->name != "autocast")
    return std::nullopt;
  auto enabled = object->attributes.find("_enabled");
  return enabled == object->attributes.end() || isEqual(enabled->second, false) != true;
}

/// Only what is run at its beginning and end: exceptions end the import.
std::optional<IValue> Interpreter::runWith(const Statement &statement, Frame &frame) {
  try {
    IValue context = evaluate(*statement.value, frame);
    std::optional<bool> autocast = autocastIn(context);
    if (autocast == true)
      fail("autocast is not supported inside a model: save it without");
    llvm::SaveAndRestore around(isFullPrecision, isFullPrecision || autocast == false);
    IValue entered = callMethod(context, "__enter__", {}, frame);
    if (!statement.targets.empty())
      assign(statement.targets.front(), entered, frame);
    std::optional<IValue> result = run(statement.body, frame);
    callMethod(context, "__exit__", {{IValue(), IValue(), IValue()}, {}}, frame);
    return result;
  } catch (const ImportError &error) {
    stop(*statement.value, frame, error.message);
  }
}

// ---- assignments ----

void Interpreter::assign(const Expression &target, IValue value, Frame &frame) {
  switch (target.kind) {
  case Expression::Kind::Name:
    frame.names[target.text] = std::move(value);
    return;
  case Expression::Kind::Tuple: {
    size_t count = target.operands.size();
    if (value.is<Broken>()) {
      for (const Expression &each : target.operands)
        assign(each, value, frame);
      return;
    }
    std::optional<ArrayRef<IValue>> elements = value.elements();
    if (!elements || elements->size() != count)
      fail("gives " + (elements ? Twine(elements->size()).str() + " values" : kindOf(value)) +
           ", where " + Twine(count) + " are expected");
    for (auto [each, element] : llvm::zip(target.operands, *elements))
      assign(each, element, frame);
    return;
  }
  case Expression::Kind::Attribute: {
    IValue object = evaluate(target.operands.front(), frame);
    if (!object.object())
      fail("sets an attribute of " + kindOf(object));
    setAttribute(*object.object(), target.text, std::move(value));
    return;
  }
  default:
    fail("assigns to what is no name");
  }
}

void Interpreter::setAttribute(Object &object, const std::string &name, IValue value) {
  IValue &attribute = object.attributes[name];
  bool isState = object.path && !value.is<Broken>() && isRead(&object, name);
  // Tensors of a module become its buffers; nothing else lives longer than a step.
  if (isState && !value.tensor() && isEqual(attribute, value) != true)
    fail("changes the attribute '" + (object.path->empty() ? "" : *object.path + ".") + name +
         "', which is no tensor: the next step would not see that; make it a buffer");
  if (object.path && !isState)
    replaced.insert({&object, name});
  if (object.path && value.tensor())
    assigned.push_back({&object, name});
  attribute = std::move(value);
}
