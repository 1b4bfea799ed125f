// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Derivatives with respect to symmetric matrices: those of what the matrices are made of.
#include "Program.h"
#include "reference/interpreter/GradientCheck.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

/// x -> what `op` makes of x x^T and a diagonal, [2, 3, 3], and operands of further types.
static std::string ofSymmetric(const std::string &op, const std::string &results,
                               const std::string &further = "") {
  std::string matrix = "tensor<2x3x3xf64>";
  return "func.func @f(%x: " + matrix + ") -> " + matrix +
         " {\n"
         "  %d = prim.constant dense<[[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 6.0]]> : "
         "tensor<3x3xf64>\n"
         "  %e = prim.broadcast %d {dimensions = array<i64: 1, 2>} : (tensor<3x3xf64>) -> " +
         matrix +
         "\n"
         "  %p = prim.dot_general %x, %x {lhs_batch = array<i64: 0>, rhs_batch = array<i64: 0>, "
         "lhs_contracting = array<i64: 2>, rhs_contracting = array<i64: 2>} : (" +
         matrix + ", " + matrix + ") -> " + matrix + "\n  %a = prim.add %p, %e : (" + matrix +
         ", " + matrix + ") -> " + matrix + "\n  " + op + " : (" + matrix + further + ") -> (" +
         results + ")\n  return %r : " + matrix + "\n}\n";
}

/// Of x, solved with that matrix by its factors.
static std::string ofSolution(const std::string &transpose) {
  std::string factors =
      "%lu, %pivots, %info = prim.lu %a {check_errors = true} : "
      "(tensor<2x3x3xf64>) -> (tensor<2x3x3xf64>, tensor<2x3xi32>, tensor<2xi32>)";
  return ofSymmetric(
      factors + "\n  %r = nn.lu_solve %a, %lu, %pivots, %x {transpose = " + transpose + "}",
      "tensor<2x3x3xf64>", ", tensor<2x3x3xf64>, tensor<2x3xi32>, tensor<2x3x3xf64>");
}

TEST_CASE("derivatives of factors of symmetric matrices agree with finite differences") {
  std::vector<double> numbers;
  for (int i = 0; i < 18; ++i)
    numbers.push_back(0.1 * ((7 * i) % 11) - 0.4);
  ReferenceArray x({2, 3, 3});
  x.values = numbers;
  for (const std::string &text :
       {ofSymmetric("%r, %info = prim.cholesky %a {check_errors = true}",
                    "tensor<2x3x3xf64>, tensor<2xi32>"),
        ofSymmetric("%values, %r = nn.eigh %a", "tensor<2x3xf64>, tensor<2x3x3xf64>"),
        ofSolution("false"), ofSolution("true")}) {
    INFO(text);
    Program program(text);
    CHECK(checkGradient(program.function(), {x}) == "");
  }
}
