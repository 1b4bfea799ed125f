// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Arithmetic.h"
#include "frontend/aten/Numbers.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <numbers>
#include <numeric>

using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using Values = llvm::ArrayRef<IValue>;

bool accc::torchscript::isNumber(const IValue &value) {
  return value.is<int64_t>() || value.is<double>() || value.is<bool>();
}

int64_t accc::torchscript::integer(const IValue &value) {
  if (auto *number = value.get<int64_t>())
    return *number;
  fail("expected an integer, not " + kindOf(value));
}

bool accc::torchscript::truth(const IValue &value) {
  if (auto *boolean = value.get<bool>())
    return *boolean;
  if (auto *number = value.get<int64_t>())
    return *number != 0;
  if (auto *real = value.get<double>())
    return *real != 0;
  fail("expected a bool, not " + kindOf(value));
}

static aten::Local toLocal(const IValue &value) {
  if (auto *number = value.get<int64_t>())
    return *number;
  if (auto *real = value.get<double>())
    return *real;
  return *value.get<bool>();
}

static IValue fromLocal(const aten::Local &local) {
  if (auto *number = std::get_if<int64_t>(&local))
    return *number;
  if (auto *real = std::get_if<double>(&local))
    return *real;
  return std::get<bool>(local);
}

/// A function of reals, most of them from Python's math. Unlike Python's own, x ** y and round(x)
/// of integers give reals, too.
static std::optional<IValue> evaluateMath(llvm::StringRef name, Values values) {
  using Function = double (*)(double);
  auto function = llvm::StringSwitch<Function>(name)
                      .Case("exp", [](double x) { return std::exp(x); })
                      .Case("log", [](double x) { return std::log(x); })
                      .Case("log2", [](double x) { return std::log2(x); })
                      .Case("log10", [](double x) { return std::log10(x); })
                      .Case("expm1", [](double x) { return std::expm1(x); })
                      .Case("log1p", [](double x) { return std::log1p(x); })
                      .Case("sin", [](double x) { return std::sin(x); })
                      .Case("cos", [](double x) { return std::cos(x); })
                      .Case("tan", [](double x) { return std::tan(x); })
                      .Case("asin", [](double x) { return std::asin(x); })
                      .Case("acos", [](double x) { return std::acos(x); })
                      .Case("atan", [](double x) { return std::atan(x); })
                      .Case("sinh", [](double x) { return std::sinh(x); })
                      .Case("cosh", [](double x) { return std::cosh(x); })
                      .Case("tanh", [](double x) { return std::tanh(x); })
                      .Case("erf", [](double x) { return std::erf(x); })
                      .Case("lgamma", [](double x) { return std::lgamma(x); })
                      .Case("radians", [](double x) { return x * std::numbers::pi / 180; })
                      .Case("degrees", [](double x) { return x * 180 / std::numbers::pi; })
                      .Case("fabs", [](double x) { return std::abs(x); })
                      .Case("round", [](double x) { return std::nearbyint(x); })
                      .Default(nullptr);
  auto real = [](const IValue &x) {
    return x.is<double>() ? *x.get<double>() : static_cast<double>(integer(x));
  };
  if (function && values.size() == 1)
    return function(real(values[0]));
  if (name == "pow" && values.size() == 2)
    return std::pow(real(values[0]), real(values[1]));
  if (name == "log" && values.size() == 2)
    return std::log(real(values[0])) / std::log(real(values[1]));
  if (name == "atan2" && values.size() == 2)
    return std::atan2(real(values[0]), real(values[1]));
  if (name == "fmod" && values.size() == 2)
    return std::fmod(real(values[0]), real(values[1]));
  if (name == "gcd" && values.size() == 2)
    return std::gcd(integer(values[0]), integer(values[1]));
  if (name == "isnan" && values.size() == 1)
    return std::isnan(real(values[0]));
  if (name == "isinf" && values.size() == 1)
    return std::isinf(real(values[0]));
  return std::nullopt;
}

/// An operator on the bits of two integers.
static std::optional<int64_t> evaluateBits(llvm::StringRef name, Values values) {
  bool areIntegers = values.size() == 2 && values[0].is<int64_t>() && values[1].is<int64_t>();
  if (!areIntegers)
    return std::nullopt;
  int64_t a = integer(values[0]), b = integer(values[1]);
  if (name == "__xor__")
    return a ^ b;
  if (name != "__lshift__" && name != "__rshift__")
    return std::nullopt;
  if (b < 0 || b > 63)
    fail("shifts an integer by " + llvm::Twine(b) + " bits");
  return name == "__rshift__" ? a >> b : static_cast<int64_t>(static_cast<uint64_t>(a) << b);
}

std::optional<IValue> accc::torchscript::evaluateArithmetic(llvm::StringRef name, Values values) {
  if (name == "abs" && values.size() == 1)
    return truth(fromLocal(aten::evaluateNumbers("lt", {toLocal(values[0]), int64_t(0)})))
               ? fromLocal(aten::evaluateNumbers("neg", {toLocal(values[0])}))
               : values[0];
  if (std::optional<int64_t> bits = evaluateBits(name, values))
    return *bits;
  bool areBooleans = llvm::all_of(values, [](const IValue &each) { return each.is<bool>(); });
  if (areBooleans && values.size() == 2) {
    bool a = truth(values[0]), b = truth(values[1]);
    if (name == "__and__" || name == "__or__" || name == "__xor__")
      return name == "__and__" ? a && b : name == "__or__" ? a || b : a != b;
  }
  // Python's operators have other names than TorchScript's functions.
  llvm::StringRef function = llvm::StringSwitch<llvm::StringRef>(name)
                                 .Case("div", "truediv")
                                 .Cases("floordiv", "floor_divide", "__floordiv__", "floordiv")
                                 .Case("remainder", "mod")
                                 .Case("max", "sym_max")
                                 .Case("min", "sym_min")
                                 .Case("__and__", "and_")
                                 .Case("__or__", "or_")
                                 .Cases("add", "sub", "mul", "lt", "le", "gt", "ge", name)
                                 .Cases("neg", "floor", "ceil", "sqrt", name)
                                 .Default("");
  if (function.empty())
    return evaluateMath(name, values);
  llvm::SmallVector<aten::Local> locals;
  for (const IValue &value : values)
    locals.push_back(toLocal(value));
  return fromLocal(aten::evaluateNumbers(function, locals));
}

std::optional<IValue> accc::torchscript::evaluateReduction(llvm::StringRef name, Values values) {
  std::optional<Values> elements = values[0].elements();
  bool isKnown = name == "sum" || name == "max" || name == "min";
  if (!isKnown || values.size() != 1 || !elements || !llvm::all_of(*elements, isNumber))
    return std::nullopt;
  if (elements->empty() && name != "sum")
    fail("asks for the " + name + " of an empty list");
  IValue result = name == "sum" ? IValue(int64_t(0)) : elements->front();
  for (const IValue &each : *elements)
    result = *evaluateArithmetic(name == "sum" ? "add" : name, {result, each});
  return result;
}
