// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry point returns to a runtime (accc_status).
#include "kernels/Compiled.h"

#include "accc/abi.h"
#include "fusion/Fuse.h"
#include "ir/exec/Exec.h"
#include "ir/prim/Prim.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

TEST_CASE("an entry point ends with the status of a library call that fails") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      R"(func.func @f(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) -> tensor<2x2xf32> {
    %0 = prim.dot_general %a, %b {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %1 = prim.exp %0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %1 : tensor<2x2xf32> })",
      ParserConfig(&context));
  REQUIRE(module);
  nameValues(*module->getOps<func::FuncOp>().begin());
  REQUIRE(succeeded(formFusions(*module, *createCpu("x86-64-v3"))));
  Compiled compiled = compileFused(*module, "x86-64-v3");
  INFO(compiled.error);
  REQUIRE(compiled.session);

  // A runtime whose library answers as it is told to, and which counts the kernels run.
  struct Services {
    int32_t answer;
    int launches = 0;
  };
  auto returned = [&](Services told) {
    const accc_entry &entry = compiled.session->model().entry("f");
    accc_services services = {
        ACCC_ABI_VERSION, sizeof(accc_services), &told,
        [](void *self, accc_kernel, char *const *, int64_t) {
          ++static_cast<Services *>(self)->launches;
        },
        [](void *self, int32_t, char *const *) { return static_cast<Services *>(self)->answer; }};
    std::vector<Tensor> values;
    std::vector<char *> io;
    for (auto shape : {Shape{2, 3}, Shape{3, 2}, Shape{2, 2}})
      values.emplace_back(DType::f32, shape);
    for (Tensor &value : values)
      io.push_back(static_cast<char *>(value.raw()));
    Tensor arena(DType::u8, {static_cast<int64_t>(entry.arena_size)});
    int32_t status =
        entry.function(&services, nullptr, static_cast<char *>(arena.raw()), io.data());
    return std::pair(status, told.launches);
  };
  CHECK(returned({ACCC_DONE}) == std::pair<int32_t, int>(ACCC_DONE, 1));
  CHECK(returned({ACCC_LIBRARY_CALL_FAILED}) ==
        std::pair<int32_t, int>(ACCC_LIBRARY_CALL_FAILED, 0));
}
