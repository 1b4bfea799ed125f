/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The features of x86-64 CPUs that accc_code.arch names, as LLVM spells them: all that generated
 * code may make use of. A compiler lists those it was allowed to use, a runtime looks for them.
 */
#ifndef ACCC_CPU_FEATURES_H
#define ACCC_CPU_FEATURES_H

/* clang-format off */
#define ACCC_CPU_FEATURES(X)                                                                        \
  X("sse4.2") X("sse4a") X("avx") X("avx2") X("fma") X("fma4") X("xop") X("bmi") X("bmi2") X("tbm") \
  X("adx") X("f16c") X("lzcnt") X("movbe") X("popcnt") X("aes") X("pclmul") X("sha") X("gfni")      \
  X("vaes") X("vpclmulqdq") X("avxvnni") X("avxifma") X("avxvnniint8") X("avxneconvert")            \
  X("avx512f") X("avx512bw") X("avx512cd") X("avx512dq") X("avx512vl") X("avx512bf16")              \
  X("avx512fp16") X("avx512vnni") X("avx512ifma") X("avx512vbmi") X("avx512vbmi2")                  \
  X("avx512bitalg") X("avx512vpopcntdq") X("avx512vp2intersect")
/* clang-format on */

#endif
