// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, exchange between lanes; what cannot be parsed; what is counted.
#include "Device.h"

#include <catch2/catch.hpp>

using namespace accc::ptx;
using namespace accc::ptx::test;
using Catch::Matchers::Contains;
using u32 = uint32_t;

namespace {

/// Threads of one block, each of which stores %r9 after `body`; %r1 is the thread, %r2 its value of
/// `in`.
std::vector<u32> perThread(const std::string &body, u32 threads, const std::vector<u32> &in = {},
                           const std::string &declarations = {}) {
  Device device(kernelText(2,
                           "mov.u32 %r1, %tid.x; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd2, %a0, "
                           "%rd1; add.s64 %rd3, %a1, %rd1;\n"
                           "ld.global.u32 %r2, [%rd2];\n" +
                               body + "\nst.global.u32 [%rd3], %r9;",
                           declarations));
  std::vector<u32> values = in;
  for (u32 i = u32(values.size()); i < threads; ++i)
    values.push_back(i * i % 37);
  uint64_t out = device.allocate(threads * 4);
  device.run({1}, {threads}, {device.upload(values), out});
  return device.download<u32>(out, threads);
}

Error parseError(const std::string &text) {
  Error error;
  CHECK(!Module::parse(text, error));
  return error;
}

} // namespace

TEST_CASE("lanes that diverge come together again") {
  // Collatz steps: each lane leaves the loop at another time.
  std::vector<u32> results = perThread(
      "add.u32 %r3, %r1, 1; mov.u32 %r9, 0;\nL: setp.eq.u32 %p1, %r3, 1;\n@%p1 bra E;\n"
      "and.b32 %r4, %r3, 1; setp.eq.u32 %p2, %r4, 0; @%p2 bra H;\n"
      "mad.lo.u32 %r3, %r3, 3, 1; bra.uni N;\nH: shr.u32 %r3, %r3, 1;\nN: add.u32 %r9, %r9, 1;\n"
      "bra L;\nE: activemask.b32 %r5; setp.ne.u32 %p3, %r5, -1; @%p3 mov.u32 %r9, -1;",
      32);
  for (u32 i = 0; i < 32; ++i) {
    u32 steps = 0;
    for (u32 n = i + 1; n != 1; n = n & 1 ? 3 * n + 1 : n / 2)
      ++steps;
    CHECK(results[i] == steps);
  }
}

TEST_CASE("indexed branches") {
  std::vector<u32> results = perThread(
      "T: .branchtargets A, B, C;\nand.b32 %r3, %r1, 3; min.u32 %r3, %r3, 2; brx.idx %r3, T;\n"
      "A: mov.u32 %r9, 10; bra E;\nB: mov.u32 %r9, 20; bra E;\nC: mov.u32 %r9, 30;\nE:",
      40);
  for (u32 i = 0; i < 40; ++i)
    CHECK(results[i] == 10 * (1 + std::min(i & 3, 2u)));
}

TEST_CASE("calls: arguments and results are each lane's own") {
  const std::string functions = ".func (.param .b32 r) twice(.param .b32 x)\n{ .reg .b32 %r<3>; "
                                "ld.param.u32 %r1, [x]; add.u32 %r2, %r1, %r1;\n"
                                "st.param.b32 [r], %r2; ret; }\n"
                                ".func (.param .align 8 .b8 r[8]) pair(.param .b32 x)\n{ .reg .b32 "
                                "%r<4>; .reg .pred %p<2>; ld.param.u32 %r1, [x];\n"
                                "st.param.b32 [r], %r1; setp.gt.u32 %p1, %r1, 9; @%p1 bra O;\n{ "
                                ".param .b32 a; st.param.b32 [a], %r1; .param .b32 b;\n"
                                "call.uni (b), twice, (a); ld.param.b32 %r2, [b]; st.param.b32 "
                                "[r+4], %r2; }\nret;\nO: st.param.b32 [r+4], 0; ret; }\n";
  std::vector<u32> results = perThread(
      "{ .param .b32 a; .param .align 8 .b8 b[8]; st.param.b32 [a], %r1; call (b), pair, (a);\n"
      "ld.param.v2.b32 {%r3, %r4}, [b]; }\n"
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r4; call (b), twice, (a); ld.param.b32 "
      "%r5, [b]; }\n"
      "add.u32 %r9, %r3, %r5;",
      20, {}, functions);
  for (u32 i = 0; i < 20; ++i)
    CHECK(results[i] == i + (i > 9 ? 0 : 4 * i));
}

