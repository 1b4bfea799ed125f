// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/error.h"

namespace accc {

// Out of line, so that the type information lives here once: code built without run-time type
// information can still catch an Error.
Error::Error(ErrorKind kind, const std::string &message)
    : std::runtime_error(message), kind_(kind) {}
Error::Error(const Error &) noexcept = default;
Error &Error::operator=(const Error &) noexcept = default;
Error::~Error() = default;

} // namespace accc
