// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every view's element rule, element by element, against the op's value in the interpreter.
#include "GradientRows.h"
#include "Program.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ReferenceValues.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// An emitter that knows everything: indices are constants, operands are arrays, so that a rule's
/// element folds to a constant.
class ConstantEmitter : public ElementEmitter {
public:
  ConstantEmitter(OpBuilder &builder, Operation *op, ArrayRef<ReferenceArray> operands,
                  const ReferenceArray &result)
      : opBuilder(builder), op(op), operands(operands), result(result) {}

  OpBuilder &builder() override { return opBuilder; }

  Value element(Value tensor, ArrayRef<AffineExpr> index) override {
    const ReferenceArray *array = tensor == op->getResult(0) ? &result : nullptr;
    for (auto [operand, value] : llvm::zip_equal(op->getOperands(), operands))
      array = operand == tensor ? &value : array;
    REQUIRE(array);
    REQUIRE(index.size() == array->shape.size());
    SmallVector<int64_t> position;
    for (auto [expression, extent] : llvm::zip_equal(index, array->shape)) {
      position.push_back(number(expression));
      REQUIRE((position.back() >= 0 && position.back() < extent));
    }
    return constantOf(getElementTypeOrSelf(tensor), array->at(position));
  }
  Value elementOr(Value tensor, ArrayRef<AffineExpr> index, TypedAttr outside) override {
    SmallVector<IndexRange> ranges;
    for (auto [expression, extent] :
         llvm::zip_equal(index, cast<RankedTensorType>(tensor.getType()).getShape()))
      ranges.push_back({expression, 0, extent});
    return select(
        ranges, [&] { return element(tensor, index); }, [&] { return constant(outside); });
  }
  Value apply(ArrayRef<Value> elements,
              function_ref<Value(OpBuilder &, ValueRange)> rule) override {
    return rule(opBuilder, elements);
  }
  Value constant(TypedAttr value) override {
    return opBuilder.create<arith::ConstantOp>(op->getLoc(), value);
  }
  Value indexValue(AffineExpr expression, Type elementType) override {
    return constantOf(elementType, static_cast<double>(number(expression)));
  }
  AffineExpr symbol(Value integer, int64_t bound, StringRef) override {
    APInt value;
    REQUIRE(matchPattern(integer, m_ConstantInt(&value)));
    REQUIRE((value.getSExtValue() >= 0 && value.getSExtValue() < bound));
    return opBuilder.getAffineConstantExpr(value.getSExtValue());
  }
  Value select(ArrayRef<IndexRange> ranges, function_ref<Value()> inside,
               function_ref<Value()> outside) override {
    bool holds = llvm::all_of(ranges, [&](const IndexRange &range) {
      int64_t value = number(range.expression);
      return range.low <= value && value < range.high;
    });
    return holds ? inside() : outside();
  }

private:
  static int64_t number(AffineExpr expression) {
    auto constant = dyn_cast<AffineConstantExpr>(expression);
    REQUIRE(constant);
    return constant.getValue();
  }
  Value constantOf(Type element, double value) {
    if (isa<FloatType>(element))
      return constant(opBuilder.getFloatAttr(element, value));
    unsigned width = element.getIntOrFloatBitWidth();
    return constant(
        opBuilder.getIntegerAttr(opBuilder.getIntegerType(width), elementBits(element, value)));
  }

  OpBuilder &opBuilder;
  Operation *op;
  ArrayRef<ReferenceArray> operands;
  const ReferenceArray &result;
};

/// What the element of `op` at `index` folds to.
double foldElement(Operation *op, ArrayRef<ReferenceArray> operands, const ReferenceArray &result,
                   ArrayRef<int64_t> index) {
  OpBuilder builder(&context());
  Type element = getElementTypeOrSelf(op->getResult(0));
  Type kept =
      isa<FloatType>(element) ? element : builder.getIntegerType(element.getIntOrFloatBitWidth());
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  builder.setInsertionPointToStart(module->getBody());
  auto function =
      builder.create<func::FuncOp>(op->getLoc(), "element", builder.getFunctionType({}, kept));
  builder.setInsertionPointToStart(function.addEntryBlock());

  ConstantEmitter emitter(builder, op, operands, result);
  SmallVector<AffineExpr> expressions;
  for (int64_t i : index)
    expressions.push_back(builder.getAffineConstantExpr(i));
  auto view = dyn_cast<View>(op);
  Value value = view ? view.emitElement(emitter, expressions)
                     : cast<Windowed>(op).emitElement(emitter, expressions);
  REQUIRE(value.getType() == kept);
  auto terminator = builder.create<func::ReturnOp>(op->getLoc(), value);
  REQUIRE(succeeded(applyPatternsAndFoldGreedily(function, RewritePatternSet(&context()))));

  Attribute folded;
  REQUIRE(matchPattern(terminator.getOperand(0), m_Constant(&folded)));
  if (auto number = dyn_cast<FloatAttr>(folded))
    return elementFromBits(element, number.getValue().bitcastToAPInt());
  return elementFromBits(element, cast<IntegerAttr>(folded).getValue());
}

} // namespace

