// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One small kernel for each sort of fault, and beside it the nearest one that is right.
#include "Device.h"

#include <catch2/catch.hpp>

using namespace accc::ptx;
using namespace accc::ptx::test;
using Catch::Matchers::Contains;

namespace {

/// Offsets of a thread: %rd1 its number times 4, %r1 the number in its block, %r2 the block's.
const std::string prologue = R"(
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
mov.u32 %r3, %ntid.x;
mad.lo.s32 %r4, %r2, %r3, %r1;
mul.wide.u32 %rd1, %r4, 4;
add.s64 %rd2, %a0, %rd1;
mov.u32 %r20, tile;
mad.lo.u32 %r5, %r1, 4, %r20;
)";
const std::string tile = ".shared .align 4 .b8 tile[256];\n";

/// Runs `body` on a buffer p0 of `words` numbers that are written and p1 of as many that are not.
LaunchResult runBody(const std::string &body, Dim3 grid, Dim3 block, unsigned words = 64,
                     const LaunchOptions &options = {}) {
  Device device(kernelText(2, prologue + body, tile));
  uint64_t written = device.upload(std::vector<uint32_t>(words, 7)),
           unwritten = device.allocate(words * 4);
  return device.launch(grid, block, {written, unwritten}, options);
}

void checkFault(const LaunchResult &result, ErrorKind kind, const std::string &message) {
  REQUIRE(result.error);
  INFO(result.error->message);
  CHECK(result.error->kind == kind);
  CHECK_THAT(result.error->message, Contains(message));
  CHECK_THAT(result.error->message,
             Contains("kernel 'test', PTX line " + std::to_string(result.error->line)));
}

void checkRight(const LaunchResult &result) {
  INFO((result.error ? result.error->message : ""));
  CHECK(!result.error);
}

} // namespace

TEST_CASE("accesses outside of allocations") {
  checkRight(runBody("ld.global.u32 %r10, [%rd2];", {1}, {64}));
  LaunchResult past = runBody("ld.global.u32 %r10, [%rd2+4];", {1}, {64});
  checkFault(past, ErrorKind::OutOfBounds, "0 bytes past the end of an allocation of 256 bytes");
  CHECK(past.error->thread == Dim3{63, 0, 0});
  CHECK(past.error->instruction == "ld.global.u32 %r10, [%rd2+4];");
  checkFault(runBody("st.global.u32 [%rd2+-4], %r1;", {1}, {64}), ErrorKind::OutOfBounds,
             "writes 4 bytes");
  checkFault(runBody("mov.u64 %rd5, 0; ld.global.u32 %r10, [%rd5];", {1}, {1}),
             ErrorKind::OutOfBounds, "near null");
  // A vector that begins inside.
  checkFault(runBody("ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%a0+240];", {1}, {1}, 63),
             ErrorKind::OutOfBounds, "reads 16 bytes");
  int onHost = 0;
  Device device(kernelText(1, "ld.global.u32 %r10, [%a0];"));
  checkFault(device.launch({1}, {1}, {reinterpret_cast<uint64_t>(&onHost)}), ErrorKind::OutOfBounds,
             "host memory");
  REQUIRE(!device.memory.registerHost(&onHost, sizeof onHost));
  checkRight(device.launch({1}, {1}, {reinterpret_cast<uint64_t>(&onHost)}));
  uint64_t freed = device.upload(std::vector<int>{1});
  REQUIRE(!device.memory.free(freed));
  checkFault(device.launch({1}, {1}, {freed}), ErrorKind::OutOfBounds, "reads 4 bytes");
}

TEST_CASE("accesses outside of shared variables, and between them") {
  const std::string two = ".shared .align 4 .b8 one[8];\n.shared .align 4 .b8 two[8];\n";
  auto run = [&](const std::string &body) {
    return Device(kernelText(0, body, two)).launch({1}, {1}, {});
  };
  checkRight(run("st.shared.u32 [one+4], 1; st.shared.u32 [two], 2;"));
  checkFault(run("st.shared.u32 [one+8], 1; st.shared.u32 [two], 2;"), ErrorKind::OutOfBounds,
             "shared variable");
  checkFault(run("st.shared.u32 [two+8], 1; st.shared.u32 [one], 2;"), ErrorKind::OutOfBounds,
             "shared variable");
  // Dynamic shared memory ends where the launch says.
  Device device(
      kernelText(0, "st.shared.u32 [rows+12], 1;", ".extern .shared .align 16 .b8 rows[];\n"));
  checkRight(device.launch({1}, {1}, {}, {}, "test", 16));
  checkFault(device.launch({1}, {1}, {}, {}, "test", 12), ErrorKind::OutOfBounds, "outside");
}

