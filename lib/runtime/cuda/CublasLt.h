// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products by cuBLASLt.
#ifndef ACCC_RUNTIME_CUDA_CUBLASLT_H
#define ACCC_RUNTIME_CUDA_CUBLASLT_H

#include "LibraryCall.h"

namespace accc::detail {

struct CublasLtFunctions;

/// The library with a handle for one session.
class CublasLt {
public:
  /// Throws Error (machine) where the library is not there or does not start.
  explicit CublasLt(const Context &context);
  CublasLt(const CublasLt &) = delete;
  ~CublasLt();

  /// A product without a bias, of operands that are not empty; null where the library has no
  /// algorithm for it. `call` must outlive what is returned.
  std::unique_ptr<LibraryCall> findMatmul(const accc_library_call &call, uint64_t alignment);
  std::unique_ptr<LibraryCall> createMatmul(const accc_library_call &call, uint64_t alignment);

  static bool isThere();
  /// As the library counts; 0 where it is not there.
  static uint64_t version();
  /// What of a matmul it cannot do, the library being absent among it.
  static std::optional<std::string> whyNot(const accc_library_call &call);

private:
  const Context &context;
  const CublasLtFunctions &functions;
  void *handle = nullptr; // cublasLtHandle_t
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUBLASLT_H
