// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/ExternalData.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/SmallVector.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace accc::onnx_import;

namespace {

/// A file descriptor that closes itself.
class Descriptor {
public:
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { reset(-1); }
  void reset(int other) {
    if (fd >= 0)
      close(fd);
    fd = other;
  }
  int get() const { return fd; }

private:
  int fd;
};

/// The parts of a relative path that stays below its start.
llvm::SmallVector<std::string> parts(const std::string &location) {
  std::string what = "external data at '" + location + "': ";
  if (location.empty())
    fail("external data without a location");
  if (location.find('\0') != std::string::npos)
    fail("external data whose location contains a zero byte");
  if (location.front() == '/')
    fail(what + "the location must be relative to the model");
  llvm::SmallVector<llvm::StringRef> split;
  llvm::StringRef(location).split(split, '/', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<std::string> result;
  for (llvm::StringRef part : split) {
    if (part == "..")
      fail(what + "the location must not contain '..'");
    if (part != ".")
      result.push_back(part.str());
  }
  if (result.empty())
    fail(what + "the location names no file");
  return result;
}

std::string reason() {
  return errno == ELOOP || errno == ENOTDIR ? "symbolic links are not followed"
                                            : std::strerror(errno);
}

uint64_t number(llvm::StringRef text, llvm::StringRef key) {
  uint64_t value = 0;
  if (text.getAsInteger(10, value))
    fail("external data whose " + key + " is not a number: '" + text + "'");
  return value;
}

} // namespace

struct ExternalData::Mapping {
  const char *data = nullptr;
  uint64_t size = 0;

  ~Mapping() {
    if (data && size)
      munmap(const_cast<char *>(data), size);
  }
};

// Opens one part after the other, each relative to the folder before it and none of them a link:
// nothing that another process does to the path in the meantime leads out of the folder.
std::shared_ptr<const ExternalData::Mapping> ExternalData::map(const std::string &location) {
  std::string what = "external data at '" + location + "': ";
  auto path = parts(location);
  Descriptor at(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0)
    fail(what + "cannot open the model's folder: " + std::strerror(errno));
  for (size_t i = 0; i < path.size(); ++i) {
    bool last = i + 1 == path.size();
    int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY);
    int next = openat(at.get(), path[i].c_str(), flags);
    if (next < 0)
      fail(what + reason());
    at.reset(next);
  }
  struct stat status;
  if (fstat(at.get(), &status) != 0)
    fail(what + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    fail(what + "not a regular file");
  if (status.st_nlink > 1)
    fail(what + "the file has more than one hard link");

  auto mapping = std::make_shared<Mapping>();
  mapping->size = static_cast<uint64_t>(status.st_size);
  if (mapping->size == 0)
    return mapping;
  void *data = mmap(nullptr, mapping->size, PROT_READ, MAP_PRIVATE, at.get(), 0);
  if (data == MAP_FAILED)
    fail(what + std::strerror(errno));
  mapping->data = static_cast<const char *>(data);
  return mapping;
}

std::vector<std::string> ExternalData::paths() const {
  std::vector<std::string> result;
  for (const auto &mapping : mappings)
    result.push_back(directory + "/" + mapping.first().str());
  return result;
}

std::vector<std::string> ExternalData::problems() const {
  std::vector<std::string> result;
  for (const auto &[location, file] : unreadable)
    result.push_back(file.why + (file.tensors.size() > 1
                                     ? " (" + std::to_string(file.tensors.size()) +
                                           " tensors of the model are in it)"
                                     : " (the tensor '" + *file.tensors.begin() + "' is in it)"));
  return result;
}

std::shared_ptr<const ExternalData::Mapping> ExternalData::find(const std::string &location,
                                                                const std::string &tensor) {
  if (auto known = mappings.find(location); known != mappings.end())
    return known->second;
  auto broken = unreadable.find(location);
  if (broken == unreadable.end()) {
    try {
      return mappings[location] = map(location);
    } catch (const ImportError &error) {
      broken = unreadable.insert({location, {error.message, {}}}).first;
    }
  }
  broken->second.tensors.insert(tensor);
  throw FileError{{broken->second.why}};
}

ExternalData::Bytes ExternalData::read(const onnx::TensorProto &tensor, uint64_t size) {
  std::string location;
  uint64_t offset = 0, length = size;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    if (entry.key() == "location")
      location = entry.value();
    else if (entry.key() == "offset")
      offset = number(entry.value(), "offset");
    else if (entry.key() == "length")
      length = number(entry.value(), "length");
  }
  if (length != size)
    fail("external data at '" + location + "' has " + llvm::Twine(length) +
         " bytes where its type needs " + llvm::Twine(size));
  std::shared_ptr<const Mapping> mapping = find(location, tensor.name());
  if (offset > mapping->size || length > mapping->size - offset)
    fail("external data at '" + location + "': the file ends before the tensor does");
  return {llvm::ArrayRef<char>(mapping->data + offset, length), mapping};
}
