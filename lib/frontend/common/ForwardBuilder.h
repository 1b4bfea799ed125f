// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// @forward while it is imported: its arguments, what is found on the way, and its end.
#ifndef ACCC_FRONTEND_COMMON_FORWARDBUILDER_H
#define ACCC_FRONTEND_COMMON_FORWARDBUILDER_H

#include "frontend/common/Entity.h"
#include "frontend/common/Fold.h"
#include "frontend/common/ImportResult.h"
#include "support/NamePattern.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

#include <set>

namespace accc::frontend {

/// What shows that a float value of the file is a parameter, and no constant.
enum class Proof {
  /// The format, or the name: only the module's own values have such names.
  Known,
  /// Its place in the graph; nothing shows that the file has constants among such values.
  Assumed,
  /// Nothing but its place in the graph: the file gives constants such names, too.
  Named,
  /// The same, and its name is of what an exporter or an optimizer computed of other values.
  MadeUp
};

/// A variable of the model: an argument of @forward with an initial value.
struct Variable {
  std::string name;
  mlir::Value argument = {};
  bool isBuffer;
  bool isFrozen;
  Weight weight;
  mlir::Value update = {}; // its new value, or null
  /// Its update is part of the model's own training step.
  bool isTrained = false;
  /// Nothing gives it another value than `weight` before or while it is trained, but the optimizer.
  bool isKnown = true;
  /// The import asked for that value.
  bool isAskedFor = false;
  /// What shows that it is a parameter.
  Proof proof = Proof::Known;
  /// What speaks against a parameter, if its place in the graph does.
  std::string unclear = {};
};

/// A result of @forward: an output of the model, or its own loss or gradient of a parameter.
struct ForwardOutput {
  mlir::Value value = {};
  std::string name;
  prim::Role role = prim::Role::Output;
  /// It is a result of the model's own training step alone.
  bool isTraining = false;
};

/// The output that holds one of several tensors that a returned dict has for a key: "key_0", and
/// with more underscores where another of its `keys` is that.
std::string partName(llvm::StringRef key, size_t part, llvm::ArrayRef<std::string> keys);

class ForwardBuilder {
public:
  /// Throws ImportError for a bad regular expression in `options.frozen`.
  ForwardBuilder(const ImportOptions &options, mlir::MLIRContext &context);

  mlir::OpBuilder &builder() { return opBuilder; }
  const ImportOptions &options() const { return importOptions; }

  // ---- arguments ----
  /// Throws ImportError, which names the input, where no tensor can have these extents.
  mlir::Value addInput(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, llvm::StringRef name);
  /// Gives the variable its argument and freezes it where the options say so.
  mlir::Value addVariable(Variable variable);
  /// The variable of an argument, or null.
  Variable *findVariable(mlir::Value argument);
  /// Its place speaks against a parameter: an error where it is trained, unless its name or the
  /// options say that it is one.
  void markUnclear(mlir::Value variable, llvm::StringRef why);
  /// What variables start with, where that is known.
  GivenValues initialValues();
  /// The argument is a buffer, not a parameter.
  void markBuffer(mlir::Value variable);
  /// The value of `variable` after the step, in place of one it had before: it becomes a buffer.
  /// False if the value is no variable.
  bool bindUpdate(mlir::Value variable, mlir::Value update);
  /// What the program itself leaves in `variable`. That of a parameter that is trained stays one:
  /// the optimizer starts from this value.
  void bindWrite(mlir::Value variable, mlir::Value written);
  /// The variable whose value or whose value after the step this is, if it is one: where a module
  /// is called twice, its second call may read what the first one made of its buffers.
  mlir::Value updatedVariable(mlir::Value value);
  /// The values that variables have after the step, as far as they are bound.
  using Updates = llvm::MapVector<mlir::Value, mlir::Value>;
  Updates updates() const;
  void setUpdates(const Updates &updates);
  /// What a variable is by now: its value after the step, if it is bound, or else itself.
  mlir::Value latest(mlir::Value variable);
  /// The argument [seed, step] of role random_key, and the next number that tells one random op
  /// from another.
  mlir::Value randomKey();
  int64_t nextStream() { return streams++; }

