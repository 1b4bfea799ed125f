// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every primitive's kernel against the interpreter, for every element type that the op accepts.
#include "kernels/Batch.h"
#include "kernels/Harness.h"
#include "kernels/OpRows.h"

#include "fusion/Fuse.h"
#include "ir/exec/Exec.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/prim/Prim.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {
void loadDialects(MLIRContext &context) {
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
}

/// The module, or null where it does not verify.
OwningOpRef<ModuleOp> parse(const std::string &text, MLIRContext &context) {
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) { return success(); });
  return parseSourceString<ModuleOp>(text, ParserConfig(&context));
}

std::vector<ReferenceArray> argumentsOf(const OpRow &row, func::FuncOp function) {
  std::vector<ReferenceArray> arguments;
  for (auto [i, form] : llvm::enumerate(row.operands))
    arguments.push_back(fill(form, cast<RankedTensorType>(function.getArgument(i).getType()), i));
  return arguments;
}

/// Adds all forms of the row that verify. Gives the element types of which there are some.
std::set<std::string> addForms(const OpRow &row, MLIRContext &context, Batch &batch) {
  std::set<std::string> accepted;
  const std::vector<std::string> none = {""};
  for (const std::string &type : row.mentions("$T") ? elementTypes() : none)
    for (const std::string &second : row.mentions("$U") ? elementTypes() : none)
      for (const std::string &kind : row.kinds)
        for (const std::string &shape : row.shapes) {
          std::string text = instantiate(row, type, second, shape, kind);
          OwningOpRef<ModuleOp> module = parse(text, context);
          if (!module)
            continue;
          accepted.insert(type);
          auto function = *module->getOps<func::FuncOp>().begin();
          std::vector<ReferenceArray> arguments = argumentsOf(row, function);
          batch.add(std::move(module), std::move(arguments), text);
        }
  return accepted;
}
} // namespace

TEST_CASE("every primitive's kernel computes the op for every element type it accepts") {
  MLIRContext context;
  loadDialects(context);
  std::map<std::string, std::vector<const OpRow *>> byOp;
  for (const OpRow &row : opRows())
    byOp[row.mnemonic()].push_back(&row);
  for (const auto &[op, rows] : byOp)
    DYNAMIC_SECTION(op) {
      Batch batch(context);
      for (const OpRow *row : rows) {
        std::set<std::string> accepted = addForms(*row, context, batch);
        INFO(instantiate(*row, "f32", "f32", row->shapes.back(), row->kinds.back()));
        CHECK(accepted.size() == (row->mentions("$T") ? static_cast<size_t>(row->accepts) : 1));
      }
      for (const std::string &failure : batch.run())
        FAIL_CHECK(failure);
    }
}

TEST_CASE("every primitive has a row of its kernel") {
  MLIRContext context;
  loadDialects(context);
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "prim" || !name.hasInterface<Fusible>() ||
        name.stripDialect() == "optimization_barrier" || // is in no kernel: fusion removes it
        name.hasInterface<AttentionLike>() ||            // nor are these: AttentionTest.cpp
        name.hasInterface<CustomCallLike>())             // the user's functions
      continue;
    INFO(name.getStringRef().str());
    CHECK(llvm::any_of(opRows(),
                       [&](const OpRow &row) { return row.mnemonic() == name.stripDialect(); }));
  }
}

TEST_CASE("sums of 16-bit floats accumulate in f32") {
  // In f16 itself a sum of ones would stay at 2048, in bf16 at 256.
  const OpRow rows[] = {
      {"cumulative sum", {"3000x$T"}, {"3000x$T"}, 2, "{dimension = 0 : i64}"},
      {"reduce sum", {"9000x$T"}, {"$T"}, 2, "{dimensions = array<i64: 0>}"},
      {"reduce sum", {"3000x8x$T"}, {"8x$T"}, 2, "{dimensions = array<i64: 0>}"},
      {"reduce_window sum",
       {"300x8x$T"},
       {"1x8x$T"},
       2,
       "{window = array<i64: 300, 1>, strides = array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
       "pad_low = array<i64: 0, 0>, pad_high = array<i64: 0, 0>}"}};
  MLIRContext context;
  loadDialects(context);
  Batch batch(context);
  for (const OpRow &row : rows)
    for (const char *type : {"f16", "bf16"}) {
      std::string text = instantiate(row, type, "", "", "");
      OwningOpRef<ModuleOp> module = parse(text, context);
      REQUIRE(module);
      auto function = *module->getOps<func::FuncOp>().begin();
      ReferenceArray ones(cast<RankedTensorType>(function.getArgument(0).getType()).getShape(), 1);
      batch.add(std::move(module), {ones}, text);
    }
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}

