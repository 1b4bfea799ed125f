// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON header of a safetensors file, apart from any file: text in, checked
// entries out, and back.
#ifndef ACCC_RUNTIME_DATA_SAFETENSORSHEADER_H
#define ACCC_RUNTIME_DATA_SAFETENSORSHEADER_H

#include "accc/safetensors.h"

namespace accc::detail {

/// The largest header that is read: 100 MB, as in the reference implementation.
inline constexpr uint64_t maxHeaderBytes = 100'000'000;

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries; // sorted by begin
  Metadata metadata;
};

/// Checks all that can be known without the data: JSON without duplicate keys; known types;
/// sizes that follow from shape and type without overflow; byte ranges that lie one after the
/// other from 0 to `dataBytes`. Throws Error (data) whose message starts with `path`.
SafetensorsHeader parseSafetensorsHeader(std::string_view text, uint64_t dataBytes,
                                         const std::string &path);

/// The header's text, padded with spaces so that the data starts at a multiple of ACCC_ALIGNMENT,
/// and with that the entries' byte ranges. Throws Error (usage) for names that a file cannot hold.
std::string writeSafetensorsHeader(const NamedTensors &tensors, const Metadata &metadata,
                                   const std::string &path);

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_SAFETENSORSHEADER_H
