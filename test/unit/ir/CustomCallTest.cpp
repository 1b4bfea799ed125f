// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of the user's own: types, values and derivatives through their functions.
#include "Program.h"

#include "ir/prim/Prim.h"
#include "reference/interpreter/GradientCheck.h"
#include "support/ProblemCollector.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

int64_t sizeOf(const accc_operand &tensor) {
  int64_t size = 1;
  for (int32_t i = 0; i < tensor.rank; ++i)
    size *= tensor.shape[i];
  return size;
}
double *reals(const accc_operand &tensor) { return static_cast<double *>(tensor.data); }

double scaleOf(const accc_custom_arguments &arguments) {
  REQUIRE(arguments.num_attributes == 1);
  CHECK(arguments.attributes[0].name == std::string("scale"));
  return arguments.attributes[0].reals[0];
}

/// y = exp(scale * x), and the number of elements of x.
int32_t inferGrow(const accc_custom_arguments *arguments, accc_result_type *results) {
  const accc_operand &x = arguments->inputs[0];
  if (x.rank != 1) {
    std::snprintf(arguments->message, ACCC_CUSTOM_MESSAGE_BYTES, "grow takes a vector, not rank %d",
                  x.rank);
    return 1;
  }
  results[0] = {x.dtype, 1, {x.shape[0]}};
  results[1] = {ACCC_I64, 0, {}};
  return 0;
}
int32_t grow(const accc_custom_arguments *arguments) {
  CHECK(arguments->output_gradients == nullptr);
  CHECK(arguments->workspace_bytes == 24);
  const accc_operand &x = arguments->inputs[0];
  for (int64_t i = 0; i < sizeOf(x); ++i)
    reals(arguments->outputs[0])[i] = std::exp(scaleOf(*arguments) * reals(x)[i]);
  *static_cast<int64_t *>(arguments->outputs[1].data) = sizeOf(x);
  return 0;
}
/// dx = scale * y * dy, which reads the output alone.
int32_t growBackward(const accc_custom_arguments *arguments) {
  CHECK(arguments->inputs[0].data == nullptr);
  CHECK(arguments->outputs[1].data == nullptr);
  CHECK(arguments->output_gradients[1].data == nullptr); // of an integer
  for (int64_t i = 0; i < sizeOf(arguments->inputs[0]); ++i)
    reals(arguments->input_gradients[0])[i] = scaleOf(*arguments) *
                                              reals(arguments->outputs[0])[i] *
                                              reals(arguments->output_gradients[0])[i];
  return 0;
}

/// y = a * b, element by element.
int32_t inferProduct(const accc_custom_arguments *arguments, accc_result_type *results) {
  results[0] = {ACCC_F64, 1, {arguments->inputs[0].shape[0]}};
  return 0;
}
int32_t product(const accc_custom_arguments *arguments) {
  for (int64_t i = 0; i < sizeOf(arguments->inputs[0]); ++i)
    reals(arguments->outputs[0])[i] =
        reals(arguments->inputs[0])[i] * reals(arguments->inputs[1])[i];
  return 0;
}
int32_t productBackward(const accc_custom_arguments *arguments) {
  const double *dy = reals(arguments->output_gradients[0]);
  for (int64_t i = 0; i < sizeOf(arguments->inputs[0]); ++i)
    for (int side : {0, 1})
      if (double *gradient = reals(arguments->input_gradients[side]))
        gradient[i] = dy[i] * reals(arguments->inputs[1 - side])[i];
  return 0;
}

int32_t fail(const accc_custom_arguments *arguments) {
  std::snprintf(arguments->message, ACCC_CUSTOM_MESSAGE_BYTES, "out of luck");
  return 1;
}
int32_t inferNothing(const accc_custom_arguments *, accc_result_type *results) {
  results[0] = {ACCC_F64, 1, {-1}};
  return 0;
}

uint64_t workspace(const accc_custom_arguments *, int32_t) { return 24; }

const accc_custom_operator growOp = {.name = "t::grow",
                                     .num_inputs = 1,
                                     .num_outputs = 2,
                                     .infer = inferGrow,
                                     .workspace = workspace,
                                     .gradient = ACCC_GRADIENT_BACKWARD,
                                     .differentiable_inputs = 1,
                                     .backward_inputs = 0,
                                     .backward_outputs = 1,
                                     .forward_cpu = grow,
                                     .backward_cpu = growBackward,
                                     .forward_cuda = nullptr,
                                     .backward_cuda = nullptr};
const accc_custom_operator productOp = {.name = "t::product",
                                        .num_inputs = 2,
                                        .num_outputs = 1,
                                        .infer = inferProduct,
                                        .workspace = nullptr,
                                        .gradient = ACCC_GRADIENT_BACKWARD,
                                        .differentiable_inputs = 3,
                                        .backward_inputs = 3,
                                        .backward_outputs = 0,
                                        .forward_cpu = product,
                                        .backward_cpu = productBackward,
                                        .forward_cuda = nullptr,
                                        .backward_cuda = nullptr};

accc_custom_operator variant(const char *name, int32_t gradient, accc_custom_function forward) {
  accc_custom_operator op = productOp;
  op.name = name;
  op.gradient = gradient;
  op.forward_cpu = forward;
  return op;
}
const accc_custom_operator unknownOp = variant("t::unknown", ACCC_GRADIENT_UNKNOWN, product),
                           zeroOp = variant("t::zero", ACCC_GRADIENT_ZERO, product),
                           failingOp = variant("t::failing", ACCC_GRADIENT_ZERO, fail),
                           gpuOp = variant("t::gpu", ACCC_GRADIENT_ZERO, nullptr);