TEST_CASE("local memory: bounds and bytes never written") {
  auto run = [&](const std::string &body) {
    return Device(kernelText(0, ".local .align 8 .b8 spill[16];\n" + body)).launch({1}, {32}, {});
  };
  const std::string address = "mov.u64 %rd5, spill; cvta.local.u64 %rd6, %rd5;\n";
  checkRight(run("st.local.u32 [spill+12], 5; ld.local.u32 %r1, [spill+12];"));
  checkRight(run(address + "st.u32 [%rd6+8], 5; ld.local.u32 %r1, [spill+8];"));
  checkFault(run("ld.local.u32 %r1, [spill];"), ErrorKind::Uninitialized,
             "nobody has written byte 0");
  checkFault(run(address + "st.u32 [%rd6+16], 5;"), ErrorKind::OutOfBounds, "local variable");
}

TEST_CASE("misaligned accesses") {
  checkRight(runBody("ld.global.v2.u32 {%r10, %r11}, [%a0+8];", {1}, {1}));
  checkFault(runBody("ld.global.v2.u32 {%r10, %r11}, [%a0+4];", {1}, {1}), ErrorKind::Misaligned,
             "multiple of 8");
  checkFault(runBody("st.shared.u32 [%r5+2], %r1;", {1}, {32}), ErrorKind::Misaligned,
             "multiple of 4");
}

TEST_CASE("reads of bytes that nobody has written") {
  checkFault(runBody("ld.global.u32 %r10, [%a1];", {1}, {1}), ErrorKind::Uninitialized,
             "nobody has written byte 0");
  checkRight(runBody("st.global.u32 [%a1], 1; ld.global.u32 %r10, [%a1];", {1}, {1}));
  // Three bytes of four.
  checkFault(runBody("st.global.u16 [%a1], 1; st.global.u8 [%a1+2], 1; ld.global.u32 %r10, [%a1];",
                     {1}, {1}),
             ErrorKind::Uninitialized, "nobody has written byte 3");
  checkFault(runBody("ld.shared.u32 %r10, [%r5];", {1}, {32}), ErrorKind::Uninitialized,
             "shared address");
  LaunchOptions unchecked;
  unchecked.checkInitialized = false;
  checkRight(runBody("ld.global.u32 %r10, [%a1];", {1}, {1}, 64, unchecked));
  // Shared memory starts anew in each block.
  checkFault(
      runBody("setp.eq.u32 %p1, %r2, 0; @%p1 st.shared.u32 [%r5], 1; ld.shared.u32 %r10, [%r5];",
              {2}, {32}),
      ErrorKind::Uninitialized, "block (1, 0, 0)");
}

TEST_CASE("races in shared memory") {
  const std::string write = "st.shared.u32 [%r5], %r1;\n", barrier = "bar.sync 0;\n",
                    other = "xor.b32 %r6, %r5, 128;\n",
                    readOther = other + "ld.shared.u32 %r10, [%r6];\n";
  checkRight(runBody(write + barrier + readOther, {1}, {64}));
  checkFault(runBody(write + barrier + write + readOther, {1}, {64}), ErrorKind::Race,
             "nothing that orders the two");
  // Read, then written by another warp: the barrier between must be there as well.
  checkRight(runBody(write + barrier + readOther + barrier + write, {1}, {64}));
  checkFault(runBody(write + barrier + readOther + write, {1}, {64}), ErrorKind::Race,
             "of the same block");
  // Two writers, be it of the same value.
  checkFault(runBody("st.shared.u32 [tile], 1;", {1}, {64}), ErrorKind::Race, "wrote");
  checkFault(runBody("st.shared.u32 [tile], 1;", {1}, {2}), ErrorKind::Race, "thread (1, 0, 0)");
  checkRight(runBody("setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [tile], 1;", {1}, {64}));
  // Neighbours in a word do not touch each other.
  checkRight(runBody("mov.u16 %rs1, 1; st.shared.u8 [%r1], %rs1;", {1}, {64}));
  // Atomic operations order themselves, but not what reads beside them.
  const std::string zero = "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [tile], 0;\n",
                    count = "red.shared.add.u32 [tile], 1;\n",
                    read = "ld.shared.u32 %r10, [tile];\n";
  checkRight(runBody(zero + barrier + count + barrier + read, {1}, {64}));
  checkFault(runBody(zero + barrier + count + read, {1}, {64}), ErrorKind::Race, "updated");
  checkFault(runBody(zero + count + barrier + read, {1}, {64}), ErrorKind::Race, "wrote");
}

