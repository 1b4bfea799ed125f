// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors without elements and tensors without dimensions, for every operator, forward and
// backward: divisions by a size of zero, reads of an element that is not there, [] taken for [1].
#include "OperatorVariants.h"
#include "Trained.h"

#include <catch2/catch.hpp>

#include <set>

using namespace accc;
using namespace accc::test;

namespace {
bool isFloat(const OperatorInput &input) {
  return llvm::isa<mlir::FloatType>(input.type.getElementType());
}

/// The input in another shape, with its values over and over.
OperatorInput reshaped(const OperatorInput &input, llvm::ArrayRef<int64_t> shape) {
  OperatorInput result{input.type.clone(shape), ReferenceArray(shape)};
  for (size_t i = 0; i < result.value.values.size() && !input.value.values.empty(); ++i)
    result.value.values[i] = input.value.values[i % input.value.values.size()];
  return result;
}

/// Everything, or every float, whose dimension has this extent is empty.
std::vector<OperatorInputs> emptied(const OperatorInputs &original) {
  std::set<int64_t> extents;
  for (const OperatorInput &input : original)
    extents.insert(input.type.getShape().begin(), input.type.getShape().end());
  std::vector<OperatorInputs> variants;
  for (int64_t extent : extents) {
    OperatorInputs all, floats;
    bool isChanged = false;
    for (const OperatorInput &input : original) {
      llvm::SmallVector<int64_t> shape(input.type.getShape());
      std::replace(shape.begin(), shape.end(), extent, int64_t(0));
      all.push_back(reshaped(input, shape));
      floats.push_back(isFloat(input) ? all.back() : input);
      isChanged |= !isFloat(input) && input.type.getShape() != llvm::ArrayRef(shape);
    }
    variants.push_back(floats);
    if (isChanged)
      variants.push_back(all);
  }
  return variants;
}

/// Every float is one number: of rank 0, or of extents 1.
std::vector<OperatorInputs> scalars(const OperatorInputs &original) {
  OperatorInputs withoutDimensions, ofOne, all;
  for (const OperatorInput &input : original) {
    llvm::SmallVector<int64_t> ones(input.type.getRank(), 1);
    withoutDimensions.push_back(isFloat(input) ? reshaped(input, {}) : input);
    ofOne.push_back(isFloat(input) ? reshaped(input, ones) : input);
    all.push_back(reshaped(input, {}));
  }
  return {withoutDimensions, ofOne, all};
}
} // namespace

TEST_CASE("empty_operands: every operator with each dimension empty") {
  VariantCounts counts = checkVariants(emptied);
  if (counts.operators > 0)
    CHECK(counts.compared > 2 * counts.operators);
}

TEST_CASE("scalar_operands: every operator with operands without dimensions") {
  VariantCounts counts = checkVariants(scalars);
  if (counts.operators > 0)
    CHECK(counts.compared > counts.operators);
}