TEST_CASE("lanes that made a call and lanes that did not come together behind it") {
  // `inner` stands behind `outer`, so that its instructions have the greater counter.
  Device device(kernelText(
      0,
      "mov.u32 %r1, %tid.x; { .param .b32 a; st.param.b32 [a], %r1; call outer, (a); "
      "}\nex2.approx.f32 %f1, 0f3F800000;",
      ".func inner(.param .b32 x);\n"
      ".func outer(.param .b32 x)\n{ .reg .b32 %r<2>; .reg .pred %p<2>; ld.param.u32 %r1, [x]; "
      "setp.gt.u32 %p1, %r1, 9;\n"
      "@%p1 bra E; { .param .b32 a; st.param.b32 [a], %r1; call inner, (a); }\nE: ret; }\n"
      ".func inner(.param .b32 x)\n{ .reg .b32 %r<2>; ld.param.u32 %r1, [x]; add.u32 %r1, %r1, 1; "
      "ret; }\n"));
  CHECK(device.run({1}, {32}, {}).issued[unsigned(InstructionClass::Special)] == 1);
}

TEST_CASE("shuffles in every mode") {
  auto shuffled = [](const std::string &operands) {
    return perThread("add.u32 %r3, %r1, 100; shfl.sync." + operands +
                         ", -1; selp.u32 %r5, 1000, 0, %p1; add.u32 %r9, %r4, %r5;",
                     32);
  };
  std::vector<u32> up = shuffled("up.b32 %r4|%p1, %r3, 3, 0"),
                   down = shuffled("down.b32 %r4|%p1, %r3, 3, 31"),
                   butterfly = shuffled("bfly.b32 %r4|%p1, %r3, 5, 31"),
                   index = shuffled("idx.b32 %r4|%p1, %r3, 7, 31"),
                   parts = shuffled("down.b32 %r4|%p1, %r3, 2, 0x181f"),
                   eighths = shuffled("idx.b32 %r4|%p1, %r3, 6, 0x181f");
  for (u32 i = 0; i < 32; ++i) {
    CHECK(up[i] == (i >= 3 ? 1100 + i - 3 : 100 + i));
    CHECK(down[i] == (i + 3 < 32 ? 1100 + i + 3 : 100 + i));
    CHECK(butterfly[i] == 1100 + (i ^ 5));
    CHECK(index[i] == 1107);
    CHECK(parts[i] == (i % 8 + 2 < 8 ? 1100 + i + 2 : 100 + i)); // in segments of 8
    CHECK(eighths[i] == 1100 + i / 8 * 8 + 6);
  }
}

