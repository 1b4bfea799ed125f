// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrent layers.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/PackedSequences.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The blocks of gates along the first dimension in another order.
Tensor reordered(Node &node, Tensor x, ArrayRef<int64_t> order) {
  int64_t gates = static_cast<int64_t>(order.size());
  if (x.rank() == 0 || x.dim(0) % gates != 0)
    fail("a parameter of shape " + show(x.shape()) + " does not have " + Twine(gates) + " gates");
  if (gates == 1)
    return x;
  SmallVector<Tensor> blocks;
  int64_t size = x.dim(0) / gates;
  for (int64_t gate : order)
    blocks.push_back(x.sliceDim(0, gate * size, (gate + 1) * size));
  return node.concatenate(blocks, 0);
}

/// [1, ...]
Tensor leading(Tensor x) {
  SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin(), 1);
  return x.reshape(shape);
}

/// The lengths or batch sizes of packed sequences, by whose sum they have a shape.
SmallVector<int64_t> knownLengths(Node &node, StringRef name) {
  Tensor lengths = node.in(name);
  if (!node.given(lengths))
    fail("packed sequences have as many rows as their lengths are together, which must be known at "
         "compile time: make the lengths a constant or a buffer that nothing writes, or give the "
         "layer padded "
         "sequences");
  return node.knownIntegers(lengths, "lengths of packed sequences");
}

/// The first two dimensions exchanged.
Tensor swapped(Tensor x) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  std::swap(order[0], order[1]);
  return x.transpose(order);
}

/// What a layer is made of, in nn's order of gates: weights and biases of all directions.
struct Layer {
  Tensor x; // [T, B, I]
  Tensor w, r;
  Value b;          // null without biases
  Value projection; // [d, P, H], or null where the states are not projected
  SmallVector<Value> states;
};

PackedSequences packedBy(Node &node) {
  return PackedSequences(node, knownLengths(node, "batch_sizes"));
}

/// A stack of recurrent layers as torch.nn has them: time first inside.
class Stack {
public:
  /// `order`: where nn's gates stand among PyTorch's. With `isPacked`, the input is packed
  /// sequences.
  Stack(Node &node, ArrayRef<int64_t> order, size_t states, bool isPacked)
      : node(node), order(order), x(node.floatIn(isPacked ? "data" : "input")),
        layers(node.integer("num_layers")), directions(node.boolean("bidirectional") ? 2 : 1),
        hasBiases(node.boolean("has_biases")),
        batchFirst(!isPacked && node.boolean("batch_first")) {
    if (isPacked) {
      packed.emplace(packedBy(node));
      x = packed->pad(x, 0.0, packed->times());
    }
    for (Tensor parameter : node.tensors("params"))
      parameters.push_back(parameter);
    SmallVector<Tensor> initial = states == 1 && node.isTensor("hx")
                                      ? SmallVector<Tensor>{node.in("hx")}
                                      : node.tensors("hx");
    isBatch = x.rank() == 3;
    if ((!isBatch && x.rank() != 2) || initial.size() != states || layers < 1)
      fail("an input of shape " + show(x.shape()) + " and " + Twine(initial.size()) + " states");
    if (!isBatch) {
      x = x.reshape({x.dim(0), 1, x.dim(1)});
      for (Tensor &state : initial)
        state = state.reshape({state.dim(0), 1, state.dim(1)});
    } else if (batchFirst) {
      x = x.transpose({1, 0, 2});
    }
    hidden = initial;
    int64_t count = static_cast<int64_t>(parameters.size()), cells = layers * directions;
    isProjected = states == 2 && count == cells * (each() + 1);
    if (count != cells * each())
      fail("there are " + Twine(count) + " parameters for " + Twine(layers) + " layers");
    for (Tensor state : hidden)
      if (state.rank() != 3 || state.dim(0) != layers * directions)
        fail("a state has the shape " + show(state.shape()));
  }

  using Build = llvm::function_ref<SmallVector<Value>(const Layer &, NamedAttribute direction,
                                                      NamedAttribute batchFirst)>;

