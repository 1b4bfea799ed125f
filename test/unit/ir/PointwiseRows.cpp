// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PointwiseRows.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <limits>

namespace accc::test {

std::vector<std::string> PointwiseRow::operandTypes() const {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(types).split(parts, ',');
  std::vector<std::string> result(parts.begin(), parts.end());
  result.resize(operands.size(), result.back());
  return result;
}

std::string PointwiseRow::text() const {
  std::vector<std::string> arguments, names, tensors;
  for (auto [i, type] : llvm::enumerate(operandTypes())) {
    names.push_back(llvm::formatv("%{0}", i));
    tensors.push_back(llvm::formatv("tensor<{0}x{1}>", count(), type));
    arguments.push_back(names.back() + ": " + tensors.back());
  }
  return llvm::formatv("func.func @f({0}) -> tensor<{1}x{2}> {{\n"
                       "  %r = prim.{3} {4} : ({5}) -> tensor<{1}x{2}>\n"
                       "  return %r : tensor<{1}x{2}>\n}\n",
                       llvm::join(arguments, ", "), count(), result(), op, llvm::join(names, ", "),
                       llvm::join(tensors, ", "));
}

static constexpr double inf = std::numeric_limits<double>::infinity();
static constexpr double nan = std::numeric_limits<double>::quiet_NaN();
static constexpr double least32 = -0x1p31, greatest32 = 0x1p31 - 1;

const std::vector<PointwiseRow> &pointwiseRows() {
  static const std::vector<PointwiseRow> rows = {
      // ---- unary ----
      {"neg", "f32", {{1, -2, 0, inf}}, {-1, 2, 0, -inf}},
      {"neg", "i32", {{1, -2, 0, least32}}, {-1, 2, 0, least32}},
      {"neg", "ui8", {{1, 255, 0, 128}}, {255, 1, 0, 128}},
      {"abs", "f32", {{1, -2, -inf, nan}}, {1, 2, inf, nan}},
      {"abs", "i8", {{1, -2, -128, 127}}, {1, 2, -128, 127}},
      {"abs", "ui8", {{1, 200, 0, 255}}, {1, 200, 0, 255}},
      {"exp", "f32", {{0, 1, -1, -inf}}, {1, M_E, 1 / M_E, 0}},
      {"expm1", "f32", {{0, 1, 1e-6, -inf}}, {0, M_E - 1, 1e-6 + 5e-13, -1}},
      {"log", "f32", {{1, M_E, 0, -1}}, {0, 1, -inf, nan}},
      {"log1p", "f32", {{0, M_E - 1, -1, 1e-6}}, {0, 1, -inf, 1e-6 - 5e-13}},
      {"sqrt", "f32", {{4, 0, 2, -1}}, {2, 0, M_SQRT2, nan}},
      {"rsqrt", "f32", {{4, 0, 2, inf}}, {0.5, inf, M_SQRT1_2, 0}},
      {"sin", "f32", {{0, M_PI / 6, -M_PI_2, 1}}, {0, 0.5, -1, std::sin(1.0)}},
      {"cos", "f32", {{0, M_PI / 3, 1, -1}}, {1, 0.5, std::cos(1.0), std::cos(1.0)}},
      {"asin", "f32", {{0, 0.5, -1, 2}}, {0, M_PI / 6, -M_PI_2, nan}},
      {"acos", "f32", {{0, 0.5, -1, 2}}, {M_PI_2, M_PI / 3, M_PI, nan}},
      {"atan", "f32", {{0, 1, -inf, inf}}, {0, M_PI_4, -M_PI_2, M_PI_2}},
      {"tanh", "f32", {{0, 0.5, -30, inf}}, {0, std::tanh(0.5), -1, 1}},
      {"logistic", "f32", {{0, 2, -200, 200}}, {0.5, 1 / (1 + std::exp(-2.0)), 0, 1}},
      {"logistic", "f64", {{-30, -800, nan, -inf}}, {std::exp(-30.0), 0, nan, 0}},
      {"erf", "f32", {{0, 0.5, -6, inf}}, {0, std::erf(0.5), -1, 1}},
      {"sign", "f32", {{3, -2, 0, nan}}, {1, -1, 0, nan}},
      {"sign", "i32", {{3, -2, 0, least32}}, {1, -1, 0, -1}},
      {"sign", "ui8", {{3, 200, 0, 255}}, {1, 1, 0, 1}},
      {"floor", "f32", {{1.5, -1.5, 2, -0.1}}, {1, -2, 2, -1}},
      {"ceil", "f32", {{1.5, -1.5, 2, 0.1}}, {2, -1, 2, 1}},
      {"round_even", "f32", {{0.5, 1.5, 2.5, -0.7}}, {0, 2, 2, -1}},
      {"not", "i32", {{0, -1, 5, greatest32}}, {-1, 0, -6, least32}},
      {"not", "ui8", {{0, 255, 5, 128}}, {255, 0, 250, 127}},
      {"not", "i1", {{0, 1, 1, 0}}, {1, 0, 0, 1}},
      {"is_finite", "f32", {{0, -inf, nan, 1e30}}, {1, 0, 0, 1}, "i1"},

      // ---- binary ----
      {"add", "f32", {{1, 2.5, inf, -1}, {2, -1, -inf, 1}}, {3, 1.5, nan, 0}},
      {"add", "i32", {{1, greatest32, least32, -1}, {2, 1, -1, 1}}, {3, least32, greatest32, 0}},
      {"add", "ui8", {{1, 255, 128, 0}, {2, 1, 128, 0}}, {3, 0, 0, 0}},
      {"sub", "f32", {{1, 2.5, inf, -1}, {2, -1, inf, 1}}, {-1, 3.5, nan, -2}},
      {"sub", "ui32", {{1, 5, 0, 7}, {2, 1, 0x1p31, 7}}, {0x1p32 - 1, 4, 0x1p31, 0}},
      {"mul", "f32", {{3, -2, 0, inf}, {2, 0.5, 7, 0}}, {6, -1, 0, nan}},
      {"mul", "i32", {{3, -2, 65536, greatest32}, {2, 5, 65536, 2}}, {6, -10, 0, -2}},
      {"div", "f32", {{1, -1, 0, 3}, {2, 0, 0, inf}}, {0.5, -inf, nan, 0}},
      {"div", "i32", {{7, -7, 7, -7}, {2, 2, -2, -2}}, {3, -3, -3, 3}},
      {"div", "i32", {{7, least32, least32, 0}, {0, -1, 1, 0}}, {0, least32, least32, 0}},
      {"div", "i32", {{7, -7, 0, greatest32}, {-1, -1, -1, -1}}, {-7, 7, 0, -greatest32}},
      {"div", "ui8", {{200, 255, 7, 0}, {3, 255, 0, 5}}, {66, 1, 0, 0}},
      {"rem", "f32", {{7.5, -7.5, 7.5, -7.5}, {2, 2, -2, -2}}, {1.5, -1.5, 1.5, -1.5}},
      {"rem", "i32", {{7, -7, 7, -7}, {3, 3, -3, -3}}, {1, -1, 1, -1}},
      {"rem", "i32", {{7, least32, least32, 0}, {0, -1, 1, 0}}, {7, 0, 0, 0}},
      {"rem", "i32", {{7, -7, 0, greatest32}, {-1, -1, -1, -1}}, {0, 0, 0, 0}},
      {"rem", "ui8", {{200, 255, 7, 0}, {3, 255, 0, 5}}, {2, 0, 7, 0}},
      {"max", "f32", {{1, -1, nan, 3}, {2, -2, 0, nan}}, {2, -1, nan, nan}},
      {"max", "i32", {{1, -1, least32, 3}, {2, -2, 0, 3}}, {2, -1, 0, 3}},
      {"max", "ui8", {{1, 255, 0, 3}, {200, 1, 0, 3}}, {200, 255, 0, 3}},
      {"min", "f32", {{1, -1, nan, 3}, {2, -2, 0, nan}}, {1, -2, nan, nan}},
      {"min", "i32", {{1, -1, least32, 3}, {2, -2, 0, 3}}, {1, -2, least32, 3}},
      {"min", "ui8", {{1, 255, 0, 3}, {200, 1, 0, 3}}, {1, 1, 0, 3}},
      {"pow", "f32", {{2, 0, -2, 4}, {10, 0, 3, -0.5}}, {1024, 1, -8, 0.5}},
      {"pow", "f32", {{-2, 0, 0, inf}, {0.5, -1, 2, 0}}, {nan, inf, 0, 1}},
      {"atan2", "f32", {{0, 1, -1, 1}, {1, 0, -1, 1}}, {0, M_PI_2, -3 * M_PI_4, M_PI_4}},
      {"and", "i32", {{12, -1, 0, 7}, {10, 5, 9, -8}}, {8, 5, 0, 0}},
      {"and", "i1", {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 0, 0, 1}},
      {"or", "i32", {{12, -1, 0, 7}, {10, 5, 9, -8}}, {14, -1, 9, -1}},
      {"or", "i1", {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 1, 1, 1}},
      {"xor", "ui8", {{12, 255, 0, 7}, {10, 5, 9, 7}}, {6, 250, 9, 0}},
      {"xor", "i1", {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 1, 1, 0}},
      {"shift_left", "i32", {{1, 1, 3, -1}, {4, 31, 32, 1}}, {16, least32, 0, -2}},
      {"shift_left", "ui8", {{1, 255, 3, 3}, {7, 1, 8, 200}}, {128, 254, 0, 0}},
      {"shift_right", "i32", {{16, -16, -1, 5}, {4, 2, 40, 32}}, {1, -4, -1, 0}},
      {"shift_right", "ui8", {{128, 255, 3, 255}, {7, 1, 8, 200}}, {1, 127, 0, 0}},

      // ---- choice ----
      {"compare eq", "f32", {{1, 2, nan, 0}, {1, 1, nan, -0.0}}, {1, 0, 0, 1}, "i1"},
      {"compare ne", "f32", {{1, 2, nan, 0}, {1, 1, nan, -0.0}}, {0, 1, 1, 0}, "i1"},
      {"compare lt", "f32", {{1, 2, nan, -inf}, {2, 1, 0, 0}}, {1, 0, 0, 1}, "i1"},
      {"compare le", "f32", {{1, 2, nan, 3}, {2, 1, 0, 3}}, {1, 0, 0, 1}, "i1"},
      {"compare gt", "f32", {{1, 2, nan, 3}, {2, 1, 0, 3}}, {0, 1, 0, 0}, "i1"},
      {"compare ge", "f32", {{1, 2, nan, 3}, {2, 1, 0, 3}}, {0, 1, 0, 1}, "i1"},
      {"compare lt", "i32", {{-1, 2, least32, 3}, {2, 1, 0, 3}}, {1, 0, 1, 0}, "i1"},
      {"compare lt", "ui8", {{255, 2, 128, 3}, {2, 255, 0, 3}}, {0, 1, 0, 0}, "i1"},
      {"compare gt", "i1", {{0, 0, 1, 1}, {0, 1, 0, 1}}, {0, 0, 1, 0}, "i1"},
      {"select", "i1,f32,f32", {{0, 1, 1, 0}, {1, 2, nan, inf}, {5, 6, 7, 8}}, {5, 2, nan, 8}},
      {"select", "i1,i1,i1", {{0, 1, 1, 0}, {1, 0, 1, 1}, {0, 1, 0, 1}}, {0, 0, 1, 1}},
      {"convert", "f32", {{1.9, -1.9, nan, inf}}, {1, -1, 0, greatest32}, "i32"},
      {"convert",
       "f32",
       {{3e9, -3e9, 0x1p31, -0x1p31}},
       {greatest32, least32, greatest32, least32},
       "i32"},
      {"convert", "f32", {{300, -300, 127.9, -128.5}}, {127, -128, 127, -128}, "i8"},
      {"convert", "f32", {{300, -300, 255.9, -0.5}}, {255, 0, 255, 0}, "ui8"},
      {"convert", "f32", {{1e30, -1, 0x1p31, 3.5}}, {0x1p32 - 1, 0, 0x1p31, 3}, "ui32"},
      {"convert", "f64", {{0.5, -0.5, 1e10, nan}}, {0, 0, 1e10, 0}, "i64"},
      {"convert", "f16", {{65504, -3.5, inf, nan}}, {65504, -3, greatest32, 0}, "i32"},
      {"convert", "f32", {{0, -0.0, nan, 0.1}}, {0, 0, 1, 1}, "i1"},
      {"convert", "i32", {{300, -1, 128, 5}}, {44, -1, -128, 5}, "i8"},
      {"convert", "i32", {{300, -1, 128, 5}}, {44, 255, 128, 5}, "ui8"},
      {"convert", "ui8", {{255, 0, 128, 5}}, {255, 0, 128, 5}, "i32"},
      {"convert", "i8", {{-1, 0, -128, 5}}, {-1, 0, -128, 5}, "i64"},
      {"convert", "i32", {{-1, 0, 256, 5}}, {1, 0, 1, 1}, "i1"},
      {"convert", "i1", {{0, 1, 1, 0}}, {0, 1, 1, 0}, "i32"},
      {"convert", "i1", {{0, 1, 1, 0}}, {0, 1, 1, 0}, "f32"},
      {"convert", "i32", {{-1, 0, 256, 5}}, {-1, 0, 256, 5}, "f32"},
      {"convert", "ui32", {{0x1p31, 0, 256, 5}}, {0x1p31, 0, 256, 5}, "f32"},
      {"convert", "f32", {{1.5, -2, inf, nan}}, {1.5, -2, inf, nan}, "f64"},
      {"convert", "f64", {{1.5, -2, inf, nan}}, {1.5, -2, inf, nan}, "f32"},
      {"convert", "f16", {{1.5, -2, 1024, 0}}, {1.5, -2, 1024, 0}, "bf16"},
      {"bitcast", "f32", {{1, -0.0, 0, -2}}, {0x3f800000, 0x80000000, 0, 0xc0000000}, "ui32"},
      {"bitcast", "i32", {{0x3f800000, least32, 0, -1}}, {1, -0.0, 0, nan}, "f32"},
      {"bitcast", "i8", {{-1, 0, 5, -128}}, {255, 0, 5, 128}, "ui8"},
  };
  return rows;
}

} // namespace accc::test
