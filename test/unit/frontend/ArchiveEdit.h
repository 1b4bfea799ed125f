// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Archives of PyTorch with something changed in them.
#ifndef ACCC_TEST_UNIT_FRONTEND_ARCHIVEEDIT_H
#define ACCC_TEST_UNIT_FRONTEND_ARCHIVEEDIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <catch2/catch.hpp>
#include <zip.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace accc::test {

/// The archive after `edit(zip)`.
template <typename Edit> std::string edited(const std::string &bytes, Edit edit) {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("accc_archive_" + std::to_string(getpid()));
  std::ofstream(path, std::ios::binary) << bytes;
  int code = 0;
  zip_t *zip = zip_open(path.c_str(), 0, &code);
  REQUIRE(zip);
  edit(zip);
  REQUIRE(zip_close(zip) == 0);
  auto buffer = llvm::MemoryBuffer::getFile(path.string());
  REQUIRE(buffer);
  std::string result = (*buffer)->getBuffer().str();
  std::filesystem::remove(path);
  return result;
}

/// The archive with one of its records changed; `record` may leave out the root.
template <typename Change>
std::string changed(const std::string &bytes, const std::string &record, Change change) {
  std::string text; // until the archive is written
  return edited(bytes, [&](zip_t *zip) {
    bool found = false;
    for (zip_int64_t i = 0; i < zip_get_num_entries(zip, 0); ++i) {
      std::string name = zip_get_name(zip, i, ZIP_FL_ENC_RAW);
      if (!llvm::StringRef(name).ends_with(record))
        continue;
      found = true;
      zip_stat_t stat;
      REQUIRE(zip_stat_index(zip, i, 0, &stat) == 0);
      text.resize(stat.size);
      zip_file_t *file = zip_fopen_index(zip, i, 0);
      REQUIRE(zip_fread(file, text.data(), text.size()) == static_cast<zip_int64_t>(text.size()));
      zip_fclose(file);
      change(text);
      REQUIRE(zip_file_replace(zip, i, zip_source_buffer(zip, text.data(), text.size(), 0), 0) ==
              0);
    }
    REQUIRE(found);
  });
}

/// The archive with one of its records, by its full name, under another name.
inline std::string renamed(const std::string &bytes, const std::string &from,
                           const std::string &to) {
  return edited(bytes, [&](zip_t *zip) {
    REQUIRE(zip_file_rename(zip, zip_name_locate(zip, from.c_str(), 0), to.c_str(), 0) == 0);
  });
}

/// The first `from` of a record replaced.
inline std::string replaced(const std::string &bytes, const std::string &record,
                            const std::string &from, const std::string &to) {
  return changed(bytes, record, [&](std::string &text) {
    size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  });
}

} // namespace accc::test

#endif
