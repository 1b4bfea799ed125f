// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables of the functions of a library that is loaded by name. One is written as a list
//
//   #define FUNCTIONS(F) F(cublasLtCreate) F(cublasLtDestroy)
//   struct Functions { ACCC_LIBRARY_FUNCTIONS(FUNCTIONS) };
//
// and has a member for each, called as the function is.
#ifndef ACCC_RUNTIME_CUDA_LIBRARYFUNCTIONS_H
#define ACCC_RUNTIME_CUDA_LIBRARYFUNCTIONS_H

#include "SharedLibrary.h"

#include <mutex>

namespace accc::detail {

/// The only table of this kind, loaded when it is first asked for. Where that fails it is nullptr,
/// `why` says what is missing, and the next call tries again.
template <typename Functions>
const Functions *loadOnce(const std::vector<std::string> &names, std::string &why) {
  static std::mutex mutex; // models may be loaded in several threads
  static Functions functions;
  static bool loaded = false;
  std::lock_guard lock(mutex);
  if (!loaded)
    loaded = functions.load(names, why);
  return loaded ? &functions : nullptr;
}

} // namespace accc::detail

#define ACCC_LIBRARY_MEMBER(function) decltype(&::function) function = nullptr;
#define ACCC_LIBRARY_FIND(function)                                                                \
  if (!library.find(#function, this->function)) {                                                  \
    why = library.name() + " lacks " #function;                                                    \
    return false;                                                                                  \
  }

/// The members, and load(names, why), which finds them where SharedLibrary looks.
#define ACCC_LIBRARY_FUNCTIONS(LIST)                                                               \
  LIST(ACCC_LIBRARY_MEMBER)                                                                        \
  bool load(const std::vector<std::string> &names, std::string &why) {                             \
    SharedLibrary library(names, /*toolkit=*/true, why);                                           \
    if (!library)                                                                                  \
      return false;                                                                                \
    LIST(ACCC_LIBRARY_FIND)                                                                        \
    return true;                                                                                   \
  }

#endif // ACCC_RUNTIME_CUDA_LIBRARYFUNCTIONS_H
