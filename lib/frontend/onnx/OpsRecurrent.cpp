// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers.
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

nn::RnnDirection directionOf(Node &node) {
  std::string direction = node.string("direction", "forward");
  if (direction == "forward")
    return nn::RnnDirection::forward;
  if (direction == "reverse")
    return nn::RnnDirection::reverse;
  if (direction == "bidirectional")
    return nn::RnnDirection::bidirectional;
  fail("unknown direction '" + direction + "'");
}

/// What all three have in common: layout, direction, and attributes that must have their default
/// values.
SmallVector<NamedAttribute> commonAttributes(Node &node, ArrayRef<StringRef> activations) {
  Tensor x = node.floatIn(0);
  if (x.rank() != 3)
    fail("the input must have three dimensions, but has the shape " + show(x.shape()));
  if (node.hasAttribute("clip"))
    fail("the attribute 'clip' is not supported");
  if (!node.reals("activation_alpha").empty() || !node.reals("activation_beta").empty())
    fail("parameters of activations are not supported");
  SmallVector<std::string> given = node.strings("activations");
  for (auto [i, name] : llvm::enumerate(given))
    if (!activations.empty() &&
        !StringRef(name).equals_insensitive(activations[i % activations.size()]))
      fail("the activation '" + name + "' is not supported here");
  bool batchFirst = node.integer("layout", 0) != 0;
  if (node.has(4)) {
    int64_t steps = x.dim(batchFirst ? 1 : 0);
    for (int64_t length : node.knownIntegers(4, "sequence lengths"))
      if (length != steps)
        fail("sequences of different lengths are not supported");
  }
  return {node.attr("direction", nn::RnnDirectionAttr::get(&node.context(), directionOf(node))),
          node.flag("batch_first", batchFirst)};
}

Value optionalFloat(Node &node, size_t input) {
  return node.has(input) ? node.floatIn(input).get() : Value();
}

/// The state that a layer starts from, from this input on.
Value initialState(Node &node, size_t input) {
  Value state = optionalFloat(node, input);
  if (state)
    node.importer().markUnclear(state, "the state that a layer starts from");
  return state;
}

Entities resultsOf(Operation *op) {
  Entities results;
  for (Value result : op->getResults())
    results.push_back(Entity(result));
  return results;
}

Entities lstm(Node &node) {
  auto attributes = commonAttributes(node, {"Sigmoid", "Tanh", "Tanh"});
  if (node.integer("input_forget", 0) != 0)
    fail("input_forget is not supported");
  return resultsOf(node.create<nn::LstmOp>({node.floatIn(0), node.floatIn(1), node.floatIn(2),
                                            optionalFloat(node, 3), initialState(node, 5),
                                            initialState(node, 6), optionalFloat(node, 7)},
                                           attributes));
}

Entities gru(Node &node) {
  auto attributes = commonAttributes(node, {"Sigmoid", "Tanh"});
  attributes.push_back(
      node.flag("linear_before_reset", node.integer("linear_before_reset", 0) != 0));
  return resultsOf(node.create<nn::GruOp>({node.floatIn(0), node.floatIn(1), node.floatIn(2),
                                           optionalFloat(node, 3), initialState(node, 5)},
                                          attributes));
}

Entities rnn(Node &node) {
  SmallVector<std::string> activations = node.strings("activations");
  bool relu = !activations.empty() && StringRef(activations.front()).equals_insensitive("relu");
  auto attributes = commonAttributes(node, {relu ? "Relu" : "Tanh"});
  attributes.push_back(node.flag("relu", relu));
  return resultsOf(node.create<nn::RnnOp>({node.floatIn(0), node.floatIn(1), node.floatIn(2),
                                           optionalFloat(node, 3), initialState(node, 5)},
                                          attributes));
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::recurrentOps() {
  static const OpRow rows[] = {
      {"LSTM", lstm},
      {"GRU", gru},
      {"RNN", rnn},
  };
  return rows;
}
