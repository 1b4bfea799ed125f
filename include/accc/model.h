// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiled model as loaded from disk: what it is, not yet what it has learnt.
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
  /// Loads a library that `accc compile` wrote. Throws Error:
  /// - usage where the path leads to no file, or to something other than a file;
  /// - data where the file is damaged (cut off, longer than it was written, or with changed bytes:
  ///   a checksum at its end is verified before any of it is mapped), is no compiled model, or
  ///   speaks another ABI version;
  /// - machine where the file cannot be read, or this machine lacks the instructions of all code in
  ///   it, or the runtime the half for its target.
  /// Session::load and load_safetensors throw the same kinds for files of tensors: data where the
  /// header or the lengths are wrong, naming the tensor; machine where reading fails.
  static Model load(const std::string &path);
  /// The same with the code for one target ("cuda") of those that the library holds; Error (usage)
  /// where it holds none.
  static Model load(const std::string &path, std::string_view target);
  /// As load(path), but whether this machine can run the library is not asked: for what looks at
  /// it. Where it cannot, a Session on it throws what load() would have thrown.
  static Model describe(const std::string &path);

  /// Whether load() gave it.
  bool is_to_run() const;
  /// Absolute.
  const std::string &path() const;
  const accc_model_description &description() const;
  std::string_view name() const { return description().name; }

  /// What of the library this machine runs: the best code for it, or that for the machine that the
  /// environment variable ACCC_ARCH names ("x86-64-v3"). Of a model that is only described and that
  /// it cannot run, the best code.
  const accc_code &code() const;
  /// Of that code. Entries of one name differ in the shapes of what they take.
  std::span<const accc_entry> entries() const;
  std::span<const accc_variable> variables() const;
  /// The sizes that the library was compiled for, "batch=32,seq=64" and others; one, "", where it
  /// was compiled for no choice of them.
  std::vector<std::string_view> sizes() const;

  /// nullptr where there is none of that name and those sizes; without sizes the first of the name.
  const accc_entry *find_entry(std::string_view name, std::string_view sizes = {}) const;
  const accc_variable *find_variable(std::string_view name) const;
  /// The same, but throws Error (usage) that lists what there is.
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