TEST_CASE("votes, matches and reductions of a warp") {
  std::vector<u32> in(32), expected(32);
  for (u32 i = 0; i < 32; ++i)
    in[i] = i * 11 % 6;
  auto run = [&](const std::string &body) { return perThread(body, 32, in); };
  u32 threes = 0, sum = 0;
  for (u32 i = 0; i < 32; ++i) {
    threes |= u32(in[i] == 3) << i;
    sum += in[i];
  }
  const std::string three = "setp.eq.u32 %p1, %r2, 3; ";
  CHECK(run(three + "vote.sync.ballot.b32 %r9, %p1, -1;") == std::vector<u32>(32, threes));
  CHECK(run(three + "vote.sync.ballot.b32 %r9, !%p1, -1;") == std::vector<u32>(32, ~threes));
  CHECK(run(three + "vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;") ==
        std::vector<u32>(32, 1));
  CHECK(run(three + "vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;") ==
        std::vector<u32>(32, 0));
  CHECK(run("setp.ge.u32 %p1, %r2, 0; vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;") ==
        std::vector<u32>(32, 1));
  for (u32 i = 0; i < 32; ++i)
    for (u32 other = 0; other < 32; ++other)
      expected[i] |= u32(in[i] == in[other]) << other;
  CHECK(run("match.any.sync.b32 %r9, %r2, -1;") == expected);
  CHECK(run("match.all.sync.b32 %r9|%p1, %r2, -1;") == std::vector<u32>(32, 0));
  CHECK(run("redux.sync.add.u32 %r9, %r2, -1;") == std::vector<u32>(32, sum));
  CHECK(run("sub.u32 %r3, %r2, 3; redux.sync.min.s32 %r9, %r3, -1;") ==
        std::vector<u32>(32, u32(-3)));
  CHECK(run("redux.sync.or.b32 %r9, %r2, -1;") == std::vector<u32>(32, 7));
  CHECK(run("elect.sync %r3|%p1, -1; selp.u32 %r9, 50, %r3, %p1;")[0] == 50);
}

TEST_CASE("special registers and barriers that count") {
  Device device(kernelText(
      1, "mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, "
         "%r3, %r1;\n"
         "mov.u32 %r5, %ctaid.y; mov.u32 %r6, %nctaid.y; mad.lo.u32 %r7, %r5, 48, %r4; "
         "mul.wide.u32 %rd1, %r7, 4;\n"
         "add.s64 %rd2, %a0, %rd1; setp.lt.u32 %p1, %r4, 10; bar.red.popc.u32 %r8, 0, %p1;\n"
         "bar.red.and.pred %p2, 0, %p1; bar.red.or.pred %p3, 0, %p1; selp.u32 %r9, 100, 0, %p2; "
         "selp.u32 %r10, 200, 0, %p3;\n"
         "mov.u32 %r11, %laneid; mov.u32 %r12, %warpid; add.u32 %r8, %r8, %r9; add.u32 %r8, %r8, "
         "%r10;\n"
         "mad.lo.u32 %r8, %r11, 1000, %r8; mad.lo.u32 %r8, %r12, 100000, %r8; mad.lo.u32 %r8, %r6, "
         "1000000, %r8;\n"
         "st.global.u32 [%rd2], %r8;"));
  uint64_t out = device.allocate(2 * 48 * 4);
  Counts counts = device.run({1, 2}, {12, 4}, {out});
  std::vector<u32> results = device.download<u32>(out, 96);
  for (u32 i = 0; i < 96; ++i)
    CHECK(results[i] == 2000000 + i % 48 / 32 * 100000 + i % 48 % 32 * 1000 + 210);
  CHECK(counts.barriers == 6);
  CHECK(counts.blocks == 2);
  CHECK(counts.warps == 4);
}

