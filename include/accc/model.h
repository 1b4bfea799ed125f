// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled model as loaded from disk: its code and description, without state (session.h).
#ifndef ACCC_MODEL_H
#define ACCC_MODEL_H

#include "accc/abi.h"
#include "accc/tensor.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace accc {

/// A loaded model.so. Immutable, cheap to copy; the library is unloaded with the last copy.
class Model {
public:
  /// Loads a library that `accc compile` wrote: the file that is at the path now, also where it has
  /// replaced one that is in use. Throws Error:
  /// - usage where the path leads to no file, or to something other than a file;
  /// - data where the file is damaged (cut off, longer than it was written, or with changed bytes:
  ///   a checksum at its end is verified before any of it is mapped), is no compiled model, or
  ///   has another ABI version;
  /// - machine where the file cannot be read, where this machine supports none of the code in it,
  ///   or where the runtime was built without support for its target.
  /// Session::load and load_safetensors throw the same kinds for files of tensors: data where the
  /// header or the lengths are wrong, naming the tensor; machine where reading fails.
  static Model load(const std::string &path);
  /// The same with the code for one target ("cuda") of those that the library holds; Error (usage)
  /// where it holds none.
  static Model load(const std::string &path, std::string_view target);
  /// As load(path), without a check that this machine can run the library: for reading its
  /// description. If it cannot, a Session on it throws what load() would have thrown.
  static Model describe(const std::string &path);

  /// True if load() returned it, false if describe() did.
  bool is_to_run() const;
  /// The absolute path of the library.
  const std::string &path() const;
  const accc_model_description &description() const;
  std::string_view name() const { return description().name; }

  /// The code that this machine runs: the best that it supports, or that for the architecture named
  /// by the environment variable ACCC_ARCH ("x86-64-v3"). If it supports none (describe()), the
  /// best code in the library.
  const accc_code &code() const;
  /// The entry points of that code. Several entries of one name differ in the shapes of their
  /// inputs.
  std::span<const accc_entry> entries() const;
  std::span<const accc_variable> variables() const;
  /// The sizes that the library was compiled for, such as "batch=32,seq=64"; one empty string if it
  /// was compiled for a single size.
  std::vector<std::string_view> sizes() const;

  /// nullptr if there is none of that name and those sizes; without sizes the first of that name.
  const accc_entry *find_entry(std::string_view name, std::string_view sizes = {}) const;
  const accc_variable *find_variable(std::string_view name) const;
  /// As find_entry, but throws Error (usage), which lists the entry points, if there is none.
  const accc_entry &entry(std::string_view name, std::string_view sizes = {}) const;

private:
  struct Library;
  explicit Model(std::shared_ptr<const Library> library);
  static Model open(const std::string &path, bool toRun, std::string_view target = {});
  std::shared_ptr<const Library> library_;
};

/// The extents of a tensor of the description.
inline std::span<const int64_t> shape_of(const accc_tensor &tensor) {
  return {tensor.shape, static_cast<size_t>(tensor.rank)};
}
/// Its size in memory.
inline size_t size_bytes_of(const accc_tensor &tensor) {
  size_t bytes = size_of(static_cast<DType>(tensor.dtype));
  for (int64_t extent : shape_of(tensor))
    bytes *= static_cast<size_t>(extent);
  return bytes;
}
/// "f32[64, 10]"
std::string to_string(const accc_tensor &tensor);

} // namespace accc

#endif // ACCC_MODEL_H
