// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/checksum.h"

#include "accc/error.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace accc {

// ---- XXH64 ----

static uint64_t readWord(const unsigned char *data) {
  uint64_t word;
  std::memcpy(&word, data, sizeof word); // little endian, as the machine is
  return word;
}

uint64_t Xxh64::round(uint64_t lane, uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

void Xxh64::add(const void *data, size_t bytes) {
  auto *at = static_cast<const unsigned char *>(data);
  length_ += bytes;
  uint64_t a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
  for (; bytes >= 32; at += 32, bytes -= 32) {
    a = round(a, readWord(at));
    b = round(b, readWord(at + 8));
    c = round(c, readWord(at + 16));
    d = round(d, readWord(at + 24));
  }
  lanes_[0] = a, lanes_[1] = b, lanes_[2] = c, lanes_[3] = d;
  std::copy_n(at, bytes, rest_); // at may be null where there is nothing
}

uint64_t Xxh64::get() const {
  uint64_t hash = kPrime5;
  if (length_ >= 32) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (uint64_t lane : lanes_)
      hash = (hash ^ round(0, lane)) * kPrime1 + kPrime4;
  }
  hash += length_;
  const unsigned char *at = rest_, *end = rest_ + length_ % 32;
  for (; end - at >= 8; at += 8)
    hash = std::rotl(hash ^ round(0, readWord(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4) {
    uint32_t half;
    std::memcpy(&half, at, sizeof half);
    hash = std::rotl(hash ^ half * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at < end; ++at)
    hash = std::rotl(hash ^ *at * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

// ---- Files ----

namespace {

constexpr char kMagic[] = {'a', 'c', 'c', 'c', ' ', 's', 'u', 'm'};

struct Trailer {
  char magic[8];
  uint64_t length, hash;
};

class File {
public:
  File(const std::string &path, int flags)
      : path(path), descriptor(::open(path.c_str(), flags | O_CLOEXEC)) {
    struct stat status = {};
    if (descriptor < 0 || ::fstat(descriptor, &status) != 0)
      fail("read");
    size = static_cast<uint64_t>(status.st_size);
  }
  File(const File &) = delete;
  File &operator=(const File &) = delete;
  ~File() {
    if (descriptor >= 0)
      ::close(descriptor);
  }

  [[noreturn]] void fail(const char *action) const {
    throw Error(ErrorKind::machine,
                "cannot " + std::string(action) + " " + path + ": " + std::strerror(errno));
  }

  /// Reads bytes that are there; false if the file has become shorter.
  bool read(uint64_t offset, void *to, size_t bytes) const {
    for (auto *at = static_cast<char *>(to); bytes;) {
      ssize_t got = ::pread(descriptor, at, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        fail("read");
      if (got == 0)
        return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

  void append(const void *data, size_t bytes) const {
    for (auto *at = static_cast<const char *>(data); bytes;) {
      ssize_t written = ::write(descriptor, at, bytes);
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        fail("write");
      at += written;
      bytes -= static_cast<size_t>(written);
    }
  }

  uint64_t hash(uint64_t length) const {
    constexpr size_t pieceBytes = 1 << 18; // stays in the cache between reading and hashing
    auto piece = std::make_unique<char[]>(pieceBytes);
    Xxh64 hash;
    for (uint64_t at = 0; at < length; at += pieceBytes) {
      size_t bytes = std::min<uint64_t>(pieceBytes, length - at);
      if (!read(at, piece.get(), bytes))
        break;
      hash.add(piece.get(), bytes);
    }
    return hash.get();
  }

  uint64_t size = 0;

private:
  const std::string &path;
  int descriptor;
};

/// What is wrong with a file without a checksum; empty if nothing.
std::string checkElf(const File &file) {
  Elf64_Ehdr header;
  if (file.size < sizeof header || !file.read(0, &header, sizeof header))
    return "it ends within its header";
  uint64_t end = header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize;
  if (end < header.e_shoff || end > file.size)
    return "it ends after " + std::to_string(file.size) + " of at least " + std::to_string(end) +
           " bytes";
  return {};
}

} // namespace

void append_checksum(const std::string &path) {
  File file(path, O_RDWR | O_APPEND);
  Trailer trailer{.length = file.size, .hash = file.hash(file.size)};
  std::memcpy(trailer.magic, kMagic, sizeof kMagic);
  file.append(&trailer, sizeof trailer);
}

void check_checksum(const std::string &path) {
  File file(path, O_RDONLY);
  char magic[SELFMAG];
  if (file.size < SELFMAG || !file.read(0, magic, SELFMAG) ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0)
    return;
  Trailer trailer = {};
  bool hasTrailer = file.size > sizeof trailer &&
                    file.read(file.size - sizeof trailer, &trailer, sizeof trailer) &&
                    std::memcmp(trailer.magic, kMagic, sizeof kMagic) == 0;
  std::string problem;
  if (!hasTrailer)
    problem = checkElf(file);
  else if (trailer.length != file.size - sizeof trailer)
    problem = "it has " + std::to_string(file.size) + " bytes, not " +
              std::to_string(trailer.length + sizeof trailer);
  else if (trailer.hash != file.hash(trailer.length))
    problem = "its bytes are not those that were written (the checksum differs)";
  if (!problem.empty())
    throw Error(ErrorKind::data, path + " is damaged: " + problem + "; compile it again");
}

} // namespace accc
