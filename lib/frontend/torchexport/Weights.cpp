// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Weights.h"
#include "frontend/common/Storage.h"
#include "frontend/common/TensorTypes.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;
using namespace accc::frontend;

static constexpr uint64_t kLargestConfig = uint64_t(1) << 30;
static constexpr uint64_t kLargestStorage = uint64_t(1) << 40;

Type accc::torchexport::elementTypeOrNull(MLIRContext &context, int64_t scalarType) {
  Builder b(&context);
  switch (scalarType) {
  case 1:
    return b.getIntegerType(8, /*isSigned=*/false);
  case 2:
    return b.getI8Type();
  case 3:
    return b.getI16Type();
  case 4:
    return b.getI32Type();
  case 5:
    return b.getI64Type();
  case 6:
    return b.getF16Type();
  case 7:
    return b.getF32Type();
  case 8:
    return b.getF64Type();
  case 10:
    return ComplexType::get(b.getF32Type());
  case 11:
    return ComplexType::get(b.getF64Type());
  case 12:
    return b.getI1Type();
  case 13:
    return b.getBF16Type();
  case 28:
    return b.getIntegerType(16, /*isSigned=*/false);
  default:
    return nullptr;
  }
}

Type accc::torchexport::elementType(MLIRContext &context, int64_t scalarType) {
  if (Type type = elementTypeOrNull(context, scalarType))
    return type;
  if (scalarType == 9)
    fail("tensors of complex32 are not supported");
  fail("tensors of the ScalarType " + Twine(scalarType) + " are not supported");
}

void Weights::missing(const std::string &name) { fail("the archive has no tensor '" + name + "'"); }

namespace {

class RecordedWeights : public Weights {
public:
  RecordedWeights(MLIRContext &context, const Archive &archive, const std::string &model)
      : context(context), archive(archive) {
    // Names of newer and of older versions.
    for (const char *suffix : {"_weights_config.json", "_model_param_config.json"})
      addConfig("data/weights/", model + suffix);
    for (const char *suffix : {"_constants_config.json", "_constant_config.json"})
      addConfig("data/constants/", model + suffix);
  }

  StoredTensor read(const std::string &name) override;

private:
  void addConfig(const std::string &folder, const std::string &config);
  const Archive::Record &storage(const std::string &record);

  MLIRContext &context;
  const Archive &archive;
  std::vector<std::unique_ptr<nlohmann::json>> documents;
  struct Entry {
    std::string folder;
    Json payload;
  };
  std::map<std::string, Entry> entries;
  std::map<std::string, Archive::Record> storages;
};

} // namespace

void RecordedWeights::addConfig(const std::string &folder, const std::string &config) {
  if (!archive.has(folder + config))
    return;
  documents.push_back(std::make_unique<nlohmann::json>(
      Json::parse(archive.text(folder + config, kLargestConfig), folder + config)));
  Json tensors = Json(*documents.back(), config).at("config");
  for (const std::string &name : tensors.keys())
    entries.insert({name, Entry{folder, tensors.at(name.c_str())}});
}

const Archive::Record &RecordedWeights::storage(const std::string &record) {
  auto found = storages.find(record);
  if (found == storages.end())
    found = storages.emplace(record, archive.read(record, kLargestStorage)).first;
  return found->second;
}

int64_t accc::torchexport::plainSize(const Json &symInt) {
  if (symInt.tag() != "as_int")
    fail("a size or stride depends on an open dimension, where it must be a number");
  return symInt.content().integer();
}

static SmallVector<int64_t> plainList(const Json &list) {
  SmallVector<int64_t> values;
  for (size_t i = 0; i < list.size(); ++i)
    values.push_back(plainSize(list.at(i)));
  return values;
}

StoredTensor RecordedWeights::read(const std::string &name) {
  auto found = entries.find(name);
  if (found == entries.end())
    missing(name);
  const Json &payload = found->second.payload;
  if (payload.at("use_pickle").boolean())
    fail("the tensor '" + name +
         "' is pickled (a subclass of torch.Tensor?), which is not "
         "supported");
  std::optional<Json> meta = payload.find("tensor_meta");
  if (!meta)
    fail("'" + name + "' is no tensor");
  SmallVector<int64_t> shape = plainList(meta->at("sizes")),
                       strides = plainList(meta->at("strides"));
  int64_t offset = plainSize(meta->at("storage_offset"));
  int64_t scalarType = meta->at("dtype").integer();
  RankedTensorType type = tensorType(shape, elementType(context, scalarType));
  std::string record = found->second.folder + payload.at("path_name").string();

  StoredTensor result;
  result.requiresGrad = meta->at("requires_grad").boolean();
  result.place = record + show(shape) + show(strides) + std::to_string(offset) + "/" +
                 std::to_string(scalarType);
  // An empty tensor may have no record.
  result.weight =
      stridedWeight(type, strides, offset,
                    type.getNumElements() == 0 ? Archive::Record() : storage(record), name);
  result.view = viewOf(record, type, offset, strides);
  return result;
}

std::unique_ptr<Weights> accc::torchexport::weightsInRecords(MLIRContext &context,
                                                             const Archive &archive,
                                                             const std::string &model) {
  return std::make_unique<RecordedWeights>(context, archive, model);
}
