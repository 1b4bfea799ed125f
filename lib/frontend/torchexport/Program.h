// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks an exported program's graph and builds @forward.
#ifndef ACCC_FRONTEND_TORCHEXPORT_PROGRAM_H
#define ACCC_FRONTEND_TORCHEXPORT_PROGRAM_H

#include "frontend/torchexport/Expression.h"
#include "frontend/torchexport/Weights.h"

namespace accc::torchexport {

/// The names of a graph.
using Scope = std::map<std::string, aten::Local>;

/// The nodes of a graph that say what must be true of values and compute nothing, with the numbers
/// that they alone read.
std::set<size_t> assertionsOf(const Json &graph);

/// The keys of a dict, or of what is like one, by its specification: a JSON list in the container's
/// context. None where it has not `count` of them, all texts.
std::vector<std::string> keysOf(const Json &spec, size_t count);

/// What the program takes and returns, as containers of values, if the file says it.
std::optional<Json> rootSignature(const Json &program);

/// The name in the graph of what a specification of an input is about.
std::optional<std::string> argumentName(const Json &spec);

/// Where the values are that the program takes, in the containers that are the arguments of
/// `forward`: "['x']", "['state'][0]"; "" where that cannot be said. None if the file does not say.
std::vector<std::string> inputPaths(const Json &program);

/// Of each of these values, in the same order, the name in the graph.
std::vector<std::string> inputArguments(const Json &specs);

/// The default dtype of the PyTorch that exported the program: the type of the first floats that a
/// node makes of none, and that no argument names. Null where there are none.
mlir::Type defaultFloatOf(const Json &graph, mlir::MLIRContext &context);

/// Whether a node computes a number from sizes of tensors and other numbers.
bool isOfSizes(llvm::StringRef target);

/// The names of the tensors of an argument or an output, "" for None, and of all in a list.
std::vector<std::string> tensorNames(const Json &value);
std::vector<std::string> tensorNamesOf(const Json &values);

class ProgramImporter : public ForwardBuilder {
public:
  /// `written` are variables that the program writes into, as far as they are known.
  ProgramImporter(const Json &program, Weights &weights, const std::set<std::string> &written,
                  const ImportOptions &options, mlir::MLIRContext &context);

  ImportResult run();
  /// The variables that were taken as known, but are written into: the import must begin anew.
  const std::set<std::string> &falselyKnown() const { return falseConstants; }

private:
  /// The dimensions of a tensor that the function of a torch.vmap does not know of: for each, how
  /// many of them are around it and itself, in ascending order. They stand before all others.
  using Levels = llvm::SmallVector<int64_t>;
  struct Batches {
    std::vector<int64_t> sizes;           // of each torch.vmap around a node, the outermost first
    std::map<std::string, Levels> levels; // by the name of a tensor that has some

    /// Says of tensors what is said of these, which have other `names` there.
    void hand(llvm::ArrayRef<std::string> tensors, Batches &to,
              llvm::ArrayRef<std::string> names) const;
  };
  // ---- inputs (Inputs.cpp) ----
  void importInputs(Scope &scope);
  /// Finds what `forward` calls its arguments: PyTorch names them in lower case in the graph.
  void nameInputs(const Json &specs);
  /// What the caller calls an input of this name in the graph.
  std::string inputName(const std::string &argument) const;
  /// What a functional program leaves in buffers and parameters: its outputs say it.
  void findLeft(const Json &specs);
  void importInput(const Json &spec, Scope &scope);
  void importVariable(const std::string &argument, const std::string &given, bool isBuffer,
                      bool isPersistent, Scope &scope);
  /// Variables are values of their own, which they are not where they share memory in part.
  void checkMemory();
  void importUserInput(const std::string &argument, Scope &scope);

  // ---- open dimensions (Dimensions.cpp) ----
  /// A dimension of which the options give the size and the file a formula.
  struct ComputedDimension {
    std::string position, expression;
    int64_t size;
  };
  /// Takes the sizes that the options give for an input's open dimensions; of an input that is an
  /// integer, its value.
  void readDimensions(const Json &input);
  void readDimension(const std::string &position, const Json &size);
  /// The symbols of an expression of which no value is known.
  std::vector<std::string> unknownSymbols(const std::string &expression) const;
  /// Takes from computed dimensions what they say of their symbols.
  void solveDimensions();
  void solveDimension(const ComputedDimension &dimension);
  /// A size of an input, or nothing where it is open.
  std::optional<int64_t> sizeOf(const Json &size);
  /// With the sizes of open dimensions; throws ImportError where one has none.
  llvm::SmallVector<int64_t> inputShape(const std::string &argument, const Json &sizes);
  /// An input that is an integer: its value is known now, or it throws ImportError.
  void importNumber(const std::string &name, Scope &scope);
  /// Throws ImportError for a value of a symbol that the file does not allow; `given` is what the
  /// options say.
  void checkRange(const std::string &symbol, int64_t size, const llvm::Twine &given);

