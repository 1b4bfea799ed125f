// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that are not zero of zeros, in short rows with something beside them: lanes of a vector
// that lie outside compute f(0) or f(0, 0), which may be infinite or NaN, and nothing of it counts.
#include "kernels/Batch.h"

#include "ir/exec/Exec.h"
#include "ir/prim/Prim.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <sstream>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {
struct Function {
  const char *name;
  int operands;
};
const Function kFunctions[] = {{"div", 2},   {"rem", 2}, {"pow", 2}, {"log", 1},
                               {"rsqrt", 1}, {"exp", 1}, {"cos", 1}, {"logistic", 1}};

std::string tensor(std::initializer_list<int64_t> shape, const std::string &type) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + type + ">";
}

/// f of the two arguments, chosen where two masks are equal, as they are outside; with `low` zeros
/// before it, `high` behind it and a row of zeros below it, added to the last argument. The length
/// of a row is known, so that LLVM knows which lanes lie outside.
std::string padded(const Function &function, const std::string &type, int64_t extent, int64_t low,
                   int64_t high) {
  int64_t width = low + extent + high;
  std::string x = tensor({extent}, type), mask = tensor({extent}, "i1"),
              zero = "tensor<" + type + ">";
  std::string line = tensor({width}, type), row = tensor({1, width}, type);
  std::string y = tensor({2, width}, type), op = std::string("prim.") + function.name;
  bool isBinary = function.operands == 2;
  std::ostringstream text;
  text << "func.func @f(%a: " << x << ", %b: " << x << ", %m: " << mask << ", %n: " << mask
       << ", %c: " << y << ") -> " << y << " {\n"
       << "  %z = prim.constant dense<0.0> : " << zero << "\n"
       << "  %none = prim.constant dense<0.0> : " << x << "\n"
       << "  %0 = " << op << (isBinary ? " %a, %b : (" + x + ", " + x : " %a : (" + x) << ") -> "
       << x << "\n"
       << "  %1 = prim.compare eq %m, %n : (" << mask << ", " << mask << ") -> " << mask << "\n"
       << "  %2 = prim.select %1, %0, %none : (" << mask << ", " << x << ", " << x << ") -> " << x
       << "\n"
       << "  %3 = prim.pad %2, %z {low = array<i64: " << low << ">, high = array<i64: " << high
       << ">, interior = array<i64: 0>} : (" << x << ", " << zero << ") -> " << line << "\n"
       << "  %4 = prim.reshape %3 : (" << line << ") -> " << row << "\n"
       << "  %5 = prim.pad %4, %z {low = array<i64: 0, 0>, high = array<i64: 1, 0>, interior = "
          "array<i64: 0, 0>} : ("
       << row << ", " << zero << ") -> " << y << "\n"
       << "  %6 = prim.add %5, %c : (" << y << ", " << y << ") -> " << y << "\n"
       << "  return %6 : " << y << "\n}\n";
  return text.str();
}

/// Of numbers from 0.5 to 2, in an order of their own.
ReferenceArray numbers(ArrayRef<int64_t> shape, int64_t step) {
  ReferenceArray result(shape);
  for (int64_t i = 0; i < static_cast<int64_t>(result.values.size()); ++i)
    result.values[i] = 0.5 + 0.125 * static_cast<double>((i + 1) * step % 13);
  return result;
}
} // namespace

TEST_CASE("what a function gives outside of a short row does not count") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  Batch batch(context);
  for (const Function &function : kFunctions)
    for (const char *type : {"f32", "f64"})
      for (int64_t extent : {1, 2, 3, 5})
        for (auto [low, high] : {std::pair(1, 1), {0, 2}, {3, 0}, {2, 5}}) {
          std::string text = padded(function, type, extent, low, high);
          OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
          REQUIRE(module);
          ReferenceArray mask({extent});
          batch.add(std::move(module),
                    {numbers({extent}, 5), numbers({extent}, 3), mask, mask,
                     numbers({2, low + extent + high}, 7)},
                    text);
        }
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}
