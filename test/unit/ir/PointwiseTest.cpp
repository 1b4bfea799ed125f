// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pointwise op's value in the interpreter, against its samples.
#include "PointwiseRows.h"
#include "Program.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

TEST_CASE("the interpreter gives the values of pointwise ops") {
  for (const PointwiseRow &row : pointwiseRows()) {
    INFO(row.text());
    std::vector<ReferenceArray> arguments;
    for (const std::vector<double> &values : row.operands)
      arguments.push_back(array(values));
    CHECK(difference(Program(row.text()).run(arguments)[0].values, row.expected, 1e-12) == "");
  }
}
