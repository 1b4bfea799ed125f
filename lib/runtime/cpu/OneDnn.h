// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all uses of oneDNN share.
#ifndef ACCC_RUNTIME_CPU_ONEDNN_H
#define ACCC_RUNTIME_CPU_ONEDNN_H

#include "accc/error.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <oneapi/dnnl/dnnl_debug.h>

namespace accc::detail {

inline dnnl::engine &cpuEngine() {
  static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

/// Whether this CPU has instructions that multiply numbers of bf16 and add up in f32.
inline bool multipliesBrainFloats() {
  constexpr int needed = dnnl_cpu_isa_avx512_core_bf16; // a bit for each set of instructions
  return (dnnl_get_effective_cpu_isa() & needed) == needed;
}

/// Executes in order and returns when done; holds nothing else.
inline dnnl::stream &cpuStream() {
  static dnnl::stream stream(cpuEngine());
  return stream;
}

/// Primitives work in scratch that the caller gives: nothing is allocated in a step. They compute
/// in the types of their operands, also where the environment lets oneDNN round f32 to 16 bits
/// (ONEDNN_DEFAULT_FPMATH_MODE), as other programs may like it: what is rounded is --precision's.
inline dnnl::primitive_attr userScratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict);
  return attr;
}

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_ONEDNN_H
