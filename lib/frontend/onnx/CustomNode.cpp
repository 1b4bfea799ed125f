// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Nodes of operators of the user's own: their attributes as a custom call takes them.
#include "frontend/onnx/CustomNode.h"
#include "frontend/common/CustomCall.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

static Attribute valueOf(const Node &node, const std::string &name,
                         const onnx::AttributeProto &attribute) {
  OpBuilder &b = node.builder();
  switch (attribute.type()) {
  case onnx::AttributeProto::INT:
    return b.getI64IntegerAttr(attribute.i());
  case onnx::AttributeProto::FLOAT:
    return b.getF64FloatAttr(node.real(name));
  case onnx::AttributeProto::STRING:
    return b.getStringAttr(attribute.s());
  case onnx::AttributeProto::INTS:
    return b.getDenseI64ArrayAttr(node.integers(name));
  case onnx::AttributeProto::FLOATS:
    return b.getDenseF64ArrayAttr(node.reals(name));
  case onnx::AttributeProto::STRINGS: {
    SmallVector<std::string> texts = node.strings(name);
    return b.getStrArrayAttr(SmallVector<StringRef>(texts.begin(), texts.end()));
  }
  default:
    fail("the attribute '" + name +
         "' is none that a custom operator can have: integers, floats and strings, and lists of "
         "them");
  }
}

Entities accc::onnx_import::customNode(Node &node, const prim::CustomOperator &op) {
  SmallVector<Value> inputs;
  for (size_t i = 0; i < node.inputs(); ++i)
    inputs.push_back(node.in(i));
  SmallVector<NamedAttribute> config;
  for (const std::string &name : node.attributeNames())
    if (const onnx::AttributeProto *attribute = node.find(name))
      config.push_back(node.attr(name, valueOf(node, name, *attribute)));
  return customCall(node, op, inputs, config);
}
