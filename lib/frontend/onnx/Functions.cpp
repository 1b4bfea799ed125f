// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Functions.h"
#include "frontend/common/ImportError.h"
#include "frontend/onnx/Evidence.h"

using namespace accc;
using namespace accc::onnx_import;

namespace {

// Newer than the library here: ONNX 1.13 and 1.16.
constexpr int kFunctionDefaults = 11, kFunctionOverload = 13, kNodeOverload = 8;

std::string overloadOf(const google::protobuf::Message &message, int field) {
  std::vector<std::string> overloads = unknownFields(message, field);
  return overloads.empty() ? std::string() : overloads.back();
}

std::string keyOf(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload) {
  return ((domain == "ai.onnx" ? "" : domain) + ":" + name + ":" + overload).str();
}

} // namespace

Functions::Functions(const onnx::ModelProto &model) {
  for (const onnx::FunctionProto &proto : model.functions()) {
    Function function;
    function.proto = &proto;
    for (const std::string &bytes : unknownFields(proto, kFunctionDefaults)) {
      onnx::AttributeProto &value = function.defaults.emplace_back();
      if (!value.ParseFromString(bytes) || value.has_g() || value.graphs_size() > 0)
        fail("the default of an attribute of the model-local function '" + proto.name() +
             "' is damaged, or a graph, which is not supported");
    }
    std::string overload = overloadOf(proto, kFunctionOverload);
    functions[keyOf(proto.domain(), proto.name(), overload)] = std::move(function);
  }
}

const Function *Functions::find(const onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  auto found =
      functions.find(keyOf(node.domain(), node.op_type(), overloadOf(node, kNodeOverload)));
  return found == functions.end() ? nullptr : &found->second;
}
