// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of operators: which overload of an ATen operator is meant, and with what.
#include "frontend/aten/Numbers.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Schemas.h"
#include "frontend/aten/Selection.h"
#include "frontend/common/CustomCall.h"
#include "frontend/common/NodeBuilder.h"
#include "frontend/common/TorchTypes.h"
#include "frontend/torchscript/Builtins.h"
#include "frontend/torchscript/Interpreter.h"
#include "support/ModuleLocation.h"
#include "support/WorkScope.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

// ---- tensors and numbers ----

static IValue fromLocal(Heap &heap, aten::Local local) {
  return std::visit(
      [&](auto &value) -> IValue {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, aten::MutableTensor>)
          return value ? IValue(value) : IValue();
        else if constexpr (std::is_same_v<T, aten::MutableTensors>)
          return heap.list(std::vector<IValue>(value.begin(), value.end()));
        else if constexpr (std::is_same_v<T, aten::Selections>)
          return heap.list(std::vector<IValue>(value.begin(), value.end()));
        else if constexpr (std::is_same_v<T, aten::NoValue>)
          return IValue();
        else if constexpr (std::is_same_v<T, aten::Selection> || std::is_same_v<T, int64_t> ||
                           std::is_same_v<T, double> || std::is_same_v<T, bool> ||
                           std::is_same_v<T, std::string>)
          return value;
        else
          fail("gives what is no tensor");
      },
      local);
}

IValue Interpreter::elementOf(const aten::MutableTensor &tensor) {
  mlir::Value value = caller.read(opBuilder.getUnknownLoc(), tensor);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() != 1)
    fail("a tensor of shape " + show(type.getShape()) + " is no number");
  NodeBuilder node(*this, opBuilder.getUnknownLoc());
  return fromLocal(heap, aten::numberOf(node.knownElements(value, "value of a tensor")));
}

IValue Interpreter::elementsOf(const aten::MutableTensor &tensor) {
  mlir::Value value = caller.read(opBuilder.getUnknownLoc(), tensor);
  NodeBuilder node(*this, opBuilder.getUnknownLoc());
  std::vector<IValue> elements;
  for (aten::Local &each : aten::allNumbersOf(node.knownElements(value, "values of a tensor")))
    elements.push_back(fromLocal(heap, std::move(each)));
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  if (shape.empty())
    return elements.front();
  // From the innermost dimension out.
  for (size_t dim = shape.size(); dim-- > 0;) {
    size_t length = static_cast<size_t>(shape[dim]);
    size_t count = static_cast<size_t>(ShapedType::getNumElements(shape.take_front(dim)));
    std::vector<IValue> lists;
    for (size_t i = 0; i < count; ++i)
      lists.push_back(heap.list(
          std::vector<IValue>(elements.begin() + static_cast<ptrdiff_t>(i * length),
                              elements.begin() + static_cast<ptrdiff_t>((i + 1) * length))));
    elements = std::move(lists);
  }
  return elements.front();
}

namespace {

/// The numbers of a list of lists, row by row, and its shape.
struct Numbers {
  SmallVector<double> reals;
  SmallVector<int64_t> integers, shape;
  bool hasReal = false, hasInteger = false;

  void add(const IValue &value, size_t level) {
    if (std::optional<ArrayRef<IValue>> elements = value.elements()) {
      int64_t size = static_cast<int64_t>(elements->size());
      if (level > 8 || (level < shape.size() && shape[level] != size))
        frontend::fail("the lists of a tensor have different lengths");
      if (level == shape.size())
        shape.push_back(size);
      for (const IValue &each : *elements)
        add(each, level + 1);
      return;
    }
    auto *integer = value.get<int64_t>();
    auto *real = value.get<double>();
    auto *boolean = value.get<bool>();
    if ((!integer && !real && !boolean) || level != shape.size())
      frontend::fail("a tensor is made of " + kindOf(value));
    hasReal |= real != nullptr;
    hasInteger |= integer != nullptr;
    integers.push_back(integer ? *integer : boolean ? *boolean : 0);
    reals.push_back(real ? *real : static_cast<double>(integers.back()));
  }
};

} // namespace

