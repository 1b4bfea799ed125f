// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/ExportMetadata.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace accc::onnx_import;

namespace {
constexpr const char kKey[] = "accc.export";
constexpr int64_t kVersion = 1;

[[noreturn]] void malformed(const llvm::Twine &what) {
  fail("the metadata '" + llvm::Twine(kKey) + "' of the model is malformed: " + what +
       "; export the model again with accc_export");
}

std::string nameOf(const llvm::json::Object &entry, llvm::StringRef list) {
  std::optional<llvm::StringRef> name = entry.getString("name");
  if (!name || name->empty())
    malformed("an entry of '" + list + "' has no name");
  return name->str();
}

/// A truth value that may be left out.
bool flag(const llvm::json::Object &entry, llvm::StringRef key, const std::string &name) {
  if (!entry.get(key))
    return true;
  std::optional<bool> value = entry.getBoolean(key);
  if (!value)
    malformed("'" + key + "' of '" + name + "' is neither true nor false");
  return *value;
}

ExportedTensor readParameter(const llvm::json::Object &entry, const std::string &name) {
  ExportedTensor tensor;
  tensor.isParameter = true;
  tensor.isTrained = flag(entry, "requires_grad", name);
  if (const llvm::json::Value *aliases = entry.get("aliases")) {
    const llvm::json::Array *list = aliases->getAsArray();
    if (!list)
      malformed("'aliases' of '" + name + "' is no list");
    for (const llvm::json::Value &alias : *list) {
      std::optional<llvm::StringRef> text = alias.getAsString();
      if (!text || text->empty())
        malformed("an alias of '" + name + "' is no name");
      tensor.aliases.push_back(text->str());
    }
  }
  if (const llvm::json::Value *padding = entry.get("padding_idx")) {
    tensor.paddingIndex = padding->getAsInteger();
    if (!tensor.paddingIndex || *tensor.paddingIndex < 0)
      malformed("'padding_idx' of '" + name + "' is no row");
  }
  return tensor;
}

const llvm::json::Array &listOf(const llvm::json::Object &object, llvm::StringRef key) {
  const llvm::json::Array *list = object.getArray(key);
  if (!list)
    malformed("it has no list '" + key + "'");
  return *list;
}
} // namespace

std::optional<ExportMetadata> accc::onnx_import::readExportMetadata(const onnx::ModelProto &model) {
  const std::string *text = nullptr;
  for (const onnx::StringStringEntryProto &entry : model.metadata_props())
    if (entry.key() == kKey)
      text = &entry.value();
  if (!text)
    return std::nullopt;

  llvm::Expected<llvm::json::Value> json = llvm::json::parse(*text);
  if (!json)
    malformed(llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    malformed("it is no object");
  if (object->getInteger("version") != kVersion)
    malformed("its version is not " + llvm::Twine(kVersion) + ", the one that this accc reads");

  ExportMetadata metadata;
  llvm::StringSet<> names;
  auto claim = [&](const std::string &name) {
    if (!names.insert(name).second)
      malformed("it names '" + name + "' twice");
  };
  for (const char *list : {"parameters", "buffers"})
    for (const llvm::json::Value &value : listOf(*object, list)) {
      const llvm::json::Object *entry = value.getAsObject();
      if (!entry)
        malformed("an entry of '" + llvm::Twine(list) + "' is no object");
      std::string name = nameOf(*entry, list);
      claim(name);
      ExportedTensor tensor;
      if (llvm::StringRef(list) == "parameters")
        tensor = readParameter(*entry, name);
      else
        tensor.isPersistent = flag(*entry, "persistent", name);
      for (const std::string &alias : tensor.aliases)
        claim(alias);
      metadata[name] = std::move(tensor);
    }
  return metadata;
}
