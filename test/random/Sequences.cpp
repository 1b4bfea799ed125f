// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, recurrent cells, random numbers, losses inside of a model.
#include "Sketch.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

bool attention(Sketch &s) {
  int64_t groups = s.random.between(1, 2), keyHeads = s.random.between(1, 2);
  int64_t batch = s.random.between(1, 2), heads = groups * keyHeads;
  int64_t t = s.random.between(1, 5), positions = s.random.chance(0.7) ? t : s.random.between(1, 5);
  int64_t d = s.random.between(1, 4), dv = s.random.chance(0.7) ? d : s.random.between(1, 4);
  SmallVector<Value> operands{s.of({batch, heads, t, d}), s.of({batch, keyHeads, positions, d}),
                              s.of({batch, keyHeads, positions, dv})};
  if (s.random.chance(0.4)) {
    SmallVector<int64_t> shape{s.random.chance(0.5) ? 1 : batch, 1, t, positions};
    operands.push_back(
        s.of(s.tensor(shape, s.random.chance(0.5) ? Type(s.b.getI1Type()) : s.floatType())));
  }
  return bool(s.one("nn.attention", operands,
                    {s.number("scale", 0.5), s.flag("causal", s.random.chance(0.4)),
                     s.number("softcap", s.random.chance(0.8) ? 0.0 : 2.0)}));
}

/// As --form-attention makes it: what a library runs, positions before heads.
bool wholeAttention(Sketch &s) {
  int64_t keyHeads = s.random.between(1, 2), heads = s.random.between(1, 2) * keyHeads;
  int64_t batch = s.random.between(1, 2), queries = s.random.between(1, 5);
  int64_t keys = s.random.between(1, 5), d = s.random.between(1, 4), dv = s.random.between(1, 4);
  SmallVector<Value> operands{s.of({batch, queries, heads, d}), s.of({batch, keys, keyHeads, d}),
                              s.of({batch, keys, keyHeads, dv})};
  auto orOne = [&](int64_t extent) { return s.random.chance(0.5) ? 1 : extent; };
  if (s.random.chance(0.3))
    operands.push_back(s.of({orOne(batch), orOne(heads), orOne(queries), keys}));
  return bool(s.one("prim.attention", operands,
                    {s.number("scale", 0.5), s.flag("causal", s.random.chance(0.4))}));
}

bool rotary(Sketch &s) {
  int64_t b = s.random.between(1, 2), h = s.random.between(1, 2), t = s.random.between(1, 4);
  int64_t half = s.random.between(1, 3), rest = s.random.chance(0.7) ? 0 : s.random.between(1, 3);
  SmallVector<int64_t> shape{t, half};
  if (s.random.chance(0.4))
    shape.insert(shape.begin(), b);
  Value x = s.of({b, h, t, 2 * half + rest});
  Value cos = s.of(shape), sin = s.of(shape);
  return bool(s.one("nn.rotary_embedding", {x, cos, sin},
                    s.flag("interleaved", s.random.chance(0.5)), x.getType()));
}

bool recurrent(Sketch &s) {
  int64_t steps = s.random.between(1, 3), batch = s.random.between(1, 3);
  int64_t in = s.random.between(1, 4), hidden = s.random.between(1, 4);
  auto direction = nn::RnnDirection(s.random.below(3));
  int64_t d = direction == nn::RnnDirection::bidirectional ? 2 : 1;
  bool batchFirst = s.random.chance(0.3);
  int64_t kind = s.random.below(3), gates = kind == 0 ? 4 : kind == 1 ? 3 : 1;
  auto batched = [&](int64_t first) {
    return batchFirst ? SmallVector<int64_t>{batch, first} : SmallVector<int64_t>{first, batch};
  };
  SmallVector<int64_t> x = batched(steps), state = batched(d);
  x.push_back(in);
  state.push_back(hidden);
  SmallVector<Value> operands{s.of(x), s.of({d, gates * hidden, in}),
                              s.of({d, gates * hidden, hidden})};
  SmallVector<int32_t> segments{1, 1, 1};
  auto maybe = [&](double probability, ArrayRef<int64_t> shape) {
    bool there = s.random.chance(probability);
    if (there)
      operands.push_back(s.of(shape));
    segments.push_back(there);
  };
  maybe(0.6, {d, 2 * gates * hidden});
  maybe(0.4, state);
  SmallVector<NamedAttribute> attributes{s.choice<nn::RnnDirectionAttr>("direction", direction),
                                         s.flag("batch_first", batchFirst)};
  StringRef name = "nn.rnn";
  if (kind == 0) {
    name = "nn.lstm";
    maybe(0.4, state);
    maybe(0.2, {d, 3 * hidden});
  } else if (kind == 1) {
    name = "nn.gru";
    attributes.push_back(s.flag("linear_before_reset", s.random.chance(0.5)));
  } else {
    attributes.push_back(s.flag("relu", s.random.chance(0.3)));
  }
  attributes.push_back(s.segments(segments));
  return !s.add(name, operands, attributes).empty();
}

