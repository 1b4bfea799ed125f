// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/UnclearParameters.h"
#include "frontend/common/Fold.h"
#include "frontend/common/TensorTypes.h"
#include "ir/interfaces/Interfaces.h"
#include "ir/nn/Nn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

static bool isOfClass(Operation &op, FusionClass which) {
  auto fusible = dyn_cast<Fusible>(op);
  return fusible && fusible.getFusionClass() == which;
}

/// The op that gives a value, but for views of it.
static Operation *findProducer(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && moves(*op))
    op = op->getOperand(0).getDefiningOp();
  return op;
}

/// Whether the one number is added to what a layer with one output gave: its bias.
static bool isBias(Operation *arithmetic, Value number) {
  auto add = dyn_cast<prim::AddOp>(arithmetic);
  if (!add)
    return false;
  auto type = cast<RankedTensorType>(add.getType());
  int64_t rank = type.getRank();
  if (rank < 2 || (type.getDimSize(rank - 1) != 1 && type.getDimSize(1) != 1))
    return false;
  Value other = add.getLhs() == number ? add.getRhs() : add.getLhs();
  return isa_and_present<nn::MatmulOp, nn::LinearOp, nn::ConvolutionOp, nn::ConvTransposeOp,
                         prim::DotGeneralOp, prim::ConvolutionOp>(findProducer(other));
}

UnclearParameters::Origin UnclearParameters::originOf(Operation &op) const {
  if (knownValue(op.getResult(0)))
    return Origin::Numbers;
  bool isArithmetic = isOfClass(op, FusionClass::Pointwise) || moves(op);
  Origin origin = Origin::Numbers;
  for (Value operand : op.getOperands())
    origin = std::max(origin, origins.lookup(operand));
  return isArithmetic ? origin : Origin::Other;
}

UnclearParameters::Uses UnclearParameters::usesOf(Value parameter) const {
  Uses uses;
  llvm::SetVector<Value> views; // and itself; each once, however many ways lead to it
  views.insert(parameter);
  for (size_t i = 0; i < views.size(); ++i) {
    Value value = views[i];
    for (Operation *user : value.getUsers()) {
      if (moves(*user)) {
        views.insert(user->getResult(0));
      } else if (isOfClass(*user, FusionClass::Pointwise)) {
        uses.isOnData |= origins.lookup(user->getResult(0)) == Origin::Data;
        uses.isBias &= isBias(user, value);
      } else if (isa<prim::ScatterOp>(user)) {
        uses.isScattered = true;
      } else if (!isa<func::ReturnOp>(user)) {
        uses.isArithmetic = false;
      }
    }
  }
  return uses;
}

UnclearParameters::UnclearParameters(Block &body, ArrayRef<Variable> variables) {
  auto isOpen = [](const Variable &variable) {
    return variable.proof != Proof::Known && !variable.isBuffer && !variable.isFrozen;
  };
  if (llvm::none_of(variables, isOpen))
    return;
  for (Value argument : body.getArguments())
    origins[argument] = Origin::Data;
  for (const Variable &variable : variables)
    origins[variable.argument] = isOpen(variable) ? Origin::Numbers : Origin::Other;
  for (Operation &op : body.without_terminator()) {
    Origin origin = op.getNumResults() > 0 ? originOf(op) : Origin::Other;
    for (Value result : op.getResults())
      origins[result] = origin;
  }
  for (const Variable &variable : variables)
    if (isOpen(variable))
      found[variable.argument] = usesOf(variable.argument);
}

/// "0.125", or "[1, 3] of 0.485, 0.456, 0.406".
static std::string showNumbers(const Weight &weight) {
  constexpr int64_t kMost = 3;
  std::string text;
  llvm::raw_string_ostream out(text);
  DenseElementsAttr attribute = attributeOf(weight);
  if (weight.type.getNumElements() != 1)
    out << show(weight.type.getShape()) << " of ";
  int64_t count = 0;
  for (const llvm::APFloat &value : attribute.getValues<llvm::APFloat>()) {
    if (count++ == kMost)
      break;
    out << (count > 1 ? ", " : "") << llvm::format("%g", value.convertToDouble());
  }
  if (weight.type.getNumElements() > kMost)
    out << ", ...";
  return text;
}

std::string UnclearParameters::why(const Variable &variable) const {
  auto entry = found.find(variable.argument);
  if (entry == found.end() || variable.weight.type.getNumElements() == 0)
    return "";
  auto because = [&](llvm::StringRef reason) {
    return (reason + ": " + showNumbers(variable.weight)).str();
  };
  if (!variable.unclear.empty())
    return because(variable.unclear);
  const Uses &uses = entry->second;
  if (!uses.isArithmetic)
    return "";
  if (variable.weight.type.getNumElements() == 1)
    return uses.isBias && variable.weight.type.getRank() > 0 ? "" : because("a single number");
  if (uses.isOnData)
    return because("arithmetic on the input data");
  if (uses.isScattered)
    return because("written by a scatter, or written into");
  return variable.proof == Proof::MadeUp ? because("made by the exporter or an optimizer") : "";
}
