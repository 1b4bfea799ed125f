// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control flow. What decides must be known while importing, so that a branch is chosen and a loop
// is unrolled; a branch that depends on data computes both sides and selects.
#include "frontend/common/Fold.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

bool isBroken(const Entities &entities) {
  return llvm::any_of(entities, [](const Entity &entity) { return entity.isBroken; });
}

Tensor either(Tensor condition, Tensor yes, Tensor no) {
  return prim::select(condition.broadcast(yes.shape(), {}), yes, no);
}

/// Each variable (running statistics) becomes what the branch that is taken made of it.
void updateEither(Node &node, Tensor condition, const ForwardBuilder::Updates &ofThen,
                  const ForwardBuilder::Updates &ofElse) {
  ForwardBuilder::Updates all = ofThen;
  for (const auto &update : ofElse)
    all.insert(update);
  for (Value variable : llvm::make_first_range(all)) {
    auto after = [&](const ForwardBuilder::Updates &updates) {
      Value update = updates.lookup(variable);
      return node.wrap(update ? update : variable);
    };
    Tensor yes = after(ofThen), no = after(ofElse);
    if (yes.get() != no.get())
      node.importer().bindUpdate(variable, either(condition, yes, no));
  }
}

Entities branch(Node &node) {
  GraphImporter &importer = node.importer();
  if (node.in(0).size() != 1)
    fail("the condition must be one boolean");
  if (node.isKnown(0)) {
    bool taken = node.knownInteger(0, "condition") != 0;
    return importer.importSubgraph(node.graph(taken ? "then_branch" : "else_branch"), node.scope(),
                                   {});
  }
  Tensor condition = node.reshape(node.in(0), {});
  ForwardBuilder::Updates before = importer.updates();
  Entities yes = importer.importSubgraph(node.graph("then_branch"), node.scope(), {}, condition);
  ForwardBuilder::Updates ofThen = importer.updates();
  importer.setUpdates(before);
  Entities no = importer.importSubgraph(node.graph("else_branch"), node.scope(), {},
                                        prim::logicalNot(condition));
  if (isBroken(yes) || isBroken(no))
    return {};
  updateEither(node, condition, ofThen, importer.updates());
  if (yes.size() != no.size())
    fail("its branches give different numbers of results");
  Entities results;
  for (auto [a, b] : llvm::zip(yes, no)) {
    if (!a.tensor || !b.tensor || a.tensor.getType() != b.tensor.getType())
      fail("a branch that depends on data must give tensors of the same type on both sides");
    results.push_back(either(condition, node.wrap(a.tensor), node.wrap(b.tensor)));
  }
  return results;
}

/// Tensors of one shape as one with a new dimension.
Entity stack(Node &node, ArrayRef<Entity> elements, int64_t axis) {
  SmallVector<Tensor> rows;
  for (const Entity &element : elements) {
    if (!element.tensor)
      fail("the values that a loop collects must be tensors");
    Tensor row = node.wrap(element.tensor);
    SmallVector<int64_t> shape(row.shape());
    shape.insert(shape.begin() + node.axis(axis, row.rank() + 1), 1);
    rows.push_back(row.reshape(shape));
  }
  return Entity(node.concatenate(rows, node.axis(axis, rows.front().rank())));
}

/// The type of something that was never collected: what the body declares, with unknown extents
/// as 1.
Entity emptyStack(Node &node, const onnx::ValueInfoProto &info) {
  const onnx::TypeProto::Tensor &type = info.type().tensor_type();
  SmallVector<int64_t> shape = {0};
  for (const auto &dimension : type.shape().dim())
    shape.push_back(dimension.has_dim_value() ? dimension.dim_value() : 1);
  return Entity(node.full(shape, elementType(node.context(), type.elem_type()), 0));
}

/// Body: (iteration, condition, carried...) -> (condition, carried..., collected...)
Entities loop(Node &node) {
  GraphImporter &importer = node.importer();
  const onnx::GraphProto &body = node.graph("body");
  int64_t trips =
      node.has(0) ? node.knownInteger(0, "trip count") : std::numeric_limits<int64_t>::max();
  Entity condition =
      node.has(1) ? node.entity(1) : Entity(node.full({}, node.builder().getI1Type(), 1));
  Entities carried;
  for (size_t i = 2; i < node.inputs(); ++i)
    carried.push_back(node.has(i) ? node.entity(i) : Entity());
  size_t outputs = static_cast<size_t>(body.output_size());
  if (outputs < 1 + carried.size())
    fail("its body gives fewer values than it carries");
  SmallVector<std::vector<Entity>> collected(outputs - 1 - carried.size());
  for (int64_t i = 0; i < trips; ++i) {
    DenseElementsAttr more = condition.tensor ? knownValue(condition.tensor) : DenseElementsAttr();
    if (!more || more.getNumElements() != 1 || !more.getElementType().isInteger(1))
      fail("a loop that ends depending on data is not supported");
    if (!*more.value_begin<bool>())
      break;
    Entities inputs = {Entity(node.integers({i}, {})), condition};
    inputs.append(carried.begin(), carried.end());
    Entities results = importer.importSubgraph(body, node.scope(), inputs);
    if (isBroken(results))
      return {};
    condition = results.front();
    for (size_t c = 0; c < carried.size(); ++c)
      carried[c] = results[1 + c];
    for (size_t c = 0; c < collected.size(); ++c)
      collected[c].push_back(results[1 + carried.size() + c]);
  }
  Entities results = carried;
  for (auto [c, elements] : llvm::enumerate(collected))
    results.push_back(elements.empty()
                          ? emptyStack(node, body.output(static_cast<int>(1 + carried.size() + c)))
                          : stack(node, elements, 0));
  return results;
}

