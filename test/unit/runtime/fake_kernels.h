/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kernels of fake_model.c as PTX, with the same arithmetic. Kernels that change the state do
 * nothing where the status is set.
 */
#ifndef ACCC_TEST_RUNTIME_FAKE_KERNELS_H
#define ACCC_TEST_RUNTIME_FAKE_KERNELS_H

#ifdef BAD_PTX
#define FIRST_INSTRUCTION "  frobnicate.f32 %f1, %f2;\n"
#else
#define FIRST_INSTRUCTION ""
#endif
#ifdef WILD_KERNEL
#define PLACE_OF_Y "%i, 1073741824" /* bytes between rows: past all memory */
#else
#define PLACE_OF_Y "%i, 4"
#endif

#define REGISTERS                                                                                  \
  "{\n"                                                                                            \
  "  .reg .pred %p<4>;\n"                                                                          \
  "  .reg .b32 %i, %j, %b, %t;\n"                                                                  \
  "  .reg .f32 %f<12>;\n"                                                                          \
  "  .reg .b64 %a<12>;\n"                                                                          \
  "  .reg .b64 %l<4>;\n"

/* Buffers: y, target, x, loss, grad_w, grad_b, status. One thread; what it has found of a row goes
 * through the last bytes of 64 KB of shared memory. */
#define GRADIENTS(name, rows, rows_float)                                                          \
  ".visible .entry " name "(.param .u64 p0, .param .u64 p1, .param .u64 p2, .param .u64 p3,\n"     \
  "  .param .u64 p4, .param .u64 p5, .param .u64 p6)\n" REGISTERS "  ld.param.u64 %a0, [p0];\n"    \
  "  ld.param.u64 %a1, [p1];\n"                                                                    \
  "  ld.param.u64 %a2, [p2];\n"                                                                    \
  "  ld.param.u64 %a3, [p3];\n"                                                                    \
  "  ld.param.u64 %a4, [p4];\n"                                                                    \
  "  ld.param.u64 %a5, [p5];\n"                                                                    \
  "  mov.f32 %f0, 0f00000000;\n" /* loss */                                                        \
  "  mov.f32 %f1, 0f00000000;\n" /* grad_b */                                                      \
  "  mov.f32 %f2, 0f00000000;\n" /* grad_w */                                                      \
  "  mov.f32 %f3, 0f00000000;\n"                                                                   \
  "  mov.f32 %f4, 0f00000000;\n"                                                                   \
  "  mov.u32 %i, 0;\n"                                                                             \
  "LOOP_" name ":\n"                                                                               \
  "  ld.global.f32 %f5, [%a0];\n"                                                                  \
  "  ld.global.f32 %f6, [%a1];\n"                                                                  \
  "  sub.rn.f32 %f5, %f5, %f6;\n" /* error */                                                      \
  "  add.rn.f32 %f6, %f5, %f5;\n"                                                                  \
  "  div.rn.f32 %f6, %f6, " rows_float ";\n" /* dy */                                              \
  "  mul.rn.f32 %f7, %f5, %f5;\n"                                                                  \
  "  div.rn.f32 %f7, %f7, " rows_float ";\n"                                                       \
  "  add.rn.f32 %f0, %f0, %f7;\n"                                                                  \
  "  st.shared.f32 [scratch+65532], %f6;\n"                                                        \
  "  ld.shared.f32 %f8, [scratch+65532];\n"                                                        \
  "  add.rn.f32 %f1, %f1, %f8;\n"                                                                  \
  "  ld.global.f32 %f7, [%a2];\n"                                                                  \
  "  mul.rn.f32 %f7, %f6, %f7;\n"                                                                  \
  "  add.rn.f32 %f2, %f2, %f7;\n"                                                                  \
  "  ld.global.f32 %f7, [%a2+4];\n"                                                                \
  "  mul.rn.f32 %f7, %f6, %f7;\n"                                                                  \
  "  add.rn.f32 %f3, %f3, %f7;\n"                                                                  \
  "  ld.global.f32 %f7, [%a2+8];\n"                                                                \
  "  mul.rn.f32 %f7, %f6, %f7;\n"                                                                  \
  "  add.rn.f32 %f4, %f4, %f7;\n"                                                                  \
  "  add.s64 %a0, %a0, 4;\n"                                                                       \
  "  add.s64 %a1, %a1, 4;\n"                                                                       \
  "  add.s64 %a2, %a2, 12;\n"                                                                      \
  "  add.u32 %i, %i, 1;\n"                                                                         \
  "  setp.lt.u32 %p1, %i, " rows ";\n"                                                             \
  "  @%p1 bra LOOP_" name ";\n"                                                                    \
  "  st.global.f32 [%a3], %f0;\n"                                                                  \
  "  st.global.f32 [%a5], %f1;\n"                                                                  \
  "  st.global.f32 [%a4], %f2;\n"                                                                  \
  "  st.global.f32 [%a4+4], %f3;\n"                                                                \
  "  st.global.f32 [%a4+8], %f4;\n"                                                                \
  "  ret;\n"                                                                                       \
  "}\n"

