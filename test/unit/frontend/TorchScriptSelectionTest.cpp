// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What masks that depend on data select, in TorchScript: how many elements there are is known when
// a step runs, and what needs to know before is refused.
#include "TorchScriptText.h"

#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/Diagnostics.h"
#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

TEST_CASE("TorchScript: a mask that decides a size must be known") {
  CHECK_THAT(problemsOf("    return torch.masked_select(x, torch.gt(x, 0))\n"),
             Contains("the mask that selects elements, which decides how many there are "
                      "(torch.where(mask, x, 0), or a product with the mask, keeps all), must be "
                      "known at compile time"));
  std::string selected = "    y = torch.masked_select(x, torch.gt(x, 0))\n    return torch.";
  for (const char *use : {"mul(y, torch.masked_select(x, torch.lt(x, 0)))",
                          "sum(torch.addcmul(y, torch.zeros([2]), torch.zeros([3])))",
                          "scatter(torch.unsqueeze(y, 1), 1, torch.zeros([1, 1], dtype=4), 2.)"})
    CHECK_THAT(problemsOf(selected + use + "\n"), Contains("must be known at compile time"));
  CHECK_THAT(problemsOf("    return torch.mul(torch.nonzero(x), 2)\n"),
             Contains("the mask that selects elements"));
  for (const char *call : {"sum(torch.nonzero(torch.sum(x)))", "_unique2(x)", "unique_dim(x, 0)"})
    CHECK_THAT(problemsOf("    return torch." + std::string(call) + "\n"),
               Contains("the size of the result"));
}

TEST_CASE("TorchScript: a mask selects as many elements as a tensor beside them has") {
  const std::string selected = "    y = torch.masked_select(x, torch.gt(x, 0))\n";
  for (const char *use :
       {"add(y, torch.zeros([2]))", "pow(2, y)", "where(torch.gt(y, 1), y, torch.zeros([2]))",
        "mse_loss(torch.zeros([2]), y)"})
    CHECK(problemsOf(selected + "    return torch.sum(torch." + use + ")\n").empty());
  const std::string write = "    z = torch.mul(x, 2)\n    return torch.index_put_(z, ";
  CHECK(problemsOf(write + "[torch.gt(x, 0)], torch.zeros([2]))\n").empty());
}

TEST_CASE("TorchScript: what two masks that depend on data select does not meet") {
  const std::string masks = "    some = torch.index(x, [torch.gt(x, 0)])\n"
                            "    other = torch.index(torch.sin(x), [torch.lt(x, 1)])\n"
                            "    same = torch.index(torch.sin(x), [torch.gt(x, 0)])\n"
                            "    y = torch.mul(x, 2)\n";
  auto problems = [&](const std::string &rest) { return problemsOf(masks + rest); };
  const std::string unknown = "the mask that selects elements";
  CHECK(problems("    return torch.sum(torch.mul(some, same))\n").empty());
  CHECK_THAT(problems("    return torch.sum(torch.mul(some, other))\n"),
             Contains("torch.mul") && Contains(unknown));
  CHECK(problems("    return torch.index_put_(y, [torch.gt(x, 0)], some)\n").empty());
  CHECK_THAT(problems("    return torch.index_put_(y, [torch.lt(x, 1)], some)\n"),
             Contains("torch.index_put_") && Contains(unknown));
  // Rows of a group, of which the mask selects some, are not normalized one by one.
  CHECK_THAT(problemsOf("    behind = annotate(List[Optional[Tensor]], [None, None, "
                        "torch.gt(torch.sum(x, [0]), 0)])\n"
                        "    some = torch.index(torch.unsqueeze(x, 0), behind)\n"
                        "    return torch.sum(torch.group_norm(some, 1))\n"),
             Contains("torch.group_norm") && Contains(unknown));
}

TEST_CASE("TorchScript: queries of causal attention are selected with their keys, or not at all") {
  const std::string rows = "    rows = torch.gt(torch.sum(x, [1]), 0)\n"
                           "    k = torch.unsqueeze(x, 0)\n"
                           "    q = torch.unsqueeze(torch.index(x, [rows]), 0)\n"
                           "    return torch.sum(torch.scaled_dot_product_attention(";
  CHECK(problemsOf(rows + "q, q, q, None, 0., True))\n").empty());
  CHECK(problemsOf(rows + "q, k, k))\n").empty());
  // Which keys come before a query depends on how many queries are selected before it.
  for (const char *some : {"q, k, k, None, 0., True))\n", "k, q, q, None, 0., True))\n"})
    CHECK_THAT(problemsOf(rows + some), Contains("torch.scaled_dot_product_attention") &&
                                            Contains("the mask that selects elements"));
}

TEST_CASE("TorchScript: of nothing that a mask selects there is no extreme") {
  auto runs = [](const std::string &reduced, double x) {
    Imported module = importScripted(withBody("    y = torch.index(x, [torch.gt(x, 0)])\n"
                                              "    return torch." +
                                              reduced + "\n"),
                                     typedX());
    REQUIRE(module.problems() == "");
    mlir::ScopedDiagnosticHandler quiet(module.context.get(), [](mlir::Diagnostic &diagnostic) {
      CHECK_THAT(diagnostic.str(), Contains("out of range"));
    });
    llvm::SmallVector<ReferenceArray> values = {ReferenceArray({4, 6}, x)}, results;
    return succeeded(interpret(module.forward(), values, results));
  };
  for (const char *reduced : {"max(y)", "min(y)", "amax(y, [0])", "amin(y, [0], True)", "argmax(y)",
                              "argmin(y, 0)", "linalg_vector_norm(y, inf)", "norm(y, inf)"}) {
    CAPTURE(reduced);
    CHECK(runs(reduced, 1));
    CHECK_FALSE(runs(reduced, -1));
  }
  for (const char *reduced : {"sum(y)", "prod(y)", "mean(y)", "logsumexp(y, [0])", "norm(y, 1)"}) {
    CAPTURE(reduced);
    CHECK(runs(reduced, -1));
  }
}