TEST_CASE("so do gradients of a gather that meet in one element") {
  for (std::string type : {"f16", "bf16"}) {
    std::string from = "tensor<3x" + type + ">", to = "tensor<9000x" + type + ">",
                text = "func.func @f(%x: " + from + ", %i: tensor<9000xi64>) -> tensor<f32> {\n" +
                       "  %0 = prim.gather %x, %i {axis = 0 : i64} : (" + from +
                       ", tensor<9000xi64>) -> " + to + "\n  %1 = prim.convert %0 : (" + to +
                       ") -> tensor<9000xf32>\n" +
                       "  %2 = prim.reduce sum %1 {dimensions = array<i64: 0>} : " +
                       "(tensor<9000xf32>) -> tensor<f32>\n  return %2 : tensor<f32> }";
    INFO(text);
    KernelCase test{"gather", text.c_str(), 3, /*tolerance=*/8e-3, /*gradient=*/true};
    CHECK(runKernelCase(test, "x86-64-v3").error == "");
  }
}

TEST_CASE("f16 below the least normal one is no zero") {
  // As gradients in f16 are. Of f32, which kernels compute in, such numbers are normal.
  const char *text =
      "func.func @f(%a: tensor<300xf16>, %b: tensor<300xf16>) -> "
      "(tensor<300xf16>, tensor<300xi1>, tensor<300xi1>) {\n"
      "  %sum = prim.add %a, %b : (tensor<300xf16>, tensor<300xf16>) -> tensor<300xf16>\n"
      "  %max = prim.max %sum, %a : (tensor<300xf16>, tensor<300xf16>) -> tensor<300xf16>\n"
      "  %large = prim.constant dense<1.638400e+04> : tensor<300xf16>\n"
      "  %neg = prim.neg %max : (tensor<300xf16>) -> tensor<300xf16>\n"
      "  %abs = prim.abs %b : (tensor<300xf16>) -> tensor<300xf16>\n"
      "  %min = prim.min %neg, %abs : (tensor<300xf16>, tensor<300xf16>) -> tensor<300xf16>\n"
      "  %y = prim.mul %min, %large : (tensor<300xf16>, tensor<300xf16>) -> tensor<300xf16>\n"
      "  %less = prim.compare lt %a, %b : (tensor<300xf16>, tensor<300xf16>) -> tensor<300xi1>\n"
      "  %zero = prim.constant dense<0.0> : tensor<300xf16>\n"
      "  %above = prim.compare gt %sum, %zero : (tensor<300xf16>, tensor<300xf16>) -> "
      "tensor<300xi1>\n"
      "  return %y, %less, %above : tensor<300xf16>, tensor<300xi1>, tensor<300xi1>\n}\n";
  MLIRContext context;
  loadDialects(context);
  Batch batch(context);
  OwningOpRef<ModuleOp> module = parse(text, context);
  REQUIRE(module);
  ReferenceArray a(ArrayRef<int64_t>(300), 0), b(ArrayRef<int64_t>(300), 0);
  for (int i = 0; i < 300; ++i) {
    a.values[i] = (i % 17 - 8) * 0x1p-24;
    b.values[i] = (i % 13 - 4) * 0x1p-22;
  }
  batch.add(std::move(module), {a, b}, text);
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}

TEST_CASE("an index into an empty axis is a data error, and nothing is read or written") {
  MLIRContext context;
  loadDialects(context);
  for (const char *text :
       {"func.func @f(%a: tensor<0x24xf32>, %i: tensor<5xi64>) -> tensor<5x24xf32> {\n"
        "  %r = prim.gather %a, %i {axis = 0 : i64} : (tensor<0x24xf32>, tensor<5xi64>) -> "
        "tensor<5x24xf32>\n  return %r : tensor<5x24xf32>\n}\n",
        "func.func @f(%a: tensor<0x24xf32>, %i: tensor<5xi64>) -> tensor<0x24xf32> {\n"
        "  %u = prim.constant dense<1.0> : tensor<5x24xf32>\n"
        "  %r = prim.scatter %a, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : "
        "(tensor<0x24xf32>, tensor<5xi64>, tensor<5x24xf32>) -> tensor<0x24xf32>\n"
        "  return %r : tensor<0x24xf32>\n}\n"}) {
    OwningOpRef<ModuleOp> module = parse(text, context);
    REQUIRE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    nameValues(function);
    FunctionType type = function.getFunctionType();
    REQUIRE(succeeded(formFusions(*module, *createTestTarget("x86-64-v3"))));
    Compiled compiled = compileFused(*module, "x86-64-v3");
    REQUIRE(compiled.session);
    compiled.run("f", type, {ReferenceArray({0, 24}), ReferenceArray({5})});
    CHECK(compiled.error.find("out of range") != std::string::npos);
  }
}
