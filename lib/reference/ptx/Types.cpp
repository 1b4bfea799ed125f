// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Types.h"

#include <algorithm>
#include <iterator>

namespace accc::ptx {

std::optional<Type> typeOf(std::string_view name) {
  using enum TypeKind;
  static constexpr struct {
    std::string_view name;
    Type type;
  } types[] = {
      {"b8", {Bits, 8}},          {"b16", {Bits, 16}},         {"b32", {Bits, 32}},
      {"b64", {Bits, 64}},        {"u8", {Unsigned, 8}},       {"u16", {Unsigned, 16}},
      {"u32", {Unsigned, 32}},    {"u64", {Unsigned, 64}},     {"s8", {Signed, 8}},
      {"s16", {Signed, 16}},      {"s32", {Signed, 32}},       {"s64", {Signed, 64}},
      {"f16", {Float, 16}},       {"f32", {Float, 32}},        {"f64", {Float, 64}},
      {"bf16", {BFloat, 16}},     {"tf32", {TFloat32, 32}},    {"pred", {Predicate, 1}},
      {"f16x2", {HalfPair, 32}},  {"bf16x2", {BHalfPair, 32}}, {"u16x2", {UnsignedPair, 32}},
      {"s16x2", {SignedPair, 32}}};
  auto *found = std::ranges::find(types, name, [](const auto &row) { return row.name; });
  return found == std::end(types) ? std::nullopt : std::optional(found->type);
}

std::optional<Space> spaceOf(std::string_view name) {
  if (name == "global")
    return Space::Global;
  if (name == "shared" || name == "shared::cta")
    return Space::Shared;
  if (name == "local")
    return Space::Local;
  if (name == "const")
    return Space::Const;
  if (name == "param" || name == "param::entry" || name == "param::func")
    return Space::Param;
  return std::nullopt;
}

const char *name(Space space) {
  static constexpr const char *names[] = {"generic", "global", "shared", "local", "const", "param"};
  return names[unsigned(space)];
}

} // namespace accc::ptx
