// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Graphs that run under torch.autocast: the file has operators as the module calls them, and what
// PyTorch would convert first shows in the types of their results alone.
#include "frontend/common/ImportError.h"
#include "frontend/common/TensorTypes.h"
#include "frontend/torchexport/Program.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

using Locals = std::vector<aten::Local>;

/// What autocast computes in 16 bits on some device, and what calls nothing else with floats.
static bool isProduct(StringRef name) {
  static const llvm::StringSet<> kProducts = {"_convolution",
                                              "conv1d",
                                              "conv2d",
                                              "conv3d",
                                              "conv_tbc",
                                              "conv_transpose1d",
                                              "conv_transpose2d",
                                              "convolution",
                                              "conv_transpose3d",
                                              "prelu",
                                              "addmm",
                                              "addmv",
                                              "addr",
                                              "matmul",
                                              "einsum",
                                              "mm",
                                              "mv",
                                              "linalg_vecdot",
                                              "linear",
                                              "addbmm",
                                              "baddbmm",
                                              "bmm",
                                              "chain_matmul",
                                              "linalg_multi_dot",
                                              "lstm_cell",
                                              "gru_cell",
                                              "rnn_tanh_cell",
                                              "rnn_relu_cell",
                                              "tensordot",
                                              "scaled_dot_product_attention",
                                              "bilinear",
                                              "linalg_matmul",
                                              "inner"};
  return kProducts.contains(name.split('.').first);
}

std::optional<Type> ProgramImporter::typeOf(const std::string &name) const {
  std::optional<Json> meta = tensorValues ? tensorValues->find(name.c_str()) : std::nullopt;
  if (!meta)
    return std::nullopt;
  return elementType(context, meta->at("dtype").integer());
}

static Type floatOf(const aten::MutableTensor &tensor) {
  Type type = tensor ? getElementTypeOrSelf(tensor.type()) : Type();
  return type && isa<FloatType>(type) ? type : Type();
}

/// Calls `visit` with each tensor among the arguments.
static void forEachTensor(std::vector<aten::NamedLocal> &arguments,
                          llvm::function_ref<void(aten::MutableTensor &)> visit) {
  for (aten::NamedLocal &each : arguments)
    if (auto *tensor = std::get_if<aten::MutableTensor>(&each.value))
      visit(*tensor);
    else if (auto *list = std::get_if<aten::MutableTensors>(&each.value))
      llvm::for_each(*list, visit);
}

void ProgramImporter::castArguments(const Json &node, StringRef op,
                                    std::vector<aten::NamedLocal> &arguments) {
  std::vector<std::string> results = tensorNamesOf(node.at("outputs"));
  std::optional<Type> given = results.empty() ? std::nullopt : typeOf(results.front());
  // What names a type, or writes into an argument, converts to it.
  bool isWritten = op.split('.').first.ends_with("_");
  auto namesType = [](const aten::NamedLocal &each) {
    return std::holds_alternative<Type>(each.value);
  };
  if (!given || !isa<FloatType>(*given) || isWritten || llvm::any_of(arguments, namesType))
    return;
  bool hasNarrow = false;
  forEachTensor(arguments, [&](const aten::MutableTensor &tensor) {
    Type type = floatOf(tensor);
    hasNarrow |= type && prim::isHalf(type);
  });
  bool narrows = prim::isHalf(*given) && isProduct(op);
  bool widens = given->isF32() && hasNarrow;
  if (!narrows && !widens)
    return;
  forEachTensor(arguments, [&](aten::MutableTensor &tensor) {
    Type type = floatOf(tensor);
    if (type && type != *given && !type.isF64())
      tensor = std::get<aten::MutableTensor>(
          caller.call(location(node), "to.dtype", {{"self", tensor}, {"dtype", *given}}, "autocast")
              .front());
  });
}

Locals ProgramImporter::callCast(const Json &node, StringRef op,
                                 std::vector<aten::NamedLocal> arguments, StringRef resultName) {
  if (isAutocast)
    castArguments(node, op, arguments);
  Locals results = caller.call(location(node), op, arguments, resultName);
  Json outputs = node.at("outputs");
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    auto *tensor = std::get_if<aten::MutableTensor>(&results[i]);
    Type type = tensor ? floatOf(*tensor) : Type();
    if (!type || outputs.at(i).tag() != "as_tensor")
      continue;
    std::optional<Type> given = typeOf(outputs.at(i).content().at("name").string());
    if (!given || !isa<FloatType>(*given) || type == *given)
      continue;
    if (isAutocast)
      fail("autocast of this operator is not supported");
    // PyTorch guesses the types of some results from how it would take the operator apart: others
    // than this are no mistake.
    auto found = cast<RankedTensorType>(tensor->type());
    if (type.isF32() && given->isF64())
      fail("gives " + frontend::show(found) + ", where the file says " +
           frontend::show(cast<RankedTensorType>(found.clone(*given))));
  }
  return results;
}