  /// `build` makes one layer, with these attributes of nn's ops: its outputs [T, d, B, ...] and
  /// last states [d, B, ...].
  Entities run(Build build) {
    SmallVector<SmallVector<Tensor>> last(hidden.size());
    for (int64_t layer = 0; layer < layers; ++layer) {
      if (layer > 0)
        dropBetweenLayers();
      Layer parts = {x, stacked(layer, 0, order), stacked(layer, 1, order), {}, {}, {}};
      if (hasBiases)
        parts.b = node.concatenate({stacked(layer, 2, order), stacked(layer, 3, order)}, 1);
      if (isProjected)
        parts.projection = stacked(layer, each() - 1, {0});
      for (Tensor state : hidden)
        parts.states.push_back(state.sliceDim(0, layer * directions, (layer + 1) * directions));
      SmallVector<Value> built = packed ? packedLayer(parts, build) : madeBy(build, parts);
      Tensor y = node.wrap(built.front()); // [T, d, B, H]
      x = y.transpose({0, 2, 1, 3}).reshape({y.dim(0), y.dim(2), y.dim(1) * y.dim(3)});
      for (size_t i = 0; i < hidden.size(); ++i)
        last[i].push_back(node.wrap(built[i + 1]));
    }
    Entities results = {output()};
    for (ArrayRef<Tensor> each : last) {
      Tensor all = node.concatenate(each, 0);
      results.push_back(isBatch ? all : all.reshape({all.dim(0), all.dim(2)}));
    }
    return results;
  }

private:
  SmallVector<Value> madeBy(Build build, const Layer &parts) {
    auto direction =
        parts.w.dim(0) == 2 ? nn::RnnDirection::bidirectional : nn::RnnDirection::forward;
    return build(parts,
                 node.attr("direction", nn::RnnDirectionAttr::get(&node.context(), direction)),
                 node.flag("batch_first", false));
  }

  /// A layer on padded sequences, each direction by itself: the second reads each sequence from
  /// its end. What follows a sequence changes no output before, and the last one is its state.
  SmallVector<Value> packedLayer(const Layer &all, Build build) {
    SmallVector<SmallVector<Tensor>> parts(hidden.size() + 1);
    for (int64_t d = 0; d < directions; ++d) {
      auto part = [&](Value value) {
        return value ? Value(node.wrap(value).sliceDim(0, d, d + 1)) : value;
      };
      Layer one = {d == 0 ? x : packed->reversed(x),
                   all.w.sliceDim(0, d, d + 1),
                   all.r.sliceDim(0, d, d + 1),
                   part(all.b),
                   part(all.projection),
                   llvm::map_to_vector(all.states, part)};
      if (hidden.size() == 2 && !packed->haveOneLength())
        keepCells(one);
      SmallVector<Value> built = madeBy(build, one);
      Tensor y = node.wrap(built.front()); // [T, 1, B, H]
      y = y.reshape({y.dim(0), y.dim(2), y.dim(3)});
      parts[1].push_back(leading(packed->last(y)));
      if (hidden.size() == 2)
        parts[2].push_back(node.wrap(built[2]));
      y = d == 0 ? y : packed->reversed(y);
      parts[0].push_back(y.reshape({y.dim(0), 1, y.dim(1), y.dim(2)}));
    }
    SmallVector<Value> results = {node.concatenate(parts[0], 1)};
    for (ArrayRef<Tensor> states : ArrayRef(parts).drop_front())
      results.push_back(node.concatenate(states, 0));
    return results;
  }

  /// Lets the cells of an LSTM stay as they are behind the end of a sequence: there one input more
  /// closes the input gates and opens the forget gates, so far that they are 0 and 1.
  void keepCells(Layer &layer) const {
    constexpr double kFar = 1e4;
    Tensor isBehind = packed->isPadding(packed->times()).convert(layer.x.elementType());
    Tensor extra = isBehind.reshape({layer.x.dim(0), layer.x.dim(1), 1});
    layer.x = node.concatenate({layer.x, extra}, 2);
    int64_t size = layer.w.dim(1) / 4; // i, o, f, g
    SmallVector<double> weights(4 * size, 0.0);
    std::fill_n(weights.begin(), size, -kFar);
    std::fill_n(weights.begin() + 2 * size, size, kFar);
    layer.w = node.concatenate(
        {layer.w, node.reals(weights, {1, 4 * size, 1}, layer.w.elementType())}, 2);
  }

  Tensor output() const {
    if (packed)
      return packed->pack(x);
    if (!isBatch)
      return x.reshape({x.dim(0), x.dim(2)});
    return batchFirst ? x.transpose({1, 0, 2}) : x;
  }

  /// The number of parameters of a layer in one direction.
  int64_t each() const { return (hasBiases ? 4 : 2) + (isProjected ? 1 : 0); }

  /// The parameter number `which` of a layer in all directions: [d, ...].
  Tensor stacked(int64_t layer, int64_t which, ArrayRef<int64_t> gates) {
    SmallVector<Tensor> parts;
    for (int64_t d = 0; d < directions; ++d)
      parts.push_back(
          leading(reordered(node, parameters[(layer * directions + d) * each() + which], gates)));
    return node.concatenate(parts, 0);
  }

