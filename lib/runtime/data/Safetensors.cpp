// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/safetensors.h"

#include "AtomicFile.h"
#include "Elements.h"
#include "SafetensorsHeader.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

// Element bytes are copied as they are.
static_assert(std::endian::native == std::endian::little, "safetensors are little endian");

namespace accc {

namespace {

/// Reads exactly `bytes` at `offset`, or throws.
void readAt(int file, uint64_t offset, void *destination, uint64_t bytes, const std::string &path) {
  char *position = static_cast<char *>(destination);
  while (bytes) {
    // Linux reads at most 2 GiB in one call.
    ssize_t got =
        ::pread(file, position, std::min<uint64_t>(bytes, 1u << 30), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      throw Error(ErrorKind::machine, "cannot read " + path + ": " + std::strerror(errno));
    if (got == 0)
      throw Error(ErrorKind::data, path + ": the file became shorter while it was read");
    position += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<uint64_t>(got);
  }
}

uint64_t fileSize(int file, const std::string &path) {
  struct stat status = {};
  if (::fstat(file, &status) != 0)
    throw Error(ErrorKind::machine, "cannot read " + path + ": " + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::usage, "cannot read " + path + ": it is not a regular file");
  return static_cast<uint64_t>(status.st_size);
}

uint64_t littleEndian(const unsigned char (&bytes)[8]) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | bytes[i];
  return value;
}

/// What a file is by its first bytes, if it is of a format that is easily mistaken for this one.
const char *otherFormat(const unsigned char *prefix) {
  auto begins = [&](std::string_view bytes) {
    return std::memcmp(prefix, bytes.data(), bytes.size()) == 0;
  };
  if (begins("PK\x03\x04"))
    return "a zip archive, as torch.save and numpy.savez write them";
  if (begins("\x93NUMPY"))
    return "a file of numpy.save";
  if (begins("\x80\x02\x8a\x0al\xfc"))
    return "a pickle, as torch.save wrote them before PyTorch 1.6";
  return nullptr;
}

} // namespace

SafetensorsReader::SafetensorsReader(const std::string &path)
    // Not blocking, so that a named pipe is refused instead of waited for.
    : path_(path), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) {
    bool absent = errno == ENOENT || errno == ENOTDIR;
    throw Error(absent ? ErrorKind::usage : ErrorKind::machine,
                "cannot read " + path + ": " + std::strerror(errno));
  }
  try {
    uint64_t size = fileSize(file_, path), length = 0;
    unsigned char prefix[8];
    if (size < sizeof prefix)
      throw Error(ErrorKind::data, path + ": not a valid safetensors file: it has " +
                                       std::to_string(size) +
                                       " bytes, fewer than the header's length takes (8)");
    readAt(file_, 0, prefix, sizeof prefix, path);
    length = littleEndian(prefix);
    bool isTooLong = length > detail::maxHeaderBytes || length > size - sizeof prefix;
    if (const char *other = otherFormat(prefix); other && isTooLong)
      throw Error(ErrorKind::data, path + ": not a safetensors file, but " + other +
                                       ": write the tensors with save_file of safetensors.torch or "
                                       "safetensors.numpy");
    if (isTooLong)
      throw Error(ErrorKind::data, path + ": not a valid safetensors file: its header would take " +
                                       std::to_string(length) + " bytes, " +
                                       (length > detail::maxHeaderBytes
                                            ? "more than the 100 MB that the format allows"
                                            : "more than the file has (is it truncated?)"));
    std::string header(length, '\0');
    readAt(file_, sizeof prefix, header.data(), length, path);
    data_offset_ = sizeof prefix + length;
    detail::SafetensorsHeader parsed =
        detail::parseSafetensorsHeader(header, size - data_offset_, path);
    entries_ = std::move(parsed.entries);
    metadata_ = std::move(parsed.metadata);
    for (size_t i = 0; i < entries_.size(); ++i)
      index_.emplace(entries_[i].name, i);
  } catch (...) {
    ::close(file_); // the destructor does not run for an object that was never made
    throw;
  }
}

SafetensorsReader::SafetensorsReader(SafetensorsReader &&other) noexcept
    : path_(std::move(other.path_)), file_(std::exchange(other.file_, -1)),
      data_offset_(other.data_offset_), entries_(std::move(other.entries_)),
      index_(std::move(other.index_)), metadata_(std::move(other.metadata_)) {}

SafetensorsReader &SafetensorsReader::operator=(SafetensorsReader &&other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(data_offset_, other.data_offset_);
  std::swap(entries_, other.entries_);
  std::swap(index_, other.index_);
  std::swap(metadata_, other.metadata_);
  return *this;
}

SafetensorsReader::~SafetensorsReader() {
  if (file_ >= 0)
    ::close(file_);
}

const SafetensorsEntry *SafetensorsReader::find(std::string_view name) const {
  auto found = index_.find(name);
  return found == index_.end() ? nullptr : &entries_[found->second];
}

Tensor SafetensorsReader::read(const SafetensorsEntry &entry) const {
  Tensor result(entry.dtype, entry.shape);
  read_into(entry, result.raw());
  return result;
}

Tensor SafetensorsReader::read(std::string_view name) const {
  const SafetensorsEntry *entry = find(name);
  if (!entry)
    throw Error(ErrorKind::data, path_ + ": there is no tensor \"" + std::string(name) +
                                     "\" among its " + std::to_string(entries_.size()));
  return read(*entry);
}

void SafetensorsReader::read_into(const SafetensorsEntry &entry, void *destination) const {
  readAt(file_, data_offset_ + entry.begin, destination, entry.end - entry.begin, path_);
  // Compiled code relies on booleans being 0 or 1.
  std::string wrong = detail::describeNonBoolean(entry.dtype, destination, entry.end - entry.begin);
  if (!wrong.empty())
    throw Error(ErrorKind::data, path_ + ": tensor \"" + entry.name + "\": " + wrong);
}

TensorMap SafetensorsReader::read_all() const {
  TensorMap result;
  for (const SafetensorsEntry &entry : entries_)
    result.emplace(entry.name, read(entry));
  return result;
}

TensorMap load_safetensors(const std::string &path) { return SafetensorsReader(path).read_all(); }

void write_safetensors(const std::string &path, const NamedTensors &tensors,
                       const Metadata &metadata,
                       const std::function<void(const void *, size_t)> &write) {
  std::string header = detail::writeSafetensorsHeader(tensors, metadata, path);
  for (const auto &[name, tensor] : tensors)
    if (std::string wrong = detail::whyNotKept(tensor); !wrong.empty())
      throw Error(ErrorKind::usage, "cannot write " + path + ": tensor \"" + name + "\": " + wrong);
  unsigned char prefix[8];
  for (int i = 0; i < 8; ++i)
    prefix[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  write(prefix, sizeof prefix);
  write(header.data(), header.size());
  for (const auto &[name, tensor] : tensors)
    write(tensor.raw(), tensor.size_bytes());
}

void save_safetensors(const std::string &path, const NamedTensors &tensors,
                      const Metadata &metadata) {
  std::optional<detail::AtomicFile> file;
  write_safetensors(path, tensors, metadata, [&](const void *data, size_t bytes) {
    if (!file)
      file.emplace(path);
    file->write(data, bytes);
  });
  file->commit();
}

} // namespace accc
