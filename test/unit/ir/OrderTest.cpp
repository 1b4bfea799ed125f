// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The orders of ops that order elements.
#include "ir/prim/Combine.h"

#include "mlir/IR/MLIRContext.h"

#include <catch2/catch.hpp>

#include <limits>

using namespace mlir;
using namespace accc::prim;

TEST_CASE("the last element of an order goes before no other") {
  MLIRContext context;
  constexpr double inf = std::numeric_limits<double>::infinity();
  const double numbers[] = {-inf, -128, -1, 0, 3, 127, inf, std::nan("")};
  for (bool descending : {false, true})
    for (bool nanFirst : {false, true}) {
      ElementOrder order{descending, nanFirst};
      INFO(descending << " " << nanFirst);
      auto number = cast<FloatAttr>(order.last(Float32Type::get(&context), /*isUnsigned=*/false));
      auto integer =
          cast<IntegerAttr>(order.last(IntegerType::get(&context, 8), /*isUnsigned=*/false));
      for (double other : numbers) {
        CHECK_FALSE(order.precedes(number.getValueAsDouble(), other));
        if (std::abs(other) <= 128)
          CHECK_FALSE(order.precedes(static_cast<double>(integer.getInt()), other));
      }
      auto bits = cast<IntegerAttr>(order.last(IntegerType::get(&context, 8), /*isUnsigned=*/true));
      CHECK(bits.getValue().getZExtValue() == (descending ? 0U : 255U));
    }
}
