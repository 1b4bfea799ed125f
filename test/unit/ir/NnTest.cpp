// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composite ops: values and gradients against PyTorch, gradients against finite differences.
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include "ir/interfaces/Interfaces.h"

#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
const char *const kGoldens[] = {
#include "NnGoldens.inc"
};

/// One case of nn_goldens.py.
struct Golden {
  std::string name, text;
  /// "case", or "bend" where finite differences do not give the derivative, or "value" where
  /// gradients are not compared.
  std::string kind;
  std::vector<ReferenceArray> arguments, results, cotangents, gradients;

  explicit Golden(llvm::StringRef golden) {
    llvm::SmallVector<llvm::StringRef> lines;
    golden.split(lines, '\n', -1, /*KeepEmpty=*/false);
    auto [head, title] = lines.front().split(' ');
    kind = head.str();
    name = title.str();
    for (llvm::StringRef line : llvm::drop_begin(lines)) {
      auto [field, rest] = line.split(' ');
      if (std::vector<ReferenceArray> *list = listOf(field)) {
        list->push_back(parse(rest));
      } else {
        text += line.str() + "\n";
      }
    }
  }

private:
  std::vector<ReferenceArray> *listOf(llvm::StringRef field) {
    return field == "argument"    ? &arguments
           : field == "result"    ? &results
           : field == "cotangent" ? &cotangents
           : field == "gradient"  ? &gradients
                                  : nullptr;
  }

  /// "[2,3] 1 2 3 4 5 6".
  static ReferenceArray parse(llvm::StringRef text) {
    auto [shapeText, valuesText] = text.drop_front().split(']');
    llvm::SmallVector<llvm::StringRef> extents, numbers;
    shapeText.split(extents, ',', -1, /*KeepEmpty=*/false);
    valuesText.split(numbers, ' ', -1, /*KeepEmpty=*/false);
    llvm::SmallVector<int64_t> shape;
    for (llvm::StringRef extent : extents)
      shape.push_back(std::stoll(extent.str()));
    std::vector<double> values;
    for (llvm::StringRef number : numbers)
      values.push_back(std::stod(number.str()));
    return array(shape, values);
  }
};

std::vector<Golden> goldens() { return {std::begin(kGoldens), std::end(kGoldens)}; }

constexpr double kTolerance = 1e-9; // of numbers written with 12 digits

void checkAll(llvm::ArrayRef<ReferenceArray> found, llvm::ArrayRef<ReferenceArray> expected) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    INFO("number " << i);
    CHECK(found[i].shape == expected[i].shape);
    CHECK(difference(found[i].values, expected[i].values, kTolerance) == "");
  }
}
} // namespace

TEST_CASE("composite ops have PyTorch's values") {
  for (const Golden &golden : goldens()) {
    INFO(golden.name << "\n" << golden.text);
    checkAll(Program(golden.text).run(golden.arguments), golden.results);
  }
}

TEST_CASE("composite ops have PyTorch's gradients") {
  for (const Golden &golden : goldens()) {
    if (golden.kind == "value")
      continue;
    INFO(golden.name << "\n" << golden.text);
    Program program(golden.text);
    auto vjp = buildVjp(program.function());
    REQUIRE(vjp);
    CHECK(mlir::succeeded(mlir::verify(*vjp)));
    std::vector<ReferenceArray> arguments = golden.arguments;
    arguments.insert(arguments.end(), golden.cotangents.begin(), golden.cotangents.end());
    llvm::SmallVector<ReferenceArray> found;
    REQUIRE(mlir::succeeded(interpret(*vjp, arguments, found)));
    checkAll(found, golden.gradients);
  }
}

TEST_CASE("derivatives of composite ops agree with finite differences") {
  for (const Golden &golden : goldens()) {
    if (golden.kind != "case")
      continue;
    INFO(golden.name << "\n" << golden.text);
    Program program(golden.text);
    CHECK(checkGradient(program.function(), golden.arguments) == "");
  }
}

TEST_CASE("every composite op has its rules and its samples") {
  std::vector<Golden> all = goldens();
  for (mlir::RegisteredOperationName name : context().getRegisteredOperations()) {
    if (name.getDialectNamespace() != "nn")
      continue;
    INFO(name.getStringRef().str());
    CHECK(name.hasInterface<Decomposable>());
    std::string use = (name.getStringRef() + " ").str();
    bool random = llvm::StringSwitch<bool>(name.stripDialect()) // held by NnRandomTest.cpp
                      .Cases("dropout", "random_uniform", "random_normal", "bernoulli", true)
                      .Default(false);
    if (!random)
      CHECK(llvm::any_of(
          all, [&](const Golden &golden) { return golden.text.find(use) != std::string::npos; }));
  }
}
