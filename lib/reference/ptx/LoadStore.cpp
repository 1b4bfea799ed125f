// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ld, st and cp.async.
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Lanes.h"
#include "reference/ptx/Touch.h"

#include <algorithm>
#include <cstring>

namespace accc::ptx {

namespace {

/// Elements of type E go to registers of type R, sign-extended where E is signed.
template <class E, class R> void load(Warp &warp, const Instruction &in, uint32_t mask) {
  const Access &access = warp.block->launch.program.accesses[in.target];
  Addresses addresses = addressesOf(warp, access);
  const std::byte *data[warpSize];
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    data[lane] = touch(warp, access, in.target, lane, addresses.of[lane]);
  }
  countAccess(warp, access, mask, addresses);
  for (unsigned i = 0; i < access.count; ++i) {
    if (!access.elements[i].slot)
      continue;
    R *to = warp.at<R>(access.elements[i].slot);
    for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
      unsigned lane = unsigned(std::countr_zero(lanes));
      E value;
      std::memcpy(&value, data[lane] + i * sizeof(E), sizeof(E));
      to[lane] = R(value);
    }
  }
}

template <class E, class R> void store(Warp &warp, const Instruction &in, uint32_t mask) {
  const Access &access = warp.block->launch.program.accesses[in.target];
  Addresses addresses = addressesOf(warp, access);
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    std::byte *data = touch(warp, access, in.target, lane, addresses.of[lane]);
    for (unsigned i = 0; i < access.count; ++i) {
      E value = E(warp.at<R>(access.elements[i].slot)[lane]);
      std::memcpy(data + i * sizeof(E), &value, sizeof(E));
    }
  }
  countAccess(warp, access, mask, addresses);
}

template <template <class, class> class Of, class E>
Handler forRegister(Decoder &decoder, unsigned bytes) {
  if constexpr (sizeof(E) <= 2)
    if (bytes == 2)
      return Of<E, uint16_t>::handler;
  if constexpr (sizeof(E) <= 4)
    if (bytes == 4)
      return Of<E, uint32_t>::handler;
  if (bytes == 8)
    return Of<E, uint64_t>::handler;
  if constexpr (sizeof(E) == 1)
    if (bytes == 1) // a literal
      return Of<E, uint8_t>::handler;
  decoder.malformed("the registers do not fit the type");
}
template <class E, class R> struct Load {
  static constexpr Handler handler = load<E, R>;
};
template <class E, class R> struct Store {
  static constexpr Handler handler = store<E, R>;
};
template <template <class, class> class Of>
Handler forElement(Decoder &decoder, Type type, unsigned bytes) {
  switch (type.bits) {
  case 8:
    return type.isSigned() ? forRegister<Of, int8_t>(decoder, bytes)
                           : forRegister<Of, uint8_t>(decoder, bytes);
  case 16:
    return type.isSigned() ? forRegister<Of, int16_t>(decoder, bytes)
                           : forRegister<Of, uint16_t>(decoder, bytes);
  case 32:
    return type.isSigned() ? forRegister<Of, int32_t>(decoder, bytes)
                           : forRegister<Of, uint32_t>(decoder, bytes);
  case 64:
    return forRegister<Of, uint64_t>(decoder, bytes);
  default:
    decoder.unsupported();
  }
}

/// What tells a cache what to keep says nothing of values.
void dropCacheHints(Modifiers &modifiers) {
  static constexpr std::initializer_list<std::string_view> hints = {"ca",
                                                                    "cg",
                                                                    "cs",
                                                                    "lu",
                                                                    "wb",
                                                                    "wt",
                                                                    "weak",
                                                                    "L1::evict_normal",
                                                                    "L1::evict_unchanged",
                                                                    "L1::evict_first",
                                                                    "L1::evict_last",
                                                                    "L1::no_allocate",
                                                                    "L2::64B",
                                                                    "L2::128B",
                                                                    "L2::256B",
                                                                    "L2::evict_first",
                                                                    "L2::evict_last",
                                                                    "L2::evict_normal"};
  while (modifiers.takeAny(hints) >= 0)
    ;
}