TEST_CASE("races inside a warp") {
  const std::string exchange = "st.shared.u32 [%r5], %r1;\nxor.b32 %r6, %r5, 4;\n",
                    read = "ld.shared.u32 %r10, [%r6];\n", sync = "bar.warp.sync 0xffffffff;\n";
  checkRight(runBody(exchange + sync + read, {1}, {64}));
  checkFault(runBody(exchange + read, {1}, {64}), ErrorKind::Race, "thread 1 of the same block");
  // What one warp has synchronized, another has not.
  checkFault(
      runBody(exchange + "bar.sync 0;\n" + exchange + sync + "xor.b32 %r6, %r5, 128;\n" + read, {1},
              {64}),
      ErrorKind::Race, "of the same block");
  // All lanes read one word; then one writes it.
  const std::string first = "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 1;\n",
                    all = "ld.shared.u32 %r10, [tile];\n";
  checkRight(runBody(first + sync + all + sync + first, {1}, {32}));
  checkFault(runBody(first + sync + all + first, {1}, {32}), ErrorKind::Race, "and others");
}

TEST_CASE("races of a thread that read the word as others did") {
  const std::string first =
                        "setp.eq.u32 %p1, %r1, 0;\n@%p1 st.shared.u32 [tile], 1;\nbar.sync 0;\n",
                    all = "ld.shared.u32 %r10, [tile];\n", sync = "bar.warp.sync 0xffffffff;\n";
  auto writes = [](unsigned thread) {
    return "setp.eq.u32 %p2, %r1, " + std::to_string(thread) + ";\n@%p2 st.shared.u32 [tile], 2;\n";
  };
  // The last reader writes: other lanes of its warp, and other warps, have read as well.
  checkRight(runBody(first + all + sync + writes(31), {1}, {32}));
  checkFault(runBody(first + all + writes(31), {1}, {32}), ErrorKind::Race, "and others");
  checkRight(runBody(first + all + "bar.sync 0;\n" + writes(31), {1}, {64}));
  checkFault(runBody(first + all + sync + writes(31), {1}, {64}), ErrorKind::Race, "and others");
}