TEST_CASE("what the interpreter does not know is an error that names it") {
  auto error = [](const std::string &body) { return parseError(kernelText(0, body)); };
  Error unknown =
      error("\nmma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%f2}, {%f3}, {%f4};");
  CHECK(unknown.kind == ErrorKind::Unsupported);
  CHECK(unknown.line == 15);
  CHECK_THAT(unknown.message, Contains("PTX line 15: unsupported instruction 'mma.sync"));
  // Also where it is never reached, and for one modifier of an instruction that is known.
  CHECK(error("bra E;\nadd.wrong.s32 %r1, %r2, %r3;\nE:").kind == ErrorKind::Unsupported);
  CHECK_THAT(error("add.wrong.s32 %r1, %r2, %r3;").message, Contains("'.wrong'"));
  CHECK_THAT(error("mov.u64 %rd1, %clock64;").message, Contains("%clock64"));
  CHECK_THAT(error("add.s32 %r1, %rd2, %r3;").message, Contains("'%rd2' has not 32 bits"));
  CHECK_THAT(error("add.s32 %r1, %r2, %r40;").message, Contains("%r40"));
  CHECK_THAT(error("bra NOWHERE;").message, Contains("no label 'NOWHERE'"));
  CHECK_THAT(error("setp.lt.s32 %p1, %r1, %r2, %p2;").message, Contains("operands"));
  CHECK_THAT(error("call other, ();").message, Contains("no function of this text"));
  CHECK_THAT(error("shfl.down.b32 %r1, %r2, 1, 31;").message, Contains("shfl.down"));
  CHECK_THAT(error("ld.shared.u32 %r1, [nothing];").message, Contains("no 'nothing'"));
  CHECK(error("add.s32 %r1 %r2;").kind == ErrorKind::Syntax);
  CHECK(error("add.s32 %r1, %r2, ;").kind == ErrorKind::Syntax);
  CHECK(parseError(".version 8.0\n.target sm_80\n.address_size 32\n").kind ==
        ErrorKind::Unsupported);
  CHECK(parseError(".texref x;").line == 1);
  CHECK_THAT(
      parseError(kernelText(0, "call f, ();",
                            ".func f() { call g, (); ret; }\n.func g() { call f, (); ret; }\n"))
          .message,
      Contains("calls itself"));
}

TEST_CASE("a kernel's parameters and limits") {
  Error error;
  std::optional<Module> module =
      Module::parse(".version 8.0\n.target sm_80\n.address_size 64\n.shared .align 16 .b8 "
                    "one[20];\n.shared .align 16 .b8 other[4000];\n"
                    ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param "
                    ".align 4 .b8 c[12], .param .f32 d)\n"
                    ".reqntid 128, 1, 1\n.maxntid 256\n{ .reg .b32 %r<2>; .shared .align 8 .b8 "
                    "own[8]; mov.u32 %r1, one; mov.u32 %r1, own; ret; }\n",
                    error);
  INFO(error.message);
  REQUIRE(module);
  const Kernel &kernel = *module->kernel("k");
  REQUIRE(kernel.parameters.size() == 4);
  CHECK(kernel.parameters[1].offset == 8);
  CHECK(kernel.parameters[2].offset == 16);
  CHECK(kernel.parameters[2].bytes == 12);
  CHECK(kernel.parameters[3].offset == 28);
  CHECK(kernel.parameterBytes == 32);
  CHECK(kernel.sharedBytes == 32); // what it does not use is not its own
  CHECK(kernel.requiredBlock == Dim3{128, 1, 1});
  CHECK(kernel.largestBlock == Dim3{256, 1, 1});
  CHECK(!module->kernel("other"));
  CHECK(module->kernels().size() == 1);
  Memory memory;
  CHECK_THAT(launch(kernel, memory, {1}, {64}, 0, std::vector<std::byte>(32)).error->message,
             Contains("requires (128, 1, 1)"));
}

TEST_CASE("sectors of known patterns") {
  auto counted = [](const std::string &index, const std::string &access, unsigned shift) {
    Device device(kernelText(1, "mov.u32 %r1, %tid.x;\n" + index + "mul.wide.u32 %rd1, %r1, " +
                                    std::to_string(shift) + ";\nadd.s64 %rd2, %a0, %rd1;\n" +
                                    access));
    return device.run({1}, {32}, {device.upload(std::vector<u32>(4096, 1))});
  };
  const std::string word = "ld.global.u32 %r2, [%rd2];";
  CHECK(counted("", word, 4).globalReadSectors == 4); // coalesced
  CHECK(counted("", word, 4).globalReadBytes == 128);
  CHECK(counted("xor.b32 %r1, %r1, 31;\n", word, 4).globalReadSectors == 4); // in any order
  CHECK(counted("", word, 8).globalReadSectors == 8);                        // every second word
  CHECK(counted("", word, 128).globalReadSectors == 32);                     // a column
  CHECK(counted("and.b32 %r1, %r1, 0;\n", word, 4).globalReadSectors == 1);  // broadcast
  CHECK(counted("", "ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%rd2];", 16).globalReadSectors == 16);
  CHECK(counted("", "ld.global.u32 %r2, [%rd2+16];", 4).globalReadSectors ==
        5); // across a sector's border
  Counts stored = counted("", "st.global.u32 [%rd2], %r1;", 4);
  CHECK(stored.globalWriteSectors == 4);
  CHECK(stored.globalReadSectors == 0);
  Counts updated = counted("", "red.global.add.u32 [%rd2], %r1;", 4);
  CHECK(updated.globalWriteSectors == 4);
  CHECK(updated.globalReadSectors == 4);
}

