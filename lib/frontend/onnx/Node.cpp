// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Node.h"
#include "frontend/common/Fold.h"
#include "frontend/onnx/GraphImporter.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

Node::Node(GraphImporter &importer, Frame &frame, const onnx::NodeProto &proto, int64_t opset,
           Location loc, Entities inputs)
    : NodeBuilder(importer, loc), parent(importer), frame(frame), node(proto), version(opset),
      operands(std::move(inputs)) {}

void Node::warn(const Twine &message) const {
  std::string name = node.name().empty() ? (node.output_size() ? node.output(0) : "") : node.name();
  parent.remark({.node = name,
                 .op = node.op_type(),
                 .message = message.str(),
                 .severity = Problem::Severity::Warning});
}

std::optional<TorchCall> Node::torchCall() const {
  return parent.writtenByPyTorch() ? torchCallOf(node) : std::nullopt;
}

// ---- inputs ----

const Entity &Node::entity(size_t i) const {
  if (!has(i))
    fail("input " + Twine(i) + " is missing");
  return operands[i];
}

Tensor Node::in(size_t i) const {
  const Entity &entity = this->entity(i);
  if (!entity.tensor)
    fail("input " + Twine(i) + " is not a tensor");
  return wrap(entity.tensor);
}

Tensor Node::floatIn(size_t i) const {
  Tensor tensor = in(i);
  if (!isa<FloatType>(tensor.elementType()))
    fail("input " + Twine(i) + " must be a tensor of floats");
  return tensor;
}

Tensor Node::numberIn(size_t i) const {
  Tensor tensor = in(i);
  if (tensor.elementType().isInteger(1))
    fail("input " + Twine(i) + " must be a tensor of numbers, not of booleans");
  return tensor;
}

std::pair<Tensor, Tensor> Node::inOneShape(Tensor a, Tensor b) const {
  if (version < 7 && hasAttribute("axis") && b.rank() < a.rank()) {
    int64_t first = axis(integer("axis"), a.rank()), end = first + b.rank();
    if (end > a.rank())
      fail("an operand of shape " + show(b.shape()) + " does not fit one of shape " +
           show(a.shape()) + " from axis " + Twine(first) + " on");
    SmallVector<int64_t> shape(b.shape());
    shape.append(a.rank() - end, 1);
    b = b.reshape(shape);
  }
  return broadcast(a, b);
}

std::pair<Tensor, Tensor> Node::operandsInOneShape() const {
  Tensor a = in(0), b = in(1);
  if (a.elementType() != b.elementType())
    fail("the operands have different element types");
  return inOneShape(a, b);
}

// ---- attributes ----

const onnx::AttributeProto *Node::find(StringRef name) const {
  for (const onnx::AttributeProto &attribute : node.attribute()) {
    if (attribute.name() != name)
      continue;
    if (attribute.ref_attr_name().empty())
      return &attribute;
    for (Frame *at = &frame; at; at = at->outer)
      if (auto found = at->attributes.find(attribute.ref_attr_name());
          found != at->attributes.end())
        return found->second;
    return nullptr; // the caller left it out
  }
  return nullptr;
}

SmallVector<std::string> Node::attributeNames() const {
  SmallVector<std::string> names;
  for (const onnx::AttributeProto &attribute : node.attribute())
    names.push_back(attribute.name());
  return names;
}

namespace {
[[noreturn]] void missing(StringRef name) { fail("the attribute '" + name + "' is missing"); }
[[noreturn]] void wrongKind(StringRef name, StringRef kind) {
  fail("the attribute '" + name + "' must be " + kind);
}
} // namespace

int64_t Node::integer(StringRef name, std::optional<int64_t> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), 0);
  if (!attribute->has_i())
    wrongKind(name, "an integer");
  return attribute->i();
}

double Node::real(StringRef name, std::optional<double> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), 0.0);
  if (!attribute->has_f())
    wrongKind(name, "a float");
  return asWritten(attribute->f());
}

std::string Node::string(StringRef name, std::optional<std::string> otherwise) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return otherwise ? *otherwise : (missing(name), std::string());
  if (!attribute->has_s())
    wrongKind(name, "a string");
  return attribute->s();
}

SmallVector<int64_t> Node::integers(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<int64_t>(attribute->ints().begin(), attribute->ints().end());
}

SmallVector<double> Node::reals(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<double>(llvm::map_range(attribute->floats(), asWritten));
}

SmallVector<std::string> Node::strings(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    return {};
  return SmallVector<std::string>(attribute->strings().begin(), attribute->strings().end());
}

const onnx::GraphProto &Node::graph(StringRef name) const {
  const onnx::AttributeProto *attribute = find(name);
  if (!attribute)
    missing(name);
  if (!attribute->has_g())
    wrongKind(name, "a graph");
  return attribute->g();
}

// ---- known values ----

DenseElementsAttr Node::known(size_t i) const { return knownValue(in(i)); }

/// A branch reads the values around it through what stops gradients, which has no known value.
static Value outside(const Node &node, size_t i) {
  return node.importer().outsideBranch(node.in(i));
}

SmallVector<int64_t> Node::knownIntegers(size_t i, StringRef what) const {
  return NodeBuilder::knownIntegers(outside(*this, i), what + " (input " + Twine(i) + ")");
}

SmallVector<double> Node::knownReals(size_t i, StringRef what) const {
  return NodeBuilder::knownReals(outside(*this, i), what + " (input " + Twine(i) + ")");
}

int64_t Node::knownInteger(size_t i, StringRef what) const {
  SmallVector<int64_t> values = knownIntegers(i, what);
  if (values.size() != 1)
    fail("the " + what + " (input " + Twine(i) + ") must be one number");
  return values.front();
}

double Node::knownReal(size_t i, StringRef what) const {
  SmallVector<double> values = knownReals(i, what);
  if (values.size() != 1)
    fail("the " + what + " (input " + Twine(i) + ") must be one number");
  return values.front();
}

std::optional<SmallVector<int64_t>> Node::integersFrom(StringRef attribute, size_t input) const {
  if (has(input))
    return knownIntegers(input, attribute);
  if (hasAttribute(attribute))
    return integers(attribute);
  return std::nullopt;
}