TEST_CASE("races in global memory") {
  const std::string index = "add.s64 %rd3, %a1, %rd1;\n";
  checkRight(runBody(index + "st.global.u32 [%rd3], %r1;", {2}, {32}));
  checkFault(runBody("st.global.u32 [%a1], 1;", {2}, {1}), ErrorKind::Race,
             "thread 0 of block 0 wrote");
  // A barrier orders a block's threads, and those of other blocks not.
  const std::string shift = "st.global.u32 [%rd2], %r1;\nbar.sync 0;\n";
  checkRight(runBody(
      shift + "mul.wide.u32 %rd4, %r1, 4; add.s64 %rd4, %rd4, %a0; ld.global.u32 %r10, [%a0];", {1},
      {32}));
  checkFault(runBody(shift + "ld.global.u32 %r10, [%a0];", {2}, {32}), ErrorKind::Race,
             "block (1, 0, 0)");
  // The reader may come first.
  checkFault(runBody("ld.global.u32 %r10, [%a0+128];\nst.global.u32 [%rd2], %r1;", {2}, {32}),
             ErrorKind::Race, "read");
  checkRight(runBody("red.global.add.u32 [%a0], 1;", {4}, {64}));
  checkFault(runBody("setp.eq.u32 %p1, %r2, 3; @%p1 ld.global.u32 %r10, [%a0]; @!%p1 "
                     "red.global.add.u32 [%a0], 1;",
                     {4}, {1}),
             ErrorKind::Race, "updated");
  // A byte of a word.
  const std::string store = "setp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.u32 [%a1], 1;\n";
  checkFault(runBody(store + "@!%p1 ld.global.u8 %rs1, [%a1+2];", {2}, {1}), ErrorKind::Race,
             "wrote");
  checkRight(runBody(store + "@!%p1 ld.global.u8 %rs1, [%a0+2];", {2}, {1}));
  // Many blocks read, one writes.
  checkFault(
      runBody("ld.global.u32 %r10, [%a0]; setp.eq.u32 %p1, %r2, 3; @%p1 st.global.u32 [%a0], 1;",
              {4}, {1}),
      ErrorKind::Race, "read");
  LaunchOptions unchecked;
  unchecked.checkRaces = false;
  checkRight(runBody("st.global.u32 [%a1], 1;", {2}, {1}, 64, unchecked));
  // The next launch starts anew.
  Device device(kernelText(1, "st.global.u32 [%a0], 1;"));
  uint64_t word = device.allocate(4);
  device.run({1}, {1}, {word});
  device.run({1}, {1}, {word});
}

TEST_CASE("the last block sees what others released") {
  // Each block writes its part and takes a ticket; the last one reads all parts.
  auto body = [](const std::string &release, const std::string &acquire) {
    return "mul.wide.u32 %rd4, %r2, 4;\nadd.s64 %rd5, %a1, %rd4;\nst.global.u32 [%rd5], %r2;\n" +
           release + "atom.global.add.u32 %r10, [%a0], 1;\n" + acquire +
           "setp.ne.u32 %p1, %r10, 10;\n@%p1 ret;\nld.global.u32 %r11, [%a1];\nld.global.u32 %r12, "
           "[%a1+4];\n";
  };
  const std::string fence = "membar.gl;\n"; // the tickets start at 7
  checkRight(runBody(body(fence, fence), {4}, {1}));
  checkFault(runBody(body("", fence), {4}, {1}), ErrorKind::Race, "of block 0 wrote");
  checkFault(runBody(body(fence, ""), {4}, {1}), ErrorKind::Race, "of block 0 wrote");
  std::string ordered = body("", "");
  ordered.replace(ordered.find("atom.global"), 11, "atom.acq_rel.gpu.global");
  checkRight(runBody(ordered, {4}, {1}));
}

TEST_CASE("ld.global.nc of what the launch writes") {
  checkRight(
      runBody("ld.global.nc.u32 %r10, [%rd2]; add.s64 %rd3, %a1, %rd1; st.global.u32 [%rd3], %r10;",
              {2}, {32}));
  // Even its own thread's writes.
  checkFault(runBody("st.global.u32 [%rd2], 1; ld.global.nc.u32 %r10, [%rd2];", {1}, {1}),
             ErrorKind::ReadOnly, "ld.global.nc");
  checkFault(runBody("ld.global.nc.u32 %r10, [%rd2]; st.global.u32 [%rd2], 1;", {1}, {1}),
             ErrorKind::ReadOnly, "ld.global.nc");
  checkFault(runBody("ld.global.nc.u32 %r10, [%a0]; bar.sync 0; setp.eq.u32 %p1, %r1, 5; @%p1 "
                     "st.global.u32 [%a0], 1;",
                     {1}, {32}),
             ErrorKind::ReadOnly, "ld.global.nc");
}

TEST_CASE("writes to constants") {
  Device device(kernelText(0,
                           "mov.u64 %rd1, table; cvta.const.u64 %rd2, %rd1; ld.const.u32 %r1, "
                           "[table]; st.u32 [%rd2], 1;",
                           ".const .align 4 .u32 table = 3;\n"));
  checkFault(device.launch({1}, {1}, {}), ErrorKind::ReadOnly, "the constant 'table'");
}

