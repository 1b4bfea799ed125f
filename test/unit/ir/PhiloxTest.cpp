// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The generator against the known answers that its authors publish, and how random_bits counts.
#include "ir/prim/Philox.h"
#include "Program.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Words = std::array<uint32_t, 4>;

// The file kat_vectors of Random123, "philox4x32 10".
TEST_CASE("Philox gives Random123's known answers") {
  CHECK(prim::philox::words({0, 0, 0, 0}, 0, 0) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  uint32_t ones = 0xffffffff;
  CHECK(prim::philox::words({ones, ones, ones, ones}, ones, ones) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(prim::philox::words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822,
                            0x299f31d0) == Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("random_bits counts elements and steps, and takes all of its seed") {
  Program program("func.func @f(%key: tensor<2xi64>) -> tensor<2x3xui32> {\n"
                  "  %0 = prim.random_bits %key {stream = 7 : i64} : (tensor<2xi64>) -> "
                  "tensor<2x3xui32>\n  return %0 : tensor<2x3xui32>\n}\n");
  // A seed and a step beyond 32 bits, of which a step counts the lower.
  std::vector<double> found = program.run({array({0x123456789ab, 0x500000009})})[0].values;
  for (uint32_t i = 0; i < 6; ++i)
    CHECK(found[i] == prim::philox::words({i / 4, 0, 9, 7}, 0x456789ab, 0x123)[i % 4]);
}
