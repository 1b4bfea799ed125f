// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a file is written that a symbolic link names.
#ifndef ACCC_LINKS_H
#define ACCC_LINKS_H

#include <string>

namespace accc {

/// What a chain of symbolic links ends in, whether or not something is there; `path` itself where
/// it is no link. Files are written there, so that a link stays one. Throws Error (machine) where
/// the chain is a circle.
std::string follow_links(const std::string &path);

} // namespace accc

#endif // ACCC_LINKS_H
