// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs a kernel may write over, beside what its results depend on: random bodies, of which
// one element of the input after the other is changed.
#include "Program.h"

#include "ir/prim/InPlace.h"
#include "support/TensorBytes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <sstream>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

using Shape = std::vector<int64_t>;

int64_t elementsOf(const Shape &shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

std::string list(const Shape &numbers) {
  std::string text = "array<i64";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(numbers[i]);
  return text + ">";
}

/// A kernel of one input with a few views, conversions and sums, and one result or two.
class RandomKernel {
public:
  explicit RandomKernel(unsigned seed) : random(seed) {
    values.push_back({"%a", shapes[below(4)], "f32"});
    Value input = values.front();
    for (int64_t ops = 1 + below(4), i = 0; i < ops; ++i)
      addOp(values[static_cast<size_t>(below(int64_t(values.size())))]);
    Value result = values.back();
    std::string types = typeOf(result), yielded = result.name;
    for (const Value &other : values) // results of one kernel have as many elements
      if (below(3) == 0 && other.name != result.name && other.name != "%a" &&
          elementsOf(other.shape) == elementsOf(result.shape)) {
        types += ", " + typeOf(other);
        yielded += ", " + other.name;
        break;
      }
    std::string all = "(" + types + ")";
    size_t count = types.find(", ") == std::string::npos ? 1 : 2;
    std::string kernel = count == 1 ? "%k" : "%k:2", returned = count == 1 ? "%k" : "%k#0, %k#1";
    text = "func.func @f(%x: " + typeOf(input) + ") -> " + all + " {\n  " + kernel +
           " = prim.fusion loop \"kernel\"(%x) : (" + typeOf(input) + ") -> " + all +
           " {\n  ^bb0(%a: " + typeOf(input) +
           "):\n    %zero = prim.constant dense<0.0> : tensor<f32>\n" +
           "    %wide = prim.constant dense<0.0> : tensor<f64>\n" + body.str() + "    prim.yield " +
           yielded + " : " + types + "\n  }\n  return " + returned + " : " + types + "\n}\n";
  }

  std::string text;

private:
  struct Value {
    std::string name;
    Shape shape;
    std::string element;
  };

  int64_t below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random);
  }

  static std::string typeOf(const Value &value) {
    std::string text = "tensor<";
    for (int64_t extent : value.shape)
      text += std::to_string(extent) + "x";
    return text + value.element + ">";
  }

  void add(const std::string &op, const std::string &operands, const std::string &attributes,
           const std::string &operandTypes, Shape shape, const std::string &element) {
    Value result{"%v" + std::to_string(values.size()), std::move(shape), element};
    body << "    " << result.name << " = prim." << op << " " << operands << " " << attributes
         << " : (" << operandTypes << ") -> " << typeOf(result) << "\n";
    values.push_back(result);
  }

  void addOp(const Value &of) { // a copy: add() moves the values
    Value operand = of;
    switch (below(6)) {
    case 0: {
      std::string wide = operand.element == "f32" ? "f64" : "f32";
      return add("convert", operand.name, "", typeOf(operand), operand.shape, wide);
    }
    case 1:
      for (const Value &other : values)
        if (below(2) && other.shape == operand.shape && other.element == operand.element)
          return add("add", operand.name + ", " + other.name, "",
                     typeOf(operand) + ", " + typeOf(other), operand.shape, operand.element);
      return;
    case 2: {
      Shape shape = below(2) ? Shape{elementsOf(operand.shape)} : shapes[below(4)];
      if (elementsOf(shape) == elementsOf(operand.shape))
        add("reshape", operand.name, "", typeOf(operand), shape, operand.element);
      return;
    }
    case 3: {
      Shape starts, limits, strides, shape;
      for (int64_t extent : operand.shape) {
        bool whole = below(2);
        int64_t start = whole ? 0 : below(2) * below(extent), stride = whole ? 1 : 1 + below(3) / 2;
        int64_t limit = whole ? extent : start + 1 + below(extent - start);
        starts.push_back(start), limits.push_back(limit), strides.push_back(stride);
        shape.push_back((limit - start + stride - 1) / stride);
      }
      return add("slice", operand.name,
                 "{starts = " + list(starts) + ", limits = " + list(limits) +
                     ", strides = " + list(strides) + "}",
                 typeOf(operand), shape, operand.element);
    }
    default: { // most results are as large as the input again
      Shape low, high, interior, shape;
      int64_t missing = elementsOf(values.front().shape) - elementsOf(operand.shape);
      for (int64_t extent : operand.shape) {
        bool whole = below(2);
        low.push_back(whole ? 0 : below(3) - 1);
        high.push_back(operand.shape.size() == 1 && missing > 0 ? missing - low.back()
                       : whole                                  ? 0
                                                                : below(3));
        interior.push_back(below(8) == 0);
        int64_t inside = extent + (extent - 1) * interior.back();
        shape.push_back(std::max<int64_t>(low.back() + inside + high.back(), 0));
      }
      if (elementsOf(shape) == 0)
        return;
      return add("pad", operand.name + ", " + (operand.element == "f32" ? "%zero" : "%wide"),
                 "{low = " + list(low) + ", high = " + list(high) +
                     ", interior = " + list(interior) + "}",
                 typeOf(operand) + ", tensor<" + operand.element + ">", shape, operand.element);
    }
    }
  }

  std::mt19937 random;
  std::vector<Value> values;
  std::ostringstream body;
  const std::vector<Shape> shapes{{12}, {3, 4}, {2, 3, 2}, {4, 3}};
};

} // namespace

TEST_CASE("an input that a kernel may write over is read where it is written, and nowhere else") {
  size_t allowed = 0, refused = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomKernel kernel(seed);
    INFO(kernel.text);
    Program program(kernel.text);
    prim::FusionOp fusion = *program.function().front().getOps<prim::FusionOp>().begin();
    auto read = cast<RankedTensorType>(fusion.getOperand(0).getType());
    bool isRead = prim::readsInPlace(fusion.getBody().front(), prim::KernelKind::loop, 0);
    (isRead ? allowed : refused)++;
    if (!isRead)
      continue;
    ReferenceArray input(read.getShape());
    std::iota(input.values.begin(), input.values.end(), 1.0);
    std::vector<ReferenceArray> before = program.run({input});
    for (size_t i = 0; i < input.values.size(); ++i) {
      ReferenceArray changed = input;
      changed.values[i] += 64;
      std::vector<ReferenceArray> after = program.run({changed});
      for (size_t result = 0; result < after.size(); ++result)
        for (size_t j = 0; j < after[result].values.size(); ++j) {
          if (before[result].values[j] == after[result].values[j])
            continue;
          CAPTURE(i, result, j);
          for (Value output : fusion.getResults()) {
            auto written = cast<RankedTensorType>(output.getType());
            if (!haveSamePlaces(read, written))
              continue;
            // What lies where element i does is written when element j of each result is computed.
            int64_t width = elementBytes(read), begin = static_cast<int64_t>(i) * width;
            REQUIRE(begin / elementBytes(written) == static_cast<int64_t>(j));
            REQUIRE((begin + width - 1) / elementBytes(written) == static_cast<int64_t>(j));
          }
        }
    }
  }
  CHECK(allowed > 300);
  CHECK(refused > 300);
}