/// Views and windows without a gradient, which have no row there.
static std::vector<GradientRow> moreRows() {
  constexpr double least = std::numeric_limits<double>::infinity();
  return {
      {"iota", {}, {"2x3xi32"}, "{dimension = 1 : i64}"},
      {"iota", {}, {"3xui8"}, "{dimension = 0 : i64}"},
      {"iota", {}, {"2x3xf16"}, "{dimension = 0 : i64}"},
      {"random_bits", {{"2xi64", 0, 0, {0x123456789, 77}}}, {"2x3xui32"}, "{stream = 5 : i64}"},
      {"random_bits", {{"2xi64", 0, 0, {-1, -2}}}, {"4xui32"}, "{stream = -3 : i64}"},
      {"gather",
       {{"4xi1", 0, 0, {0, 1, 1, 0}}, {"3xi32", 0, 0, {3, 1, 2}}},
       {"3xi1"},
       "{axis = 0 : i64}"},
      // Windows that straddle the operand or are outside of it; equal elements, the least as well.
      {"arg_window",
       {{"2x3xf32", 0, 0, {-least, -least, 1, -least, 1, 1}}},
       {"3x4xi8"},
       "{window = array<i64: 2, 2>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
       "pad_low = array<i64: 1, 1>, pad_high = array<i64: 1, 1>}"},
      {"arg_window",
       {{"2xui8", 0, 0, {200, 0}}},
       {"3xi8"},
       "{window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 3>, "
       "pad_low = array<i64: 2>, pad_high = array<i64: 2>}"},
      {"window_scatter",
       {{"3x3xi8", 0, 0, {0, 3, -1, 2, 1, 0, 5, 3, 3}},
        {"3x3xf32", 0, 0, {1, 2, 3, 4, 5, 6, 7, 8, 9}}},
       {"5x4xf32"},
       "{extents = array<i64: 5, 4>, window = array<i64: 2, 2>, strides = array<i64: 2, 1>, "
       "dilations = array<i64: 1, 3>, pad_low = array<i64: 1, 1>, pad_high = array<i64: 0, 1>}"},
  };
}

TEST_CASE("element rules of views and windows give the elements of the op's value") {
  context().loadDialect<arith::ArithDialect>();
  std::vector<GradientRow> rows = gradientRows();
  llvm::append_range(rows, moreRows());
  for (const GradientRow &row : rows) {
    Program program(row.text());
    Operation *op = &program.function().getBody().front().front();
    if (!isa<View, Windowed>(op))
      continue;
    INFO(row.text());
    std::vector<ReferenceArray> operands = row.arguments();
    ReferenceArray expected = program.run(operands)[0];
    ReferenceArray::forEachIndex(expected.shape, [&](ArrayRef<int64_t> index) {
      CHECK(foldElement(op, operands, expected, index) == expected.at(index));
    });
  }
}

TEST_CASE("element rules of constants") {
  context().loadDialect<arith::ArithDialect>();
  for (const char *constant :
       {"dense<1.5> : tensor<2xf32>", "dense<true> : tensor<2xi1>", "dense<200> : tensor<2xui8>",
        "dense<-3> : tensor<2xi64>", "dense<[1.5, 2.5]> : tensor<2xf32>"}) {
    std::string text = std::string("func.func @f() { %r = prim.constant ") + constant + " return }";
    INFO(text);
    Program program(text);
    Operation *op = &program.function().getBody().front().front();
    SmallVector<ReferenceArray> results;
    REQUIRE(succeeded(cast<Evaluable>(op).evaluate({}, results)));
    for (int64_t i : {0, 1})
      CHECK(foldElement(op, {}, results[0], i) == results[0].values[i]);
  }
}