TEST_CASE("wavefronts of known patterns") {
  auto counted = [](unsigned stride, const std::string &store, u32 threads = 32) {
    Device device(kernelText(0,
                             "mov.u32 %r1, %tid.x; mov.u32 %r2, tile; mad.lo.u32 %r3, %r1, " +
                                 std::to_string(stride) + ", %r2;\n" + store,
                             ".shared .align 16 .b8 tile[8192];\n"));
    Counts counts = device.run({1}, {threads}, {});
    return std::pair(counts.sharedWavefronts, counts.sharedExtraWavefronts);
  };
  using P = std::pair<uint64_t, uint64_t>;
  const std::string word = "st.shared.u32 [%r3], %r1;";
  CHECK(counted(4, word) == P(1, 0));
  CHECK(counted(8, word) == P(2, 1));
  CHECK(counted(128, word) == P(32, 31)); // a column of 32 words
  CHECK(counted(132, word) == P(1, 0));   // padded
  CHECK(counted(4, "st.shared.u8 [%r3], 1;") == P(1, 0));
  CHECK(counted(8, "st.shared.u64 [%r3], 1;") == P(2, 0));
  CHECK(counted(16, "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};") == P(4, 0));
  CHECK(counted(32, "st.shared.v4.u32 [%r3], {%r1, %r1, %r1, %r1};") == P(8, 4));
  CHECK(counted(128, word, 4) == P(4, 3));
  // All lanes read one word.
  CHECK(counted(0, "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [tile], 1; bar.sync 0; "
                   "ld.shared.u32 %r4, [%r3];") == P(2, 0));
}

TEST_CASE("instructions by class") {
  Device device(kernelText(
      0, "mov.u32 %r1, %tid.x; cvt.rn.f32.u32 %f1, %r1; add.f32 %f2, %f1, %f1; ex2.approx.f32 %f3, "
         "%f2;\n"
         "setp.lt.u32 %p1, %r1, 8; @%p1 bra E; add.f64 %fd1, %fd1, %fd1;\nE: bar.sync 0;"));
  Counts counts = device.run({3}, {64}, {});
  auto of = [&](InstructionClass which) { return counts.issued[unsigned(which)]; };
  CHECK(of(InstructionClass::Integer) == 12);
  CHECK(of(InstructionClass::Conversion) == 6);
  CHECK(of(InstructionClass::Float) == 6);
  CHECK(of(InstructionClass::Special) == 6);
  CHECK(of(InstructionClass::Double) == 6);
  CHECK(of(InstructionClass::Barrier) == 6);
  CHECK(of(InstructionClass::Control) == 12); // the branch, and ret
  CHECK(counts.divergentBranches == 3);
  CHECK(counts.total() == 54);
  CHECK(counts.laneInstructions == 3 * 8 * 64);
  Counts twice = counts;
  twice += counts;
  CHECK(twice.total() == 108);
}

TEST_CASE("results that depend on the order of blocks differ with the seed") {
  Device device(kernelText(1, "mov.u32 %r1, %ctaid.x; atom.global.exch.b32 %r2, [%a0], %r1;"));
  uint64_t word = device.upload(std::vector<u32>{0});
  std::vector<u32> seen;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    LaunchOptions options;
    options.orderSeed = seed;
    device.run({100}, {1}, {word}, options);
    seen.push_back(device.download<u32>(word, 1)[0]);
  }
  CHECK((seen[0] != seen[1] || seen[1] != seen[2] || seen[2] != seen[3]));
}
