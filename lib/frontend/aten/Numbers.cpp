// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Numbers.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using frontend::fail;

static double toReal(const Local &value) {
  if (auto *integer = std::get_if<int64_t>(&value))
    return static_cast<double>(*integer);
  if (auto *real = std::get_if<double>(&value))
    return *real;
  if (auto *boolean = std::get_if<bool>(&value))
    return *boolean;
  fail("its argument is no number that is known at compile time");
}

static std::optional<int64_t> toInteger(const Local &value) {
  if (auto *integer = std::get_if<int64_t>(&value))
    return *integer;
  if (auto *boolean = std::get_if<bool>(&value))
    return *boolean;
  return std::nullopt;
}

static Local asInteger(double value) {
  if (!(std::abs(value) < 0x1p62))
    fail("its result is no integer of 64 bits");
  return static_cast<int64_t>(value);
}

/// Python's: rounded towards minus infinity.
static int64_t floorDivide(int64_t a, int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()))
    fail("divides by 0");
  int64_t quotient = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static Local power(int64_t base, int64_t exponent) {
  if (exponent < 0)
    return std::pow(static_cast<double>(base), static_cast<double>(exponent));
  int64_t result = 1;
  for (int64_t i = 0; i < exponent; ++i)
    if (llvm::MulOverflow(result, base, result))
      fail("its result does not fit 64 bits");
  return result;
}

/// Of two integers, or nothing for functions that know only reals.
static std::optional<Local> ofIntegers(StringRef name, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflows = name == "add"   ? llvm::AddOverflow(a, b, result)
                   : name == "sub" ? llvm::SubOverflow(a, b, result)
                   : name == "mul" ? llvm::MulOverflow(a, b, result)
                                   : false;
  if (overflows)
    fail("its result does not fit 64 bits");
  if (name == "add" || name == "sub" || name == "mul")
    return Local(result);
  if (name == "floordiv")
    return Local(floorDivide(a, b));
  if (name == "mod")
    return Local(a - floorDivide(a, b) * b);
  if (name == "sym_max")
    return Local(std::max(a, b));
  if (name == "sym_min")
    return Local(std::min(a, b));
  if (name == "pow" && b < 64)
    return power(a, b);
  if (name == "and_")
    return Local(a & b);
  if (name == "or_")
    return Local(a | b);
  return std::nullopt;
}

