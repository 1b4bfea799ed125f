// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/model.h"

#include "CheckDescription.h"
#include "accc/checksum.h"
#include "data/LibraryFiles.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fstream>
#include <sys/stat.h>

namespace accc {

struct Model::Library {
  std::string path;
  void *handle = nullptr;
  const accc_model_description *description = nullptr;
  const accc_code *code = nullptr;
  bool isToRun = true;

  Library() = default;
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library() {
    if (handle)
      detail::closeLibrary(handle);
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

void addNew(std::vector<std::string_view> &list, std::string_view text) {
  if (std::find(list.begin(), list.end(), text) == list.end())
    list.push_back(text);
}

std::string join(const std::vector<std::string_view> &list, const char *separator) {
  std::string text;
  for (std::string_view item : list)
    text += (text.empty() ? "" : separator) + std::string(item);
  return text;
}

} // namespace

Model::Model(std::shared_ptr<const Library> library) : library_(std::move(library)) {}

Model Model::load(const std::string &path) { return open(path, /*toRun=*/true); }
Model Model::load(const std::string &path, std::string_view target) {
  return open(path, /*toRun=*/true, target);
}
Model Model::describe(const std::string &path) { return open(path, /*toRun=*/false); }

Model Model::open(const std::string &path, bool toRun, std::string_view target) {
  auto library = std::make_shared<Library>();
  library->path = absolutePath(path);
  check_checksum(library->path); // before its code is mapped
  if (char magic[SELFMAG] = {};
      !std::ifstream(library->path, std::ios::binary).read(magic, SELFMAG) ||
      std::memcmp(magic, ELFMAG, SELFMAG) != 0)
    throw Error(ErrorKind::data,
                "cannot load the model " + path +
                    ": it is no compiled model; accc compile makes one of an exported model");
  library->handle = detail::openLibrary(library->path);
  if (!library->handle)
    throw Error(ErrorKind::data, "cannot load the model " + path + ": " + ::dlerror());
  auto describe =
      reinterpret_cast<accc_model_function>(::dlsym(library->handle, ACCC_MODEL_SYMBOL));
  if (!describe)
    throw Error(ErrorKind::data, path + " is a library but no compiled model: it has no symbol '" +
                                     ACCC_MODEL_SYMBOL + "'");
  library->description = describe();
  library->code = &detail::checkDescription(library->description, path, toRun, target);
  library->isToRun = toRun;
  return Model(std::move(library));
}

bool Model::is_to_run() const { return library_->isToRun; }
const std::string &Model::path() const { return library_->path; }
const accc_model_description &Model::description() const { return *library_->description; }

const accc_code &Model::code() const { return *library_->code; }

std::span<const accc_entry> Model::entries() const {
  return {code().entries, static_cast<size_t>(code().num_entries)};
}

std::span<const accc_variable> Model::variables() const {
  return {description().variables, static_cast<size_t>(description().num_variables)};
}

std::vector<std::string_view> Model::sizes() const {
  std::vector<std::string_view> result;
  for (const accc_entry &entry : entries())
    if (*entry.sizes)
      addNew(result, entry.sizes);
  if (result.empty())
    result.push_back("");
  return result;
}

const accc_entry *Model::find_entry(std::string_view name, std::string_view sizes) const {
  for (const accc_entry &entry : entries())
    if (entry.name == name && (sizes.empty() || !*entry.sizes || entry.sizes == sizes))
      return &entry;
  return nullptr;
}

const accc_variable *Model::find_variable(std::string_view name) const {
  for (const accc_variable &variable : variables())
    if (variable.tensor.name == name)
      return &variable;
  return nullptr;
}

const accc_entry &Model::entry(std::string_view name, std::string_view sizes) const {
  if (const accc_entry *found = find_entry(name, sizes))
    return *found;
  if (find_entry(name))
    throw Error(ErrorKind::usage, "model " + std::string(this->name()) + " has no " +
                                      std::string(name) + " for " + std::string(sizes) +
                                      "; it was compiled for: " + join(this->sizes(), " or "));
  std::vector<std::string_view> names;
  for (const accc_entry &entry : entries())
    addNew(names, entry.name);
  std::string message = "model " + std::string(this->name()) + " has no entry point " +
                        std::string(name) + "; it has: " + join(names, ", ");
  auto trains = [](std::string_view entry) { return entry.starts_with("train_step"); };
  if (std::none_of(names.begin(), names.end(), trains))
    message += " (compile it with --loss and --optimizer to train it)";
  throw Error(ErrorKind::usage, message);
}

std::string to_string(const accc_tensor &tensor) {
  return to_string(static_cast<DType>(tensor.dtype), shape_of(tensor));
}

} // namespace accc
