// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions in which the lanes of a warp exchange values. The loop has seen to it that all lanes
// of the mask (Instruction::d) are here, but for those that have exited.
#include "reference/ptx/Lanes.h"

#include <algorithm>

namespace accc::ptx {

namespace {

constexpr Type u32{TypeKind::Unsigned, 32};
constexpr Type b32{TypeKind::Bits, 32};
constexpr Type predicateType{TypeKind::Predicate, 1};

void setLane(Warp &warp, uint32_t slot, unsigned lane, bool value) {
  uint32_t &result = warp.predicate(slot);
  result = (result & ~(1u << lane)) | uint32_t(value) << lane;
}

enum Shuffle { Up, Down, Butterfly, Index };

/// result|target = a of the lane that mode, b and c name.
void shuffle(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *a = warp.at<uint32_t>(in.a), *b = warp.at<uint32_t>(in.b),
                 *c = warp.at<uint32_t>(in.c);
  const uint32_t *members = warp.at<uint32_t>(in.d);
  uint32_t result[warpSize];
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    int own = int(lane), by = int(b[lane] & 31), clamp = int(c[lane] & 31),
        segment = int(c[lane] >> 8 & 31);
    int most = (own & segment) | (clamp & ~segment), least = own & segment, from = own;
    bool inRange = true;
    switch (Shuffle(in.immediate)) {
    case Up:
      from = own - by;
      inRange = from >= most;
      break;
    case Down:
      from = own + by;
      inRange = from <= most;
      break;
    case Butterfly:
      from = own ^ by;
      inRange = from <= most;
      break;
    case Index:
      from = least | (by & ~segment);
      inRange = from <= most;
      break;
    }
    if (!inRange)
      from = own;
    if (!(members[lane] >> from & 1))
      throw Fault{ErrorKind::Divergence, lane,
                  "it takes the value of lane " + std::to_string(from) +
                      ", which the mask does not name"};
    if (!(mask >> from & 1))
      throw Fault{ErrorKind::Divergence, lane,
                  "it takes the value of lane " + std::to_string(from) +
                      ", which does not exist or has exited"};
    result[lane] = a[from];
    if (in.target)
      setLane(warp, in.target, lane, inRange);
  }
  forActiveLanes(warp.at<uint32_t>(in.result), mask, [&](unsigned lane) { return result[lane]; });
}

enum Vote { All, Any, Uniform, Ballot };

void vote(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t holds = warp.predicate(in.a);
  holds = (in.b ? ~holds : holds) & mask;
  if (Vote(in.immediate) == Ballot)
    return forActiveLanes(warp.at<uint32_t>(in.result), mask, [=](unsigned) { return holds; });
  bool all = holds == mask, any = holds != 0;
  bool value = Vote(in.immediate) == All ? all : Vote(in.immediate) == Any ? any : all || !any;
  uint32_t &result = warp.predicate(in.result);
  result = value ? result | mask : result & ~mask;
}

template <class T, bool all> void match(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a);
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) {
    unsigned lane = unsigned(std::countr_zero(lanes));
    uint32_t same = 0;
    for (uint32_t others = mask; others; others &= others - 1)
      if (unsigned other = unsigned(std::countr_zero(others)); a[other] == a[lane])
        same |= 1u << other;
    bool together = same == mask;
    warp.at<uint32_t>(in.result)[lane] = !all || together ? same : 0;
    if (all && in.target)
      setLane(warp, in.target, lane, together);
  }
}

enum Reduction { Add, Min, Max, And, Or, Xor };

template <class T> void reduce(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.at<T>(in.a);
  T value = a[std::countr_zero(mask)];
  for (uint32_t lanes = mask & (mask - 1); lanes; lanes &= lanes - 1) {
    T other = a[std::countr_zero(lanes)];
    switch (Reduction(in.immediate)) {
    case Add:
      value = T(uint32_t(value) + uint32_t(other));
      break;
    case Min:
      value = std::min(value, other);
      break;
    case Max:
      value = std::max(value, other);
      break;
    case And:
      value &= other;
      break;
    case Or:
      value |= other;
      break;
    case Xor:
      value ^= other;
      break;
    }
  }
  forActiveLanes(warp.at<T>(in.result), mask, [=](unsigned) { return value; });
}

/// `result` or `result|predicate`; the predicate's slot goes to Instruction::target.
void decodeResults(Decoder &decoder) {
  const Operand &to = decoder.operand(0);
  if (to.kind == Operand::Pair) {
    decoder.in.result = decoder.result(to.elements[0], b32);
    decoder.in.target = decoder.result(to.elements[1], predicateType);
  } else {
    decoder.in.result = decoder.result(to, b32);
  }
}

