// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Archive.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/STLExtras.h"

#include <zip.h>

using namespace accc;
using namespace accc::frontend;
using llvm::Twine;

// Records are many and small; a model of a million tensors is none.
static constexpr zip_int64_t kMostRecords = 1 << 20;

struct Archive::Handle {
  Record source; // of an archive in memory
  zip_t *zip = nullptr;
  ~Handle() {
    if (zip)
      zip_discard(zip);
  }
};

[[noreturn]] static void refuse(const char *reason) {
  fail(Twine("the file is no zip archive that can be read: ") + reason);
}

Archive::Archive(const std::string &path) : handle(std::make_shared<Handle>()) {
  int code = 0;
  handle->zip = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code);
  if (!handle->zip) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    std::string message = zip_error_strerror(&error);
    zip_error_fini(&error);
    refuse(message.c_str());
  }
  list();
}

Archive::Archive(Record bytes) : handle(std::make_shared<Handle>()) {
  handle->source = std::move(bytes);
  zip_error_t error;
  zip_error_init(&error);
  const Record &memory = handle->source;
  zip_source_t *source =
      zip_source_buffer_create(memory.bytes.data(), memory.bytes.size(), /*freep=*/0, &error);
  if (source)
    handle->zip = zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error);
  if (source && !handle->zip)
    zip_source_free(source);
  std::string message = handle->zip ? "" : zip_error_strerror(&error);
  zip_error_fini(&error);
  if (!handle->zip)
    refuse(message.c_str());
  list();
}

void Archive::list() {
  zip_int64_t count = zip_get_num_entries(handle->zip, 0);
  if (count <= 0 || count > kMostRecords)
    fail("the archive has " + Twine(count) + " records");
  for (zip_int64_t i = 0; i < count; ++i) {
    const char *name = zip_get_name(handle->zip, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    records.push_back(name ? name : "");
  }
  std::string root = llvm::StringRef(records.front()).split('/').first.str() + "/";
  bool hasRoot = llvm::all_of(records, [&](llvm::StringRef name) {
    return name.size() > root.size() && name.starts_with(root);
  });
  for (auto [i, name] : llvm::enumerate(records)) {
    if (hasRoot)
      name.erase(0, root.size());
    if (!indices.insert({name, i}).second)
      fail("the archive has the record '" + name + "' twice");
  }
}

bool Archive::has(llvm::StringRef name) const { return indices.contains(name); }

Archive::Record Archive::read(llvm::StringRef name, uint64_t limit) const {
  auto found = indices.find(name);
  if (found == indices.end())
    fail("the archive has no record '" + name + "'");
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(handle->zip, found->second, 0, &stat) != 0 ||
      (stat.valid & ZIP_STAT_SIZE) == 0)
    fail("the size of the record '" + name + "' cannot be read");
  if (stat.size > limit)
    fail("the record '" + name + "' has " + Twine(stat.size) + " bytes, more than the " +
         Twine(limit) + " that it may have");
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> file(
      zip_fopen_index(handle->zip, found->second, 0), zip_fclose);
  auto bytes = std::make_shared<std::vector<char>>();
  // The size that a record claims is not allocated before the bytes are there.
  constexpr uint64_t chunk = uint64_t(1) << 26;
  while (file && bytes->size() < stat.size) {
    size_t at = bytes->size();
    bytes->resize(at + static_cast<size_t>(std::min(chunk, stat.size - at)));
    zip_int64_t got = zip_fread(file.get(), bytes->data() + at, bytes->size() - at);
    if (got <= 0)
      fail("the record '" + name + "' cannot be read: the archive is damaged");
    bytes->resize(at + static_cast<size_t>(got));
  }
  // The checksum is verified where a record ends.
  char more;
  if (!file || zip_fread(file.get(), &more, 1) != 0)
    fail("the record '" + name + "' cannot be read: the archive is damaged");
  return {llvm::ArrayRef<char>(bytes->data(), bytes->size()), bytes};
}

std::string Archive::text(llvm::StringRef name, uint64_t limit) const {
  Record record = read(name, limit);
  return std::string(record.bytes.data(), record.bytes.size());
}