TEST_CASE("barriers that some threads of a warp do not reach") {
  const std::string half = "setp.lt.u32 %p1, %r1, 16;\n";
  checkRight(runBody("bar.sync 0;", {1}, {64}));
  checkFault(runBody(half + "@%p1 bar.sync 0;", {1}, {64}), ErrorKind::Divergence, "guard");
  checkFault(runBody(half + "@%p1 bra A;\nbar.sync 0;\nbra B;\nA: bar.sync 0;\nB:", {1}, {64}),
             ErrorKind::Divergence, "lanes of the warp never reach it together");
  // barrier.sync may be reached in several places.
  checkRight(
      runBody(half + "@%p1 bra A;\nbarrier.sync 0;\nbra B;\nA: barrier.sync 0;\nB:", {1}, {64}));
  // Threads that have exited count as arrived.
  checkRight(runBody(half + "@%p1 ret;\nbar.sync 0;", {1}, {64}));
  checkRight(runBody("setp.lt.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 0;\nbar.sync 0;", {1}, {64}));
  // Warps at different barriers wait for ever.
  checkFault(
      runBody("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nbra B;\nA: bar.sync 2;\nB:",
              {1}, {64}),
      ErrorKind::Deadlock, "another barrier");
  checkRight(runBody(
      "setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1, 32;\nbra B;\nA: bar.sync 2, 32;\nB:",
      {1}, {64}));
  checkFault(runBody("bar.sync 1, 96;", {1}, {64}), ErrorKind::Deadlock, "more threads than come");
}

TEST_CASE("shuffles whose mask names lanes that do not take part") {
  const std::string half = "setp.lt.u32 %p1, %r1, 16;\n",
                    all = "shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;\n";
  checkRight(runBody(all, {1}, {32}));
  checkFault(runBody(half + "@!%p1 bra A;\n" + all + "A: bar.sync 0;", {1}, {32}),
             ErrorKind::Divergence, "waits for lane 16 at line");
  checkRight(
      runBody(half + "@!%p1 bra A;\nshfl.sync.bfly.b32 %r10, %r1, 1, 31, 0xffff;\nA:", {1}, {32}));
  checkFault(runBody(half + "@%p1 " + all, {1}, {32}), ErrorKind::Divergence, "guard");
  checkFault(runBody("shfl.sync.bfly.b32 %r10, %r1, 1, 31, 0xffff;", {1}, {32}),
             ErrorKind::Divergence, "lane 16");
  // Both sides of a branch, at different places.
  checkFault(runBody(half + "@%p1 bra A;\n" + all + "bra B;\nA: " + all + "B:", {1}, {32}),
             ErrorKind::Divergence, "never reach it together");
  // Lanes that have exited, be it later, are waited for no longer, but have no value.
  checkRight(runBody(
      "setp.ge.u32 %p1, %r1, 24;\n@%p1 ret;\nshfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;", {1}, {32}));
  checkFault(
      runBody("setp.ge.u32 %p1, %r1, 24;\n@%p1 ret;\nshfl.sync.bfly.b32 %r10, %r1, 8, 31, -1;", {1},
              {32}),
      ErrorKind::Divergence, "has exited");
  // A block that is no multiple of the warp.
  checkRight(runBody("shfl.sync.down.b32 %r10|%p2, %r1, 1, 31, -1;", {1}, {32}));
  checkFault(runBody("shfl.sync.down.b32 %r10|%p2, %r1, 1, 31, -1;", {1}, {40}),
             ErrorKind::Divergence, "does not exist");
}

TEST_CASE("endless loops and traps") {
  LaunchOptions options;
  options.stepLimit = 1000;
  checkFault(runBody("A: bra A;", {1}, {32}, 64, options), ErrorKind::StepLimit,
             "more than 1000 instructions");
  checkFault(runBody("setp.eq.u32 %p1, %r1, 3; @%p1 trap;", {1}, {32}), ErrorKind::Trap,
             "thread (3, 0, 0)");
  checkRight(runBody("setp.eq.u32 %p1, %r1, 33; @%p1 trap;", {1}, {32}));
  // Waiting for another warp's store comes to an end.
  checkRight(
      runBody("setp.ge.u32 %p1, %r1, 32;\n@%p1 bra SET;\nW: ld.volatile.global.u32 %r10, [%a0];\n"
              "setp.eq.u32 %p2, %r10, 7;\n@%p2 bra W;\nbra E;\nSET: setp.eq.u32 %p3, %r1, 40;\n"
              "@%p3 st.volatile.global.u32 [%a0], 8;\nE:",
              {1}, {64}));
}

