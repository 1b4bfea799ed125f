// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/model.h"

#include "CheckDescription.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>

namespace accc {

struct Model::Library {
  std::string path;
  void *handle = nullptr;
  const accc_model_description *description = nullptr;

  Library() = default;
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library() {
    if (handle)
      ::dlclose(handle);
  }
};

namespace {

/// Absolute, so that dlopen does not search its own folders for a bare name.
std::string absolutePath(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  if (!real)
    throw Error(ErrorKind::usage, "cannot load the model " + path + ": " + std::strerror(errno));
  std::string result = real;
  std::free(real);
  struct stat status = {};
  if (::stat(result.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorKind::usage, "cannot load the model " + path + ": it is not a file");
  return result;
}

template <typename Item, typename Name>
const Item *findByName(std::span<const Item> items, std::string_view name, Name &&nameOf) {
  for (const Item &item : items)
    if (nameOf(item) == name)
      return &item;
  return nullptr;
}

} // namespace

Model::Model(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

Model Model::load(const std::string &path) {
  auto library = std::make_shared<Library>();
  library->path = absolutePath(path);
  library->handle = ::dlopen(library->path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library->handle)
    throw Error(ErrorKind::data, "cannot load the model " + path + ": " + ::dlerror());
  auto describe =
      reinterpret_cast<accc_model_function>(::dlsym(library->handle, ACCC_MODEL_SYMBOL));
  if (!describe)
    throw Error(ErrorKind::data, path + " is a library but no compiled model: it has no symbol '" +
                                     ACCC_MODEL_SYMBOL + "'");
  library->description = describe();
  detail::checkDescription(library->description, path);
  return Model(std::move(library));
}

const std::string &Model::path() const { return library_->path; }
const accc_model_description &Model::description() const { return *library_->description; }

std::span<const accc_entry> Model::entries() const {
  return {description().entries, static_cast<size_t>(description().num_entries)};
}

std::span<const accc_variable> Model::variables() const {
  return {description().variables, static_cast<size_t>(description().num_variables)};
}

const accc_entry *Model::find_entry(std::string_view name) const {
  return findByName(entries(), name, [](const accc_entry &entry) { return entry.name; });
}

const accc_variable *Model::find_variable(std::string_view name) const {
  return findByName(variables(), name,
                    [](const accc_variable &variable) { return variable.tensor.name; });
}

const accc_entry &Model::entry(std::string_view name) const {
  if (const accc_entry *found = find_entry(name))
    return *found;
  std::string list;
  for (const accc_entry &entry : entries())
    list += (list.empty() ? "" : ", ") + std::string(entry.name);
  std::string message = "model " + std::string(this->name()) + " has no entry point " +
                        std::string(name) + "; it has: " + list;
  if (!find_entry("train_step"))
    message += " (compile it with --loss and --optimizer to train it)";
  throw Error(ErrorKind::usage, message);
}

std::string to_string(const accc_tensor &tensor) {
  return to_string(static_cast<DType>(tensor.dtype), shape_of(tensor));
}

} // namespace accc
