// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Initializers.h"
#include "frontend/common/ImportError.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

namespace {

constexpr const char kSpecKind[] = "pkg.torch.export.graph_signature.InputSpec.kind";
constexpr const char kSpecPersistent[] = "pkg.torch.export.graph_signature.InputSpec.persistent";

/// PyTorch numbers the values it makes up; modules' own names are dotted or words.
bool isMadeUp(llvm::StringRef name) {
  llvm::StringRef number = name;
  bool torch =
      number.consume_front("val_") && !number.empty() && llvm::all_of(number, llvm::isDigit);
  return torch || name.starts_with("onnx::") || name.contains("Constant") ||
         name.starts_with("/") || llvm::all_of(name, llvm::isDigit) || isOfOptimizer(name);
}

/// An optimizer computed it of other values after the export: the exporters of PyTorch keep names
/// of nodes' results ("/attention/Exp_output_0") for these, and write numbers as constants.
bool isFoldedLater(llvm::StringRef name) {
  return isOfOptimizer(name) || (name.starts_with("/") && !name.contains("Constant"));
}

/// The element whose bytes these are.
double toDouble(const char *bytes, FloatType type) {
  if (type.isF32()) {
    float value;
    std::memcpy(&value, bytes, sizeof(value));
    return value;
  }
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, type.getWidth() / 8);
  llvm::APFloat value(type.getFloatSemantics(), llvm::APInt(type.getWidth(), bits));
  bool lost = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

template <typename Predicate> bool allElements(const Weight &weight, Predicate predicate) {
  auto element = cast<FloatType>(weight.type.getElementType());
  size_t width = element.getWidth() / 8;
  for (size_t i = 0; i + width <= weight.bytes.size(); i += width)
    if (!predicate(toDouble(weight.bytes.data() + i, element)))
      return false;
  return true;
}

} // namespace

bool accc::onnx_import::isUniform(const Weight &weight) {
  size_t width = weight.type.getElementTypeBitWidth() / 8;
  for (size_t i = width; i + width <= weight.bytes.size(); i += width)
    if (std::memcmp(weight.bytes.data(), weight.bytes.data() + i, width) != 0)
      return false;
  return true;
}

bool accc::onnx_import::isMask(const Weight &weight) {
  double limit = weight.type.getElementTypeBitWidth() == 16 ? -6e4 : -1e30;
  bool hides = false;
  return allElements(weight,
                     [&](double x) {
                       hides |= x <= limit;
                       return x == 0 || x <= limit;
                     }) &&
         hides;
}

bool accc::onnx_import::isIndicator(const Weight &weight) {
  bool hasZero = false, hasOne = false;
  return allElements(weight,
                     [&](double x) {
                       hasZero |= x == 0;
                       hasOne |= x == 1;
                       return x == 0 || x == 1;
                     }) &&
         hasZero && hasOne;
}

Initializers::Initializers(const onnx::ModelProto &model, const ModelState &state)
    : state(state), ofPyTorch(llvm::StringRef(model.producer_name()).starts_with("pytorch")),
      writesConstants(writesConstantsAsInitializers(model)) {
  for (const onnx::ValueInfoProto &info : model.graph().value_info()) {
    Metadata entries = metadataOf(info);
    auto kind = entries.find(kSpecKind);
    if (kind == entries.end())
      continue;
    // A buffer that the module does not save is a constant.
    auto persistent = entries.find(kSpecPersistent);
    bool kept = persistent == entries.end() || persistent->second != "False";
    kinds[info.name()] = kind->second == "BUFFER" && !kept ? "CONSTANT_TENSOR" : kind->second;
  }
}

InitializerKind Initializers::classify(const onnx::TensorProto &tensor,
                                       const Weight &weight) const {
  if (!isa<FloatType>(weight.type.getElementType()))
    return InitializerKind::Constant;
  if (state.exported) {
    auto entry = state.exported->find(tensor.name());
    return entry == state.exported->end() ? InitializerKind::Constant
           : entry->second.isParameter    ? InitializerKind::Parameter
           : entry->second.isPersistent   ? InitializerKind::Buffer
                                          : InitializerKind::Constant;
  }
  if (state.recovery.constants.contains(tensor.name()))
    return InitializerKind::Constant;
  if (auto kind = kinds.find(tensor.name()); kind != kinds.end())
    return kind->second == "PARAMETER"         ? InitializerKind::Parameter
           : kind->second == "CONSTANT_TENSOR" ? InitializerKind::Constant
                                               : InitializerKind::Buffer;
  if (isMask(weight))
    return InitializerKind::Constant;
  bool madeUp = isMadeUp(tensor.name());
  if (madeUp && weight.type.getNumElements() <= 1 && !isFoldedLater(tensor.name()))
    return InitializerKind::Constant;
  if (isFolded(tensor) && (weight.type.getNumElements() <= 16 || isUniform(weight)))
    return InitializerKind::Constant;
  // What PyTorch's own and the common model libraries' modules register as buffers.
  for (const char *buffer : {"running_mean", "running_var", "attn_mask", "inv_freq", "causal_mask"})
    if (leafOf(tensor.name()) == buffer)
      return InitializerKind::Buffer;
  return InitializerKind::Parameter;
}

frontend::Proof Initializers::proofOf(const onnx::TensorProto &tensor) const {
  const std::string &name = tensor.name();
  if (state.exported || kinds.contains(name))
    return frontend::Proof::Known;
  if (auto proof = state.recovery.proofs.find(name); proof != state.recovery.proofs.end())
    return proof->second;
  if (writesConstants)
    return frontend::Proof::Named;
  if (!ofPyTorch)
    return frontend::Proof::Assumed;
  if (isMadeUp(name))
    return frontend::Proof::MadeUp;
  bool isPath = llvm::StringRef(name).contains('.');
  return isPath || state.recovery.keepsNames ? frontend::Proof::Known : frontend::Proof::Assumed;
}

bool Initializers::isFolded(const onnx::TensorProto &tensor) const {
  return !kinds.empty() && !kinds.contains(tensor.name()) && isMadeUp(tensor.name());
}

bool Initializers::isTrained(llvm::StringRef name) const {
  return !state.exported || state.exported->lookup(name).isTrained;
}
