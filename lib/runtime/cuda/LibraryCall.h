// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contractions and attentions that a compiled step hands to cuBLASLt and cuDNN.
#ifndef ACCC_RUNTIME_CUDA_LIBRARYCALL_H
#define ACCC_RUNTIME_CUDA_LIBRARYCALL_H

#include "DeviceMemory.h"
#include "accc/abi.h"

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace accc::detail {

/// A library call of entry points, made ready once and run in every step.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Bytes that enqueue() needs as `scratch`. Calls run one after the other and share one block.
  virtual uint64_t scratchBytes() const { return 0; }
  /// Makes ready what enqueue() needs for these buffers; to be called before a capture.
  virtual void prepare(std::span<const CUdeviceptr>) {}
  /// Puts the work into the session's stream; it may be captured there. `buffers` as the call's
  /// kind defines them. Throws Error (machine) where the library refuses.
  virtual void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) = 0;
};

class CublasLt;
class Cudnn;

/// The libraries as one session uses them, each set up when the first call needs it.
class Libraries {
public:
  explicit Libraries(const Context &context);
  ~Libraries();

  /// What makes the call, which must be supported. `alignment` is that of all its buffers in bytes.
  /// Equal calls are one: what computes a value again takes the same algorithm, and gives the same
  /// bits, whatever was measured (Tuning.h). Throws Error (machine) where the library has none.
  LibraryCall &find(const accc_library_call &call, uint64_t alignment);

private:
  CublasLt &cublasLt();
  Cudnn &cudnn();
  std::unique_ptr<LibraryCall> create(const accc_library_call &call, uint64_t alignment);
  std::unique_ptr<LibraryCall> findProducts(const accc_library_call &convolution,
                                            uint64_t alignment);

  const Context &context;
  std::unique_ptr<CublasLt> products;
  std::unique_ptr<Cudnn> graphs;
  struct Made {
    accc_library_call call; // to which `made` refers
    std::unique_ptr<LibraryCall> made;
  };
  std::map<std::pair<std::string, uint64_t>, Made> calls; // by bytes and alignment
};

/// Platform::whyUnsupported.
std::optional<std::string> whyCudaCannot(const accc_library_call &call);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_LIBRARYCALL_H
