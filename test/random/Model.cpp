// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Model.h"

#include "Sketch.h"
#include "accc/cpu_features.h"
#include "ir/prim/FunctionContract.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

Style randomStyle(Random &random) {
  Style style;
  for (int64_t n = random.between(1, 3); n > 0; --n)
    style.extents.push_back(random.between(2, 9));
  if (random.chance(0.5))
    style.extents.push_back(1);
  if (random.chance(0.03))
    style.extents.push_back(0);
  if (random.chance(0.1)) { // what whole vectors and their remainders are
    style.extents.push_back(random.pick({int64_t(16), int64_t(17), int64_t(32), int64_t(40)}));
    style.maxElements = 3000;
  }
  if (random.chance(0.04)) { // what is worth several tasks, panels, a split
    style.extents.push_back(random.pick({int64_t(65), int64_t(128), int64_t(150), int64_t(260)}));
    style.maxElements = 24000;
  }
  style.oneParameter = random.chance(0.1);
  style.mixedTypes = random.chance(0.1);
  return style;
}

/// The families, each with how likely an op of it is in this model: most are missing in most.
std::vector<std::pair<ArrayRef<Production>, int>> randomMix(Random &random) {
  std::vector<std::pair<ArrayRef<Production>, int>> mix;
  auto add = [&](ArrayRef<Production> family, double probability, int weight) {
    if (random.chance(probability))
      mix.emplace_back(family, weight);
  };
  add(pointwiseProductions(), 1.0, 30);
  add(viewProductions(), 0.7, 15);
  add(reductionProductions(), 0.6, 10);
  add(activationProductions(), 0.6, 12);
  add(contractionProductions(), 0.6, 14);
  add(matrixProductions(), 0.1, 4);
  add(layerProductions(), 0.35, 10);
  add(indexProductions(), 0.3, 7);
  add(integerProductions(), 0.25, 8);
  add(windowProductions(), 0.15, 6);
  add(sequenceProductions(), 0.12, 4);
  add(randomProductions(), 0.25, 4);
  add(lossProductions(), 0.2, 4);
  add(guardProductions(), 0.15, 8);
  return mix;
}

const Production &choose(Random &random, ArrayRef<Production> family) {
  int total = 0;
  for (const Production &production : family)
    total += production.weight;
  auto at = static_cast<int>(random.below(total));
  for (const Production &production : family)
    if ((at -= production.weight) < 0)
      return production;
  llvm_unreachable("weights add up");
}

void addOps(Sketch &s) {
  auto mix = randomMix(s.random);
  int total = 0;
  for (auto &[family, weight] : mix)
    total += weight;
  int64_t wanted = s.random.between(3, 24);
  for (int attempt = 0; s.numOps() < wanted && attempt < 100; ++attempt) {
    auto at = static_cast<int>(s.random.below(total));
    for (auto &[family, weight] : mix)
      if ((at -= weight) < 0) {
        choose(s.random, family).make(s);
        break;
      }
  }
}

/// New values of buffers that are not a normalisation's: running means, counters, copies, values
/// that change places.
void addUpdates(Sketch &s) {
  auto update = [&](Value buffer, Value value) {
    std::string name = s.argumentName(cast<BlockArgument>(buffer)).str();
    s.result(value, "new." + name, Role::Update, name);
  };
  auto number = [&](Value like, double value) { return s.constant(Sketch::typeOf(like), value); };
  switch (s.random.below(5)) {
  case 0:
    if (Value x = s.floats()) { // a running mean
      Value buffer = s.buffer(Sketch::typeOf(x));
      Value kept = s.same("prim.mul", {buffer, number(buffer, 0.75)});
      Value mixed = s.same("prim.add", {kept, s.same("prim.mul", {x, number(x, 0.25)})});
      update(buffer, mixed ? mixed : buffer);
    }
    break;
  case 1: { // a counter
    Value buffer = s.buffer(s.tensor({}, s.b.getI64Type()), {0, 3});
    update(buffer, s.same("prim.add", {buffer, number(buffer, 1)}));
    break;
  }
  case 2: { // two that change places, or follow each other
    auto type = s.tensor(s.shape(0, 2));
    Value a = s.buffer(type), b = s.buffer(type);
    update(a, b);
    update(b, s.random.chance(0.5) ? a : s.same("prim.neg", a));
    break;
  }
  case 3: // what is there already
    if (Value x = s.find([](Value) { return true; }))
      update(s.buffer(Sketch::typeOf(x), {0, 2}), x);
    break;
  default: { // one that stays, one that is only read
    Value buffer = s.buffer(s.tensor(s.shape(0, 3)));
    if (s.random.chance(0.5))
      update(buffer, buffer);
    else
      (void)s.same("prim.mul", {buffer, buffer});
  }
  }
}

