// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that share elements, and writes into them, as values.
#ifndef ACCC_FRONTEND_ATEN_MEMORY_H
#define ACCC_FRONTEND_ATEN_MEMORY_H

#include "frontend/aten/OpTable.h"

#include <functional>
#include <memory>

namespace accc::aten {

/// A step from a tensor to a view of it.
struct ViewStep {
  /// The view of another value in the tensor's place, of any element type.
  std::function<mlir::Value(mlir::Value tensor)> view;
  /// The tensor with other elements where the view's are, or null: then by `view` of its indices.
  std::function<mlir::Value(mlir::Value tensor, mlir::Value elements)> put;
  /// The view is one of the storage, of which the tensor may be a part.
  bool isOfStorage = false;
  /// No gradient flows through the view, nor does what is written through it have one elsewhere.
  bool stopsGradient = false;
  /// Elements of the tensor may be in the view several times: to put them back, all of the view
  /// does not do.
  bool repeats = false;
};

/// A tensor of the model: a value, or a view of another tensor's elements. Copies are the same
/// tensor. PyTorch's programs write into tensors; here, a write makes a new value, and what shares
/// the elements is derived anew from it when it is read. The layout is that of PyTorch's tensor: it
/// says what shares elements, and nothing of where accc has them.
class MutableTensor {
public:
  MutableTensor() = default;
  /// A tensor of its own, called `name` in messages.
  MutableTensor(mlir::Value value, llvm::StringRef name, Layout layout);

  /// A view of this tensor, whose value now is `value`. If `isMaybe`, PyTorch may also have made a
  /// copy of it.
  MutableTensor view(ViewStep step, mlir::Value value, Layout layout, bool isMaybe,
                     llvm::StringRef name) const;

  mlir::Type type() const;
  llvm::ArrayRef<int64_t> shape() const;
  int64_t rank() const;
  const Layout &layout() const;
  /// Replaces what is known of the layout.
  void setLayout(Layout layout);
  /// The tensor whose elements are those of the storage, as far as the program has it; this one
  /// where that is not known.
  MutableTensor whole() const;
  /// Makes this tensor, and all copies of it, another one: a view of it.
  void become(const MutableTensor &other);
  explicit operator bool() const { return state != nullptr; }
  /// Whether both are one tensor: what is written into one is all that is in the other.
  bool isSame(const MutableTensor &other) const { return state == other.state; }
  /// The value with all that was written. Throws ImportError where it depends on strides whether a
  /// write is seen.
  mlir::Value read(ForwardBuilder &function, mlir::Location loc) const;
  /// The same for an operator that also writes them: in PyTorch's graph it is one of the storage.
  mlir::Value readToWrite(ForwardBuilder &function, mlir::Location loc) const;
  /// Whether what is written into one may be seen in the other.
  bool sharesStorage(const MutableTensor &other) const;
  /// Replaces all elements by those of `value`, of the same type. Their gradient is that of `value`
  /// if it is recorded; else that which the elements had before: PyTorch's graph does not know of
  /// such a write.
  void write(ForwardBuilder &function, mlir::Location loc, mlir::Value value, bool isRecorded);
  /// Says that what is in the storage has no gradient, until something that has is written.
  void markConstant();
  /// Says that the storage is a leaf of PyTorch's graph, a parameter: it can be written only where
  /// nothing is recorded, so that no write into it is.
  void markLeaf();
  /// Says that the tensor, which has no dimensions, stands for a number of Python, as one does in a
  /// trace: it decides no element type.
  void markNumber();
  bool isNumber() const;
  /// The same, and that the number is how many elements of this mask are true.
  void markCount(mlir::Value mask);
  /// That mask, or null.
  mlir::Value countedMask() const;

private:
  struct Storage;
  struct State;
  std::shared_ptr<State> state;
};

} // namespace accc::aten

#endif