  /// The type of floats that are made of integers, of numbers or of nothing: PyTorch's default
  /// dtype. f32 unless the program shows another.
  mlir::Type defaultFloat() { return floatByDefault ? floatByDefault : opBuilder.getF32Type(); }

  // ---- open dimensions ----
  /// One that the file leaves open, by `name` or by its position, "input.0"; `size` is what the
  /// options say, else nothing.
  std::optional<int64_t> openDimension(const std::string &name, const std::string &position);
  /// The size that the options give for a dimension by its name or position.
  std::optional<int64_t> givenDimension(const std::string &name);
  /// A size given for a dimension that is not there is a mistake, not a wish to be ignored.
  void checkDimensions();
  /// What is wrong with the sizes that the options give, once all inputs are there.
  WrongSizes wrongSizes() const {
    return {{missingDimensions.begin(), missingDimensions.end()}, unknownDimensions};
  }
  /// The dimensions of `input` named in `open` have no size: a warning where the options say what
  /// to take them as, else throws ImportError.
  void leftOpen(llvm::StringRef input, llvm::ArrayRef<std::string> open);

  // ---- findings ----
  /// Adds a warning or a note, once.
  void remark(Problem problem);
  void warn(std::string message) {
    remark({.message = std::move(message), .severity = Problem::Severity::Warning});
  }

  // ---- rules ----
  /// Replaces what a rule holds beside its results by what the given function makes of it.
  using ReplaceHeld = llvm::function_ref<void(llvm::function_ref<mlir::Value(mlir::Value)>)>;

  /// Runs a rule, verifies what it built, has 16-bit floats computed in f32 and folds what is
  /// known. Throws ImportError with what is wrong.
  Entities build(llvm::function_ref<Entities()> rule, ReplaceHeld replaceHeld = [](auto) {});

protected:
  /// Makes @forward of the outputs, unless there are problems: results, roles, what nobody uses,
  /// and a last look by the verifier.
  void finish(llvm::ArrayRef<ForwardOutput> outputs, ImportResult &result);
  /// Moves remarks, problems and what else was found on the way into the result, once @forward is
  /// there.
  void reportFindings(ImportResult &result);

  const ImportOptions &importOptions;
  mlir::MLIRContext &context;
  mlir::OpBuilder opBuilder;
  mlir::Block *body = nullptr;
  std::vector<Variable> variables;
  std::map<std::string, std::vector<std::string>> aliases; // as in ImportResult
  std::vector<Problem> remarks, problems;
  std::string diagnostics; // errors that MLIR reported while a rule ran
  /// Rules run where the module switches torch.autocast off: products of f32 stay in f32.
  bool isFullPrecision = false;
  mlir::Type floatByDefault; // or null

private:
  mlir::Value addArgument(mlir::RankedTensorType type, llvm::StringRef name);
  /// Verifies the ops built since `last`, has 16-bit floats computed in f32 and folds what is
  /// known; what the rule holds follows.
  void settle(mlir::Operation *last, Entities &results, ReplaceHeld replaceHeld);

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp forward;
  mlir::ScopedDiagnosticHandler handler;
  llvm::DenseMap<mlir::Value, size_t> byArgument;
  /// Arguments that are not variables, by position: their role.
  llvm::SmallVector<std::pair<mlir::Value, prim::Role>> inputs;
  mlir::Value key;
  int64_t streams = 0;
  /// Rules may run others: how many do, and what these have built.
  int depth = 0;
  llvm::DenseSet<mlir::Operation *> settled;
  std::vector<NamePattern> frozen;
  std::set<std::string, std::less<>> openDimensions, usedDimensions, missingDimensions;
  std::vector<std::string> unknownDimensions;
};

} // namespace accc::frontend

#endif
