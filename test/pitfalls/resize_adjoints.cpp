// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize is linear: <A x, w> = <x, A* w>, whatever the mode, which needs no second implementation
// to check.
#include "Adjoint.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;

namespace {
const std::vector<std::vector<int64_t>> kSizes = {{1, 1}, {1, 9}, {3, 4}, {7, 5}, {10, 13}};
} // namespace

TEST_CASE("resize_adjoints: every mode to sizes of one, smaller and larger") {
  for (const char *mode : {"nearest", "linear", "cubic"})
    for (const char *coordinates :
         {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"}) {
      std::vector<LinearPart> parts;
      for (const std::vector<int64_t> &size : kSizes) {
        std::string n = std::to_string(parts.size());
        std::string to = std::to_string(size[0]) + ", " + std::to_string(size[1]);
        parts.push_back({"s" + n + " = Constant <value = int64[4] {1, 2, " + to +
                             "}> () $y = Resize <mode = \"" + mode +
                             "\", coordinate_transformation_mode = \"" + coordinates +
                             "\"> (x, , , s" + n + ")",
                         {1, 2, size[0], size[1]}});
      }
      INFO(mode << " " << coordinates);
      checkAdjoint({1, 2, 5, 6}, parts);
    }
}

TEST_CASE("resize_adjoints: scales that are no quotient of sizes") {
  for (const char *mode : {"nearest", "linear", "cubic"}) {
    INFO(mode);
    std::string resize = " $y = Resize <mode = \"" + std::string(mode) + "\"> (x, , ";
    checkAdjoint(
        {1, 2, 5, 6},
        {{"a = Constant <value = float[4] {1.0, 1.0, 1.7, 0.6}> ()" + resize + "a)", {1, 2, 8, 3}},
         {"b = Constant <value = float[4] {1.0, 1.0, 0.3, 2.9}> ()" + resize + "b)", {1, 2, 1, 17}},
         {"c = Constant <value = float[4] {1.0, 1.0, 2.0, 2.0}> ()" + resize + "c)",
          {1, 2, 10, 12}}});
  }
}

TEST_CASE("resize_adjoints: with antialiasing, and what lies outside of the image") {
  for (const char *mode : {"linear", "cubic"}) {
    INFO(mode);
    std::string m = mode;
    checkAdjoint(
        {1, 1, 9, 8},
        {{"a = Constant <value = int64[4] {1, 1, 4, 3}> () $y = Resize <antialias = 1, mode = \"" +
              m + "\"> (x, , , a)",
          {1, 1, 4, 3}},
         {"b = Constant <value = int64[4] {1, 1, 1, 11}> () $y = Resize <antialias = 1, mode = \"" +
              m + "\"> (x, , , b)",
          {1, 1, 1, 11}},
         {"c = Constant <value = int64[4] {1, 1, 5, 5}> () $y = Resize <exclude_outside = 1, mode "
          "= \"" +
              m + "\"> (x, , , c)",
          {1, 1, 5, 5}}},
        18);
  }
}
