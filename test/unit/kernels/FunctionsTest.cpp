// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The elementary functions that GPUs have instructions for, over all magnitudes: within the bounds
// that codegen/math promises for the target under test.
#include "fusion/Fuse.h"
#include "ir/exec/Exec.h"
#include "kernels/Compiled.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/bit.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {
constexpr uint64_t kStride = 16381; // between the bits of samples
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLeast = std::numeric_limits<float>::min();

struct Function {
  const char *name, *text; // from %a to %r, of type T; %one is 1
  double (*exact)(double);
  double cpuUlp, gpuUlp;
};

#define ACCC_FUNCTION(OP, NAME, LIBM, ULP) [[maybe_unused]] constexpr double k##OP = ULP;
#include "codegen/math/MathBounds.def"
#define ACCC_DEVICE_FUNCTION(OP, NAME, ULP) constexpr double kDevice##OP = ULP;
#include "codegen/math/MathDeviceBounds.def"

const Function kFunctions[] = {
    {"exp", "%r = prim.exp %a : (T) -> T", [](double x) { return std::exp(x); }, kExpOp,
     kDeviceExpOp},
    {"rsqrt", "%r = prim.rsqrt %a : (T) -> T", [](double x) { return 1 / std::sqrt(x); }, kRsqrtOp,
     kDeviceRsqrtOp},
    {"tanh", "%r = prim.tanh %a : (T) -> T", [](double x) { return std::tanh(x); }, kTanhOp,
     kDeviceTanhOp},
    {"reciprocal", "%r = prim.div %one, %a : (T, T) -> T", [](double x) { return 1 / x; }, 0.5,
     0.5},
};

std::vector<float> samples() {
  std::vector<float> xs{0.0f, -0.0f, 0.55f, -0.55f, 88.72284f, 88.8f, -87.33f, -103.9f, -1e30f};
  for (float x : {1.0f, 3.4e38f, std::numeric_limits<float>::infinity()})
    xs.insert(xs.end(), {x, -x});
  for (uint64_t i = 0; i < uint64_t(1) << 32; i += kStride)
    xs.push_back(llvm::bit_cast<float>(uint32_t(i)));
  while (xs.size() % 8)
    xs.push_back(1);
  return xs;
}

double flushed(double x) { return std::fabs(x) < kLeast ? std::copysign(0.0, x) : x; }

/// |got - want| in units of the spacing of floats at `want`, where a subnormal is as good as zero.
double ulpError(double got, double want) {
  if (std::isnan(got) || std::isnan(want))
    return std::isnan(got) && std::isnan(want) ? 0 : kInfinity;
  if (std::signbit(got) != std::signbit(want))
    return kInfinity;
  if (std::fabs(want) < kLeast)
    return std::fabs(got) <= kLeast ? 0 : kInfinity;
  auto clamped = [](double x) { return std::fmin(std::fmax(x, -0x1p128), 0x1p128); };
  int exponent = std::ilogb(std::fmin(std::fabs(want), 0x1.fffffep127));
  return std::fabs(clamped(got) - clamped(want)) / std::ldexp(1.0, exponent - 23);
}

std::vector<double> evaluate(const Function &function, const std::vector<float> &xs) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  std::string type = "tensor<" + std::to_string(xs.size()) + "xf32>";
  std::string text = "func.func @f(%a: T) -> T {\n%one = prim.constant dense<1.0> : T\n" +
                     std::string(function.text) + "\nreturn %r : T\n}";
  for (size_t at; (at = text.find('T')) != std::string::npos;)
    text.replace(at, 1, type);
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  auto f = *module->getOps<func::FuncOp>().begin();
  nameValues(f);
  FunctionType signature = f.getFunctionType();
  REQUIRE(succeeded(formFusions(*module, *createTestTarget("x86-64-v3"))));
  Compiled compiled = compileFused(*module, "x86-64-v3");
  INFO(compiled.error);
  REQUIRE(compiled.session);
  ReferenceArray argument({int64_t(xs.size())});
  argument.values.assign(xs.begin(), xs.end());
  return compiled.run("f", signature, argument).front().values;
}
} // namespace

TEST_CASE("functions are within the bounds of their target") {
  const char *target = std::getenv("ACCC_TEST_TARGET");
  bool isGpu = target && llvm::StringRef(target).starts_with("cuda");
  std::vector<float> xs = samples();
  for (const Function &function : kFunctions)
    DYNAMIC_SECTION(function.name) {
      std::vector<double> found = evaluate(function, xs);
      double worst = -1, worstAt = 0;
      for (size_t i = 0; i < xs.size(); ++i) {
        double error = ulpError(found[i], function.exact(flushed(xs[i])));
        if (error > worst)
          worst = error, worstAt = double(xs[i]);
      }
      INFO("at " << worstAt);
      CHECK(worst <= (isGpu ? function.gpuUlp : function.cpuUlp));
      CHECK(worst > 0); // something has been rounded
    }
}

TEST_CASE("numbers below the least normal one are zero") {
  const float least = std::numeric_limits<float>::min();
  const std::vector<float> xs{least, -least, least / 2, -least / 2, least / 1024, 1, 0, least * 2};
  auto times = [&](const char *factor) {
    std::string text = "%f = prim.constant dense<" + std::string(factor) +
                       "> : T\n%r = prim.mul %a, %f : (T, T) -> T";
    return evaluate({"mul", text.c_str(), nullptr, 0, 0}, xs);
  };
  CHECK(times("0.5") == std::vector<double>{0, 0, 0, 0, 0, 0.5, 0, double(least)}); // results
  CHECK(times("1024.0") ==                                                          // operands
        std::vector<double>{1024.0 * least, -1024.0 * least, 0, 0, 0, 1024, 0, 2048.0 * least});
}