static const char fake_kernels[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".extern .shared .align 16 .b8 scratch[];\n"

    /* Buffers: x, target, status. */
    ".visible .entry check_batch(.param .u64 p0, .param .u64 p1, .param .u64 "
    "p2)\n" REGISTERS FIRST_INSTRUCTION "  ld.param.u64 %a0, [p0];\n"
    "  ld.param.u64 %a1, [p1];\n"
    "  ld.param.u64 %a2, [p2];\n"
    "  and.b64 %l0, %a0, 63;\n"
    "  setp.eq.s64 %p1, %l0, 0;\n"
    "  @%p1 bra ALIGNED;\n"
    "  mov.u64 %l1, -7;\n"
    "  st.global.u64 [%a2], %l1;\n"
    "ALIGNED:\n"
    "  ld.global.f32 %f1, [%a1];\n"
    "  setp.num.f32 %p2, %f1, %f1;\n"
    "  @%p2 bra NUMBER;\n"
    "  mov.u64 %l1, 1;\n"
    "  st.global.u64 [%a2], %l1;\n"
    "NUMBER:\n"
    "  ret;\n"
    "}\n"

    /* Buffers: b, y, status. Blocks of two rows. */
    ".visible .entry add_bias(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n"
    ".reqntid 2, 1, 1\n" REGISTERS "  ld.param.u64 %a0, [p0];\n"
    "  ld.param.u64 %a1, [p1];\n"
    "  mov.u32 %t, %tid.x;\n"
    "  mov.u32 %b, %ctaid.x;\n"
    "  mad.lo.u32 %i, %b, 2, %t;\n"
    "  mul.wide.u32 %l1, " PLACE_OF_Y ";\n"
    "  add.s64 %a1, %a1, %l1;\n"
    "  ld.global.f32 %f1, [%a0];\n"
    "  ld.global.f32 %f2, [%a1];\n"
    "  add.rn.f32 %f2, %f2, %f1;\n"
    "  st.global.f32 [%a1], %f2;\n"
    "  ret;\n"
    "}\n"

    GRADIENTS("all_gradients", "4", "0f40800000") GRADIENTS("few_gradients", "2", "0f40000000")

    /* Its parameter is an array of buffers: grad_w, grad_b, rate, w, b, velocity_w, velocity_b,
     * status. Threads 0 to 2 have one of w, thread 3 has b. */
    ".visible .entry apply(.param .u64 p0)\n" REGISTERS "  ld.param.u64 %a0, [p0];\n"
    "  ld.global.u64 %a1, [%a0+56];\n"
    "  ld.global.u64 %l1, [%a1];\n"
    "  setp.ne.s64 %p1, %l1, 0;\n"
    "  @%p1 bra DONE;\n"
    "  mov.u32 %t, %tid.x;\n"
    "  mul.wide.u32 %l2, %t, 4;\n"
    "  setp.eq.u32 %p2, %t, 3;\n"
    "  ld.global.u64 %a2, [%a0+16];\n"
    "  ld.global.f32 %f1, [%a2];\n" /* rate */
    "  @%p2 bra BIAS;\n"
    "  ld.global.u64 %a3, [%a0];\n"
    "  ld.global.u64 %a4, [%a0+24];\n"
    "  ld.global.u64 %a5, [%a0+40];\n"
    "  add.s64 %a3, %a3, %l2;\n"
    "  add.s64 %a4, %a4, %l2;\n"
    "  add.s64 %a5, %a5, %l2;\n"
    "  bra UPDATE;\n"
    "BIAS:\n"
    "  ld.global.u64 %a3, [%a0+8];\n"
    "  ld.global.u64 %a4, [%a0+32];\n"
    "  ld.global.u64 %a5, [%a0+48];\n"
    "UPDATE:\n"
    "  ld.global.f32 %f2, [%a3];\n"
    "  ld.global.f32 %f3, [%a4];\n"
    "  ld.global.f32 %f4, [%a5];\n"
    "  mul.rn.f32 %f4, %f4, 0f3F000000;\n"
    "  add.rn.f32 %f4, %f4, %f2;\n"
    "  mul.rn.f32 %f5, %f1, %f4;\n"
    "  sub.rn.f32 %f3, %f3, %f5;\n"
    "  st.global.f32 [%a5], %f4;\n"
    "  st.global.f32 [%a4], %f3;\n"
    "DONE:\n"
    "  ret;\n"
    "}\n"

    /* Buffers: seed, step, random, status. */
    ".visible .entry show_random(.param .u64 p0, .param .u64 p1, .param .u64 p2,\n"
    "  .param .u64 p3)\n" REGISTERS "  ld.param.u64 %a0, [p0];\n"
    "  ld.param.u64 %a1, [p1];\n"
    "  ld.param.u64 %a2, [p2];\n"
    "  ld.global.u64 %l0, [%a0];\n"
    "  ld.global.u64 %l1, [%a1];\n"
    "  mad.lo.s64 %l0, %l0, 1000, %l1;\n"
    "  st.global.u64 [%a2], %l0;\n"
    "  ret;\n"
    "}\n"

    /* Buffers: y in the arena, loss, status. */
    ".visible .entry show(.param .u64 p0, .param .u64 p1, .param .u64 p2)\n" REGISTERS
    "  ld.param.u64 %a0, [p0];\n"
    "  ld.param.u64 %a1, [p1];\n"
    "  ld.global.f32 %f1, [%a0];\n"
    "  st.global.f32 [%a1], %f1;\n"
    "  ret;\n"
    "}\n";

static const accc_kernel gpu_kernels[] = {
#ifdef NO_SUCH_KERNEL
    {"absent", NULL, 1, 1, 0, 0},
#else
    {"check_batch", NULL, 1, 1, 0, 0},
#endif
#ifdef EMPTY_BLOCKS
    {"add_bias", NULL, 2, 0, 0, 0},
#else
    {"add_bias", NULL, 2, 2, 0, 0},
#endif
    {"all_gradients", NULL, 1, 1, 64 << 10, 0},
    {"few_gradients", NULL, 1, 1, 64 << 10, 0},
    {"apply", NULL, 4, 1, 0, 1},
    {"show_random", NULL, 1, 1, 0, 0},
    {"show", NULL, 1, 1, 0, 0}};

#endif