IValue Interpreter::makeTensor(const IValue &value, const IValue &type) {
  if (auto *number = value.tensor()) { // a complex one, or one that a trace made a tensor
    if (type.isNone())
      return value;
    aten::Local element(typeOfCode(context, *type.get<int64_t>()));
    return fromLocal(heap, caller
                               .call(opBuilder.getUnknownLoc(), "to.dtype",
                                     {{"self", *number}, {"dtype", element}}, "tensor")
                               .front());
  }
  Numbers numbers;
  numbers.add(value, 0);
  Type element = numbers.hasReal      ? Type(opBuilder.getF32Type())
                 : numbers.hasInteger ? Type(opBuilder.getI64Type())
                                      : Type(opBuilder.getI1Type());
  // Of a Python float that stands alone, as a tensor that was made of it while tracing.
  if (auto *code = type.get<int64_t>())
    element = typeOfCode(context, *code);
  else if (numbers.integers.empty())
    element = opBuilder.getF32Type();
  NodeBuilder node(*this, opBuilder.getUnknownLoc());
  Entities made = build([&]() -> Entities {
    if (!numbers.hasReal)
      return {node.integers(numbers.integers, numbers.shape).convert(element)};
    auto reals = DenseElementsAttr::get(tensorType(numbers.shape, opBuilder.getF64Type()),
                                        ArrayRef<double>(numbers.reals));
    return {node.constant(reals).convert(element)};
  });
  return aten::MutableTensor(made.front().tensor, "tensor",
                             aten::Layout::contiguous(numbers.shape));
}

// ---- arguments ----

template <typename T>
static std::optional<aten::Local> listOf(ArrayRef<IValue> elements,
                                         llvm::function_ref<std::optional<T>(const IValue &)> one) {
  using Result = std::conditional_t<std::is_same_v<T, aten::MutableTensor>, aten::MutableTensors,
                                    SmallVector<T>>;
  Result result;
  for (const IValue &each : elements) {
    std::optional<T> element = one(each);
    if (!element)
      return std::nullopt;
    result.push_back(*element);
  }
  return aten::Local(result);
}

std::optional<aten::Local> Interpreter::convert(const IValue &given, StringRef type,
                                                StringRef parameter, bool isImplicit) {
  if (type.consume_back("?") && given.isNone())
    return aten::NoValue();
  IValue value = given;
  // PyTorch takes a tensor of one element for a number where nothing else fits.
  auto number = [&](IValue each) {
    return isImplicit && each.tensor() ? elementOf(*each.tensor()) : each;
  };
  if (type == "ScalarType" || parameter == "dtype") {
    auto *code = value.get<int64_t>();
    return code ? std::optional(aten::Local(typeOfCode(context, *code))) : std::nullopt;
  }
  if (type == "MemoryFormat") {
    auto *code = value.get<int64_t>();
    bool isKnown = code && *code >= 0 && *code <= 3;
    return isKnown ? std::optional(aten::Local(aten::MemoryFormat(*code))) : std::nullopt;
  }
  if (type == "Device" || type == "Layout" || type == "Generator")
    return value.is<Place>() || value.isNone() || (value.is<int64_t>() && type != "Device")
               ? std::optional(aten::Local(aten::Irrelevant()))
               : std::nullopt;
  if (size_t bracket = type.find('['); bracket != StringRef::npos) {
    StringRef element = type.take_front(bracket);
    std::optional<ArrayRef<IValue>> elements = value.elements();
    if (!elements) { // one for all dimensions
      bool isSized = !type.drop_front(bracket).starts_with("[]");
      return isSized ? convert(value, element, parameter, isImplicit) : std::nullopt;
    }
    if (element == "Tensor" || element == "Tensor?")
      return listOfTensors(*elements, /*mayBeNone=*/element == "Tensor?");
    auto isSelected = [&](const IValue &each) {
      return each.tensor() &&
             aten::isSelectedSize(caller, opBuilder.getUnknownLoc(), *each.tensor());
    };
    if (element == "int" && llvm::any_of(*elements, isSelected))
      return listOfSizes(*elements);
    if (element == "int")
      return listOf<int64_t>(*elements, [&](const IValue &each) -> std::optional<int64_t> {
        IValue known = number(each);
        auto *integer = known.get<int64_t>();
        return integer ? std::optional(*integer) : std::nullopt;
      });
    if (element == "float" || element == "Scalar")
      return listOf<double>(*elements, [&](const IValue &each) -> std::optional<double> {
        IValue known = number(each);
        if (auto *integer = known.get<int64_t>(); integer && (isImplicit || element == "Scalar"))
          return static_cast<double>(*integer);
        auto *real = known.get<double>();
        return real ? std::optional(*real) : std::nullopt;
      });
    if (element == "bool")
      return listOf<bool>(*elements, [&](const IValue &each) -> std::optional<bool> {
        auto *boolean = each.get<bool>();
        return boolean ? std::optional(*boolean) : std::nullopt;
      });
    return std::nullopt;
  }
  if (auto *selection = value.get<aten::Selection>(); selection && type == "Tensor")
    return aten::Local(*selection);
  if (type == "Tensor")
    return value.tensor() ? std::optional(aten::Local(*value.tensor())) : std::nullopt;
  // Complex numbers, and those that depend on data, are tensors without dimensions.
  auto *tensor = value.tensor();
  bool isDependent = tensor && tensor->isNumber() && (type == "Scalar" || type == "float");
  if (isDependent || (type == "Scalar" && tensor && isComplex(tensor->type())))
    return aten::Local(*tensor);
  if (type == "str") {
    auto *text = value.get<std::string>();
    return text ? std::optional(aten::Local(*text)) : std::nullopt;
  }
  value = number(value);
  auto *integer = value.get<int64_t>();
  auto *real = value.get<double>();
  auto *boolean = value.get<bool>();
  if (integer && (type == "int" || type == "Scalar"))
    return *integer;
  if (real && (type == "float" || type == "Scalar"))
    return *real;
  if (boolean && (type == "bool" || type == "Scalar"))
    return *boolean;
  if (isImplicit && integer && type == "float")
    return static_cast<double>(*integer);
  return std::nullopt;
}

