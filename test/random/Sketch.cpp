// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Sketch.h"

#include "ir/prim/FunctionContract.h"
#include "ir/prim/Tensor.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::test;

Sketch::Sketch(MLIRContext *context, Random &random, Style style, int64_t seed)
    : random(random), style(std::move(style)), b(context), seed(seed) {
  Location loc = b.getUnknownLoc();
  module = ModuleOp::create(loc);
  function = func::FuncOp::create(loc, "forward", b.getFunctionType({}, {}));
  module->push_back(function);
  block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
}

// ---- what there is ----

Value Sketch::find(llvm::function_ref<bool(Value)> condition) {
  SmallVector<Value> fit;
  for (Value value : order)
    if (condition(value))
      fit.push_back(value);
  if (fit.empty())
    return {};
  // The later of two.
  auto count = static_cast<int64_t>(fit.size());
  int64_t i = random.below(count);
  if (random.chance(0.6))
    i = std::max(i, random.below(count));
  return fit[i];
}

Value Sketch::floats(int64_t minRank, int64_t maxRank) {
  bool anyType = style.mixedTypes && random.chance(0.3);
  Value found = find([&](Value value) {
    Type element = typeOf(value).getElementType();
    return rankOf(value) >= minRank && rankOf(value) <= maxRank &&
           (anyType ? isa<FloatType>(element) : element == floatType());
  });
  if (found && random.chance(0.95))
    return found;
  TensorType type = tensor(shape(std::max<int64_t>(minRank, 1), std::min<int64_t>(maxRank, 4)));
  if (maxRank == 0)
    type = tensor({});
  return random.chance(0.5) ? parameter(type) : input(type);
}

Value Sketch::integers() {
  Value found = find([&](Value value) {
    auto element = dyn_cast<IntegerType>(typeOf(value).getElementType());
    return element && element.getWidth() > 1;
  });
  if (found && random.chance(0.8))
    return found;
  Type element =
      random.pick<Type>({b.getI64Type(), b.getI64Type(), b.getI32Type(), b.getIntegerType(8),
                         b.getIntegerType(8, false), b.getIntegerType(32, false)});
  double low = cast<IntegerType>(element).isUnsigned() ? 0 : -5;
  return input(tensor(shape(0, 3), element), {low, 9});
}

Value Sketch::of(TensorType type) {
  if (random.chance(0.7))
    if (Value found = find([&](Value value) { return value.getType() == type; }))
      return found;
  if (random.chance(0.5)) { // something smaller along it
    Value small = find([&](Value value) {
      TensorType other = typeOf(value);
      if (other.getElementType() != type.getElementType() || other.getRank() > type.getRank())
        return false;
      int64_t offset = type.getRank() - other.getRank();
      for (int64_t i = 0; i < other.getRank(); ++i)
        if (other.getDimSize(i) != 1 && other.getDimSize(i) != type.getDimSize(i + offset))
          return false;
      return true;
    });
    if (small && small.getType() != type) {
      SmallVector<int64_t> dimensions;
      for (int64_t i = 0; i < rankOf(small); ++i)
        dimensions.push_back(i + type.getRank() - rankOf(small));
      if (Value wide = one("prim.broadcast", small, list("dimensions", dimensions), type))
        return wide;
    }
  }
  if (isa<FloatType>(type.getElementType()) && random.chance(0.15))
    return random.chance(0.5) ? constant(type, random.pick({0.5, -1.0, 2.0, 0.25}))
                              : randomConstant(type);
  if (isa<IntegerType>(type.getElementType())) {
    bool isBool = type.getElementType().isInteger(1);
    return input(type, {0, isBool ? 2.0 : 4.0});
  }
  return random.chance(0.7) ? parameter(type) : input(type);
}