TEST_CASE("an error names the op of the nearest comment") {
  LaunchResult result =
      runBody("// accc: blocks.3/attn/softmax\nst.global.u32 [%rd2+4], %r1;", {1}, {64});
  checkFault(result, ErrorKind::OutOfBounds, "of blocks.3/attn/softmax");
  CHECK(result.error->op == "blocks.3/attn/softmax");
}

TEST_CASE("a copy that is read before it has come") {
  const std::string copy = "add.u32 %r7, %r5, 0;\ncp.async.ca.shared.global [%r7], [%rd2], "
                           "4;\ncp.async.commit_group;\n",
                    wait = "cp.async.wait_group 0;\n", barrier = "bar.sync 0;\n",
                    read = "xor.b32 %r6, %r5, 4; ld.shared.u32 %r10, [%r6];\n";
  checkRight(runBody(copy + wait + barrier + read, {1}, {32}));
  checkFault(runBody(copy + barrier + read, {1}, {32}), ErrorKind::Uninitialized, "shared");
  checkFault(runBody(copy + barrier + wait + read, {1}, {32}), ErrorKind::Race, "wrote");
}

TEST_CASE("a wait for all groups of copies but the last") {
  const std::string copies =
                        "cp.async.ca.shared.global [%r5], [%rd2], 4;\ncp.async.commit_group;\n"
                        "cp.async.ca.shared.global [%r5+128], [%rd2], 4;\ncp.async.commit_group;\n",
                    one = "cp.async.wait_group 1;\n", none = "cp.async.wait_group 0;\n";
  checkRight(runBody(copies + one + "ld.shared.u32 %r10, [%r5];", {1}, {32}));
  checkFault(runBody(copies + one + "ld.shared.u32 %r10, [%r5+128];", {1}, {32}),
             ErrorKind::Uninitialized, "shared");
  checkRight(runBody(copies + none + "ld.shared.u32 %r10, [%r5+128];", {1}, {32}));
}

TEST_CASE("local variables of a function start anew in each call") {
  const std::string function =
      ".func f(.param .b32 x)\n{ .reg .b32 %r<3>; .reg .pred %p<2>; .local .align 4 .b8 own[4]; "
      "ld.param.u32 %r1, [x];\n"
      "setp.eq.u32 %p1, %r1, 0; @%p1 st.local.u32 [own], 1; ld.local.u32 %r2, [own]; ret; }\n";
  auto call = [](int value) {
    return "{ .param .b32 a; st.param.b32 [a], " + std::to_string(value) + "; call f, (a); }\n";
  };
  checkRight(Device(kernelText(0, call(0) + call(0), function)).launch({1}, {1}, {}));
  Device device(kernelText(0, call(0) + call(1), function));
  checkFault(device.launch({1}, {1}, {}), ErrorKind::Uninitialized, "local");
}

TEST_CASE("launches with arguments that do not fit") {
  Device device(kernelText(1, "mov.u32 %r1, 1;"));
  const Kernel &kernel = *device.module.kernel("test");
  std::vector<std::byte> parameters(8);
  auto kindOf = [&](Dim3 grid, Dim3 block, uint32_t shared, size_t bytes) {
    parameters.resize(bytes);
    LaunchResult result = launch(kernel, device.memory, grid, block, shared, parameters);
    return result.error ? result.error->message : "";
  };
  CHECK(kindOf({1}, {1}, 0, 8) == "");
  CHECK_THAT(kindOf({1}, {1}, 0, 4), Contains("4 bytes of parameters"));
  CHECK_THAT(kindOf({1}, {2048}, 0, 8), Contains("1 to 1024 threads"));
  CHECK_THAT(kindOf({0}, {1}, 0, 8), Contains("grid"));
  CHECK_THAT(kindOf({1}, {1}, 300000, 8), Contains("shared memory"));
}
