// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/pickle/Tensors.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/Storage.h"
#include "frontend/common/TensorTypes.h"
#include "frontend/common/TorchTypes.h"

using namespace mlir;
using namespace accc;
using namespace accc::pickle;
using frontend::Archive;
using frontend::fail;
using llvm::Twine;
using Kind = pickle::Value::Kind;

static constexpr uint64_t kLargestStorage = uint64_t(1) << 40;

bool accc::pickle::isTensor(const pickle::Value &value) {
  return value.is(Kind::Call) && value.type->isGlobal("torch._utils._rebuild_tensor_v2");
}

static SmallVector<int64_t> integers(const pickle::Value &list, const char *what) {
  SmallVector<int64_t> result;
  for (const pickle::Value *each : list.asSequence(what))
    result.push_back(each->asInteger(what));
  return result;
}

/// ("storage", class, key, device, count) of _rebuild_tensor_v2(storage, offset, size, stride,
/// ...).
static ArrayRef<const pickle::Value *> storageOf(const pickle::Value &rebuild) {
  if (rebuild.elements.size() < 5 || !rebuild.elements[0]->is(Kind::Persistent))
    fail("a tensor is stored in a way that is not supported");
  ArrayRef<const pickle::Value *> id =
      rebuild.elements[0]->elements.front()->asSequence("a storage");
  if (id.size() != 5 || !id[0]->is(Kind::String) || id[0]->text != "storage" ||
      !id[1]->is(Kind::Global))
    fail("a tensor has a storage that is not supported");
  return id;
}

/// Whether the tensor is another than the numbers in memory say: "neg" of all of them has the other
/// sign, "conj" of their imaginary parts.
static bool hasBit(const pickle::Value &rebuild, StringRef bit) {
  if (rebuild.elements.size() < 7)
    return false;
  const pickle::Value *bits = rebuild.elements[6];
  if (bits->is(Kind::Call) && !bits->elements.empty()) // with the text of its type
    bits = bits->elements[0];
  if (!bits->is(Kind::Dict))
    return false;
  for (size_t i = 0; i + 1 < bits->elements.size(); i += 2)
    if (bits->elements[i]->is(Kind::String) && bits->elements[i]->text == bit)
      return bits->elements[i + 1]->asBoolean("what is said of a tensor");
  return false;
}

/// With the other sign for each number that ends `end`, or a multiple of `step` more, bytes from
/// the beginning.
static Weight withOtherSigns(const Weight &weight, size_t end, size_t step) {
  std::vector<char> bytes(weight.bytes.begin(), weight.bytes.end());
  for (size_t i = end; i <= bytes.size(); i += step)
    bytes[i - 1] = static_cast<char>(bytes[i - 1] ^ 0x80);
  return frontend::ownedWeight(weight.type, std::move(bytes));
}

RankedTensorType accc::pickle::tensorTypeOf(MLIRContext &context, const pickle::Value &rebuild) {
  return frontend::tensorType(integers(*rebuild.elements[2], "the shape of a tensor"),
                              frontend::typeOfStorage(context, storageOf(rebuild)[1]->text));
}

const Archive::Record &Storages::read(const std::string &record) {
  auto found = records.find(record);
  if (found == records.end())
    found = records.emplace(record, archive.read(record, kLargestStorage)).first;
  return found->second;
}

StoredTensor accc::pickle::readTensor(MLIRContext &context, const pickle::Value &rebuild,
                                      Storages &storages, const std::string &folder,
                                      const std::string &name) {
  ArrayRef<const pickle::Value *> id = storageOf(rebuild);
  RankedTensorType type = tensorTypeOf(context, rebuild);
  StoredTensor result;
  result.requiresGrad = rebuild.elements[4]->asBoolean("requires_grad of a tensor");
  result.record = folder + "/" + id[2]->asString("the name of a storage");
  result.offset = rebuild.elements[1]->asInteger("the offset of a tensor");
  result.strides = integers(*rebuild.elements[3], "the strides of a tensor");
  const Archive::Record &storage = storages.read(result.record);
  // What the pickle says of a storage must be what is there.
  int64_t count = id[4]->asInteger("the size of a storage");
  uint64_t width = frontend::byteWidth(type.getElementType());
  if (count < 0 || static_cast<uint64_t>(count) > kLargestStorage ||
      static_cast<uint64_t>(count) * width != storage.bytes.size())
    fail("the storage of '" + name + "' should have " + Twine(count) + " elements, but has " +
         Twine(storage.bytes.size()) + " bytes");
  result.place = result.record + frontend::show(type.getShape()) + frontend::show(result.strides) +
                 std::to_string(result.offset);
  result.weight = frontend::stridedWeight(type, result.strides, result.offset, storage, name);
  bool isNegative = hasBit(rebuild, "neg"), isConjugate = hasBit(rebuild, "conj");
  bool isComplex = isa<ComplexType>(type.getElementType());
  if ((isNegative || isConjugate) && !isComplex && !isa<FloatType>(type.getElementType()))
    fail("'" + name + "' is a negative of integers, which is not supported");
  if (isNegative)
    result.weight =
        withOtherSigns(result.weight, isComplex ? width / 2 : width, isComplex ? width / 2 : width);
  if (isConjugate && isComplex)
    result.weight = withOtherSigns(result.weight, width, width);
  if (isNegative || isConjugate)
    result.place += " " + std::to_string(isNegative) + std::to_string(isConjugate);
  return result;
}
