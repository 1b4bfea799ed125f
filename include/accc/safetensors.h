// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files, read strictly and written atomically. The layout of a file:
//   8 bytes   n, the header's length, little endian
//   n bytes   JSON: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
//             and optionally "__metadata__": {string: string}; may end in spaces
//   the rest  the tensors' bytes, contiguous and without overlap, little endian
#ifndef ACCC_SAFETENSORS_H
#define ACCC_SAFETENSORS_H

#include "accc/tensor.h"

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accc {

/// One tensor of a file. `begin` and `end` are bytes after the header.
struct SafetensorsEntry {
  std::string name;
  DType dtype;
  Shape shape;
  uint64_t begin;
  uint64_t end;
};

using Metadata = std::map<std::string, std::string>;

/// An open file whose header has been checked in full: nothing that the reader hands out can
/// reach outside the file, and no two tensors share bytes. Every error names the file and, where
/// there is one, the tensor. A file that breaks the format is Error (data), one that the system
/// will not read Error (machine), one that is not there Error (usage).
class SafetensorsReader {
public:
  explicit SafetensorsReader(const std::string &path);
  SafetensorsReader(SafetensorsReader &&other) noexcept;
  SafetensorsReader &operator=(SafetensorsReader &&other) noexcept;
  ~SafetensorsReader();

  const std::string &path() const { return path_; }
  /// In the order of their bytes in the file.
  const std::vector<SafetensorsEntry> &entries() const { return entries_; }
  const Metadata &metadata() const { return metadata_; }
  /// nullptr where the file has no such tensor.
  const SafetensorsEntry *find(std::string_view name) const;

  /// Reads one tensor into new storage.
  Tensor read(const SafetensorsEntry &entry) const;
  /// Throws Error (data) where the file has no such tensor.
  Tensor read(std::string_view name) const;
  /// Reads one tensor to `destination`, which has room for end - begin bytes.
  void read_into(const SafetensorsEntry &entry, void *destination) const;
  TensorMap read_all() const;

private:
  std::string path_;
  int file_ = -1;
  uint64_t data_offset_ = 0;
  std::vector<SafetensorsEntry> entries_; // sorted by begin
  std::map<std::string, size_t, std::less<>> index_;
  Metadata metadata_;
};

/// All tensors of a file.
TensorMap load_safetensors(const std::string &path);

/// Tensors in the order they are to be written.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Writes a file atomically: into a temporary file in the same folder, synchronised, renamed over
/// `path`, folder synchronised. When it throws, the file that was at `path` is as it was. A file
/// that existed keeps its permissions; a symbolic link is written through. The same tensors give
/// the same bytes. Throws Error (machine) where the system refuses (a full disk, say) and Error
/// (usage) for names that are twice there, not UTF-8 or "__metadata__".
void save_safetensors(const std::string &path, const NamedTensors &tensors,
                      const Metadata &metadata = {});
/// The same for a TensorMap, in the order of the names. (A template, so that a braced list of
/// tensors is never ambiguous.)
template <std::same_as<TensorMap> Map>
void save_safetensors(const std::string &path, const Map &tensors, const Metadata &metadata = {}) {
  save_safetensors(path, NamedTensors(tensors.begin(), tensors.end()), metadata);
}

/// Gives the bytes of such a file, piece by piece, to whoever writes it in a way of his own. `path`
/// is for messages. Throws Error (usage) as above before the first piece.
void write_safetensors(const std::string &path, const NamedTensors &tensors,
                       const Metadata &metadata,
                       const std::function<void(const void *, size_t)> &write);

} // namespace accc

#endif // ACCC_SAFETENSORS_H
