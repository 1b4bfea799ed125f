// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores, atomic operations, addresses; and Memory as the host sees it.
#include "Expression.h"
#include "reference/ptx/Numbers.h"

using namespace accc::ptx;
using namespace accc::ptx::test;
using Catch::Matchers::Contains;
using u32 = uint32_t;
using u64 = uint64_t;

namespace {

/// One thread: `body` on buffers p0 (written) and p1.
std::vector<u32> runOne(const std::string &body, const std::vector<u32> &in, size_t count,
                        const std::string &declarations = {}) {
  Device device(kernelText(2, body, declarations));
  uint64_t out = device.upload(std::vector<u32>(count, 0));
  device.run({1}, {1}, {device.upload(in), out});
  return device.download<u32>(out, count);
}

} // namespace

TEST_CASE("loads extend, stores cut") {
  CHECK(runOne(
            "ld.global.s8 %r1, [%a0+1]; st.global.u32 [%a1], %r1; ld.global.u8 %r2, [%a0+1];\n"
            "st.global.u32 [%a1+4], %r2; ld.global.s16 %rd1, [%a0+2]; st.global.u64 [%a1+8], %rd1;",
            {0x8001ff00}, 4) == std::vector<u32>{0xffffffff, 0xff, 0xffff8001, 0xffffffff});
  CHECK(runOne("ld.global.u32 %r1, [%a0]; st.global.u8 [%a1+1], %r1; cvt.u16.u32 %rs1, %r1; "
               "st.global.b16 [%a1+6], %rs1;",
               {0x12345678}, 2) == std::vector<u32>{0x7800, 0x56780000});
  CHECK(runOne("st.global.f32 [%a1], 0f3F800000; st.global.u32 [%a1+4], -1;", {0}, 2) ==
        std::vector<u32>{0x3f800000, ~0u});
}

TEST_CASE("vectors") {
  CHECK(runOne("ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%a0]; st.global.v4.b32 [%a1], {%r4, %r3, "
               "%r2, %r1};",
               {1, 2, 3, 4}, 4) == std::vector<u32>{4, 3, 2, 1});
  CHECK(
      runOne(
          "ld.global.v2.u8 {%rs1, _}, [%a0]; mov.u16 %rs2, 9; st.global.v2.u8 [%a1], {%rs2, %rs1};",
          {0x0201}, 1) == std::vector<u32>{0x0109});
  CHECK(runOne("ld.global.v2.f64 {%fd1, %fd2}, [%a0]; st.global.v2.f64 [%a1], {%fd2, %fd1};",
               {1, 2, 3, 4}, 4) == std::vector<u32>{3, 4, 1, 2});
}

TEST_CASE("generic addresses of each space") {
  CHECK(runOne(
            "mov.u32 %r1, tile; cvt.u64.u32 %rd1, %r1; cvta.shared.u64 %rd2, %rd1; st.u32 "
            "[%rd2+4], 5;\n"
            "ld.shared.u32 %r2, [%r1+4]; st.global.u32 [%a1], %r2; cvta.to.shared.u64 %rd3, %rd2;\n"
            "ld.shared.u32 %r3, [%rd3+4]; st.u32 [%a1+4], %r3; ld.u32 %r4, [table+8]; "
            "st.global.u32 [%a1+8], %r4;\n"
            "isspacep.shared %p1, %rd2; selp.u32 %r5, 1, 0, %p1; isspacep.global %p2, %rd2; "
            "selp.u32 %r6, 2, 0, %p2;\n"
            "or.b32 %r7, %r5, %r6; st.global.u32 [%a1+12], %r7;",
            {0}, 4,
            ".shared .align 4 .b8 tile[16];\n.global .align 4 .u32 table[3] = {1, 2, 3};\n") ==
        std::vector<u32>{5, 5, 3, 1});
}

TEST_CASE("initial values of variables") {
  Device device(".version 8.0\n.target sm_80\n.address_size 64\n"
                ".global .align 4 .u32 inner = 7;\n.global .align 8 .u64 table[2] = {inner, "
                "generic(inner)+4};\n.global .align 4 .b8 bytes[8] "
                "= {1, 2, 3};\n"
                ".const .align 4 .f32 real[2] = {0f3F800000, -2.5};\n"
                ".global .align 1 .b8 parts[8] = {0xFF(inner), 0xFF00(inner), 0xFF0000(inner), "
                "0xFF000000(inner)};\n"
                ".global .align 4 .s32 empty[4];\n");
  auto contents = [&](const char *name) {
    Variable variable = *device.module.variable(name);
    std::vector<uint8_t> bytes = device.download<uint8_t>(variable.address, variable.bytes);
    bytes.resize((bytes.size() + 7) / 8 * 8);
    std::vector<u64> words(bytes.size() / 8);
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
  };
  u64 inner = device.module.variable("inner")->address;
  CHECK(contents("inner") == std::vector<u64>{7});
  CHECK(contents("table") == std::vector<u64>{inner, inner + 4});
  CHECK(contents("bytes") == std::vector<u64>{0x030201});
  CHECK(contents("real") == std::vector<u64>{0xc02000003f800000});
  CHECK(contents("parts") == std::vector<u64>{inner & 0xffffffff});
  CHECK(contents("empty") == std::vector<u64>{0, 0});
  CHECK(!device.module.variable("none"));
}

