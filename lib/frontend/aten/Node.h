// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One call of an ATen operator while it is imported: what a rule asks and builds with.
#ifndef ACCC_FRONTEND_ATEN_NODE_H
#define ACCC_FRONTEND_ATEN_NODE_H

#include "frontend/aten/Argument.h"
#include "frontend/aten/Layout.h"
#include "frontend/aten/Signature.h"
#include "frontend/common/Complex.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace accc::aten {

using namespace frontend; // what every importer builds with

/// What the result shares with the first argument; each tensor of a list, with that in its place in
/// a first argument that is a list.
enum class Alias {
  /// Nothing: it is a tensor of its own.
  None,
  /// Its elements: what is written into one is seen in the other.
  View,
  /// Its elements or not, which PyTorch decides by the strides, where these are not known.
  MaybeView,
  /// Elements of its storage, which need not be its own.
  StorageView,
};

/// Where the first argument of a call lies, if it is a tensor or a list of tensors.
struct Memory {
  Layout layout = Layout::contiguous({});
  /// Of each tensor of a list.
  std::vector<Layout> layouts = {};
  /// The tensor that has its storage, and where that lies in it.
  mlir::Value storage = {};
  Layout storageLayout = Layout::contiguous({});
  /// Whether PyTorch takes a view of the storage itself, as after a write, and not of the argument.
  bool isOfStorage = false;
};

/// Arguments are asked for by their names in the operator's signature; those that the call leaves
/// out have their default values. Every query throws ImportError where the call does not hold what
/// is asked for.
class Node : public NodeBuilder {
public:
  /// `numbers` are the tensors among the arguments that stand for numbers of Python.
  Node(ForwardBuilder &function, mlir::Location loc, const Signature &signature,
       llvm::StringMap<Argument> arguments, const Memory &memory, llvm::StringSet<> numbers = {})
      : NodeBuilder(function, loc), signature(signature), arguments(std::move(arguments)),
        memory(memory), numbers(std::move(numbers)) {}

  /// Gives the argument another value, or one where the call has none.
  void set(llvm::StringRef name, Argument value) { arguments[name] = std::move(value); }

  /// Whether the argument is anything but None.
  bool has(llvm::StringRef name) const;
  /// A tensor of reals, integers or booleans, as of all queries of tensors but those below.
  prim::Tensor in(llvm::StringRef name) const;
  /// A float tensor.
  prim::Tensor floatIn(llvm::StringRef name) const;
  /// An index tensor: integers, as i64 where they are none of the index types.
  prim::Tensor indexIn(llvm::StringRef name) const;
  /// The tensor, or null for None.
  mlir::Value optional(llvm::StringRef name) const;
  bool isTensor(llvm::StringRef name) const;
  /// Whether the tensor stands for a number of Python, which decides no element type.
  bool standsForNumber(llvm::StringRef name) const { return numbers.contains(name); }
  bool isTensorList(llvm::StringRef name) const;
  bool isString(llvm::StringRef name) const;
  llvm::SmallVector<prim::Tensor> tensors(llvm::StringRef name) const;
  /// Null for None.
  TensorList optionalTensors(llvm::StringRef name) const;
  /// Tensors of any numbers.
  TensorList anyTensors(llvm::StringRef name) const;

  // ---- complex numbers ----
  /// The type of a tensor of any numbers.
  mlir::RankedTensorType tensorType(llvm::StringRef name) const;
  bool isComplex(llvm::StringRef name) const;
  /// Whether any argument is a complex tensor, or a list with one.
  bool hasComplex() const;
  /// A tensor of any numbers.
  Complex complexIn(llvm::StringRef name) const;
  /// The node with another part in place of each complex tensor: that which `choose` gives. Of
  /// lists with a complex tensor, of all tensors.
  Node withParts(llvm::function_ref<prim::Tensor(const Complex &)> choose) const;

