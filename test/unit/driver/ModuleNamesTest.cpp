// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How kernels, and rows of several, are named after modules.
#include "support/ModuleNames.h"
#include "support/ModuleLocation.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

using namespace accc;

TEST_CASE("modules of a kernel in one name", "[modules]") {
  CHECK(nameModules({}).empty());
  CHECK(nameModules({"", ""}).empty());
  CHECK(nameModules({"fc1", "", "fc1"}) == "fc1");
  CHECK(nameModules({"conv1", "bn1"}) == "conv1,bn1");
  CHECK(nameModules({"blocks.0.norm1", "blocks.0.attn.qkv"}) == "blocks.0.{norm1,attn.qkv}");
  CHECK(nameModules({"blocks.0", "blocks.0.norm1"}) == "blocks.0");
  CHECK(nameModules({"b.0.a", "b.0.b", "b.0.c", "b.0.d"}) == "b.0.*");
  CHECK(nameModules({"a", "b", "c", "d"}) == "*");
}

TEST_CASE("what names of equal kernels have in common", "[modules]") {
  CHECK(mergeModuleNames({}).empty());
  CHECK(mergeModuleNames({"fc1", "fc1", ""}) == "fc1");
  CHECK(mergeModuleNames({"blocks.0.mlp", "blocks.1.mlp"}) == "blocks.*.mlp");
  CHECK(mergeModuleNames({"blocks.0.mlp (backward)", "blocks.1.mlp (backward)"}) ==
        "blocks.*.mlp (backward)");
  CHECK(mergeModuleNames({"blocks.0.mlp", "blocks.1.norm.a"}) == "blocks.*");
}

TEST_CASE("modules of locations", "[modules]") {
  mlir::MLIRContext context;
  auto at = [&](const char *module) {
    auto node = mlir::NameLoc::get(mlir::StringAttr::get(&context, "node"));
    return withModule(node, module);
  };
  CHECK(moduleNames(at("")).empty());
  CHECK(moduleNames(at("h.0.mlp")) == "h.0.mlp");
  CHECK(moduleNames(inBackward(at("h.0.mlp"))) == "h.0.mlp (backward)");
  CHECK(moduleNames(mlir::FusedLoc::get(&context, {at("h.0.mlp"), inBackward(at("h.0.ln"))})) ==
        "h.0.{mlp,ln} (backward)");
}