/// A scalar that all that depends on parameters and is used nowhere goes into.
Value sumOfLeaves(Sketch &s) {
  Value total;
  SmallVector<Value> leaves;
  for (Value value : s.values())
    if (s.hasFloatType(value) && s.varies(value) && (value.use_empty() || s.random.chance(0.1)))
      leaves.push_back(value);
  for (Value leaf : leaves) {
    Value term = leaf;
    if (s.random.chance(0.5))
      term = s.same(s.random.pick({"prim.sin", "prim.tanh", "nn.softplus"}), leaf);
    if (!term)
      continue;
    int64_t rank = Sketch::rankOf(term);
    double count = std::max<double>(1, static_cast<double>(Sketch::typeOf(term).getNumElements()));
    if (rank > 0)
      term = s.one("prim.reduce", term,
                   {s.choice<prim::ReduceKindAttr>("kind", prim::ReduceKind::sum),
                    s.list("dimensions", llvm::to_vector(llvm::seq<int64_t>(0, rank)))});
    if (term && s.random.chance(0.6))
      term = s.same("prim.mul", {term, s.constant(Sketch::typeOf(term), 1 / count)});
    if (term)
      total = total ? s.same("prim.add", {total, term}) : term;
    if (!total)
      return {};
  }
  return total;
}

/// Adds the output that the loss is about, and says which loss.
void addLoss(Sketch &s, CaseOptions &options) {
  auto addOutput = [&](Value value, StringRef name) { s.result(value, name, Role::Output); };
  auto lossOutput = [&](int64_t minRank) {
    Value found = s.find([&](Value value) {
      return s.hasFloatType(value) && s.varies(value) && Sketch::rankOf(value) >= minRank &&
             Sketch::typeOf(value).getNumElements() > 0 && !isa<BlockArgument>(value);
    });
    return found ? found : s.parameter(s.tensor({2, 3}));
  };
  int64_t kind = s.random.below(10);
  if (kind < 5) {
    if (Value total = sumOfLeaves(s)) {
      std::string name = s.random.chance(0.5) ? "loss" : "cost";
      addOutput(total, name);
      options.loss = "output:" + name;
      return;
    }
    kind = 5;
  }
  if (kind < 8) {
    addOutput(lossOutput(0), "scores");
    options.loss = s.random.pick({"mse=scores", "l1=scores", "bce_with_logits=scores", "mse=scores",
                                  "smooth_l1=scores,beta=0.5", "huber=scores,delta=0.5",
                                  "bce_with_logits=scores,pos_weight=2"});
    bool isProbability = StringRef(options.loss).starts_with("bce");
    options.targetLow = isProbability ? 0 : -1;
    return;
  }
  Value scores = lossOutput(1);
  int64_t rank = Sketch::rankOf(scores), dimension = rank == 1 ? 0 : 1;
  options.loss = "cross_entropy=scores";
  std::string extra;
  if (s.random.chance(0.3)) {
    dimension = s.random.below(rank);
    extra += ",class_dim=" + std::to_string(s.random.chance(0.5) ? dimension : dimension - rank);
  }
  int64_t classes = Sketch::shapeOf(scores)[dimension];
  if (s.random.chance(0.4))
    if (Value log = s.same("nn.log_softmax", scores, s.integer("dimension", dimension))) {
      scores = log;
      options.loss = "nll=scores";
    }
  if (options.loss[0] == 'c' && s.random.chance(0.3))
    extra += ",label_smoothing=0.1";
  if (s.random.chance(0.3))
    extra += ",ignore_index=" + std::to_string(s.random.below(classes));
  if (s.random.chance(0.2)) {
    std::vector<std::string> weights;
    for (int64_t i = 0; i < classes; ++i)
      weights.push_back(llvm::formatv("{0:f2}", s.random.real(0.5, 1.5)));
    extra += ",weight=" + llvm::join(weights, ":");
  }
  addOutput(scores, "scores");
  options.loss += extra;
  options.targetLow = 0;
  options.targetHigh = static_cast<double>(classes);
}

