// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which files a library was compiled from.
#ifndef ACCC_DRIVER_INPUTHASHES_H
#define ACCC_DRIVER_INPUTHASHES_H

#include <future>
#include <map>
#include <string>
#include <vector>

namespace accc {

/// Hexadecimal XXH3-128 of each file of a model, as `xxh128sum` prints it, by the file's path below
/// the model's folder. It tells files apart that differ by accident or by a new export; it is no
/// proof against somebody who wants two files to look alike. (SHA-256 took longer than all of the
/// compilation where the processor has no instructions for it: 2.3 s for 500 MB.)
using InputHashes = std::map<std::string, std::string>;

/// Hashes the model file and the files of its external data in a thread of its own, or where there
/// is none to be had, when it is asked for. A file that has gone since it was read has an empty
/// hash.
std::shared_future<InputHashes> hashInputs(const std::string &model,
                                           std::vector<std::string> dataFiles);

} // namespace accc

#endif