/// Python's: with the sign of the divisor, and exact.
static double floorRemainder(double a, double b) {
  double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static std::optional<Local> ofReals(StringRef name, double a, double b) {
  if (name == "add")
    return Local(a + b);
  if (name == "sub")
    return Local(a - b);
  if (name == "mul")
    return Local(a * b);
  if (name == "truediv")
    return Local(a / b);
  if (name == "floordiv")
    return Local(std::floor(a / b));
  if (name == "mod")
    return Local(floorRemainder(a, b));
  if (name == "pow")
    return Local(std::pow(a, b));
  if (name == "sym_max")
    return Local(std::max(a, b));
  if (name == "sym_min")
    return Local(std::min(a, b));
  if (name == "eq")
    return Local(a == b);
  if (name == "ne")
    return Local(a != b);
  if (name == "lt")
    return Local(a < b);
  if (name == "le")
    return Local(a <= b);
  if (name == "gt")
    return Local(a > b);
  if (name == "ge")
    return Local(a >= b);
  return std::nullopt;
}

/// Functions of reals alone, of which `math` and torch have the same.
static std::optional<Local> ofReal(StringRef name, double x) {
  static constexpr std::pair<StringRef, double (*)(double)> kFunctions[] = {
      {"sqrt", std::sqrt}, {"exp", std::exp},   {"log", std::log},   {"log2", std::log2},
      {"sin", std::sin},   {"cos", std::cos},   {"tan", std::tan},   {"asin", std::asin},
      {"acos", std::acos}, {"atan", std::atan}, {"sinh", std::sinh}, {"cosh", std::cosh},
      {"tanh", std::tanh}};
  for (auto [known, function] : kFunctions)
    if (name == known)
      return Local(function(x));
  return std::nullopt;
}

static std::optional<Local> ofOne(StringRef name, const Local &value) {
  double x = toReal(value);
  std::optional<int64_t> integer = toInteger(value);
  if (name == "neg")
    return integer ? ofIntegers("sub", 0, *integer) : Local(-x);
  if (name == "sym_float")
    return Local(x);
  if (name == "sym_not" || name == "not_")
    return Local(x == 0);
  if (name == "sym_int" || name == "trunc" || name == "pos")
    return integer ? Local(*integer) : asInteger(std::trunc(x));
  if (name == "floor")
    return integer ? Local(*integer) : asInteger(std::floor(x));
  if (name == "ceil")
    return integer ? Local(*integer) : asInteger(std::ceil(x));
  if (name == "round")
    return integer ? Local(*integer) : asInteger(std::nearbyint(x));
  if (name == "abs" && !integer)
    return Local(std::abs(x));
  if (name == "abs")
    return *integer < 0 ? ofIntegers("sub", 0, *integer) : Local(*integer);
  if (!name.consume_front("_sym_"))
    name.consume_front("sym_");
  return ofReal(name, x);
}

Local accc::aten::evaluateNumbers(StringRef name, ArrayRef<Local> arguments) {
  if (name == "sym_ite" && arguments.size() == 3)
    return toReal(arguments[0]) != 0 ? arguments[1] : arguments[2];
  if (name == "sym_sum" && arguments.size() == 1)
    if (auto *terms = std::get_if<Integers>(&arguments[0])) {
      Local sum = int64_t(0);
      for (int64_t term : *terms)
        sum = evaluateNumbers("add", {sum, term});
      return sum;
    }
  if (arguments.size() == 1)
    if (std::optional<Local> result = ofOne(name, arguments[0]))
      return *result;
  if (arguments.size() == 2) {
    std::optional<int64_t> a = toInteger(arguments[0]), b = toInteger(arguments[1]);
    if (a && b)
      if (std::optional<Local> result = ofIntegers(name, *a, *b))
        return *result;
    if (std::optional<Local> result = ofReals(name, toReal(arguments[0]), toReal(arguments[1])))
      return *result;
  }
  fail("the operator is not supported");
}

std::vector<Local> accc::aten::allNumbersOf(DenseElementsAttr value) {
  Type type = value.getElementType();
  if (!type.isIntOrFloat())
    fail("the elements of a tensor are no integers, floats or booleans");
  std::vector<Local> numbers;
  if (isa<FloatType>(type)) {
    for (APFloat real : value.getValues<APFloat>()) {
      bool isLossy;
      real.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
      numbers.push_back(real.convertToDouble());
    }
    return numbers;
  }
  for (const APInt &integer : value.getValues<APInt>()) {
    if (type.isInteger(1))
      numbers.push_back(integer.getBoolValue());
    else
      numbers.push_back(type.isUnsignedInteger() ? static_cast<int64_t>(integer.getZExtValue())
                                                 : integer.getSExtValue());
  }
  return numbers;
}

Local accc::aten::numberOf(DenseElementsAttr value) {
  if (value.getNumElements() != 1)
    fail("a tensor of " + Twine(value.getNumElements()) + " elements is no number");
  return allNumbersOf(value).front();
}

// ---- numbers that depend on data ----

static MutableTensor asNumber(Caller &caller, Location loc, StringRef op,
                              const std::vector<NamedLocal> &arguments) {
  MutableTensor number = std::get<MutableTensor>(caller.call(loc, op, arguments, "number").front());
  number.markNumber();
  return number;
}

Local accc::aten::numberOf(Caller &caller, Location loc, const MutableTensor &tensor) {
  if (cast<RankedTensorType>(tensor.type()).getNumElements() != 1)
    fail("a tensor of shape " + show(tensor.shape()) + " is no number");
  MutableTensor element =
      std::get<MutableTensor>(caller.call(loc, "detach", {{"self", tensor}}, "number").front());
  return asNumber(caller, loc, "reshape", {{"self", element}, {"shape", Integers()}});
}

Local accc::aten::evaluateNumbers(Caller &caller, Location loc, StringRef name,
                                  ArrayRef<Local> arguments) {
  static constexpr std::pair<StringRef, StringRef> kOperators[] = {{"add", "add.Tensor"},
                                                                   {"sub", "sub.Tensor"},
                                                                   {"mul", "mul.Tensor"},
                                                                   {"sym_max", "maximum"},
                                                                   {"sym_min", "minimum"}};
  Builder builder(loc.getContext());
  auto tensor = [&](const Local &value) -> Local {
    if (std::holds_alternative<MutableTensor>(value))
      return value;
    bool isReal = std::holds_alternative<double>(value);
    Type type = isReal ? Type(builder.getF64Type()) : Type(builder.getI64Type());
    return asNumber(caller, loc, "scalar_tensor", {{"s", value}, {"dtype", type}});
  };
  auto real = [&](const Local &value) {
    return asNumber(caller, loc, "to.dtype",
                    {{"self", value}, {"dtype", Type(builder.getF64Type())}});
  };
  if (name == "neg" && arguments.size() == 1)
    return asNumber(caller, loc, "neg", {{"self", arguments[0]}});
  if (name == "sym_float" && arguments.size() == 1)
    return real(arguments[0]);
  if (name == "truediv" && arguments.size() == 2) // Python's float, also of integers
    return asNumber(caller, loc, "div.Tensor",
                    {{"self", real(tensor(arguments[0]))}, {"other", real(tensor(arguments[1]))}});
  for (auto [known, op] : kOperators)
    if (name == known && arguments.size() == 2)
      return asNumber(caller, loc, op,
                      {{"self", tensor(arguments[0])}, {"other", tensor(arguments[1])}});
  fail("of numbers that depend on data, the operator is not supported");
}
