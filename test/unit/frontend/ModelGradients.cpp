// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ModelGradients.h"

#include "ir/prim/Tensor.h"
#include "reference/interpreter/Interpreter.h"
#include "training/autodiff/Differentiate.h"

#include <catch2/catch.hpp>

#include <random>

using namespace accc;
using namespace accc::test;

ReferenceArray accc::test::random(std::vector<int64_t> shape, double least, double greatest) {
  static std::mt19937 generator(7);
  std::uniform_real_distribution<double> uniform(least, greatest);
  ReferenceArray result(shape);
  for (double &value : result.values)
    value = uniform(generator);
  return result;
}

void accc::test::checkClose(const ReferenceArray &actual, const ReferenceArray &expected) {
  REQUIRE(actual.shape == expected.shape);
  for (size_t i = 0; i < expected.values.size(); ++i) {
    INFO("element " << i);
    CHECK(actual.values[i] == Approx(expected.values[i]).margin(1e-5).epsilon(1e-5));
  }
}

ReferenceArray accc::test::resultOf(const std::string &text, const Inputs &inputs, int opset) {
  Imported model = importText(text, {}, opset);
  INFO(text << "\n" << model.problems());
  return model.run(inputs).at("y");
}

static double sumOfSquares(const ReferenceArray &y) {
  double sum = 0;
  for (double value : y.values)
    sum += value * value;
  return sum;
}

void accc::test::checkGradients(const std::string &text, const Inputs &inputs,
                                const std::vector<std::string> &wanted, int opset) {
  INFO(text);
  Imported model = importText(text, {}, opset);
  INFO(model.problems());
  mlir::func::FuncOp forward = model.forward();
  mlir::Operation *end = forward.front().getTerminator();
  mlir::OpBuilder builder(end);
  llvm::SmallVector<ReferenceArray> values, found;
  llvm::SmallVector<mlir::Value> leaves;
  for (const std::string &name : wanted)
    for (mlir::BlockArgument argument : forward.getArguments())
      if (forward.getArgAttrOfType<mlir::StringAttr>(argument.getArgNumber(), "accc.name") == name)
        leaves.push_back(argument);
  REQUIRE(leaves.size() == wanted.size());
  for (unsigned i = 0; i < forward.getNumArguments(); ++i)
    values.push_back(inputs.at(forward.getArgAttrOfType<mlir::StringAttr>(i, "accc.name").str()));
  prim::Tensor y(builder, forward.getLoc(), end->getOperand(0));
  auto gradients = differentiate(prim::sumAll(y * y), leaves, builder);
  REQUIRE(succeeded(gradients));
  REQUIRE(llvm::all_of(*gradients, [](mlir::Value gradient) { return bool(gradient); }));
  end->setOperands(*gradients);
  forward.setFunctionType(builder.getFunctionType(forward.getArgumentTypes(),
                                                  mlir::TypeRange(mlir::ValueRange(*gradients))));
  REQUIRE(succeeded(interpret(forward, values, found)));

  Imported again = importText(text, {}, opset);
  for (const auto &[name, gradient] : llvm::zip_equal(wanted, found)) {
    ReferenceArray expected(gradient.shape);
    for (size_t i = 0; i < gradient.values.size(); ++i) {
      constexpr double step = 1e-6;
      Inputs moved = inputs;
      moved.at(name).values[i] += step;
      double after = sumOfSquares(again.run(moved).at("y"));
      moved.at(name).values[i] -= 2 * step;
      expected.values[i] = (after - sumOfSquares(again.run(moved).at("y"))) / (2 * step);
    }
    INFO("the gradient of " << name);
    checkClose(gradient, expected);
  }
}