Value Sketch::indices(ArrayRef<int64_t> shape, int64_t extent) {
  Type element = random.chance(0.8) ? b.getI64Type() : b.getI32Type();
  TensorType type = tensor(shape, element);
  if (random.chance(0.3))
    if (Value found = find([&](Value value) { return value.getType() == type; })) {
      Value low = constant(type, 0), high = constant(type, static_cast<double>(extent - 1));
      return same("prim.min", {same("prim.max", {found, low}), high});
    }
  if (random.chance(0.3)) {
    SmallVector<double> values;
    for (int64_t i = ReferenceArray::count(shape); i > 0; --i)
      values.push_back(static_cast<double>(random.below(extent)));
    ReferenceArray array(shape);
    array.values.assign(values.begin(), values.end());
    return one("prim.constant", {}, named("value", toElements(array, type)), type);
  }
  return input(type, {0, static_cast<double>(extent)});
}

Value Sketch::within(Value value, double low, double high) {
  if (!value)
    return {};
  const ReferenceArray &now = array(value);
  double margin = std::isfinite(high - low) ? 0.1 * (high - low) : 0.2;
  if (llvm::all_of(now.values, [&](double x) { return x > low + margin && x < high - margin; }))
    return value;
  if (!std::isfinite(high)) { // low + 0.3 + value^2, or exp
    Value square =
        random.chance(0.5) ? same("prim.mul", {value, value}) : same("nn.softplus", value);
    return square ? same("prim.add", {square, constant(typeOf(value), low + 0.3)}) : square;
  }
  Value unit = same("prim.logistic", value);
  if (!unit)
    return {};
  Value scaled = same("prim.mul", {unit, constant(typeOf(value), 0.8 * (high - low))});
  return same("prim.add", {scaled, constant(typeOf(value), low + margin)});
}

// ---- types ----

RankedTensorType Sketch::tensor(ArrayRef<int64_t> shape, Type element) {
  return RankedTensorType::get(shape, element ? element : floatType());
}

SmallVector<int64_t> Sketch::shape(int64_t minRank, int64_t maxRank) {
  SmallVector<int64_t> result;
  int64_t rank = random.between(minRank, maxRank);
  for (int64_t i = 0; i < rank; ++i)
    result.push_back(extent());
  while (ReferenceArray::count(result) > style.maxElements)
    *llvm::max_element(result) = random.between(1, 3);
  return result;
}

// ---- new ones ----

SmallVector<Value> Sketch::add(StringRef name, ValueRange operands,
                               ArrayRef<NamedAttribute> attributes, ArrayRef<Type> types) {
  if (llvm::is_contained(operands, Value()))
    return {};
  ScopedDiagnosticHandler quiet(b.getContext(), [](Diagnostic &) { return success(); });
  Location loc = b.getUnknownLoc();
  OperationState state(loc, name, operands, types, attributes);
  if (types.empty()) {
    // Attributes are properties of an op that is there.
    Operation *draft = Operation::create(state);
    auto infers = dyn_cast<InferTypeOpInterface>(draft);
    SmallVector<Type> inferred;
    bool good = infers && succeeded(infers.inferReturnTypes(
                              b.getContext(), loc, draft->getOperands(), draft->getAttrDictionary(),
                              draft->getPropertiesStorage(), draft->getRegions(), inferred));
    draft->erase();
    if (!good)
      return {};
    state.addTypes(inferred);
  }
  for (Type type : state.types)
    if (cast<TensorType>(type).getNumElements() > std::max<int64_t>(style.maxElements * 2, 64))
      return {};
  Operation *op = b.create(state);
  if (failed(verify(op)) || !evaluate(op)) {
    op->erase();
    return {};
  }
  ++ops;
  return SmallVector<Value>(op->getResults());
}

Value Sketch::one(StringRef name, ValueRange operands, ArrayRef<NamedAttribute> attributes,
                  Type type) {
  SmallVector<Value> results =
      add(name, operands, attributes, type ? ArrayRef<Type>(type) : ArrayRef<Type>());
  return results.empty() ? Value() : results.front();
}

/// Numbers on which float32 works well, and integers that no arithmetic here makes overflow.
bool Sketch::isTame(Value value, const ReferenceArray &array) const {
  double most = isa<FloatType>(typeOf(value).getElementType()) ? 60 : 0x1p33;
  return llvm::all_of(array.values, [&](double x) { return std::abs(x) <= most; });
}