  // ---- what must be true of sizes (Assertions.cpp) ----
  /// What PyTorch found of the inputs that it had and took for granted: the branches of the module
  /// that it followed, and what torch._check says. With other sizes the program would compute
  /// something else than the module.
  void checkGuards(const Json &specs, const Scope &scope);
  /// Sizes and numbers of the inputs by the names that guards have for them.
  Names guardedNames(const Json &specs, const Scope &scope) const;
  /// A node of assertionsOf(): a problem where it says something of known numbers that is not so.
  void checkAssertion(const Json &node, Scope &scope);

  // ---- nodes ----
  /// Inside of what `around` says, which is then of the graph's tensors.
  void importNodes(const Json &graph, Scope &scope, Batches *around = nullptr);
  void importNode(const Json &node, Scope &scope);
  std::vector<aten::Local> runNode(const Json &node, const std::string &target, Scope &scope);
  /// Calls an operator of ATen or of the user's, on the node's inputs from the `first` on.
  std::vector<aten::Local> callOperator(const Json &node, llvm::StringRef name, size_t first,
                                        const Scope &scope);
  aten::Local argument(const Json &argument, const Scope &scope);
  aten::Local lookup(const std::string &name, const Scope &scope);
  aten::MutableTensor lookupTensor(const std::string &name, const Scope &scope);
  aten::MutableTensor tensorOf(const aten::Local &value, const std::string &name);
  /// Sizes of tensors, and arithmetic on them. Numbers that depend on data are tensors.
  aten::Local evaluateSizes(mlir::Location loc, llvm::StringRef target,
                            llvm::ArrayRef<aten::Local> arguments);
  /// The number that a tensor is: a size that a module keeps in a buffer, say.
  aten::Local elementOf(mlir::Location loc, const aten::Local &tensor);
  /// Where a tensor of this name lies, as the file says; nothing where that depends on open
  /// dimensions.
  std::optional<aten::Layout> layoutOf(const std::string &name, llvm::ArrayRef<int64_t> shape);
  /// Gives the tensors of an output the layouts that the file says they have.
  void lay(const Json &output, const Scope &scope);
  /// A variable, an input or a constant, which the graph calls `argument`. Complex ones are given
  /// as pairs.
  aten::MutableTensor givenTensor(mlir::Value value, mlir::RankedTensorType type,
                                  const std::string &argument, const std::string &name);
  void bind(const Json &output, aten::Local value, Scope &scope);
  /// Gives an output that is left in a parameter the gradient of this: PyTorch wrote it where
  /// nothing was recorded, of which a functional program says nothing.
  void asParameter(const Json &output, Scope &scope);
  mlir::Location location(const Json &node);

  // ---- operators that call graphs (HigherOrder.cpp) ----
  std::vector<aten::Local> runHigherOrder(const Json &node, llvm::StringRef name,
                                          const Scope &scope);
  std::vector<aten::Local> runGraph(const Json &body, const std::vector<aten::Local> &arguments,
                                    Batches *around = nullptr);
  /// The graph that is an argument of the node, and a list that is one.
  static Json graphAt(const Json &node, size_t i);
  std::vector<aten::Local> listAt(const Json &node, size_t i, const Scope &scope);
  /// A graph on the arguments behind it.
  std::vector<aten::Local> runBlock(const Json &node, size_t graphArgument, bool hasGradient,
                                    const Scope &scope);
  std::vector<aten::Local> runBranch(const Json &node, const Scope &scope);
  /// An operator that does more than compute: its first input and its first output are a token, by
  /// which the program says in which order such operators run. Nodes are imported in that order.
  std::vector<aten::Local> runWithEffects(const Json &node, const Scope &scope);
  std::vector<aten::Local> runLoop(const Json &node, const Scope &scope);
  /// Body: (carried..., one element of each scanned..., more...) -> (carried..., collected...)
  std::vector<aten::Local> runScan(const Json &node, const std::vector<aten::Local> &carried,
                                   const std::vector<aten::Local> &scanned,
                                   const std::vector<aten::Local> &more);

  // ---- torch.autocast (Autocast.cpp) ----
  /// The element type that the file has for a tensor.
  std::optional<mlir::Type> typeOf(const std::string &name) const;
  /// Calls an operator of ATen; under autocast with its arguments as PyTorch converts them. Throws
  /// ImportError where the results have not the types that the file says: under autocast any of
  /// them, else f32 where that is f64.
  std::vector<aten::Local> callCast(const Json &node, llvm::StringRef op,
                                    std::vector<aten::NamedLocal> arguments,
                                    llvm::StringRef resultName);
  /// Converts the arguments, by the type of the first result.
  void castArguments(const Json &node, llvm::StringRef op,
                     std::vector<aten::NamedLocal> &arguments);

