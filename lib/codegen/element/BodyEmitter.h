// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The element emitter: the value of any tensor of a kernel's body at an index, as a scalar or a
// vector.
#ifndef ACCC_CODEGEN_ELEMENT_BODYEMITTER_H
#define ACCC_CODEGEN_ELEMENT_BODYEMITTER_H

#include "codegen/element/ErrorTable.h"
#include "codegen/element/IndexEmitter.h"
#include "codegen/element/KernelTarget.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <limits>

namespace accc::codegen {

/// Emits the body of one kernel function. The loop emitters set loop variables and ask for
/// elements; this class recurses through the body's ops by their element rules, down to loads.
///
/// A value that does not depend on the vector's loop variable is emitted as a scalar and broadcast
/// where it meets a vector. Values are remembered by (tensor, index) in scopes, so that within a
/// scope nothing is emitted twice.
class BodyEmitter final : public ElementEmitter {
public:
  BodyEmitter(exec::KernelOp kernel, mlir::func::FuncOp function, const KernelTarget &target,
              ErrorTable &errors, unsigned numDims);

  // ---- ElementEmitter ----
  mlir::OpBuilder &builder() override { return b; }
  mlir::Value element(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index) override;
  mlir::Value elementOr(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> index,
                        mlir::TypedAttr outside) override;
  mlir::Value
  apply(llvm::ArrayRef<mlir::Value> elements,
        llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> rule) override;
  mlir::Value constant(mlir::TypedAttr value) override;
  mlir::Value indexValue(mlir::AffineExpr expression, mlir::Type elementType) override;
  mlir::AffineExpr symbol(mlir::Value integer, int64_t bound, llvm::StringRef message) override;
  mlir::Value select(llvm::ArrayRef<IndexRange> ranges, llvm::function_ref<mlir::Value()> inside,
                     llvm::function_ref<mlir::Value()> outside) override;

  // ---- For loop emitters ----
  /// Index arithmetic and the loop variables.
  IndexEmitter &indices() { return index; }
  mlir::Location loc() const { return location; }
  const KernelTarget &target() const { return machine; }
  mlir::func::FuncOp getFunction() const { return function; }
  /// The tasks that this call of the function does, of all `count` of the launch.
  std::pair<mlir::Value, mlir::Value> tasks(int64_t count);

  /// Takes other buffers from here on: pointers of the inputs, then of the outputs.
  void setBuffers(llvm::ArrayRef<mlir::Value> newPointers);

  /// Ends the step with a data error where `condition` (i1) holds.
  void reportWhere(mlir::Value condition, llvm::StringRef message);

  /// Lanes that take part; null for all. Set around the last, partial vector of a row.
  void setTailMask(mlir::Value mask) { tailMask = mask; }

  /// Stores to the tensor that is output number `output`, at `position` (an expression for each
  /// dimension of the output).
  void store(unsigned output, llvm::ArrayRef<mlir::AffineExpr> position, mlir::Value value);
  mlir::RankedTensorType outputType(unsigned output) const;
  /// Loads an element of an output, for read-modify-write.
  mlir::Value loadOutput(unsigned output, llvm::ArrayRef<mlir::AffineExpr> position);

  /// The value of a reduction that has been computed for the current loop variables. Reading it
  /// anywhere but at `position` is a bug of fusion.
  void bind(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> position, mlir::Value value);
  /// The same for the element of an input at an offset, in row-major order.
  void bindOffset(mlir::Value input, mlir::AffineExpr offset, mlir::Value value) {
    bound[input].push_back({offset, value});
  }
  void unbindAll() { bound.clear(); }
  /// The element of an input at an offset.
  mlir::Value loadInput(mlir::Value input, mlir::AffineExpr offset);

  /// A tensor, an index, and what elements outside of the tensor are; null where there are none.
  using Key = std::tuple<mlir::Value, mlir::AffineMap, mlir::Attribute>;
  using Values = llvm::DenseMap<Key, mlir::Value>;
  /// What a scope has remembered, for the next one with the same values of the loop variables. That
  /// must stand where the values of the first are defined.
  struct Memory {
    Values values;
    IndexEmitter::Indices indices;
  };
  /// What is emitted between is remembered only until the scope ends, or in `memory`.
  struct Scope {
    explicit Scope(BodyEmitter &emitter, Memory *memory = nullptr);
    ~Scope();
    BodyEmitter &emitter;
    Memory *memory;
  };

