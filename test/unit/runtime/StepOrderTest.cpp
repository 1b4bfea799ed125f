// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/StepOrder.h"

#include <catch2/catch.hpp>

using namespace accc::detail;

namespace {

using Waits = std::vector<std::vector<size_t>>;

accc_buffer buffer(accc_access access, uint64_t offset, uint64_t bytes,
                   accc_space space = ACCC_ARENA) {
  return {.space = space, .access = access, .offset = offset, .bytes = bytes};
}
accc_buffer read(uint64_t offset, uint64_t bytes = 64) { return buffer(ACCC_READ, offset, bytes); }
accc_buffer write(uint64_t offset, uint64_t bytes = 64) {
  return buffer(ACCC_WRITE, offset, bytes);
}

/// An entry point that a test puts together.
struct Entry {
  std::vector<accc_step> steps;
  std::vector<accc_buffer> buffers;
  std::vector<int> scratch;

  void add(std::vector<accc_buffer> added, accc_step_kind kind = ACCC_STEP_LAUNCH, int block = -1) {
    if (kind == ACCC_STEP_LAUNCH)
      added.push_back(buffer(ACCC_READ_WRITE, 0, 8, ACCC_STATUS));
    steps.push_back({.kind = kind,
                     .tasks = 1,
                     .first_buffer = static_cast<int32_t>(buffers.size()),
                     .num_buffers = static_cast<int32_t>(added.size())});
    buffers.insert(buffers.end(), added.begin(), added.end());
    scratch.push_back(block);
  }
  accc_entry get() const {
    accc_entry entry{};
    entry.steps = steps.data();
    entry.num_steps = static_cast<int32_t>(steps.size());
    entry.buffers = buffers.data();
    entry.num_buffers = static_cast<int32_t>(buffers.size());
    return entry;
  }
  Waits waits() const { return stepsToWaitFor(get(), scratch); }
};

} // namespace

TEST_CASE("step order: a step waits for what wrote its operands") {
  Entry entry;
  entry.add({write(0)});
  entry.add({read(0), write(64)});  // two that read the same
  entry.add({read(0), write(128)}); // run side by side
  entry.add({read(64), read(128), write(192)});
  CHECK(entry.waits() == Waits{{}, {0}, {0}, {1, 2}});
}

TEST_CASE("step order: memory is written anew when all have read it") {
  Entry entry;
  entry.add({write(0, 256)});
  entry.add({read(0), write(256)});
  entry.add({read(32), write(320)});
  entry.add({write(48, 100)});
  entry.add({read(40, 4), write(384)});  // before it
  entry.add({read(148, 8), write(448)}); // behind it
  entry.add({read(100, 4), write(512)}); // in it
  entry.add({write(0, 256)});
  CHECK(entry.waits() == Waits{{}, {0}, {0}, {1, 2}, {0}, {0}, {3}, {4, 5, 6}});
}

TEST_CASE("step order: memory is written in the order of the steps") {
  Entry entry;
  entry.add({write(0)});
  entry.add({write(32)});
  entry.add({write(96, 32)});
  entry.add({buffer(ACCC_READ_WRITE, 0, 128)});
  CHECK(entry.waits() == Waits{{}, {0}, {}, {1, 2}});
}

TEST_CASE("step order: memories are apart") {
  Entry entry;
  entry.add({buffer(ACCC_WRITE, 0, 64, ACCC_OUTPUT)});
  entry.add({buffer(ACCC_WRITE, 1, 64, ACCC_OUTPUT)}); // number 1
  entry.add({write(0)});
  entry.add({buffer(ACCC_READ, 0, 64, ACCC_INPUT), write(64)});
  entry.add({buffer(ACCC_READ, 0, 64, ACCC_OUTPUT), write(128)});
  CHECK(entry.waits() == Waits{{}, {}, {}, {}, {0}});
}

TEST_CASE("step order: what is waited for already is left out") {
  Entry entry;
  entry.add({write(0)});
  entry.add({read(0), write(64)});
  entry.add({read(0), read(64), write(128)});
  CHECK(entry.waits() == Waits{{}, {0}, {1}});
}

TEST_CASE("step order: checks, custom calls and agreement part what is before and behind") {
  accc_step_kind kind = GENERATE(ACCC_STEP_CHECK, ACCC_STEP_CUSTOM_CALL, ACCC_STEP_AGREE);
  Entry entry;
  entry.add({write(0)});
  entry.add({write(64)});
  entry.add({}, kind);
  entry.add({write(128)});
  entry.add({read(0), write(192)});
  entry.add({}, kind);
  CHECK(entry.waits() == Waits{{}, {}, {0, 1}, {2}, {2}, {3, 4}});
}

TEST_CASE("step order: calls with the same scratch run one after the other") {
  Entry entry;
  for (int block : {0, 1, 0, -1, 1})
    entry.add({write(64 * entry.steps.size())}, ACCC_STEP_LIBRARY_CALL, block);
  CHECK(entry.waits() == Waits{{}, {}, {0}, {}, {1}});
}

TEST_CASE("step order: collectives wait for each other, and for what they send") {
  Entry entry;
  entry.add({write(0)});
  entry.add({read(0), write(64)}, ACCC_STEP_COLLECTIVE);
  entry.add({write(128)});
  entry.add({read(128), write(128)}, ACCC_STEP_COLLECTIVE); // in place
  entry.add({write(192)});
  entry.add({read(64), write(256)});
  entry.add({write(128)});
  CHECK(entry.waits() == Waits{{}, {0}, {}, {1, 2}, {}, {1}, {3}});
}

TEST_CASE("step order: collectives run beside steps that wait for each other") {
  Entry entry;
  entry.add({write(0)});
  entry.add({read(0), write(64)}, ACCC_STEP_COLLECTIVE);
  entry.add({write(128)});
  entry.add({read(128), write(192)}, ACCC_STEP_COLLECTIVE);
  entry.add({write(256)});
  entry.add({read(192), write(320)});
  entry.add({read(64), write(384)});
  entry.add({}, ACCC_STEP_AGREE);
  CHECK(stepsBesideCollectives(entry.get()) ==
        Waits{{}, {0}, {0}, {1, 2}, {2}, {3, 4}, {1, 5}, {6}});
}

TEST_CASE("step order: long entry points stay in order") {
  Entry entry;
  for (uint64_t i = 0; i < (1 << 14) + 1; ++i)
    entry.add({write(64 * i)});
  Waits waits = entry.waits();
  CHECK(waits.front().empty());
  CHECK(waits.back() == std::vector<size_t>{(1 << 14) - 1});
}