  void dropBetweenLayers() {
    double ratio = node.real("dropout");
    if (!node.boolean("train") || ratio == 0)
      return;
    x = node.make<nn::DropoutOp>(
        {x, node.forward().randomKey()},
        {node.f64("ratio", ratio), node.i64("stream", node.forward().nextStream())}, {x.type()});
  }

  Node &node;
  ArrayRef<int64_t> order;
  Tensor x;
  int64_t layers, directions;
  bool hasBiases, batchFirst, isBatch = true, isProjected = false;
  SmallVector<Tensor> parameters, hidden;
  std::optional<PackedSequences> packed;
};

// PyTorch has i, f, g, o, and nn i, o, f, g.
constexpr int64_t kLstmOrder[] = {0, 3, 1, 2};
// PyTorch has r, z, n, and nn z, r, n.
constexpr int64_t kGruOrder[] = {1, 0, 2};
constexpr int64_t kRnnOrder[] = {0};

SmallVector<Value> resultsOf(Operation *op) { return llvm::to_vector_of<Value>(op->getResults()); }

/// Gate number i of `gates`, side by side in the last dimension.
Tensor gate(Tensor x, int64_t i, int64_t gates) {
  int64_t size = x.dim(-1) / gates;
  return x.sliceDim(x.rank() - 1, i * size, (i + 1) * size);
}

/// The part of one direction, [d, ...] without d.
Tensor ofDirection(Node &node, Value x, int64_t d) {
  Tensor all = node.wrap(x);
  return all.sliceDim(0, d, d + 1).reshape(all.shape().drop_front());
}

/// Step by step, an LSTM whose hidden state is a projection of what the cell hands out:
/// h = (o tanh c) P' (Sak, Senior, Beaufays, "Long short-term memory based recurrent neural network
/// architectures for large vocabulary speech recognition", 2014).
SmallVector<Value> projectedLstm(Node &node, const Layer &layer) {
  int64_t steps = layer.x.dim(0), directions = layer.w.dim(0);
  Tensor xs = layer.x;
  SmallVector<SmallVector<Tensor>> outputs(steps);
  SmallVector<Tensor> lastH, lastC;
  for (int64_t d = 0; d < directions; ++d) {
    Tensor r = ofDirection(node, layer.r, d), p = ofDirection(node, layer.projection, d);
    Tensor fromInput = prim::dotGeneral(xs, ofDirection(node, layer.w, d), {}, {}, {2}, {1});
    if (layer.b) {
      Tensor b = ofDirection(node, layer.b, d), half = b.reshape({2, b.size() / 2});
      fromInput = fromInput + node.broadcastTo(prim::sum(half, {0}), fromInput.shape());
    }
    Tensor h = ofDirection(node, layer.states[0], d), c = ofDirection(node, layer.states[1], d);
    for (int64_t i = 0; i < steps; ++i) {
      int64_t t = d == 0 ? i : steps - 1 - i;
      Tensor a = fromInput.sliceDim(0, t, t + 1).reshape(fromInput.shape().drop_front()) +
                 prim::dotGeneral(h, r, {}, {}, {1}, {1});
      c = prim::logistic(gate(a, 2, 4)) * c +
          prim::logistic(gate(a, 0, 4)) * prim::tanh(gate(a, 3, 4));
      Tensor out = prim::logistic(gate(a, 1, 4)) * prim::tanh(c);
      h = prim::dotGeneral(out, p, {}, {}, {1}, {1});
      outputs[t].push_back(leading(h));
    }
    lastH.push_back(leading(h));
    lastC.push_back(leading(c));
  }
  SmallVector<Tensor> ys;
  for (ArrayRef<Tensor> step : outputs)
    ys.push_back(leading(node.concatenate(step, 0)));
  return {node.concatenate(ys, 0), node.concatenate(lastH, 0), node.concatenate(lastC, 0)};
}

template <bool isPacked> Entities lstm(Node &node) {
  return Stack(node, kLstmOrder, 2, isPacked)
      .run([&](const Layer &layer, NamedAttribute direction, NamedAttribute batchFirst) {
        if (layer.projection)
          return projectedLstm(node, layer);
        return resultsOf(node.create<nn::LstmOp>(
            {layer.x, layer.w, layer.r, layer.b, layer.states[0], layer.states[1], Value()},
            {direction, batchFirst}));
      });
}

template <bool isPacked> Entities gru(Node &node) {
  return Stack(node, kGruOrder, 1, isPacked)
      .run([&](const Layer &layer, NamedAttribute direction, NamedAttribute batchFirst) {
        return resultsOf(node.create<nn::GruOp>(
            {layer.x, layer.w, layer.r, layer.b, layer.states[0]},
            {direction, batchFirst, node.flag("linear_before_reset", true)}));
      });
}

