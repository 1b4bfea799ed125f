// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX's types and state spaces.
#ifndef ACCC_REFERENCE_PTX_TYPES_H
#define ACCC_REFERENCE_PTX_TYPES_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace accc::ptx {

enum class TypeKind : uint8_t {
  Bits,
  Unsigned,
  Signed,
  Float,
  BFloat,
  TFloat32, ///< `tf32`, in a register of 32 bits
  Predicate,
  UnsignedPair, ///< `u16x2`
  SignedPair,
  HalfPair, ///< `f16x2`
  BHalfPair,
};

struct Type {
  TypeKind kind = TypeKind::Bits;
  uint8_t bits = 0; ///< 1 for a predicate; of both elements of a pair

  unsigned bytes() const { return bits / 8; }
  bool isPredicate() const { return kind == TypeKind::Predicate; }
  bool isSigned() const { return kind == TypeKind::Signed; }
  bool isFloat() const { return kind == TypeKind::Float; }
  /// Bits, unsigned or signed.
  bool isInteger() const { return kind <= TypeKind::Signed; }
  /// f16, bf16 and their pairs.
  bool isHalf() const {
    return (kind == TypeKind::Float && bits == 16) || kind == TypeKind::BFloat ||
           kind == TypeKind::HalfPair || kind == TypeKind::BHalfPair;
  }
  bool operator==(const Type &) const = default;
};

/// The type of a name without its dot ("u32"); none where it is no type's name.
std::optional<Type> typeOf(std::string_view name);

enum class Space : uint8_t { Generic, Global, Shared, Local, Const, Param };

std::optional<Space> spaceOf(std::string_view name);
const char *name(Space);

} // namespace accc::ptx

#endif