void decodeOrder(Decoder &decoder, Access &access) {
  Modifiers &modifiers = decoder.modifiers;
  access.acquire = modifiers.take("acquire");
  access.release = modifiers.take("release");
  access.strong =
      modifiers.takeAny({"volatile", "relaxed", "cv"}) >= 0 || access.acquire || access.release;
  modifiers.takeAny({"cta", "cluster", "gpu", "sys"});
}

InstructionClass classOf(const Access &access) {
  return access.space == Space::Shared ? InstructionClass::Shared
         : access.write                ? InstructionClass::Store
                                       : InstructionClass::Load;
}

bool decodeLoadStore(Decoder &decoder) {
  Access access;
  access.write = decoder.opcode() == "st";
  decodeOrder(decoder, access);
  access.space = decoder.modifiers.takeSpace().value_or(Space::Generic);
  access.nonCoherent = decoder.modifiers.take("nc");
  dropCacheHints(decoder.modifiers);
  int vector = decoder.modifiers.takeAny({"v2", "v4", "v8"});
  access.count = vector < 0 ? 1 : uint8_t(2 << vector);
  Type type = decoder.type();
  access.isSigned = type.isSigned();
  access.elementBytes = uint8_t(type.bytes());
  if (type.isPredicate() || access.bytes() > 16)
    decoder.unsupported();
  decoder.expectOperands(2);
  const Operand &value = decoder.operand(access.write ? 1 : 0);
  decoder.address(decoder.operand(access.write ? 0 : 1), access);
  if ((vector >= 0) != (value.kind == Operand::Vector) ||
      (vector >= 0 && value.elements.size() != access.count))
    decoder.malformed("the vector's size does not fit");
  unsigned registerBytes = 0;
  for (unsigned i = 0; i < access.count; ++i) {
    const Operand &element = vector >= 0 ? value.elements[i] : value;
    Place place =
        access.write ? decoder.wideSource(element, type) : decoder.wideResult(element, type);
    if (place.bytes < type.bytes() || (registerBytes && place.slot && place.bytes != registerBytes))
      decoder.malformed("the registers do not fit the type");
    registerBytes = place.slot || access.count == 1 ? place.bytes : registerBytes;
    access.elements[i] = place;
  }
  decoder.in.counted = classOf(access);
  decoder.in.target = decoder.addAccess(access);
  decoder.in.handler = access.write ? forElement<Store>(decoder, type, registerBytes)
                                    : forElement<Load>(decoder, type, registerBytes);
  return true;
}

// cp.async: copies happen when they are waited for, so that reading before finds the old bytes.

/// accesses[target] writes shared memory, accesses[target + 1] reads global memory; b is the number
/// of bytes to read, of which `immediate` are copied and the rest is zero.
void issueCopy(Warp &warp, const Instruction &in, uint32_t mask) {
  const Program &program = warp.block->launch.program;
  const Access &to = program.accesses[in.target], &from = program.accesses[in.target + 1];
  Addresses toAddresses = addressesOf(warp, to), fromAddresses = addressesOf(warp, from);
  countAccess(warp, to, mask, toAddresses);
  countAccess(warp, from, mask, fromAddresses);
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    uint32_t read = std::min<uint32_t>(warp.at<uint32_t>(in.b)[lane], in.immediate);
    warp.copies[lane].push_back(
        {false, warp.pc, fromAddresses.of[lane], toAddresses.of[lane], in.immediate, read});
  }
}