/// The operators of a library, t.so, while it lives.
class Operators {
public:
  Operators() {
    for (const accc_custom_operator *op :
         {&growOp, &productOp, &unknownOp, &zeroOp, &failingOp, &gpuOp})
      all()[op->name] = {op, "t.so"};
  }
  ~Operators() { all().clear(); }

private:
  static prim::CustomOperators &all() {
    return context().getLoadedDialect<prim::PrimDialect>()->customOperators;
  }
};

const char *kGrow = R"(func.func @f(%x: tensor<3xf64>) -> (tensor<3xf64>, tensor<i64>) {
  %y, %n = prim.custom_call "t::grow" of "t.so" {scale = 0.5 : f64} (%x)
    : (tensor<3xf64>) -> (tensor<3xf64>, tensor<i64>)
  return %y, %n : tensor<3xf64>, tensor<i64>
})";

std::string productOf(const std::string &name) {
  return R"(func.func @f(%a: tensor<3xf64>, %b: tensor<3xf64>) -> tensor<3xf64> {
  %y = prim.custom_call ")" +
         name + R"(" of "t.so" {} (%a, %b) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  return %y : tensor<3xf64>
})";
}

/// Why the VJP of a program cannot be built.
std::string whyNoVjp(const std::string &text) {
  Program program(text);
  ProblemCollector problems(&context());
  CHECK_FALSE(buildVjp(program.function()));
  std::string said;
  for (const Problem &problem : problems.take())
    said += problem.message;
  return said;
}

std::vector<ReferenceArray> pair() { return {array({1, 2, 3}), array({-4, 0.5, 2})}; }

} // namespace

TEST_CASE("custom call: values, several results, attributes, workspace") {
  Operators operators;
  std::vector<ReferenceArray> results = Program(kGrow).run({array({0, 2, -4})});
  CHECK(results[0].values == std::vector<double>{1, std::exp(1), std::exp(-2)});
  CHECK(results[1].values == std::vector<double>{3});
}

TEST_CASE("custom call: the derivative is the backward function") {
  Operators operators;
  Program grown(kGrow), multiplied(productOf("t::product"));
  CHECK(checkGradient(grown.function(), {array({0.1, 2, -1})}) == "");
  CHECK(checkGradient(multiplied.function(), pair()) == "");
}

TEST_CASE("custom call: a derivative that is zero, or unknown") {
  Operators operators;
  Program zero(productOf("t::zero"));
  mlir::OwningOpRef<mlir::func::FuncOp> vjp = buildVjp(zero.function());
  REQUIRE(vjp);
  CHECK(vjp->getBody().front().getOps<prim::CustomCallBackwardOp>().empty());
  CHECK_THAT(
      whyNoVjp(productOf("t::unknown")),
      Contains("'t::unknown' has no derivative (gradient is ACCC_GRADIENT_UNKNOWN in t.so)"));
  CHECK_THAT(whyNoVjp(productOf("t::absent")),
             Contains("the derivative of t::absent needs t.so, which gives the operator: name it "
                      "with --custom-ops"));
}

TEST_CASE("custom call: functions that fail, or are not there") {
  Operators operators;
  CHECK_THAT(Program(productOf("t::failing")).failure(pair()),
             Contains("calls t::failing of t.so, which failed: out of luck"));
  CHECK_THAT(Program(productOf("t::gpu")).failure(pair()),
             Contains("calls t::gpu, for which t.so has no function for the CPU"));
  CHECK_THAT(Program(productOf("t::absent")).failure(pair()),
             Contains("calls t::absent, which no library of --custom-ops gives; it is in t.so"));
}

TEST_CASE("custom call: result types") {
  Operators operators;
  mlir::OpBuilder b(&context());
  auto vector = mlir::RankedTensorType::get({3}, b.getF64Type());
  auto infer = [&](const accc_custom_operator &op, mlir::TypeRange inputs, std::string &why) {
    ProblemCollector problems(&context());
    auto types =
        prim::inferCustomResults(b.getUnknownLoc(), {&op, "t.so"}, inputs, b.getDictionaryAttr({}));
    why.clear();
    for (const Problem &problem : problems.take())
      why += problem.message;
    return types;
  };
  std::string why;
  auto types = infer(growOp, mlir::Type(vector), why);
  REQUIRE(mlir::succeeded(types));
  CHECK((*types)[0] == vector);
  CHECK((*types)[1] == mlir::RankedTensorType::get({}, b.getI64Type()));
  CHECK(mlir::failed(infer(growOp, mlir::Type(vector.clone({3, 3})), why)));
  CHECK_THAT(why, Contains("t.so refuses it: grow takes a vector, not rank 2"));
  CHECK(mlir::failed(infer(growOp, {vector, vector}, why)));
  CHECK_THAT(why, Contains("has 2 tensors as inputs; t::grow of t.so takes 1"));
  accc_custom_operator bad = growOp;
  bad.num_outputs = 1;
  bad.infer = inferNothing;
  CHECK(mlir::failed(infer(bad, mlir::Type(vector), why)));
  CHECK_THAT(why, Contains("gives a result of shape [-1], which is no tensor"));
}
