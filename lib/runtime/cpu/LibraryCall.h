// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contractions that a compiled step hands to the runtime: oneDNN's work in f32.
#ifndef ACCC_RUNTIME_CPU_LIBRARYCALL_H
#define ACCC_RUNTIME_CPU_LIBRARYCALL_H

#include "Team.h"
#include "accc/abi.h"

#include <memory>
#include <optional>
#include <string>

namespace accc::detail {

/// One library call of an entry point, made ready once and run in every step.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Bytes that run() needs as `scratch`, aligned to ACCC_ALIGNMENT. Calls run one after the other
  /// and share one block.
  virtual uint64_t scratchBytes() const { return 0; }
  /// `buffers` as the call's kind defines them. Throws Error (machine) where the library refuses.
  virtual void run(char *const *buffers, char *scratch) = 0;
};

/// The type of all operands of a call that is supported.
inline int32_t dtypeOf(const accc_library_call &call) { return call.dtypes[0]; }

/// Platform::whyUnsupported.
std::optional<std::string> whyCpuCannot(const accc_library_call &call);

/// Throws Error (machine) where there is no memory for the code that oneDNN generates.
void requireMemoryForCode();

/// Chooses and generates the library's kernels for the number of threads of `team`, which must
/// outlive the call. `call` must be supported and outlive it too.
std::unique_ptr<LibraryCall> createLibraryCall(const accc_library_call &call, const Team &team);

// What createLibraryCall chooses among. In f32, one a kind:
std::unique_ptr<LibraryCall> createMatmul(const accc_matmul &matmul, const Team &team);
std::unique_ptr<LibraryCall>
createConvolution(accc_call_kind kind, const accc_convolution &convolution, const Team &team);
// In bf16, if this CPU has instructions for its products and oneDNN kernels with them; else null:
std::unique_ptr<LibraryCall> createBrainMatmul(const accc_library_call &call);
std::unique_ptr<LibraryCall> createBrainConvolution(accc_call_kind kind,
                                                    const accc_convolution &convolution);
// In f64, any kind:
std::unique_ptr<LibraryCall> createDoubleCall(const accc_library_call &call, const Team &team);
// In f16 or bf16, any kind; `inner` is the same call in f32:
std::unique_ptr<LibraryCall> createHalfCall(const accc_library_call &call,
                                            std::unique_ptr<LibraryCall> inner, const Team &team);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_LIBRARYCALL_H