std::optional<std::vector<aten::NamedLocal>>
Interpreter::bind(const aten::Schema &schema, const Arguments &arguments, bool isImplicit) {
  std::vector<aten::NamedLocal> bound;
  size_t positional = arguments.positional(), used = 0;
  for (auto [i, parameter] : llvm::enumerate(schema.parameters)) {
    const IValue *given = nullptr;
    if (i < positional && !parameter.isKeywordOnly)
      given = &arguments.values[i];
    auto name = llvm::find(arguments.names, parameter.name);
    if (!given && name != arguments.names.end())
      given = &arguments.values[positional + static_cast<size_t>(name - arguments.names.begin())];
    if (!given) {
      if (!parameter.hasDefault && !StringRef(parameter.type).ends_with("?"))
        return std::nullopt;
      continue;
    }
    ++used;
    std::optional<aten::Local> local = convert(*given, parameter.type, parameter.name, isImplicit);
    if (!local)
      return std::nullopt;
    bound.push_back({parameter.name, std::move(*local)});
  }
  // The forms that write into a tensor, torch.div(a, b, out=c), are not among the schemas.
  bool hasOut =
      llvm::any_of(schema.parameters, [](const auto &each) { return each.name == "out"; });
  if (auto out = llvm::find(arguments.names, "out"); !hasOut && out != arguments.names.end()) {
    const IValue &tensor =
        arguments.values[positional + static_cast<size_t>(out - arguments.names.begin())];
    if (tensor.tensor()) {
      bound.push_back({"out", *tensor.tensor()});
      ++used;
    }
  }
  return used == arguments.values.size() ? std::optional(std::move(bound)) : std::nullopt;
}

// ---- operators ----

/// Operators that meant something else in files of older versions than this.
static constexpr struct {
  const char *name;
  int64_t version;
} kChanged[] = {{"div", 4}, {"div_", 4}, {"full", 5}, {"linspace", 8}};

void Interpreter::checkVersion(StringRef name, const Arguments &arguments) const {
  for (auto [changed, version] : kChanged) {
    if (name != changed || fileVersion >= version)
      continue;
    // A quotient of floats is what it always was; full() and linspace() with a dtype, too.
    bool isFloat = llvm::any_of(arguments.values, [](const IValue &value) {
      return value.tensor() && isa<FloatType>(getElementTypeOrSelf(value.tensor()->type()));
    });
    bool hasType = llvm::is_contained(arguments.names, "dtype");
    if (name.starts_with("div") ? !isFloat : !hasType)
      fail("the file has version " + Twine(fileVersion) +
           ", in which the operator meant something "
           "else: save the module again with a newer PyTorch");
  }
}