void syncOn(Decoder &decoder, size_t operand) {
  if (!decoder.modifiers.take("sync"))
    decoder.unsupported("without '.sync', which no device of sm_70 and later has");
  decoder.in.d = decoder.source(operand, b32);
  decoder.in.flow = Flow::WarpSync;
}

bool decodeShuffle(Decoder &decoder) {
  int mode = decoder.modifiers.takeAny({"up", "down", "bfly", "idx"});
  if (mode < 0)
    decoder.unsupported();
  decoder.type();
  decoder.expectOperands(5);
  syncOn(decoder, 4);
  decoder.in.a = decoder.source(1, b32);
  decoder.in.b = decoder.source(2, b32);
  decoder.in.c = decoder.source(3, b32);
  decoder.in.immediate = uint8_t(mode);
  decodeResults(decoder);
  decoder.in.handler = shuffle;
  return true;
}

bool decodeVote(Decoder &decoder) {
  int mode = decoder.modifiers.takeAny({"all", "any", "uni", "ballot"});
  if (mode < 0)
    decoder.unsupported();
  Type type = decoder.type();
  decoder.expectOperands(3);
  syncOn(decoder, 2);
  const Operand &predicate = decoder.operand(1);
  if (predicate.kind == Operand::Integer)
    decoder.in.a = decoder.constant(predicate.value ? ~uint64_t(0) : 0, 4);
  else
    decoder.in.a = decoder.predicate(predicate);
  decoder.in.b = predicate.negated;
  decoder.in.immediate = uint8_t(mode);
  decoder.in.result = decoder.result(0, type);
  decoder.in.handler = vote;
  return true;
}

bool decodeMatch(Decoder &decoder) {
  bool all = decoder.modifiers.takeAny({"any", "all"}) == 1;
  Type type = decoder.type();
  decoder.expectOperands(3);
  syncOn(decoder, 2);
  decoder.in.a = decoder.source(1, type);
  decodeResults(decoder);
  if (type.bits == 64)
    decoder.in.handler = all ? match<uint64_t, true> : match<uint64_t, false>;
  else
    decoder.in.handler = all ? match<uint32_t, true> : match<uint32_t, false>;
  return true;
}

bool decodeReduce(Decoder &decoder) {
  int op = decoder.modifiers.takeAny({"add", "min", "max", "and", "or", "xor"});
  Type type = decoder.type();
  if (op < 0 || type.bits != 32 || !type.isInteger())
    decoder.unsupported();
  decoder.expectOperands(3);
  syncOn(decoder, 2);
  decoder.in.a = decoder.source(1, type);
  decoder.in.result = decoder.result(0, type);
  decoder.in.immediate = uint8_t(op);
  decoder.in.handler = type.isSigned() ? reduce<int32_t> : reduce<uint32_t>;
  return true;
}

void activeMask(Warp &warp, const Instruction &in, uint32_t mask) {
  forActiveLanes(warp.at<uint32_t>(in.result), mask, [=](unsigned) { return mask; });
}

/// elect.sync: the least lane of the mask is the leader.
void elect(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t leader = uint32_t(std::countr_zero(mask));
  for (uint32_t lanes = mask; lanes; lanes &= lanes - 1)
    setLane(warp, in.target, unsigned(std::countr_zero(lanes)),
            uint32_t(std::countr_zero(lanes)) == leader);
  forActiveLanes(warp.at<uint32_t>(in.result), mask, [=](unsigned) { return leader; });
}

bool decodeElect(Decoder &decoder) {
  decoder.expectOperands(2);
  if (decoder.operand(0).kind != Operand::Pair)
    decoder.malformed("two results are expected");
  syncOn(decoder, 1);
  decodeResults(decoder);
  decoder.in.handler = elect;
  return true;
}

} // namespace

bool decodeWarp(Decoder &decoder) {
  static constexpr struct {
    std::string_view opcode;
    bool (*decode)(Decoder &);
  } rows[] = {{"shfl", decodeShuffle},
              {"vote", decodeVote},
              {"match", decodeMatch},
              {"redux", decodeReduce},
              {"elect", decodeElect}};
  decoder.in.counted = InstructionClass::Warp;
  auto *row = std::ranges::find(rows, decoder.opcode(), [](const auto &r) { return r.opcode; });
  if (row != std::end(rows))
    return row->decode(decoder);
  if (decoder.opcode() == "activemask") {
    decoder.type();
    decoder.expectOperands(1);
    decoder.in.result = decoder.result(0, u32);
    decoder.in.handler = activeMask;
    return true;
  }
  decoder.in.counted = InstructionClass::Integer;
  return false;
}

} // namespace accc::ptx
