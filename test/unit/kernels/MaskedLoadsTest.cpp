// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads of short rows where a mask says which lanes take part, and a number for all lanes whether
// any does: padding around a row, which LLVM knows, in a matrix, which a loop walks. Elements are
// of all sizes: those of 64 bits fill two registers with the lanes of one of 32.
#include "kernels/Batch.h"

#include "ir/exec/Exec.h"
#include "ir/prim/Prim.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {
struct Rows {
  std::string type;
  int64_t columns, low, high;

  std::string matrix(int64_t rows, int64_t extent) const {
    return "tensor<" + std::to_string(rows) + "x" + std::to_string(extent) + "x" + type + ">";
  }
  std::string x() const { return matrix(3, columns); }
  int64_t width() const { return low + columns + high; }
};
} // namespace

/// Three rows with zeros around them.
static std::string padded(const Rows &rows) {
  const std::string scalar = "tensor<" + rows.type + ">";
  return "  %z = prim.constant dense<" + std::string(rows.type[0] == 'i' ? "0" : "0.0") +
         "> : " + scalar + "\n  %0 = prim.pad %a, %z {low = array<i64: 1, " +
         std::to_string(rows.low) + ">, high = array<i64: 1, " + std::to_string(rows.high) +
         ">, interior = array<i64: 0, 0>} : (" + rows.x() + ", " + scalar + ") -> " +
         rows.matrix(5, rows.width()) + "\n";
}

/// The sums of windows of two by one in them.
static std::string windows(const Rows &rows) {
  return "  %0 = prim.reduce_window sum %a {window = array<i64: 2, 1>, strides = array<i64: 1, 1>, "
         "dilations = array<i64: 1, 1>, pad_low = array<i64: 2, " +
         std::to_string(rows.low) + ">, pad_high = array<i64: 1, " + std::to_string(rows.high) +
         ">} : (" + rows.x() + ") -> " + rows.matrix(5, rows.width()) + "\n";
}

/// A function of three rows and of weights that gives what `ops` make of the rows, and its sum.
static std::string summed(const Rows &rows, const std::string &ops) {
  const std::string y = rows.matrix(5, rows.width()), sum = "tensor<" + rows.type + ">";
  return "func.func @f(%a: " + rows.x() + ", %w: " + y + ") -> (" + y + ", " + sum + ") {\n" + ops +
         "  %1 = prim.mul %0, %w : (" + y + ", " + y + ") -> " + y +
         "\n  %2 = prim.reduce sum %1 {dimensions = array<i64: 0, 1>} : (" + y + ") -> " + sum +
         "\n  return %0, %2 : " + y + ", " + sum + "\n}\n";
}

/// Whole numbers that sums of all types hold.
static ReferenceArray numbers(ArrayRef<int64_t> shape, int64_t most) {
  ReferenceArray result(shape);
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] = static_cast<double>(i % most + 1);
  return result;
}

TEST_CASE("what lies beside a short row is not loaded") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  for (const char *arch : {"x86-64-v3", "native"}) {
    Batch batch(context, arch);
    for (const char *type : {"f64", "f32", "i64", "i32"})
      for (int64_t columns = 1; columns <= 9; ++columns)
        for (auto [low, high] : {std::pair(1, 1), {0, 2}, {4, 0}})
          for (auto make : {padded, windows}) {
            const Rows rows{type, columns, low, high};
            const std::string text = summed(rows, make(rows));
            auto module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
            REQUIRE(module);
            batch.add(std::move(module),
                      {numbers({3, columns}, 100), numbers({5, rows.width()}, 3)}, text);
          }
    for (const std::string &failure : batch.run())
      FAIL_CHECK(arch << ": " << failure);
  }
}