IValue Interpreter::callAten(Location loc, StringRef name, const Arguments &arguments,
                             Frame &frame) {
  // torch.nn.init: `_no_grad_fill_(x, 1)` is x.fill_(1) where nothing is recorded.
  if (name.consume_front("_no_grad_")) {
    Arguments given = arguments;
    while (given.names.empty() && !given.values.empty() && given.values.back().isNone())
      given.values.pop_back(); // a generator
    aten::Caller::NoGradient paused(caller, /*isOff=*/true);
    return callAten(loc, name, given, frame);
  }
  std::string resultName = frame.target.empty() ? name.str() : frame.target;
  ArrayRef<aten::Schema> schemas = aten::schemasOf(name);
  for (const IValue &each : arguments.values)
    if (auto *selection = each.get<aten::Selection>(); selection && schemas.empty())
      caller.requireKnown(loc, selection->mask);
  if (schemas.empty())
    fail("the operator is not supported");
  for (bool isImplicit : {false, true})
    for (const aten::Schema &schema : schemas) {
      std::optional<std::vector<aten::NamedLocal>> bound = bind(schema, arguments, isImplicit);
      if (!bound)
        continue;
      std::vector<aten::Local> locals =
          caller.call(loc, (name + "." + schema.overload).str(), *bound, resultName);
      // A rule may give more than the overload that was called, or leave out what nobody uses.
      locals.resize(schema.results);
      std::vector<IValue> results;
      for (aten::Local &local : locals)
        results.push_back(fromLocal(heap, std::move(local)));
      if (results.empty())
        return IValue();
      return results.size() == 1 ? results.front() : heap.tuple(std::move(results));
    }
  std::string kinds;
  for (const IValue &value : arguments.values)
    kinds += (kinds.empty() ? "" : ", ") + kindOf(value);
  fail("no form of the operator that is supported takes (" + kinds + ")");
}

/// An argument that is no tensor, as an attribute of a custom operator.
static aten::Local customAttribute(const IValue &value) {
  if (std::optional<ArrayRef<IValue>> elements = value.elements()) {
    if (llvm::all_of(*elements, [](const IValue &each) { return each.is<int64_t>(); }))
      return llvm::map_to_vector(*elements, [](const IValue &x) { return *x.get<int64_t>(); });
    if (llvm::all_of(*elements, [](const IValue &each) { return each.is<double>(); }))
      return llvm::map_to_vector(*elements, [](const IValue &x) { return *x.get<double>(); });
  }
  if (auto *integer = value.get<int64_t>())
    return *integer;
  if (auto *real = value.get<double>())
    return *real;
  if (auto *boolean = value.get<bool>())
    return *boolean;
  if (auto *text = value.get<std::string>())
    return *text;
  if (value.isNone())
    return aten::NoValue();
  fail("an argument of a custom operator is " + kindOf(value) + ": tensors, numbers and strings, " +
       "and lists of numbers are supported");
}

IValue Interpreter::callCustom(Location loc, const prim::CustomOperator &op,
                               const Arguments &arguments, const std::string &name) {
  std::vector<aten::NamedLocal> locals;
  for (auto [i, value] : llvm::enumerate(arguments.values)) {
    bool isNamed = i >= arguments.positional();
    std::string argument = isNamed ? arguments.names[i - arguments.positional()] : "";
    if (value.tensor()) {
      locals.push_back({argument, *value.tensor()});
      continue;
    }
    if (!isNamed)
      fail("the file does not name the operator's argument " + Twine(i + 1) + ", which is " +
           kindOf(value) + ": in the operator's schema, make arguments that are no tensors " +
           "keyword-only (behind a `*`), and save the module again");
    locals.push_back({argument, customAttribute(value)});
  }
  std::vector<IValue> results;
  for (aten::Local &result : caller.callCustom(loc, op, locals, name))
    results.push_back(fromLocal(heap, std::move(result)));
  return results.size() == 1 ? results.front() : heap.tuple(std::move(results));
}

