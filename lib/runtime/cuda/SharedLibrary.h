// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVIDIA's libraries, found when they are needed: this half of the runtime links none of them.
#ifndef ACCC_RUNTIME_CUDA_SHAREDLIBRARY_H
#define ACCC_RUNTIME_CUDA_SHAREDLIBRARY_H

#include <string>
#include <vector>

namespace accc::detail {

/// A library loaded by name, for as long as the process runs: what NVIDIA's libraries have set up
/// does not survive their unloading.
class SharedLibrary {
public:
  /// Tries each of `names` where the loader looks and, where `toolkit` says so, in the CUDA
  /// toolkit's folders ($CUDA_PATH or /usr/local/cuda). Where none is there, handle() is null and
  /// `why` says what was looked for where.
  SharedLibrary(const std::vector<std::string> &names, bool toolkit, std::string &why);

  explicit operator bool() const { return handle; }
  const std::string &name() const { return found; }

  /// Sets `function` to the symbol of that name; false where the library has none.
  template <typename Function> bool find(const char *symbol, Function &function) const {
    function = reinterpret_cast<Function>(address(symbol));
    return function;
  }

private:
  void *address(const char *symbol) const;

  void *handle = nullptr;
  std::string found;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_SHAREDLIBRARY_H
