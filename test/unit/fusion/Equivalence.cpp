// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Equivalence.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace accc::test {

ReferenceArray sampleValues(RankedTensorType type) {
  ReferenceArray array(type.getShape());
  double position = 0.37 + 0.01 * static_cast<double>(array.size() % 13);
  for (double &value : array.values) {
    position = std::fmod(position + 0.6180339887498949, 1.0); // no two alike
    value = isa<FloatType>(type.getElementType()) ? 0.1 + 1.8 * position : std::floor(2 * position);
  }
  return array;
}

std::vector<ReferenceArray> sampleArguments(func::FuncOp function) {
  std::vector<ReferenceArray> arguments;
  for (Type type : function.getArgumentTypes())
    arguments.push_back(sampleValues(cast<RankedTensorType>(type)));
  return arguments;
}

std::string difference(ArrayRef<ReferenceArray> found, ArrayRef<ReferenceArray> expected,
                       double tolerance) {
  if (found.size() != expected.size())
    return llvm::formatv("{0} results, expected {1}", found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].shape != expected[i].shape)
      return llvm::formatv("result {0} has another shape", i);
    for (size_t k = 0; k < found[i].values.size(); ++k) {
      double a = found[i].values[k], b = expected[i].values[k];
      bool same = a == b || (std::isnan(a) && std::isnan(b)) ||
                  std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)});
      if (!same)
        return llvm::formatv("result {0}[{1}] is {2}, expected {3}", i, k, a, b);
    }
  }
  return "";
}

} // namespace accc::test
