// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the code of a TorchScript module while @forward is built: tensors are values of @forward,
// everything else is known.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_INTERPRETER_H
#define ACCC_FRONTEND_TORCHSCRIPT_INTERPRETER_H

#include "frontend/aten/Schemas.h"
#include "frontend/torchscript/Code.h"
#include "frontend/torchscript/IValue.h"

#include <set>

namespace accc::torchscript {

using namespace frontend; // what every importer builds with

/// What cannot go on: its problem is known.
struct Stop {};

/// The arguments of a call: those by position, then those by name.
struct Arguments {
  std::vector<IValue> values;
  /// Of the last of them.
  std::vector<std::string> names;
  size_t positional() const { return values.size() - names.size(); }
};

class Interpreter : public ForwardBuilder {
public:
  Interpreter(const Archive &archive, const ImportOptions &options, mlir::MLIRContext &context)
      : ForwardBuilder(options, context), code(archive), caller(*this) {}

protected:
  /// Calls a function of the program; `self` is the object of a method, or null, and `module` the
  /// path of the module that calls. Problems are reported and give Broken. Throws Stop where the
  /// rest cannot be known.
  IValue call(const Function &function, Object *self, Arguments arguments,
              const std::string &module);
  mlir::Location location(const std::string &name) {
    return mlir::NameLoc::get(opBuilder.getStringAttr(name));
  }

  /// The attributes of modules that the program set, in that order.
  llvm::ArrayRef<std::pair<Object *, std::string>> assignedAttributes() const { return assigned; }
  /// Whether a step may have seen what the one before left in an attribute.
  bool isRead(Object *object, const std::string &name) const {
    return read.contains({object, name});
  }

  Code code;
  Heap heap;
  aten::Caller caller;
  /// CONSTANTS.c0, CONSTANTS.c1, ...
  std::vector<IValue> constants;
  int64_t fileVersion = 0;

private:
  /// A call of a function.
  struct Frame {
    const Function *function;
    std::string module; // the path of the module
    std::map<std::string, IValue> names;
    std::string target = {};               // the name that is assigned to
    std::set<const Function *> local = {}; // defined in it, which see its names
    std::set<std::string> modes = {};      // the booleans that were made of self.training
  };

  /// Runs the function of a frame, which may hold the names of a frame around it.
  IValue runFunction(Frame frame, Object *self, Arguments arguments);

  // ---- statements ----
  /// What a block returns, if it does.
  std::optional<IValue> run(const Block &block, Frame &frame);
  std::optional<IValue> run(const Statement &statement, Frame &frame);
  std::optional<IValue> runWhile(const Statement &statement, Frame &frame);
  std::optional<IValue> runFor(const Statement &statement, Frame &frame);
  std::optional<IValue> runWith(const Statement &statement, Frame &frame);
  void assign(const Expression &target, IValue value, Frame &frame);
  void setAttribute(Object &object, const std::string &name, IValue value);
  /// Warns of a branch that the module takes by its mode: evaluation takes the same.
  void checkMode(const Expression &condition, const Frame &frame);
  /// Whether a condition holds. Throws Stop where that is not known.
  bool holds(const Expression &condition, Frame &frame);
  void countStatement();

  // ---- expressions ----
  IValue evaluate(const Expression &expression, Frame &frame);
  IValue evaluateAttribute(const Expression &expression, Frame &frame);
  IValue evaluateSubscript(const Expression &expression, Frame &frame);
  IValue evaluateCall(const Expression &expression, Frame &frame);
  IValue evaluateKeywordFunction(const Expression &expression, Frame &frame, bool &isKnown);
  std::vector<IValue> evaluateAll(llvm::ArrayRef<Expression> expressions, Frame &frame);
  IValue callValue(const IValue &callee, Arguments arguments, Frame &frame);
  IValue callMethod(const IValue &self, const std::string &name, Arguments arguments,
                    const Frame &frame);
  /// "torch.nn.relu" of names with dots whose first is none of the frame's; else "".
  std::string dottedName(const Expression &expression, const Frame &frame) const;
  bool matches(const IValue &value, const Expression &type, Frame &frame);
  IValue readAttribute(const IValue &object, const std::string &name);

  // ---- operators (Operators.cpp) ----
  /// "aten", "add" and "prim", "dtype".
  IValue callOperator(llvm::StringRef space, llvm::StringRef name, const Arguments &arguments,
                      Frame &frame);
  /// Those that change what the program can see beside its values.
  std::optional<IValue> callStateful(llvm::StringRef name, const Arguments &arguments);
  IValue callAten(mlir::Location loc, llvm::StringRef name, const Arguments &arguments,
                  Frame &frame);
  /// An operator of the user's own; `name` is that of its result.
  IValue callCustom(mlir::Location loc, const prim::CustomOperator &op, const Arguments &arguments,
                    const std::string &name);
  /// The arguments by the names of an overload's parameters, or nothing where it takes others.
  /// `isImplicit` allows PyTorch's conversions between numbers, and of tensors to numbers.
  std::optional<std::vector<aten::NamedLocal>> bind(const aten::Schema &schema,
                                                    const Arguments &arguments, bool isImplicit);
  std::optional<aten::Local> convert(const IValue &value, llvm::StringRef type,
                                     llvm::StringRef parameter, bool isImplicit);
  /// Nothing for a list that has other elements.
  std::optional<aten::Local> listOfTensors(llvm::ArrayRef<IValue> elements, bool mayBeNone);
  /// Sizes of which one is how many elements a mask selects; nothing for other lists.
  std::optional<aten::Local> listOfSizes(llvm::ArrayRef<IValue> elements);
  void checkVersion(llvm::StringRef name, const Arguments &arguments) const;
  /// What size(), numel() and len() give of what a mask selects, or nothing for other names.
  std::optional<IValue> sizeOf(const aten::Selection &selection, llvm::StringRef name,
                               llvm::ArrayRef<IValue> arguments);
  /// The one element of a tensor, as int, float or bool. Throws ImportError where it is not known.
  IValue elementOf(const aten::MutableTensor &tensor);
  /// What Tensor.tolist() gives: its elements as a list of lists, and a number of one without
  /// dimensions. Throws ImportError where they are not known.
  IValue elementsOf(const aten::MutableTensor &tensor);
  /// A tensor of a number, or of a list of numbers.
  IValue makeTensor(const IValue &value, const IValue &type);

  // ---- problems ----
  void report(const Expression &expression, const Frame &frame, const std::string &message);
  [[noreturn]] void stop(const Expression &expression, const Frame &frame,
                         const std::string &message);

  using Attribute = std::pair<Object *, std::string>;
  std::vector<Attribute> assigned;
  /// Attributes of modules that were read as the file has them, and those that were set before
  /// anything read them: what a step leaves in these the next one does not see anyway.
  std::set<Attribute> read, replaced;
  int64_t statements = 0;
  int depth = 0;
};

} // namespace accc::torchscript

#endif