TEST_CASE("atomic operations") {
  struct {
    const char *op, *operands;
    u32 before, after;
  } rows[] = {{"add.u32", "5", ~0u, 4},
              {"min.s32", "-3", 2, u32(-3)},
              {"min.u32", "-3", 2, 2},
              {"max.s32", "7", u32(-1), 7},
              {"and.b32", "12", 10, 8},
              {"or.b32", "12", 10, 14},
              {"xor.b32", "12", 10, 6},
              {"exch.b32", "9", 1, 9},
              {"cas.b32", "3, 8", 3, 8},
              {"cas.b32", "3, 8", 4, 4},
              {"inc.u32", "7", 7, 0},
              {"inc.u32", "7", 6, 7},
              {"dec.u32", "7", 0, 7},
              {"dec.u32", "7", 9, 7},
              {"add.f32", "0f3F800000", 0x3f800000, 0x40000000}};
  for (auto row : rows) {
    INFO(row.op << " " << row.operands << " on " << row.before);
    CHECK(runOne("ld.global.u32 %r1, [%a0]; st.global.u32 [%a1], %r1; atom.global." +
                     std::string(row.op) + " %r2, [%a1], " + row.operands +
                     "; st.global.u32 [%a1+4], %r2;",
                 {row.before}, 2) == std::vector<u32>{row.after, row.before});
  }
  // Each lane gets a different value, whatever the order.
  Device device(kernelText(
      2, "mov.u32 %r1, %tid.x; atom.global.add.u32 %r2, [%a0], 2; mul.wide.u32 %rd1, %r1, 4;\n"
         "add.s64 %rd2, %a1, %rd1; st.global.u32 [%rd2], %r2; red.relaxed.gpu.global.add.f64 "
         "[%a0+8], 0d3FF0000000000000;"));
  uint64_t counter = device.upload(std::vector<u32>(4, 0)), out = device.allocate(400);
  device.run({1}, {100}, {counter, out});
  std::vector<u32> tickets = device.download<u32>(out, 100);
  for (u32 i = 0; i < 100; ++i)
    CHECK(tickets[i] == 2 * i);
  CHECK(device.download<double>(counter, 2)[1] == 100);
  // f16x2 in each half.
  CHECK(runOne("ld.global.u32 %r1, [%a0]; st.global.u32 [%a1], %r1; mov.u32 %r3, 0x3c004000;\n"
               "atom.global.add.noftz.f16x2 %r2, [%a1], %r3;",
               {0x3c003c00}, 1) == std::vector<u32>{0x40004200});
}

TEST_CASE("memory as the host sees it") {
  Memory memory(4096);
  CHECK(memory.allocate(0) == 0);
  CHECK(memory.allocate(5000) == 0);
  uint64_t a = memory.allocate(64), b = memory.allocate(64);
  CHECK(a % 512 == 0);
  CHECK(b >= a + 64 + 512);
  CHECK(memory.bytesInUse() == 128);
  std::vector<u32> values(16, 3);
  CHECK(memory.firstUninitialized(a, 64) == a);
  CHECK(!memory.write(a, values.data(), 32));
  CHECK(memory.firstUninitialized(a, 64) == a + 32);
  CHECK(!memory.copy(b, a, 64));
  CHECK(memory.firstUninitialized(b, 64) == b + 32);
  CHECK(!memory.fill(b + 32, 0x0102, 2, 16));
  CHECK(!memory.firstUninitialized(b, 64));
  CHECK(!memory.read(values.data(), b, 64));
  CHECK(values[0] == 3);
  CHECK(values[15] == 0x01020102);
  CHECK(memory.copy(a, a + 4, 32)->kind == ErrorKind::Usage);
  CHECK(memory.write(a, values.data(), 65)->kind == ErrorKind::OutOfBounds);
  CHECK_THAT(memory.read(values.data(), a + 100, 4)->message,
             Contains("36 bytes past the end of an allocation of 64"));
  CHECK(memory.free(a + 4));
  CHECK(!memory.free(a));
  CHECK(memory.free(a));
  CHECK(memory.allocate(64) > b); // never again the same address
  CHECK(!memory.find(a));
}
