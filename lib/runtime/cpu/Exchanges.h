// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The collectives of an entry point on a CPU: they run beside the steps that do not need them.
#ifndef ACCC_RUNTIME_CPU_EXCHANGES_H
#define ACCC_RUNTIME_CPU_EXCHANGES_H

#include "accc/abi.h"
#include "core/GroupThread.h"

#include <span>
#include <vector>

namespace accc::detail {

class Exchanges {
public:
  /// `others` is null where the process trains alone: what is received is what was sent.
  Exchanges(const accc_entry &entry, GroupThread *others);

  /// At the start of a run: fails it where the others are about to exchange something else, or to
  /// update by another learning rate. All processes refuse such a run alike, and may do another.
  void begin(double learningRate);
  /// Waits until nothing is under way that this step has to wait for. Throws what went wrong in it.
  void waitBefore(const accc_step &step);
  /// Starts a collective on the addresses of the step's buffers.
  void start(const accc_step &step, char *const *buffers);
  /// Waits until nothing is under way.
  void finish();
  /// Whether all processes could go on. All ask at the same time.
  bool agree(bool couldGoOn);

private:
  struct Piece {
    char *from, *to;
    uint64_t bytes;
  };
  /// Throws what went wrong until then.
  void waitFor(uint64_t number);
  void exchange(const accc_collective &collective, const Piece &piece);
  void exchange(const accc_collective &collective, std::span<const Piece> pieces);

  const accc_entry &entry;
  GroupThread *others;
  std::vector<std::vector<size_t>> waitsFor; // stepsBesideCollectives
  std::vector<uint64_t> numbers;             // by step: of what was started last, 0: nothing
  uint64_t last = 0;
  uint64_t fingerprint; // of the entry
  /// Of this run. Only work in the thread's order reads it, and who has waited for such.
  std::exception_ptr refusal;
  std::vector<char> message; // several tensors
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_EXCHANGES_H