  int64_t integer(llvm::StringRef name) const;
  double real(llvm::StringRef name) const;
  bool boolean(llvm::StringRef name) const;
  std::string string(llvm::StringRef name) const;
  using NodeBuilder::integers;
  llvm::SmallVector<int64_t> integers(llvm::StringRef name) const;
  /// `count` of them; one alone stands for all.
  llvm::SmallVector<int64_t> integers(llvm::StringRef name, size_t count) const;
  llvm::SmallVector<double> reals(llvm::StringRef name) const;
  using NodeBuilder::reals;
  llvm::SmallVector<bool> booleans(llvm::StringRef name) const;
  /// The element type of a torch.dtype, or this one for None. Throws for a complex one.
  mlir::Type elementType(llvm::StringRef name, mlir::Type otherwise) const;
  /// The same, or a complex one.
  mlir::Type anyElementType(llvm::StringRef name, mlir::Type otherwise) const;
  /// A number or a tensor without dimensions of known value.
  double number(llvm::StringRef name) const;
  bool isInteger(llvm::StringRef name) const;
  /// An integer or a real.
  bool isNumber(llvm::StringRef name) const;
  bool isBoolean(llvm::StringRef name) const;
  MemoryFormat memoryFormat(MemoryFormat otherwise) const;

  /// An axis of `x`, made positive; a tensor without dimensions has the axes 0 and -1.
  int64_t dim(llvm::StringRef name, prim::Tensor x) const;
  /// All axes for None or an empty list.
  llvm::SmallVector<int64_t> dims(llvm::StringRef name, prim::Tensor x) const;

  // ---- effects ----
  /// The operator writes this into its argument, beside its results.
  void write(llvm::StringRef name, mlir::Value value) { written.push_back({name.str(), value}); }
  llvm::ArrayRef<std::pair<std::string, mlir::Value>> writes() const { return written; }
  void mapWrites(llvm::function_ref<mlir::Value(mlir::Value)> map) {
    for (auto &[name, value] : written)
      value = map(value);
  }
  /// The result shares this with the first argument, where that hangs on the call.
  void share(Alias alias) { shared = alias; }
  std::optional<Alias> sharing() const { return shared; }
  /// PyTorch's graph does not know of the operator: what it is written into keeps its gradient.
  void leaveGradient() { leavesGradient = true; }
  bool isRecorded() const { return !leavesGradient; }

  // ---- memory ----
  /// Where the first argument lies; not known of a tensor of another shape.
  Layout layoutOf(llvm::ArrayRef<int64_t> shape) const;
  Layout layoutOf(prim::Tensor x) const { return layoutOf(x.shape()); }
  /// Where a tensor of the first argument lies, which is a list.
  const Layout &layoutOfElement(size_t index) const { return memory.layouts[index]; }
  const Memory &inMemory() const { return memory; }
  /// The result, or the next element of a list, lies so.
  void lay(Layout layout) { laid.push_back(std::move(layout)); }
  llvm::ArrayRef<Layout> results() const { return laid; }
  /// Takes what the rule of another node said of its results.
  void takeEffects(const Node &other);

private:
  const Argument &find(llvm::StringRef name) const;
  template <typename T> const T &get(llvm::StringRef name, const char *what) const;
  /// Throws for a complex tensor.
  prim::Tensor notComplex(llvm::StringRef name, mlir::Value value) const;

  const Signature &signature;
  llvm::StringMap<Argument> arguments;
  Memory memory;
  llvm::StringSet<> numbers;
  std::vector<std::pair<std::string, mlir::Value>> written;
  std::optional<Alias> shared;
  bool leavesGradient = false;
  std::vector<Layout> laid;
};

/// An index of a dimension, as Python counts it, brought into [0, extent].
int64_t clampIndex(int64_t index, int64_t extent);

/// The elements start, start + step, ... in front of `end`, along a dimension.
struct SlicedRange {
  int64_t dim, start, end, step;
};
/// What the arguments `dim`, `start`, `end` and `step` take of x.
SlicedRange slicedRange(const Node &node, prim::Tensor x);

/// A tensor without dimensions is a vector of one element here.
prim::Tensor asVector(prim::Tensor x);

/// Builds the results.
using Rule = Entities (*)(Node &node);

} // namespace accc::aten

#endif
