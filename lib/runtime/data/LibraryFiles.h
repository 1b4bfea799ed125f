// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_DATA_LIBRARYFILES_H
#define ACCC_RUNTIME_DATA_LIBRARYFILES_H

#include <string>

namespace accc::detail {

/// dlopen() and dlclose(), by files instead of names. The loader takes a name by which it has
/// loaded a library for that library, although another file may have the name by now: a program
/// that compiles a model again while it uses what it has loaded before would get the old one again.

/// Of an absolute path, with all symbols resolved, to itself. Null where dlopen() gives that, and
/// dlerror() says why.
void *openLibrary(const std::string &path);
void closeLibrary(void *handle);

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_LIBRARYFILES_H
