// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Exchanges.h"

#include "accc/error.h"
#include "accc/model.h"
#include "core/Agreement.h"
#include "core/GroupMath.h"
#include "core/StepOrder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace accc::detail {

/// So many bytes of tensors travel as one message: to start another would take longer than to copy
/// them.
static constexpr uint64_t mostTogether = uint64_t(1) << 20;

Exchanges::Exchanges(const accc_entry &entry, GroupThread *others)
    : entry(entry), others(entry.num_collectives ? others : nullptr),
      numbers(static_cast<size_t>(entry.num_steps)), fingerprint(fingerprintOf(entry)) {
  if (this->others)
    waitsFor = stepsBesideCollectives(entry);
}

void Exchanges::begin(double learningRate) {
  if (!others)
    return;
  others->start([this, learningRate] {
    refusal = nullptr;
    try {
      requireSameForAll(others->group, entry, fingerprint, learningRate);
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::usage)
        throw;
      refusal = std::current_exception();
    }
  });
}

void Exchanges::waitFor(uint64_t number) {
  others->waitFor(number);
  if (refusal)
    std::rethrow_exception(refusal);
}

void Exchanges::waitBefore(const accc_step &step) {
  if (!others)
    return;
  uint64_t number = 0;
  for (size_t before : waitsFor[static_cast<size_t>(&step - entry.steps)])
    number = std::max(number, numbers[before]);
  // Those of collectives come after each other by themselves.
  if (number != 0 && step.kind != ACCC_STEP_COLLECTIVE)
    waitFor(number);
}

void Exchanges::exchange(const accc_collective &collective, const Piece &piece) {
  if (collective.kind == ACCC_BROADCAST) {
    if (piece.to != piece.from)
      std::memcpy(piece.to, piece.from, piece.bytes);
    return others->group.broadcast(piece.to, piece.bytes);
  }
  const auto type = static_cast<DType>(collective.dtype);
  const size_t count = piece.bytes / size_of(type);
  if (collective.kind == ACCC_ALL_REDUCE)
    scale(piece.to, piece.from, count, type, 1.0 / others->group.size());
  else if (piece.to != piece.from)
    std::memcpy(piece.to, piece.from, piece.bytes);
  others->group.sum(piece.to, count, type);
}

void Exchanges::exchange(const accc_collective &collective, std::span<const Piece> pieces) {
  while (!pieces.empty()) {
    size_t count = 1;
    uint64_t bytes = pieces[0].bytes;
    while (count < pieces.size() && bytes + pieces[count].bytes <= mostTogether)
      bytes += pieces[count++].bytes;
    if (count == 1) {
      exchange(collective, pieces[0]);
    } else {
      message.resize(std::max<size_t>(message.size(), bytes));
      char *at = message.data();
      for (const Piece &piece : pieces.first(count))
        at = std::copy_n(piece.from, piece.bytes, at);
      exchange(collective, {message.data(), message.data(), bytes});
      at = message.data();
      for (const Piece &piece : pieces.first(count)) {
        std::memcpy(piece.to, at, piece.bytes);
        at += piece.bytes;
      }
    }
    pieces = pieces.subspan(count);
  }
}

void Exchanges::start(const accc_step &step, char *const *buffers) {
  const int32_t count = step.num_buffers / 2;
  std::vector<Piece> pieces;
  for (int32_t i = 0; i < count; ++i)
    if (uint64_t bytes = entry.buffers[step.first_buffer + i].bytes)
      pieces.push_back({buffers[i], buffers[count + i], bytes});
  if (!others) {
    for (const Piece &piece : pieces)
      if (piece.to != piece.from)
        std::memcpy(piece.to, piece.from, piece.bytes);
    return;
  }
  const accc_collective &collective = entry.collectives[step.index];
  last = others->start([this, &collective, pieces = std::move(pieces)] {
    if (!refusal)
      exchange(collective, std::span(pieces));
  });
  numbers[static_cast<size_t>(&step - entry.steps)] = last;
}

void Exchanges::finish() {
  if (others && last)
    waitFor(last);
}

bool Exchanges::agree(bool couldGoOn) {
  if (!others)
    return couldGoOn;
  bool allGoOn = false;
  waitFor(others->start([&] { allGoOn = !refusal && isTrueForAll(others->group, couldGoOn); }));
  return allGoOn;
}

} // namespace accc::detail
