// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a row to a function and what it is run on.
#include "kernels/OpRows.h"

#include "ir/interfaces/ReferenceValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

using namespace mlir;

namespace accc::test {

namespace {
std::string replaced(std::string text, llvm::StringRef placeholder, const std::string &by) {
  for (size_t at; (at = text.find(placeholder.str())) != std::string::npos;)
    text.replace(at, placeholder.size(), by);
  return text;
}

/// Twelve values that the type holds.
std::vector<double> edgesOf(Type element) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  if (isa<FloatType>(element))
    return {0, -0.0, 1, -1, 0.5, -2.5, 3, 100, 7.25, inf, -inf, std::nan("")};
  auto width = static_cast<int>(element.getIntOrFloatBitWidth());
  if (width == 1)
    return {0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 1};
  bool isUnsigned = isUnsignedElement(element);
  // Of 64 bits a power of two: the reference computes in doubles, which hold 53.
  double greatest = width == 64 ? std::ldexp(1.0, 62) : std::ldexp(1.0, width - !isUnsigned) - 1;
  if (isUnsigned)
    return {0, 1, 2, 3, 4, 7, 31, 100, 128, 200, greatest / 2, greatest};
  double least = width == 64 ? -greatest : -greatest - 1;
  return {0, 1, -1, 2, -2, 3, 7, 100, -100, least, -(greatest - 1), greatest};
}
} // namespace

const std::vector<std::string> &elementTypes() {
  static const std::vector<std::string> types = {"f16", "bf16", "f32", "f64",  "i1",   "i8",  "i16",
                                                 "i32", "i64",  "ui8", "ui16", "ui32", "ui64"};
  return types;
}

std::string instantiate(const OpRow &row, const std::string &type, const std::string &second,
                        const std::string &shape, const std::string &kind) {
  auto full = [&](std::string text) {
    for (auto [placeholder, by] : {std::pair("$S", &shape), std::pair("$T", &type),
                                   std::pair("$U", &second), std::pair("$K", &kind)})
      text = replaced(text, placeholder, *by);
    return text;
  };
  std::vector<std::string> arguments, names, types, resultTypes, returned;
  for (auto [i, operand] : llvm::enumerate(row.operands)) {
    names.push_back(llvm::formatv("%{0}", i));
    types.push_back("tensor<" + full(operand.type) + ">");
    arguments.push_back(names.back() + ": " + types.back());
  }
  for (auto [i, result] : llvm::enumerate(row.results)) {
    resultTypes.push_back("tensor<" + full(result) + ">");
    returned.push_back(row.results.size() == 1 ? "%r" : llvm::formatv("%r#{0}", i).str());
  }
  std::string all = llvm::join(resultTypes, ", ");
  std::string binding =
      row.results.size() == 1 ? "%r" : llvm::formatv("%r:{0}", row.results.size()).str();
  std::string op = row.op == "constant"
                       ? llvm::formatv("dense<{0}> : {1}",
                                       type == "i1"                       ? "[true, false, true]"
                                       : type[0] == 'f' || type[0] == 'b' ? "[1.5, -0.0, 3.0]"
                                                                          : "[1, 0, 100]",
                                       all)
                             .str()
                       : llvm::formatv("{0} {1} : ({2}) -> ({3})", llvm::join(names, ", "),
                                       full(row.attributes), llvm::join(types, ", "), all)
                             .str();
  return llvm::formatv(
      "func.func @f({0}) -> ({1}) {{\n  {2} = prim.{3} {4}\n  return {5} : {1}\n}\n",
      llvm::join(arguments, ", "), all, binding, full(row.op), op, llvm::join(returned, ", "));
}

ReferenceArray fill(const OperandForm &form, RankedTensorType type, size_t which) {
  Type element = type.getElementType();
  ReferenceArray array(type.getShape());
  std::vector<double> edges = edgesOf(element);
  bool isFloat = isa<FloatType>(element), isUnsigned = isUnsignedElement(element);
  auto small = [&](int64_t i) -> double {
    if (isFloat)
      return static_cast<double>(i % 13 - 6) / 2;
    return static_cast<double>(isUnsigned ? i % 4 : i % 7 - 3);
  };
  auto unit = [&](int64_t i) -> double {
    constexpr double floats[] = {1, -1, 2, 0.5, -2, -0.5}, integers[] = {1, -1, 2, 1, -1, 3};
    double value = (isFloat ? floats : integers)[i % 6];
    return isUnsigned ? std::abs(value) : value;
  };
  auto count = static_cast<int64_t>(edges.size());
  for (int64_t i = 0; i < array.size(); ++i) {
    auto shift = static_cast<int64_t>(which);
    double value = 0;
    switch (form.fill) {
    case Fill::Edges: // all pairs of two operands' edges in the first 144 elements
      value = edges[which == 0 ? (i / count + i / (count * count)) % count
                               : (which == 1 ? i : 5 * i + 3) % count];
      if (array.size() < count * count)
        value = edges[(i + 5 * shift + 2) % count];
      break;
    case Fill::Small:
      value = small(7 * i + 3 * shift);
      break;
    case Fill::Units:
      value = unit(i + shift);
      break;
    case Fill::Index:
      value = static_cast<double>(5 * i % form.bound);
      break;
    }
    array.values[i] = roundToElement(element, value);
  }
  return array;
}

} // namespace accc::test
