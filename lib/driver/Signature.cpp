// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Signature.h"

#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;

// ---- types ----

static bool isElement(Type type) {
  if (isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type))
    return true;
  auto integer = dyn_cast<IntegerType>(type);
  return integer &&
         (integer.getWidth() == 1
              ? integer.isSignless()
              : !integer.isSigned() && llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()));
}

static bool isModest(RankedTensorType type) {
  constexpr uint64_t limit = uint64_t(1) << 40;
  uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  for (int64_t extent : type.getShape()) // an extent of 0 must not hide others that overflow
    bytes = llvm::SaturatingMultiply(bytes, std::max<uint64_t>(extent, 1));
  return bytes <= limit && type.getRank() <= 64;
}

bool accc::hasModestResults(Operation *op) {
  return llvm::all_of(op->getResultTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && isModest(tensor);
  });
}

static bool isTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isElement(tensor.getElementType()) &&
         isModest(tensor);
}

static bool isFloat(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}
template <unsigned bits> static bool isInteger(Type type) {
  return cast<RankedTensorType>(type).getElementType().isInteger(bits);
}
static bool isWideScalar(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getRank() == 0 &&
         (tensor.getElementType().isF32() || tensor.getElementType().isF64());
}
static bool isScalarI64(Type type) {
  return cast<RankedTensorType>(type).getRank() == 0 && isInteger<64>(type);
}
static bool isKey(Type type) {
  return cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>{2} && isInteger<64>(type);
}
static bool isAny(Type) { return true; }

// ---- roles ----

namespace {
enum class Where { Forward, Entries, Both };

struct RoleRule {
  Role role;
  bool isResult;
  Where where;
  bool (*fits)(Type type);
  const char *type; // in words
};

constexpr RoleRule kRoles[] = {
    {Role::Parameter, false, Where::Both, isFloat, "a tensor of floats"},
    {Role::Buffer, false, Where::Both, isAny, ""},
    {Role::Input, false, Where::Both, isAny, ""},
    {Role::RandomKey, false, Where::Forward, isKey, "tensor<2xi64>"},
    {Role::OptimizerState, false, Where::Entries, isAny, ""},
    {Role::Target, false, Where::Entries, isAny, ""},
    {Role::LearningRate, false, Where::Entries, isWideScalar, "tensor<f32> or tensor<f64>"},
    {Role::Seed, false, Where::Entries, isScalarI64, "tensor<i64>"},
    {Role::Step, false, Where::Entries, isScalarI64, "tensor<i64>"},
    {Role::Gradient, false, Where::Entries, isFloat, "a tensor of floats"},
    {Role::Output, true, Where::Both, isAny, ""},
    {Role::Update, true, Where::Both, isAny, ""},
    {Role::Loss, true, Where::Both, isWideScalar, "tensor<f32> or tensor<f64>"},
    {Role::Gradient, true, Where::Both, isFloat, "a tensor of floats"},
};

/// A variable as it lies in memory.
struct Laid {
  Type type;
  Attribute order;
};

/// One function's arguments and results.
class Signature {
public:
  Signature(func::FuncOp function, bool isForward, llvm::StringMap<Laid> &allVariables)
      : function(function), isForward(isForward), allVariables(allVariables) {}

  LogicalResult check() {
    FunctionType type = function.getFunctionType();
    for (auto [i, input] : llvm::enumerate(type.getInputs()))
      checkValue(i, input, function.getArgAttrDict(i), /*isResult=*/false);
    for (auto [i, result] : llvm::enumerate(type.getResults()))
      checkValue(i, result, function.getResultAttrDict(i), /*isResult=*/true);
    // A training step of its own may have a loss, and needs none.
    bool isOdd = hasTraining ? gradients > 0 : (losses == 0) != (gradients == 0);
    if (isForward && (losses > 1 || isOdd)) {
      emitError(function.getLoc()) << "@" << function.getSymName() << " has " << losses
                                   << " losses and " << gradients << " gradients";
      good = false;
    }
    return success(good);
  }

private:
  InFlightDiagnostic error(StringRef what, unsigned i) {
    good = false;
    return emitError(function.getLoc())
           << "@" << function.getSymName() << ": " << what << " " << i << " ";
  }