template <bool relu, bool isPacked> Entities rnn(Node &node) {
  return Stack(node, kRnnOrder, 1, isPacked)
      .run([&](const Layer &layer, NamedAttribute direction, NamedAttribute batchFirst) {
        return resultsOf(
            node.create<nn::RnnOp>({layer.x, layer.w, layer.r, layer.b, layer.states[0]},
                                   {direction, batchFirst, node.flag("relu", relu)}));
      });
}

// ---- packed sequences ----

Entities packPaddedSequence(Node &node) {
  Tensor x = node.in("input");
  if (x.rank() < 2)
    fail("no sequences are in a tensor of shape " + show(x.shape()));
  if (node.boolean("batch_first"))
    x = swapped(x);
  SmallVector<int64_t> lengths = knownLengths(node, "lengths");
  if (static_cast<int64_t>(lengths.size()) != x.dim(1))
    fail("there are " + Twine(lengths.size()) + " lengths for " + Twine(x.dim(1)) + " sequences");
  PackedSequences sequences = PackedSequences::ofLengths(node, lengths, x.dim(0));
  return {sequences.pack(x), node.integers(sequences.batchSizes(), {sequences.times()})};
}

Entities padPackedSequence(Node &node) {
  PackedSequences sequences = packedBy(node);
  int64_t times = node.integer("total_length");
  if (times > 0 && times < sequences.times())
    fail("sequences of up to " + Twine(sequences.times()) + " elements are padded to " +
         Twine(times));
  Tensor padded = sequences.pad(node.in("data"), node.number("padding_value"),
                                times > 0 ? times : sequences.times());
  return {node.boolean("batch_first") ? swapped(padded) : padded,
          node.integers(sequences.sequenceLengths(), {sequences.count()})};
}

// ---- single steps ----

Tensor project(Node &node, Tensor x, StringRef weight, StringRef bias) {
  return node.make<nn::LinearOp>({x, node.floatIn(weight), node.optional(bias)},
                                 {node.flag("transpose_w", true)});
}

Entities lstmCell(Node &node) {
  SmallVector<Tensor> states = node.tensors("hx");
  if (states.size() != 2)
    fail("needs a hidden and a cell state");
  Tensor gates = project(node, node.floatIn("input"), "w_ih", "b_ih") +
                 project(node, states[0], "w_hh", "b_hh");
  Tensor i = prim::logistic(gate(gates, 0, 4)), f = prim::logistic(gate(gates, 1, 4));
  Tensor g = prim::tanh(gate(gates, 2, 4)), o = prim::logistic(gate(gates, 3, 4));
  Tensor cell = f * states[1] + i * g;
  return {o * prim::tanh(cell), cell};
}

Entities gruCell(Node &node) {
  Tensor h = node.floatIn("hx");
  Tensor a = project(node, node.floatIn("input"), "w_ih", "b_ih");
  Tensor b = project(node, h, "w_hh", "b_hh");
  Tensor r = prim::logistic(gate(a, 0, 3) + gate(b, 0, 3));
  Tensor z = prim::logistic(gate(a, 1, 3) + gate(b, 1, 3));
  Tensor n = prim::tanh(gate(a, 2, 3) + r * gate(b, 2, 3));
  return {n + z * (h - n)};
}

template <bool isRelu> Entities rnnCell(Node &node) {
  Tensor sum = project(node, node.floatIn("input"), "w_ih", "b_ih") +
               project(node, node.floatIn("hx"), "w_hh", "b_hh");
  return {isRelu ? Tensor(node.make<nn::ReluOp>({sum})) : prim::tanh(sum)};
}

} // namespace

ArrayRef<OpRow> accc::aten::recurrentOps() {
  static const OpRow rows[] = {
      {"lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, "
       "batch_first)",
       lstm<false>},
      {"lstm.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, "
       "bidirectional)",
       lstm<true>},
      {"gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first)",
       gru<false>},
      {"gru.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, "
       "bidirectional)",
       gru<true>},
      {"rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, "
       "batch_first)",
       rnn<false, false>},
      {"rnn_tanh.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, "
       "bidirectional)",
       rnn<false, true>},
      {"rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, "
       "batch_first)",
       rnn<true, false>},
      {"rnn_relu.data(data, batch_sizes, hx, params, has_biases, num_layers, dropout, train, "
       "bidirectional)",
       rnn<true, true>},
      {"_pack_padded_sequence(input, lengths, batch_first)", packPaddedSequence},
      {"_pad_packed_sequence(data, batch_sizes, batch_first, padding_value, total_length)",
       padPackedSequence},
      {"lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)", lstmCell},
      {"gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)", gruCell},
      {"rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)", rnnCell<false>},
      {"rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None)", rnnCell<true>},
  };
  return rows;
}