constexpr Production kSequences[] = {{"attention", 3, attention},
                                     {"whole_attention", 1, wholeAttention},
                                     {"rotary", 1, rotary},
                                     {"recurrent", 2, recurrent}};

// ---- random numbers ----

bool dropout(Sketch &s) {
  Value x = s.floats();
  return bool(s.one(
      "nn.dropout", {x, s.key()},
      {s.number("ratio", s.random.pick({0.1, 0.5, 0.0, 1.0})), s.integer("stream", s.stream())},
      x.getType()));
}

bool randomNumbers(Sketch &s) {
  SmallVector<int64_t> shape = s.shape(0, 3);
  NamedAttribute stream = s.integer("stream", s.stream());
  switch (s.random.below(4)) {
  case 0:
    return bool(s.one("nn.random_uniform", s.key(),
                      {s.number("low", -1.0), s.number("high", 1.0), stream}, s.tensor(shape)));
  case 1:
    return bool(s.one("nn.random_normal", s.key(),
                      {s.number("mean", 0.5), s.number("scale", 0.5), stream}, s.tensor(shape)));
  case 2: {
    Value p = s.within(s.floats(), 0, 1);
    if (!p)
      return false;
    Type element = s.random.chance(0.5) ? s.floatType() : Type(s.b.getI1Type());
    return bool(s.one("nn.bernoulli", {p, s.key()}, stream, s.tensor(Sketch::shapeOf(p), element)));
  }
  default:
    return bool(
        s.one("prim.random_bits", s.key(), stream, s.tensor(shape, s.b.getIntegerType(32, false))));
  }
}

constexpr Production kRandom[] = {{"dropout", 3, dropout}, {"random_numbers", 2, randomNumbers}};

// ---- losses ----

NamedAttribute reduction(Sketch &s) {
  return s.choice<nn::ReductionAttr>("reduction", nn::Reduction(s.random.below(3)));
}

bool elementLoss(Sketch &s) {
  Value x = s.floats(0, 4);
  auto type = Sketch::typeOf(x);
  switch (s.random.below(6)) {
  case 0:
    return bool(s.one("nn.mse_loss", {x, s.of(type)}, reduction(s)));
  case 1:
    return bool(s.one("nn.l1_loss", {x, s.of(type)}, reduction(s)));
  case 2:
    return bool(s.one("nn.smooth_l1_loss", {x, s.of(type)}, {s.number("beta", 0.7), reduction(s)}));
  case 3:
    return bool(s.one("nn.huber_loss", {x, s.of(type)}, {s.number("delta", 0.7), reduction(s)}));
  case 4: {
    SmallVector<Value> operands{x, s.input(type, {0, 1})};
    bool weight = s.random.chance(0.3), positive = s.random.chance(0.3);
    for (bool there : {weight, positive})
      if (there)
        operands.push_back(s.input(type, {0.5, 1.5}));
    return bool(s.one("nn.bce_with_logits", operands,
                      {reduction(s), s.segments({1, 1, weight, positive})}));
  }
  default: {
    SmallVector<Value> operands{s.within(x, 0.02, 0.98), s.input(type, {0, 1})};
    if (s.random.chance(0.3))
      operands.push_back(s.input(type, {0.5, 1.5}));
    return bool(s.one("nn.bce", operands, reduction(s)));
  }
  }
}

bool classLoss(Sketch &s) {
  Value x = s.floats(1, 4);
  SmallVector<int64_t> shape(Sketch::shapeOf(x));
  int64_t dimension = shape.size() == 1 ? 0 : 1, classes = shape[dimension];
  if (classes == 0)
    return false;
  shape.erase(shape.begin() + dimension);
  Type element = Sketch::typeOf(x).getElementType();
  bool probabilities = s.random.chance(0.2), isNll = s.random.chance(0.3);
  SmallVector<Value> operands{x};
  if (isNll) {
    operands[0] = s.same("nn.log_softmax", x, s.integer("dimension", dimension));
    probabilities = false;
  }
  operands.push_back(probabilities ? s.input(Sketch::typeOf(x), {0, 1})
                                   : s.indices(shape, classes));
  if (s.random.chance(0.3))
    operands.push_back(s.input(s.tensor({classes}, element), {0.5, 1.5}));
  SmallVector<NamedAttribute> attributes{reduction(s)};
  if (s.random.chance(0.3))
    attributes.push_back(s.integer("ignore_index", s.random.below(classes)));
  if (!isNll)
    attributes.push_back(s.number("label_smoothing", s.random.pick({0.0, 0.1})));
  return bool(s.one(isNll ? "nn.nll_loss" : "nn.cross_entropy", operands, attributes));
}

constexpr Production kLosses[] = {{"element_loss", 2, elementLoss}, {"class_loss", 2, classLoss}};

} // namespace

ArrayRef<Production> accc::test::sequenceProductions() { return kSequences; }
ArrayRef<Production> accc::test::randomProductions() { return kRandom; }
ArrayRef<Production> accc::test::lossProductions() { return kLosses; }