/// How a scan goes through its inputs and stacks what it collects: the axis of each, and whether
/// from the end.
struct ScanPlan {
  SmallVector<int64_t> inputAxes, inputBack, outputAxes, outputBack;
};

/// A list attribute of `size` entries, zeros by default.
SmallVector<int64_t> listOrZeros(Node &node, StringRef name, int64_t size) {
  SmallVector<int64_t> list = node.integers(name);
  if (list.empty())
    list.assign(size, 0);
  if (static_cast<int64_t>(list.size()) != size)
    fail("the attribute '" + name + "' needs " + Twine(size) + " entries");
  return list;
}

/// Body: (states..., one element of each scanned input...) -> (states..., collected...)
Entities scanOnce(Node &node, Entities state, ArrayRef<Tensor> scanned, ScanPlan plan) {
  const onnx::GraphProto &body = node.graph("body");
  size_t states = state.size();
  std::optional<int64_t> steps;
  for (auto [x, axis] : llvm::zip(scanned, plan.inputAxes)) {
    axis = node.axis(axis, x.rank());
    if (steps && *steps != x.dim(axis))
      fail("the scanned inputs have different lengths");
    steps = x.dim(axis);
  }
  SmallVector<std::vector<Entity>> collected(plan.outputAxes.size());
  for (int64_t t = 0; t < *steps; ++t) {
    Entities inputs = state;
    for (auto [x, axis, isBack] : llvm::zip(scanned, plan.inputAxes, plan.inputBack)) {
      int64_t at = isBack ? *steps - 1 - t : t;
      SmallVector<int64_t> shape(x.shape());
      shape.erase(shape.begin() + axis);
      inputs.push_back(x.sliceDim(axis, at, at + 1).reshape(shape));
    }
    Entities results = node.importer().importSubgraph(body, node.scope(), inputs);
    if (isBroken(results))
      return {};
    state.assign(results.begin(), results.begin() + static_cast<int64_t>(states));
    for (auto [c, elements] : llvm::enumerate(collected))
      elements.push_back(results[states + c]);
  }
  Entities results = state;
  for (auto [c, elements] : llvm::enumerate(collected)) {
    if (plan.outputBack[c])
      std::reverse(elements.begin(), elements.end());
    results.push_back(elements.empty() ? emptyStack(node, body.output(static_cast<int>(states + c)))
                                       : stack(node, elements, plan.outputAxes[c]));
  }
  return results;
}

/// Operator set 8: for each sample of a batch by itself, along the axis after it; the first input
/// says how long each sequence is.
Entities scanOfBatch(Node &node, int64_t scanned, int64_t states, ScanPlan plan) {
  if (node.has(0))
    fail("sequence_lens is not supported");
  std::optional<int64_t> batch;
  for (int64_t i = 1; i <= states + scanned; ++i) {
    if (node.in(i).rank() < 1 || (batch && node.in(i).dim(0) != *batch))
      fail("its inputs have different numbers of samples");
    batch = node.in(i).dim(0);
  }
  SmallVector<std::vector<Entity>> results;
  for (int64_t b = 0; b < *batch; ++b) {
    Entities state;
    SmallVector<Tensor> inputs;
    for (int64_t i = 0; i < states + scanned; ++i) {
      Tensor x = node.in(1 + i);
      Tensor sample = x.sliceDim(0, b, b + 1).reshape(x.shape().drop_front());
      if (i < states)
        state.push_back(sample);
      else
        inputs.push_back(sample);
    }
    Entities ofSample = scanOnce(node, state, inputs, plan);
    if (ofSample.empty())
      return {};
    results.resize(ofSample.size());
    for (auto [all, one] : llvm::zip(results, ofSample))
      all.push_back(one);
  }
  if (results.empty())
    fail("a batch without samples");
  Entities stacked;
  for (std::vector<Entity> &each : results)
    stacked.push_back(stack(node, each, 0));
  return stacked;
}

Entities scan(Node &node) {
  bool isOld = node.opset() < 9;
  int64_t scanned = node.integer("num_scan_inputs");
  int64_t states = static_cast<int64_t>(node.inputs()) - scanned - isOld;
  int64_t outputs = node.graph("body").output_size() - states;
  if (scanned < 1 || states < 0 || outputs < 0)
    fail("num_scan_inputs does not fit its inputs");
  ScanPlan plan = {listOrZeros(node, "scan_input_axes", scanned),
                   listOrZeros(node, isOld ? "directions" : "scan_input_directions", scanned),
                   listOrZeros(node, "scan_output_axes", outputs),
                   listOrZeros(node, "scan_output_directions", outputs)};
  if (isOld)
    return scanOfBatch(node, scanned, states, plan);
  Entities state;
  for (int64_t i = 0; i < states; ++i)
    state.push_back(node.entity(i));
  SmallVector<Tensor> inputs;
  for (int64_t i = 0; i < scanned; ++i)
    inputs.push_back(node.in(states + i));
  return scanOnce(node, state, inputs, plan);
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::controlFlowOps() {
  static const OpRow rows[] = {
      {"If", branch},
      {"Loop", loop},
      {"Scan", scan, "", 8},
  };
  return rows;
}