  void checkValue(unsigned i, Type type, DictionaryAttr attributes, bool isResult) {
    StringRef what = isResult ? "result" : "argument";
    auto text = [&](StringRef name) {
      auto value = attributes ? attributes.getAs<StringAttr>(name) : StringAttr();
      return value ? value.getValue() : StringRef();
    };
    if (!isTensor(type)) {
      error(what, i) << "has the type " << type
                     << ", but must be a tensor of fixed shape, of numbers or booleans";
      return;
    }
    StringRef name = text(kNameAttr);
    auto role = attributes ? attributes.getAs<prim::RoleAttr>(kRoleAttr) : prim::RoleAttr();
    const auto *rule = llvm::find_if(kRoles, [&](const RoleRule &rule) {
      return role && rule.role == role.getValue() && rule.isResult == isResult &&
             rule.where != (isForward ? Where::Entries : Where::Forward);
    });
    if (name.empty())
      error(what, i) << "has no name (" << kNameAttr << ")";
    if (rule == std::end(kRoles))
      error(what, i) << "has no role (" << kRoleAttr << ") that it can have here"
                     << (role ? ": '" + stringifyRole(role.getValue()).str() + "'" : "");
    else if (!rule->fits(type))
      error(what, i) << "has the role " << stringifyRole(rule->role) << ", but the type " << type
                     << " instead of " << rule->type;
    if (isForward && role && role.getValue() == Role::Gradient)
      checkGradient(i, type, name);
    losses += isResult && role && role.getValue() == Role::Loss;
    if (attributes && attributes.contains(kTrainingAttr)) {
      hasTraining = true;
      if (!isForward || !isResult)
        error(what, i) << "belongs to a training step (" << kTrainingAttr
                       << "), which only results of a model do";
    }
    if (role && role.getValue() == Role::Update)
      checkUpdate(i, type, text(kUpdatesAttr));
    else if (!(isResult ? results : arguments).insert(name).second)
      error(what, i) << "has the name of another: '" << name << "'";
    if (!isResult && role && isVariable(role.getValue())) {
      variables[name] = type;
      checkOrder(i, type);
      Laid here{type, function.getArgAttr(i, kOrderAttr)};
      if (Laid known = allVariables.try_emplace(name, here).first->second; known.type != type)
        error(what, i) << "is the variable '" << name << "' of type " << type
                       << ", which has the type " << known.type << " elsewhere";
      else if (known.order != here.order)
        error(what, i) << "is the variable '" << name << "', which lies in another order elsewhere";
    }
  }

  void checkOrder(unsigned i, Type type) {
    Attribute order = function.getArgAttr(i, kOrderAttr);
    if (order && isForward)
      error("argument", i) << "has an order (" << kOrderAttr << "), which models do not choose";
    if (order && !(isa<DenseI64ArrayAttr>(order) &&
                   isOrder(argumentOrder(function, i), cast<RankedTensorType>(type).getRank())))
      error("argument", i) << "has an order (" << kOrderAttr
                           << ") that does not name each of its dimensions once";
  }

  void checkGradient(unsigned i, Type type, StringRef name) {
    ++gradients;
    if (!name.consume_front("grad.") || variables.lookup(name) != type)
      error("result", i) << "of type " << type << " is the gradient '" << name
                         << "' of no parameter of that type";
  }

  void checkUpdate(unsigned i, Type type, StringRef variable) {
    if (variables.lookup(variable) != type)
      error("result", i) << "of type " << type << " updates '" << variable
                         << "', which is no variable of that type";
    else if (!updated.insert(variable).second)
      error("result", i) << "updates '" << variable << "' once more";
  }

  func::FuncOp function;
  bool isForward, good = true, hasTraining = false;
  unsigned losses = 0, gradients = 0;
  llvm::StringSet<> arguments, results, updated;
  llvm::StringMap<Type> variables;
  llvm::StringMap<Laid> &allVariables;
};
} // namespace

LogicalResult accc::checkSignatures(ModuleOp module, bool isForward) {
  bool good = true;
  llvm::StringMap<Laid> variables;
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || !llvm::hasSingleElement(function.getBody())) {
      emitError(op.getLoc()) << "'" << op.getName()
                             << "' in a module that holds functions of one block alone";
      good = false;
      continue;
    }
    StringRef name = function.getSymName();
    if (isForward ? name != "forward" : !isEntryName(name)) {
      emitError(op.getLoc()) << "@" << name << " is not "
                             << (isForward ? "@forward" : "an entry point");
      good = false;
    }
    good &= succeeded(Signature(function, isForward, variables).check());
  }
  if (isForward && good && module.getBody()->empty())
    return emitError(module.getLoc()) << "the module has no function @forward";
  return success(good);
}
