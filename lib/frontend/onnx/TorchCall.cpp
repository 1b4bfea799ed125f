// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/TorchCall.h"
#include "frontend/onnx/Evidence.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace accc::onnx_import;
using llvm::StringRef;

namespace {
constexpr const char kNode[] = "pkg.torch.onnx.fx_node";

/// The items of a tuple behind its opening parenthesis, split at commas that are in no brackets.
std::vector<std::string> itemsOf(StringRef text) {
  std::vector<std::string> items;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    depth += c == '(' || c == '[' || c == '{';
    bool ends = depth == 0 && (c == ',' || c == ')');
    if (ends) {
      if (StringRef item = text.slice(begin, i).trim(); !item.empty())
        items.push_back(item.str());
      begin = i + 1;
      if (c == ')')
        break;
    }
    depth -= c == ')' || c == ']' || c == '}';
  }
  return items;
}

/// Of the arguments of aten.embedding.
constexpr size_t kPadding = 2, kScales = 3;
/// Of those of aten.cross_entropy_loss.
constexpr size_t kLabelSmoothing = 5;
/// Of those of aten.instance_norm.
constexpr size_t kMean = 3, kVariance = 4, kUsesInput = 5;
} // namespace

std::optional<int64_t> TorchCall::integer(size_t argument) const {
  int64_t value = 0;
  if (argument >= arguments.size() || StringRef(arguments[argument]).getAsInteger(10, value) ||
      value < 0)
    return std::nullopt;
  return value;
}

bool TorchCall::isTrue(size_t argument) const {
  return argument < arguments.size() && arguments[argument] == "True";
}

std::optional<double> TorchCall::number(size_t argument) const {
  double value = 0;
  if (argument >= arguments.size() || StringRef(arguments[argument]).getAsDouble(value))
    return std::nullopt;
  return value;
}

/// "%a : [num_users=1] = call_function[target=torch.ops.aten.embedding.default](args = (%w, %x, 0),
/// kwargs = {})"
std::optional<TorchCall> accc::onnx_import::parseTorchCall(StringRef text) {
  auto [before, rest] = text.split("call_function[target=torch.ops.");
  auto [target, call] = rest.split("](args = (");
  if (target.empty() || call.empty())
    return std::nullopt;
  return TorchCall{target.rsplit('.').first.str(), itemsOf(call)};
}

std::optional<TorchCall> accc::onnx_import::torchCallOf(const onnx::NodeProto &node) {
  Metadata metadata = metadataOf(node);
  auto found = metadata.find(kNode);
  return found == metadata.end() ? std::nullopt : parseTorchCall(found->second);
}

std::optional<int64_t> accc::onnx_import::paddingOf(const TorchCall &call) {
  return call.target == "aten.embedding" ? call.integer(kPadding) : std::nullopt;
}

bool accc::onnx_import::scalesByFrequency(const TorchCall &call) {
  return call.target == "aten.embedding" && call.isTrue(kScales);
}

double accc::onnx_import::labelSmoothingOf(const TorchCall &call) {
  bool isLoss = call.target == "aten.cross_entropy_loss";
  return isLoss ? call.number(kLabelSmoothing).value_or(0.0) : 0.0;
}

std::vector<std::string> accc::onnx_import::movedStatistics(const TorchCall &call) {
  if (call.target != "aten.instance_norm" || !call.isTrue(kUsesInput))
    return {};
  return {call.arguments[kMean], call.arguments[kVariance]};
}

bool accc::onnx_import::stopsGradient(const TorchCall &call) {
  return call.target == "aten.detach";
}

bool accc::onnx_import::isNameOfDetached(StringRef argument) {
  if (!argument.consume_front("%detach"))
    return false;
  return argument.empty() || (argument.consume_front("_") && !argument.empty() &&
                              llvm::all_of(argument, llvm::isDigit));
}
