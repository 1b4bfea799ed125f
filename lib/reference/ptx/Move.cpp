// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mov, packing and unpacking, and addresses between spaces.
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Lanes.h"
#include "reference/ptx/Windows.h"

#include <algorithm>
#include <cstring>

namespace accc::ptx {

namespace {

template <class T> T same(T a) { return a; }

void movePredicate(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t &result = warp.predicate(in.result);
  result = (result & ~mask) | (warp.predicate(in.a) & mask);
}

/// Copies part `b` of `immediate` bytes between a lane's wide register and a narrow one.
template <bool packs> void movePart(Warp &warp, const Instruction &in, uint32_t mask) {
  unsigned narrow = in.immediate, wide = in.c, at = in.b;
  const std::byte *from = warp.file + in.a;
  std::byte *to = warp.file + in.result;
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    if (packs)
      std::memcpy(to + lane * wide + at, from + lane * narrow, narrow);
    else
      std::memcpy(to + lane * narrow, from + lane * wide + at, narrow);
  }
}

/// All parts of a vector at once: instructions are one for one with statements, so the slots are in
/// a list.
void unpack(Warp &warp, const Instruction &in, uint32_t mask) {
  const Access &parts = warp.block->launch.program.accesses[in.target];
  Instruction part = in;
  part.immediate = parts.elementBytes;
  part.c = parts.bytes();
  for (unsigned i = 0; i < parts.count; ++i) {
    if (!parts.elements[i].slot)
      continue;
    part.result = parts.elements[i].slot;
    part.b = i * parts.elementBytes;
    movePart<false>(warp, part, mask);
  }
}
void pack(Warp &warp, const Instruction &in, uint32_t mask) {
  const Access &parts = warp.block->launch.program.accesses[in.target];
  // A part may be the result's own register in no program, as their sizes differ.
  Instruction part = in;
  part.immediate = parts.elementBytes;
  part.c = parts.bytes();
  for (unsigned i = 0; i < parts.count; ++i) {
    part.a = parts.elements[i].slot;
    part.b = i * parts.elementBytes;
    movePart<true>(warp, part, mask);
  }
}

void decodeParts(Decoder &decoder, const Operand &vector, const Operand &whole, Type type,
                 bool packs) {
  Access parts;
  parts.count = uint8_t(vector.elements.size());
  if ((parts.count != 2 && parts.count != 4) || type.bits / parts.count < 16)
    decoder.unsupported();
  Type element{TypeKind::Bits, uint8_t(type.bits / parts.count)};
  parts.elementBytes = uint8_t(element.bytes());
  for (unsigned i = 0; i < parts.count; ++i)
    if (packs)
      parts.elements[i] = {decoder.source(vector.elements[i], element), parts.elementBytes};
    else if (vector.elements[i].kind != Operand::Sink)
      parts.elements[i] = {decoder.result(vector.elements[i], element), parts.elementBytes};
  if (packs)
    decoder.in.result = decoder.result(whole, type);
  else
    decoder.in.a = decoder.source(whole, type);
  decoder.in.target = decoder.addAccess(parts);
  decoder.in.handler = packs ? pack : unpack;
}

bool decodeMov(Decoder &decoder) {
  Type type = decoder.type();
  decoder.expectOperands(2);
  const Operand &to = decoder.operand(0), &from = decoder.operand(1);
  if (type.isPredicate()) {
    if (from.kind == Operand::Integer)
      decoder.in.a = decoder.constant(from.value ? ~uint64_t(0) : 0, 4);
    else
      decoder.in.a = decoder.predicate(from);
    decoder.in.result = decoder.result(to, type);
    decoder.in.handler = movePredicate;
    return true;
  }
  if (from.kind == Operand::Vector) {
    decodeParts(decoder, from, to, type, true);
    return true;
  }
  if (to.kind == Operand::Vector) {
    decodeParts(decoder, to, from, type, false);
    return true;
  }
  if (from.kind == Operand::Name && !from.symbol)
    if (uint32_t number; decoder.owner().callee(from.name, number))
      decoder.unsupported("addresses of functions");
  decoder.in.a = decoder.source(from, type);
  decoder.in.result = decoder.result(to, type);
  decoder.in.handler = forInteger(decoder, Type{TypeKind::Unsigned, type.bits},
                                  []<class T>() -> Handler { return pointwise<same<T>, T, T>; });
  return true;
}

uint64_t windowOf(Space space) {
  switch (space) {
  case Space::Shared:
    return windows::shared;
  case Space::Local:
    return windows::local;
  case Space::Param:
    return windows::param;
  default:
    return 0; // the same addresses
  }
}

uint64_t plus(uint64_t a, uint64_t b) { return a + b; }
uint64_t minus(uint64_t a, uint64_t b) { return a - b; }

bool decodeAddressConversion(Decoder &decoder) {
  bool toSpace = decoder.modifiers.take("to");
  std::optional<Space> space = decoder.modifiers.takeSpace();
  Type type = decoder.type();
  if (!space || type.bits != 64)
    decoder.unsupported();
  decoder.expectOperands(2);
  decoder.in.a = decoder.source(1, type);
  decoder.in.b = decoder.constant(windowOf(*space), 8);
  decoder.in.result = decoder.result(0, type);
  decoder.in.handler = toSpace ? pointwise<minus, uint64_t, uint64_t, uint64_t>
                               : pointwise<plus, uint64_t, uint64_t, uint64_t>;
  return true;
}

void isInSpace(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint64_t *a = warp.at<uint64_t>(in.a);
  const uint64_t begin = windowOf(Space(in.immediate));
  uint32_t &result = warp.predicate(in.result);
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    bool inside = begin ? a[lane] - begin < windows::size : a[lane] >= windows::end;
    result = (result & ~(1u << lane)) | uint32_t(inside) << lane;
  }
}

bool decodeIsInSpace(Decoder &decoder) {
  std::optional<Space> space = decoder.modifiers.takeSpace();
  if (!space)
    decoder.unsupported();
  decoder.expectOperands(2);
  decoder.in.a = decoder.source(1, Type{TypeKind::Bits, 64});
  decoder.in.result = decoder.predicate(decoder.operand(0));
  decoder.in.immediate = uint8_t(*space);
  decoder.in.handler = isInSpace;
  return true;
}

} // namespace

bool decodeMove(Decoder &decoder) {
  if (decoder.opcode() == "mov")
    return decodeMov(decoder);
  if (decoder.opcode() == "cvta")
    return decodeAddressConversion(decoder);
  if (decoder.opcode() == "isspacep")
    return decodeIsInSpace(decoder);
  return false;
}

} // namespace accc::ptx