  // ---- torch.vmap (Vmap.cpp, BatchedCalls.cpp) ----
  /// A call of an operator with tensors that hold all elements of a batch.
  struct BatchedCall {
    std::string op;
    std::vector<aten::NamedLocal> arguments;
    int64_t rank; // what an element of each tensor is broadcast to, at least
  };
  Levels levelsOf(const std::string &name) const;
  /// The one tensor that an operator gives.
  aten::MutableTensor tensorBy(mlir::Location loc, llvm::StringRef op,
                               const std::vector<aten::NamedLocal> &arguments);
  /// Those that any tensor among the node's inputs has.
  Levels levelsOfInputs(const Json &node) const;
  /// A node of torch._functorch.predispatch.
  std::vector<aten::Local> runVmap(const Json &node, llvm::StringRef name, Scope &scope);
  /// Where a torch.vmap takes a dimension off the tensor `name`, and where it gives one back.
  aten::MutableTensor addBatchDim(mlir::Location loc, const std::string &name,
                                  const std::string &result, aten::MutableTensor tensor,
                                  int64_t dim);
  aten::MutableTensor removeBatchDim(mlir::Location loc, const std::string &name,
                                     const std::string &result, aten::MutableTensor tensor,
                                     int64_t dim);
  /// Calls an operator on tensors of which levelsOfInputs() are not empty.
  std::vector<aten::Local> callBatched(const Json &node, llvm::StringRef op,
                                       const std::vector<aten::NamedLocal> &arguments,
                                       llvm::StringRef resultName);
  /// The same of an operator of the user's own.
  std::vector<aten::Local> callBatched(const Json &node, const prim::CustomOperator &op,
                                       const std::vector<aten::NamedLocal> &arguments,
                                       llvm::StringRef resultName);
  /// One call with all elements, or nothing where it is not known to give what calls for each
  /// would.
  std::optional<BatchedCall> asOneCall(const Json &node, llvm::StringRef op,
                                       const std::vector<aten::NamedLocal> &arguments);
  std::vector<aten::Local> callOnce(const Json &node, const BatchedCall &call,
                                    llvm::StringRef resultName);
  using Call = llvm::function_ref<std::vector<aten::Local>(const std::vector<aten::NamedLocal> &)>;
  /// A call for each element of the batch.
  std::vector<aten::Local> callForEach(const Json &node, Call call,
                                       const std::vector<aten::NamedLocal> &arguments,
                                       llvm::StringRef resultName);
  /// What the node gives holds all elements of the batch.
  void noteBatch(const Json &node, const std::vector<aten::Local> &results);
  /// The element of the batch at a place, which is an index for each level.
  aten::MutableTensor elementOfBatch(mlir::Location loc, const std::string &name,
                                     aten::MutableTensor tensor,
                                     const std::map<int64_t, int64_t> &place);
  /// The node's arguments as they are for the first element of the batch.
  std::vector<aten::NamedLocal> firstOfBatch(const Json &node,
                                             const std::vector<aten::NamedLocal> &arguments);
  /// Throws ImportError where the file has another type for an element of the batch, which stands
  /// behind `outer` dimensions.
  void checkElement(const std::string &name, const aten::MutableTensor &tensor, size_t outer);

  // ---- outputs (Outputs.cpp) ----
  /// Whether PyTorch took composite operators apart after exporting the program.
  bool isDecomposed() const;
  /// Whether the program computes its loss and the gradients of its parameters.
  bool isJoint() const;
  void importOutputs(const Scope &scope, ImportResult &result);
  void importOutput(const std::string &kind, const Json &content, const std::string &name,
                    const Scope &scope);
  void importLoss(const Json &content, const Scope &scope);
  void importGradient(const Json &content, const Scope &scope);
  std::vector<std::string> outputNames(size_t count);
  void bindBuffers();

  const Json &program;
  Json graph, signature;
  std::optional<Json> tensorValues; // of the graph that is imported
  Batches batches;                  // likewise
  Weights &weights;
  aten::Caller caller;
  bool isAutocast = false;                 // whether nodes run under torch.autocast
  Names symbols;                           // integers
  std::vector<ComputedDimension> computed; // that are not solved yet
  /// A variable as the program writes into it.
  struct State {
    aten::MutableTensor tensor;
    mlir::Value initial; // its argument in @forward, or what it is as a constant
    std::string name;
  };
  std::vector<State> state;
  std::map<std::string, size_t> byPlace; // tied tensors
  std::vector<NamedView> memory;         // of each of `state`
  std::map<std::string, size_t> byName;  // of buffers and parameters
  std::set<std::string> written;         // names of variables
  std::set<std::string> falseConstants;
  std::map<std::string, std::string> inputNames; // by their names in the graph
  /// What a functional program leaves in its parameters, by its name in the graph that is imported:
  /// the parameter's argument.
  std::map<std::string, std::string> leftInParameters;
  std::vector<ForwardOutput> outputs;
  std::map<size_t, mlir::Value> gradients; // of each of `state` that has one
  int64_t importedNodes = 0;
};

} // namespace accc::torchexport

#endif