  /// `value` as a vector of the current width.
  mlir::Value toVector(mlir::Value value);
  /// `value`, an element or an accumulator, in the type `to`: another float type, or its own.
  mlir::Value convertFloat(mlir::Value value, mlir::Type to);
  /// The register type of a tensor's element: signless integers, i1 for booleans.
  static mlir::Type registerType(mlir::Type elementType);

  struct Recorder {
    /// Whether all lanes of every vector take part, and each access is of one element or of
    /// neighbours from a multiple of the width on.
    bool wholeVectors = true;
    /// Bytes of the widest and the narrowest element in an access of neighbours.
    int64_t widestBytes = 0, narrowestBytes = std::numeric_limits<int64_t>::max();
    /// The inputs that are read, and at which offsets.
    llvm::SetVector<std::pair<mlir::Value, mlir::AffineExpr>> reads;
  };
  void setRecorder(Recorder *newRecorder) { recorder = newRecorder; }

private:
  mlir::Value remember(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> position,
                       mlir::TypedAttr outside,
                       llvm::function_ref<mlir::Value(llvm::ArrayRef<mlir::AffineExpr>)> compute);
  mlir::Value elementOfThread(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> position,
                              llvm::ArrayRef<IndexRange> ranges, mlir::TypedAttr outside);
  mlir::Value compute(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> position);
  mlir::Value load(mlir::Value pointer, mlir::RankedTensorType type,
                   llvm::ArrayRef<mlir::AffineExpr> position);
  /// `aligned`: the first lane's index is a multiple of the width.
  mlir::Value load(mlir::Value pointer, mlir::Type elementType, const LaneIndex &at, bool aligned);
  mlir::Value loadEverySecond(mlir::Value pointer, mlir::Type scalar, mlir::Value base);
  mlir::Value loadNeighbours(mlir::Value pointer, mlir::RankedTensorType type,
                             mlir::AffineExpr offset, llvm::function_ref<mlir::Value()> byItself);
  /// The element of a concatenation of many inputs, without a branch; null where there must be one.
  mlir::Value pick(prim::ConcatenateOp op, llvm::ArrayRef<mlir::AffineExpr> position);
  /// Random bits of which lanes that are neighbours share blocks.
  mlir::Value randomBits(prim::RandomBitsOp op, llvm::ArrayRef<mlir::AffineExpr> position);
  mlir::Value currentMask();
  void pushMask(mlir::Value condition);
  bool startsAligned(mlir::AffineExpr offset) const;
  void recordAccess(mlir::Type scalar, const LaneIndex &at, bool aligned);
  unsigned vectorAlignment(mlir::Type scalar, bool aligned) const;
  mlir::AffineExpr linearise(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<mlir::AffineExpr> position);
  mlir::Value table(llvm::ArrayRef<int64_t> words);
  mlir::Value address(mlir::Value pointer, mlir::Type memoryType, mlir::Value offset);

  mlir::OpBuilder b;
  mlir::Location location;
  const KernelTarget &machine;
  ErrorTable &errors;
  IndexEmitter index;
  mlir::Block &body;
  mlir::func::FuncOp function;
  bool ownBuffers = true;                              // `pointers` are those of the function
  llvm::DenseMap<mlir::Attribute, std::string> tables; // symbols of constants, by their contents
  llvm::DenseMap<mlir::Value, mlir::Value> pointers;   // block argument -> !llvm.ptr
  llvm::SmallVector<mlir::Value> outputs;
  llvm::SmallVector<mlir::Type> outputTypes;
  mlir::Value status;
  mlir::Value tailMask;
  llvm::SmallVector<mlir::Value> masks; // the lanes that take part, by nested conditions
  struct Bound {
    mlir::AffineExpr offset;
    mlir::Value value;
  };
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Bound, 1>> bound;
  std::vector<Values> memo;
  Recorder *recorder = nullptr;

  friend struct Scope;
};

} // namespace accc::codegen

#endif