std::optional<IValue> Interpreter::callStateful(StringRef name, const Arguments &arguments) {
  ArrayRef<IValue> values = arguments.values;
  if (name == "is_grad_enabled")
    return caller.isGradientOn();
  if (name == "get_autocast_dtype") // of a context that is refused where it is entered, unless off
    return codeOf(opBuilder.getBF16Type());
  if (name == "to_mkldnn" || name == "ConstantMKLDNNTensor")
    throw ImportAbort{"the module went through torch.jit.optimize_for_inference, which makes "
                      "constants of its parameters in a layout of their own: save it before that"};
  if (name == "set_grad_enabled" && values.size() == 1 && values[0].is<bool>()) {
    caller.setGradient(*values[0].get<bool>());
    return IValue();
  }
  if (auto *selection = values.empty() ? nullptr : values[0].get<aten::Selection>())
    if (std::optional<IValue> size = sizeOf(*selection, name, values.drop_front()))
      return size;
  if ((name == "requires_grad" || name == "is_leaf") && values.size() == 1 && values[0].tensor())
    return caller.isGradientOn() &&
           isa<FloatType>(getElementTypeOrSelf(values[0].tensor()->type()));
  StringRef conversion = llvm::StringSwitch<StringRef>(name)
                             .Cases("Int", "IntImplicit", "int", "int")
                             .Cases("Float", "FloatImplicit", "float", "float")
                             .Cases("Bool", "bool", "__is_true__", "bool")
                             .Cases("item", "ScalarImplicit", "item")
                             .Default("");
  if (conversion == "float" && values.size() == 1 && values[0].tensor()) {
    Location loc = opBuilder.getUnknownLoc();
    const aten::MutableTensor &tensor = *values[0].tensor();
    if (!caller.isKnown(loc, caller.read(loc, tensor)))
      return fromLocal(heap, aten::evaluateNumbers(caller, loc, "sym_float",
                                                   {aten::numberOf(caller, loc, tensor)}));
  }
  if (conversion == "int" && values.size() == 1 && values[0].tensor() &&
      aten::isSelectedSize(caller, opBuilder.getUnknownLoc(), *values[0].tensor()))
    return values[0];
  // 1.0 / n, of a number that depends on data.
  if (name == "div" && values.size() == 2 && !values[0].tensor() && values[1].tensor() &&
      values[1].tensor()->isNumber())
    if (auto dividend = convert(values[0], "Scalar", "", /*isImplicit=*/false))
      return fromLocal(heap, aten::evaluateNumbers(caller, opBuilder.getUnknownLoc(), "truediv",
                                                   {*dividend, *values[1].tensor()}));
  if (!conversion.empty() && values.size() == 1) {
    IValue number = values[0].tensor() ? elementOf(*values[0].tensor()) : values[0];
    if (conversion == "item")
      return number;
    return evaluateBuiltin(heap, conversion, number);
  }
  if (name == "NumToTensor" && values.size() == 1) {
    IValue type = values[0].is<double>() ? IValue(codeOf(opBuilder.getF32Type())) : IValue();
    return makeTensor(values[0], type);
  }
  if ((name == "tensor" || name == "as_tensor") && !values.empty()) {
    IValue type;
    for (auto [i, each] : llvm::enumerate(arguments.names))
      if (each == "dtype")
        type = values[arguments.positional() + i];
    return makeTensor(values[0], type);
  }
  return std::nullopt;
}

IValue Interpreter::callOperator(StringRef space, StringRef name, const Arguments &arguments,
                                 Frame &frame) {
  bool isBroken = llvm::any_of(arguments.values, [](const IValue &value) {
    std::optional<ArrayRef<IValue>> elements = value.elements();
    auto broken = [](const IValue &each) { return each.is<Broken>(); };
    return broken(value) || (elements && llvm::any_of(*elements, broken));
  });
  if (isBroken)
    return Broken();
  if (space == "profiler") // marks of a profile
    return Place();
  std::string op = (space + "." + name).str();
  const prim::CustomOperator *custom =
      prim::findCustomOperator(&context, (space + "::" + name).str());
  std::optional<std::string> prefix = aten::prefixOfLibrary(space == "prim" ? "aten" : space);
  if (!custom && !prefix)
    fail(frontend::kUnknownOperator);
  WorkScope work(frame.module, op);
  std::string called = prefix.value_or("") + name.str();
  if (space == "prim" && name == "data") { // the same elements without the gradient
    space = "aten";
    called = "detach";
  }
  if (!custom) {
    if (std::optional<IValue> result = callStateful(called, arguments))
      return *result;
    if (arguments.names.empty())
      if (std::optional<IValue> result = evaluateBuiltin(heap, called, arguments.values))
        return *result;
    if (space == "prim")
      fail("the operator is not supported");
    checkVersion(called, arguments);
  }
  std::string outer = std::move(diagnostics);
  diagnostics.clear();
  std::string label = frame.target.empty() ? name.str() : frame.target;
  Location loc = withModule(
      NameLoc::get(opBuilder.getStringAttr(label), NameLoc::get(opBuilder.getStringAttr(op))),
      frame.module);
  try {
    IValue result = custom ? callCustom(loc, *custom, arguments, label)
                           : callAten(loc, called, arguments, frame);
    diagnostics = std::move(outer);
    return result;
  } catch (const ImportError &error) {
    std::string message = diagnostics.empty() ? error.message : diagnostics;
    diagnostics = std::move(outer);
    fail(message);
  }
}