bool Sketch::evaluate(Operation *op) {
  SmallVector<ReferenceArray> operands, arrays;
  bool varying = false;
  for (Value operand : op->getOperands()) {
    operands.push_back(array(operand));
    varying |= varies(operand);
  }
  if (auto evaluable = dyn_cast<Evaluable>(op)) {
    if (failed(evaluable.evaluate(operands, arrays)))
      return false;
  } else {
    OpBuilder builder(op->getContext());
    OwningOpRef<func::FuncOp> scratch =
        func::FuncOp::create(op->getLoc(), "scratch",
                             builder.getFunctionType(op->getOperandTypes(), op->getResultTypes()));
    Block &body = *scratch->addEntryBlock();
    builder.setInsertionPointToStart(&body);
    Operation *clone = builder.clone(*op);
    clone->setOperands(body.getArguments());
    builder.create<func::ReturnOp>(op->getLoc(), clone->getResults());
    if (failed(interpret(*scratch, operands, arrays)))
      return false;
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), arrays))
    if (!isTame(result, value))
      return false;
  for (auto [result, value] : llvm::zip_equal(op->getResults(), arrays)) {
    known[result] = {std::move(value), varying};
    order.push_back(result);
  }
  return true;
}

std::string Sketch::newName(StringRef stem) { return (stem + std::to_string(names[stem]++)).str(); }

Value Sketch::argument(TensorType type, StringRef name, Role role, Range range) {
  Value value = block->addArgument(type, b.getUnknownLoc());
  argumentAttrs.push_back(
      b.getDictionaryAttr({named(kNameAttr, b.getStringAttr(name)),
                           named(kRoleAttr, prim::RoleAttr::get(b.getContext(), role)),
                           named(kRangeAttr, rangeAttr(b.getContext(), range))}));
  known[value] = {sampleValues(type, range, name, seed), role == Role::Parameter};
  order.push_back(value);
  return value;
}

Value Sketch::parameter(TensorType type, Range range) {
  if ((style.oneParameter && parameters > 0) || !isa<FloatType>(type.getElementType()))
    return input(type, range);
  ++parameters;
  return argument(type, newName("p"), Role::Parameter, range);
}
Value Sketch::input(TensorType type, Range range) {
  return argument(type, newName("x"), Role::Input, range);
}
Value Sketch::buffer(TensorType type, Range range) {
  return argument(type, newName("b"), Role::Buffer, range);
}

Value Sketch::key() {
  if (randomKey)
    return randomKey;
  TensorType type = tensor({2}, b.getI64Type());
  randomKey = argument(type, "random_key", Role::RandomKey, {0, 1});
  known[randomKey].array.values = {static_cast<double>(seed & 0xffff), 0};
  order.pop_back(); // nothing else is computed with it
  return randomKey;
}

Value Sketch::constant(TensorType type, double value) {
  return one("prim.constant", {}, named("value", prim::splat(type, value)), type);
}

Value Sketch::randomConstant(TensorType type) {
  ReferenceArray values = sampleValues(type, {-1, 1}, "constant", random.below(1 << 30));
  return one("prim.constant", {}, named("value", toElements(values, type)), type);
}

// ---- the end ----

void Sketch::result(Value value, StringRef name, Role role, StringRef updates) {
  results.push_back(value);
  SmallVector<NamedAttribute> attributes{
      named(kNameAttr, b.getStringAttr(name)),
      named(kRoleAttr, prim::RoleAttr::get(b.getContext(), role))};
  if (!updates.empty())
    attributes.push_back(named(kUpdatesAttr, b.getStringAttr(updates)));
  resultAttrs.push_back(b.getDictionaryAttr(attributes));
}

StringRef Sketch::argumentName(BlockArgument argument) const {
  return argumentAttrs[argument.getArgNumber()].getAs<StringAttr>(kNameAttr);
}
prim::Role Sketch::argumentRole(BlockArgument argument) const {
  return argumentAttrs[argument.getArgNumber()].getAs<prim::RoleAttr>(kRoleAttr).getValue();
}

OwningOpRef<ModuleOp> Sketch::finish() {
  b.create<func::ReturnOp>(b.getUnknownLoc(), results);
  function.setType(b.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
  function.setAllArgAttrs(argumentAttrs);
  function.setAllResultAttrs(resultAttrs);
  return std::move(module);
}