/// Values of any kind as outputs: also some that are computed with further, arguments, and one
/// value twice.
void addOutputs(Sketch &s) {
  for (int64_t i = 0, n = s.random.below(4); i < n; ++i) {
    Value value = s.find([&](Value) { return true; });
    if (isa<BlockArgument>(value) && s.random.chance(0.7))
      continue;
    s.result(value, "y" + std::to_string(i), Role::Output);
    if (s.random.chance(0.1))
      s.result(value, "again" + std::to_string(i), Role::Output);
  }
}

std::string randomOptimizer(Random &random) {
  std::string text =
      random.pick({"sgd", "adam", "adamw", "nadam", "radam", "adamax", "adadelta", "adafactor"});
  auto maybe = [&](double probability, const std::string &option) {
    if (random.chance(probability))
      text += "," + option;
  };
  if (text == "sgd") {
    if (random.chance(0.6)) {
      text += ",momentum=0.9";
      if (random.chance(0.4))
        text += ",nesterov";
      else
        maybe(0.3, "dampening=0.3");
    }
  } else if (text == "adafactor") {
    maybe(0.3, "beta2_decay=-0.5");
    maybe(0.3, "d=2");
    text += ",eps1=1e-2"; // as below
  } else {
    if (text == "adam" || text == "adamw")
      maybe(0.3, "amsgrad");
    if (text == "nadam" || text == "radam")
      maybe(0.3, "decoupled_weight_decay");
    if (text != "adadelta") {
      maybe(0.3, "beta1=0.8");
      maybe(0.3, "beta2=0.9");
    }
    // Where gradients are noise, a small number makes their signs the update.
    text += random.chance(0.7) ? ",eps=1e-2" : ",eps=1e-8";
  }
  maybe(0.3, "weight_decay=0.1");
  maybe(0.2, "maximize");
  if (random.chance(0.35))
    text += random.pick<const char *>(
        {",clip_grad_norm=0.1", ",clip_grad_norm=10", ",clip_grad_value=0.1"});
  return text;
}

} // namespace

OwningOpRef<ModuleOp> accc::test::randomModel(MLIRContext *context, uint64_t seed) {
  Random random(seed * 2 + 1);
  CaseOptions options;
  options.seed = static_cast<int64_t>(random.next() >> 1);
  if (options.seed % 4 == 0) // for all that this processor has: longer vectors, masks in registers
    options.arch = "native";
  options.learningRate = random.pick({0.01, 0.05, 0.125});
  options.threads = random.chance(0.8) ? 1 : 3;
  options.optimizer = randomOptimizer(random);

  Style style = randomStyle(random);
  style.isDouble = options.seed % 16 == 1;
  Sketch sketch(context, random, style, options.seed);
  for (int64_t n = random.between(1, 2); n > 0; --n)
    sketch.parameter(sketch.tensor(sketch.shape(0, 3)));
  if (random.chance(0.7))
    sketch.input(sketch.tensor(sketch.shape(1, 4)));
  addOps(sketch);
  while (random.chance(0.2))
    addUpdates(sketch);
  bool lossFirst = random.chance(0.6); // a loss is about the first output where nothing is named
  if (!lossFirst)
    addOutputs(sketch);
  addLoss(sketch, options);
  if (lossFirst)
    addOutputs(sketch);
  if (random.chance(0.1))
    sketch.parameter(sketch.tensor(sketch.shape(0, 2))); // reaches nothing
  if (random.chance(0.1))
    options.freeze = {"^p1$"};
  if (random.chance(0.25))
    options.memory = random.pick({1.0, 1.1, 1.2}); // with more, copies become part of other kernels
  // Powers of two, by which the halves of a step round as the whole does. Of the largest, 2^119,
  // sums above 300 overflow.
  if (random.chance(0.2))
    options.lossScale = random.pick<const char *>(
        {"dynamic", "dynamic,init_scale=4,growth_interval=1",
         "dynamic,init_scale=664613997892457936451903530140172288", "fixed=8"});
  if (!options.optimizer.empty() && random.chance(0.2))
    options.ranks = static_cast<int>(random.between(1, 4));
  options.accumulates = !options.optimizer.empty() && random.chance(0.2);
  if (!options.optimizer.empty() && random.chance(0.2))
    options.average = random.pick<const char *>({"ema", "ema,decay=0.3", "ema,decay=0.6,warmup"});
  // Tensors are small: many models take the ways of large ones.
  options.sizeDivisor = random.pick({1, 1, 16, 256});
  if (random.chance(0.2))
    options.precision = random.pick<const char *>({"bf16", "bf16", "fp16"});
  OwningOpRef<ModuleOp> module = sketch.finish();
  options.write(*module);
  return module;
}
