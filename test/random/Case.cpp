// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Case.h"

#include "Random.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::test;

static std::string stringOf(ModuleOp module, StringRef name) {
  auto attr = module->getAttrOfType<StringAttr>(name);
  return attr ? attr.str() : "";
}

static double numberOf(ModuleOp module, StringRef name, double otherwise) {
  auto attr = module->getAttrOfType<FloatAttr>(name);
  return attr ? attr.getValueAsDouble() : otherwise;
}

CaseOptions CaseOptions::of(ModuleOp module) {
  CaseOptions options;
  options.loss = stringOf(module, "random.loss");
  options.optimizer = stringOf(module, "random.optimizer");
  options.lossScale = stringOf(module, "random.loss_scale");
  options.average = stringOf(module, "random.average");
  options.precision = stringOf(module, "random.precision");
  if (std::string freeze = stringOf(module, "random.freeze"); !freeze.empty())
    options.freeze.push_back(freeze);
  if (std::string arch = stringOf(module, "random.arch"); !arch.empty())
    options.arch = arch;
  options.learningRate = numberOf(module, "random.learning_rate", options.learningRate);
  options.targetLow = numberOf(module, "random.target_low", options.targetLow);
  options.targetHigh = numberOf(module, "random.target_high", options.targetHigh);
  if (auto seed = module->getAttrOfType<IntegerAttr>("random.seed"))
    options.seed = seed.getInt();
  if (auto threads = module->getAttrOfType<IntegerAttr>("random.threads"))
    options.threads = static_cast<int>(threads.getInt());
  if (auto ranks = module->getAttrOfType<IntegerAttr>("random.ranks"))
    options.ranks = static_cast<int>(ranks.getInt());
  options.accumulates = module->hasAttr("random.accumulates");
  if (auto divisor = module->getAttrOfType<IntegerAttr>("random.size_divisor"))
    options.sizeDivisor = divisor.getInt();
  options.memory = numberOf(module, "random.memory", options.memory);
  return options;
}

void CaseOptions::write(ModuleOp module) const {
  Builder b(module.getContext());
  auto set = [&](StringRef name, const std::string &text) {
    if (!text.empty())
      module->setAttr(name, b.getStringAttr(text));
  };
  set("random.loss", loss);
  set("random.optimizer", optimizer);
  set("random.loss_scale", lossScale);
  set("random.average", average);
  set("random.precision", precision);
  if (!freeze.empty())
    set("random.freeze", freeze.front());
  set("random.arch", arch);
  module->setAttr("random.learning_rate", b.getF64FloatAttr(learningRate));
  module->setAttr("random.target_low", b.getF64FloatAttr(targetLow));
  module->setAttr("random.target_high", b.getF64FloatAttr(targetHigh));
  module->setAttr("random.seed", b.getI64IntegerAttr(seed));
  module->setAttr("random.threads", b.getI64IntegerAttr(threads));
  if (ranks != 0)
    module->setAttr("random.ranks", b.getI64IntegerAttr(ranks));
  if (accumulates)
    module->setAttr("random.accumulates", b.getUnitAttr());
  if (sizeDivisor != 1)
    module->setAttr("random.size_divisor", b.getI64IntegerAttr(sizeDivisor));
  if (memory != 0)
    module->setAttr("random.memory", b.getF64FloatAttr(memory));
}

ArrayAttr accc::test::rangeAttr(MLIRContext *context, Range range) {
  return Builder(context).getF64ArrayAttr({range.low, range.high});
}

Range accc::test::rangeOf(func::FuncOp function, unsigned argument) {
  auto attr = function.getArgAttrOfType<ArrayAttr>(argument, kRangeAttr);
  if (!attr || attr.size() != 2)
    return {};
  return {cast<FloatAttr>(attr[0]).getValueAsDouble(), cast<FloatAttr>(attr[1]).getValueAsDouble()};
}

ReferenceArray accc::test::sampleValues(RankedTensorType type, Range range, StringRef name,
                                        int64_t seed) {
  Type element = type.getElementType();
  ReferenceArray array(type.getShape());
  Random random(llvm::xxh3_64bits(name) ^ static_cast<uint64_t>(seed) * 0x9e3779b97f4a7c15);
  for (double &value : array.values) {
    value = random.real(range.low, range.high);
    if (isa<IntegerType>(element))
      value = std::floor(value);
    if (isa<FloatType>(element))
      value = static_cast<float>(value); // room for what an f64 adds and multiplies exactly
    value = roundToElement(element, value);
  }
  return array;
}

Values accc::test::argumentValues(func::FuncOp forward, int64_t seed) {
  Values values;
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i) {
    std::string name = forward.getArgAttrOfType<StringAttr>(i, kNameAttr).str();
    auto type = cast<RankedTensorType>(forward.getArgumentTypes()[i]);
    values[name] = sampleValues(type, rangeOf(forward, i), name, seed);
    auto role = argumentRole(forward, i);
    if (role == Role::RandomKey)
      values[name].values = {static_cast<double>(seed & 0xffff), 0};
  }
  return values;
}
