// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that no double holds are what TorchScript says.
#include "TorchScriptText.h"

#include <catch2/catch.hpp>

using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
/// The IR of a forward of x, whose code is `body`.
std::string irOf(const std::string &body) {
  Imported module = importScripted(withBody(body), typedX());
  REQUIRE(module.problems() == "");
  return module.text();
}
} // namespace

TEST_CASE("TorchScript: multiples of integer tensors by 2^53 + 1") {
  const std::string integers = "    n = torch.to(x, 4)\n    return torch.";
  for (const char *call : {
           "add(n, n, alpha=9007199254740993)",
           "sub(n, n, alpha=9007199254740993)",
           "rsub(n, n, alpha=9007199254740993)",
           "addcmul(n, n, n, value=9007199254740993)",
           "addmm(torch.mm(n, torch.t(n)), n, torch.t(n), beta=9007199254740993)",
           "addmm(torch.mm(n, torch.t(n)), n, torch.t(n), alpha=9007199254740993)",
           "index_add(n, 0, torch.zeros([4], dtype=4), n, alpha=9007199254740993)",
       }) {
    CAPTURE(call);
    CHECK_THAT(irOf(integers + call + "\n"), Contains("dense<9007199254740993>"));
  }
}

TEST_CASE("TorchScript: ranges of integers from 2^53 + 1 on") {
  CHECK_THAT(irOf("    return torch.add(torch.arange(9007199254740993, 9007199254740996), 0)\n"),
             Contains("dense<9007199254740993>") && Contains("tensor<3xi64>") &&
                 !Contains("tensor<4xi64>"));
  CHECK_THAT(irOf("    return torch.arange(0, 18014398509481986, 9007199254740993)\n"),
             Contains("9007199254740993") && Contains("tensor<2xi64>"));
}

TEST_CASE("TorchScript: integers become floats where PyTorch makes them floats") {
  std::vector<double> numbers;
  for (int i = 0; i < 24; ++i)
    numbers.push_back(i * 37 % 256);
  auto results = [&](const std::string &call) {
    Imported module = importScripted(withBody("    n = torch.to(x, 0)\n    m = torch.mul(n, 3)\n"
                                              "    return torch." +
                                              call + "\n"),
                                     typedX());
    REQUIRE(module.problems() == "");
    return module.run({{"x", array({4, 6}, numbers)}}).begin()->second.values;
  };
  auto areas = results("cumulative_trapezoid(n, m)");
  areas.resize(5);
  CHECK(areas == std::vector<double>{5.5, 22, 49.5, 88, 137.5});
  CHECK(results("margin_ranking_loss(torch.to(x, 4), torch.zeros([6], dtype=4), "
                "torch.ones([6], dtype=4), 0.5)")[0] == Approx(0.5 / 24));
  CHECK(results("pairwise_distance(n, m)")[0] == Approx(335.803528).epsilon(1e-6));
  CHECK(results("triplet_margin_loss(n, m, n, reduction=0)")[0] ==
        Approx(336.803528).epsilon(1e-6));
}

TEST_CASE("TorchScript: arithmetic of numbers is PyTorch's") {
  auto number = [](const std::string &expression) {
    Imported module =
        importScripted(withBody("    n = torch.size(x, 0)\n    f = torch.mul(n, 0.25)\n"
                                "    v = " +
                                expression + "\n    return torch.full([], v, dtype=7)\n"),
                       typedX());
    INFO(expression);
    REQUIRE(module.problems() == "");
    return module.run({{"x", accc::ReferenceArray({4, 6})}}).begin()->second.values[0];
  };
  CHECK(number("torch.remainder(f, 0.1)") == Approx(0.1));
  CHECK(number("torch.remainder(torch.neg(f), 0.1)") == Approx(0).margin(1e-15));
  CHECK(number("torch.remainder(1e17, 3.)") == 1);
  CHECK(number("torch.remainder(f, -0.75)") == -0.5);
  CHECK(number("torch.pow(7, torch.mul(n, 10))") == std::pow(7.0, 40.0));
  CHECK(number("torch.__xor__(n, 6)") == 2);
  CHECK(number("torch.__lshift__(n, 60)") == 0x1p62);
  CHECK(number("torch.__rshift__(torch.neg(n), 1)") == -2);
  CHECK(number("int(torch.str(n))") == 4);
  CHECK(number("float(torch.str(torch.div(n, 3)))") == 4.0 / 3);
  CHECK(number("torch.len(torch.str(f))") == 2);               // "1."
  CHECK(number("torch.len(torch.format(\"{}\", 4e20))") == 5); // "4e+20"
  for (const char *real : {"torch.pow(n, 2)", "torch.round(2.5)", "torch.round(n)"}) {
    std::string product = std::string("torch.mul(torch.ones([3], dtype=4), ") + real + ")";
    CHECK(number("float(torch.is_floating_point(" + product + "))") == 1);
  }
  CHECK_THAT(problemsOf("    return torch.mul(x, torch.__lshift__(1, 64))\n"),
             Contains("shifts an integer by 64 bits"));
}

TEST_CASE("TorchScript: devices are asked for by name, and tensors are on the CPU") {
  auto holds = [](const std::string &condition) {
    std::string body = "    _0 = ops.prim.device(x)\n    if " + condition +
                       ":\n      y = torch.mul(x, 2)\n    else:\n      y = x\n    return y\n";
    INFO(condition);
    return irOf(body).find("prim.mul") != std::string::npos;
  };
  CHECK(holds("torch.eq(_0, torch.device(\"cpu\"))"));
  CHECK(holds("torch.eq(_0, ops.prim.device(torch.masked_select(x, torch.gt(x, 0))))"));
  CHECK_FALSE(holds("torch.eq(_0, torch.device(\"cuda:0\"))"));
  CHECK(holds("torch.ne(_0, torch.device(\"cuda\"))"));
  CHECK(holds("torch.eq(torch.device(\"cuda\", 1), torch.device(\"cuda:1\"))"));
  CHECK(holds("torch.eq(ops.prim.type(_0), \"cpu\")"));
  CHECK(holds("torch.eq(ops.prim.type(torch.device(\"cuda:1\")), \"cuda\")"));
  CHECK(holds("torch.eq(torch.str(_0), \"cpu\")"));
}