void perform(Warp &warp, unsigned lane, const PendingCopy &copy) {
  const Program &program = warp.block->launch.program;
  uint32_t pc = warp.pc;
  warp.pc = copy.pc; // errors are the copy's
  const uint32_t target = program.code[copy.pc].target;
  Access to = program.accesses[target], from = program.accesses[target + 1];
  for (uint64_t address : {copy.from, copy.to})
    if (address % copy.bytes)
      throw Fault{ErrorKind::Misaligned, lane,
                  "an address is no multiple of the " + std::to_string(copy.bytes) +
                      " bytes that it copies"};
  unsigned step = copy.read == copy.bytes ? copy.bytes : copy.read % 4 ? 1 : 4;
  to.elementBytes = from.elementBytes = uint8_t(step);
  to.count = from.count = 1;
  for (uint32_t at = 0; at < copy.bytes; at += step) {
    std::byte bytes[16] = {};
    if (at < copy.read)
      std::memcpy(bytes, touch(warp, from, target + 1, lane, copy.from + at), step);
    std::memcpy(touch(warp, to, target, lane, copy.to + at), bytes, step);
  }
  warp.pc = pc;
}

void commitCopies(Warp &warp, const Instruction &, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    PendingCopy end;
    end.endOfGroup = true;
    warp.copies[unsigned(std::countr_zero(mask))].push_back(end);
  }
}

/// Performs all groups but the last `target`; with `immediate`, also what is in no group.
void waitForCopies(Warp &warp, const Instruction &in, uint32_t mask) {
  for (; mask; mask &= mask - 1) {
    unsigned lane = unsigned(std::countr_zero(mask));
    auto &copies = warp.copies[lane];
    size_t groups = size_t(std::ranges::count_if(copies, &PendingCopy::endOfGroup));
    size_t due = groups > in.target ? groups - in.target : 0, done = 0;
    for (size_t passed = 0; done < copies.size() && (in.immediate || passed < due); ++done) {
      if (copies[done].endOfGroup)
        ++passed;
      else
        perform(warp, lane, copies[done]);
    }
    copies.erase(copies.begin(), copies.begin() + long(done));
  }
}

bool decodeCopy(Decoder &decoder) {
  Instruction &in = decoder.in;
  in.counted = InstructionClass::Load;
  if (!decoder.modifiers.take("async"))
    return false;
  if (decoder.modifiers.take("commit_group")) {
    decoder.expectOperands(0);
    in.handler = commitCopies;
    return true;
  }
  bool all = decoder.modifiers.take("wait_all");
  if (all || decoder.modifiers.take("wait_group")) {
    decoder.expectOperands(all ? 0 : 1);
    if (!all && decoder.operand(0).kind != Operand::Integer)
      decoder.malformed("a literal is expected");
    in.target = all ? 0 : uint32_t(decoder.operand(0).value);
    in.immediate = all;
    in.handler = waitForCopies;
    return true;
  }
  dropCacheHints(decoder.modifiers);
  if (!(decoder.modifiers.take("shared") || decoder.modifiers.take("shared::cta")) ||
      !decoder.modifiers.take("global"))
    decoder.unsupported();
  decoder.expectOperands(3, 4);
  const Operand &size = decoder.operand(2);
  if (size.kind != Operand::Integer || (size.value != 4 && size.value != 8 && size.value != 16))
    decoder.malformed("4, 8 or 16 bytes can be copied");
  Access to, from;
  to.space = Space::Shared;
  to.write = true;
  from.space = Space::Global;
  to.elementBytes = from.elementBytes = in.immediate = uint8_t(size.value);
  decoder.address(decoder.operand(0), to);
  decoder.address(decoder.operand(1), from);
  const Type u32{TypeKind::Unsigned, 32};
  in.b = decoder.numOperands() == 4 ? decoder.source(3, u32)
                                    : decoder.constant(uint64_t(size.value), 4);
  in.target = decoder.addAccess(to);
  decoder.addAccess(from);
  in.handler = issueCopy;
  return true;
}

void nothing(Warp &, const Instruction &, uint32_t) {}

} // namespace

bool decodeMemory(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  if (opcode == "ld" || opcode == "ldu" || opcode == "st")
    return decodeLoadStore(decoder);
  if (opcode == "cp")
    return decodeCopy(decoder);
  if (opcode == "prefetch" || opcode == "prefetchu") {
    decoder.modifiers.takeSpace();
    decoder.modifiers.takeAny({"L1", "L2"});
    decoder.in.counted = InstructionClass::Load;
    decoder.in.handler = nothing;
    return true;
  }
  return false;
}

} // namespace accc::ptx
