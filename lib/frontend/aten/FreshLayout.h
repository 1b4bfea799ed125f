// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where results lie that share no elements with the arguments.
#ifndef ACCC_FRONTEND_ATEN_FRESHLAYOUT_H
#define ACCC_FRONTEND_ATEN_FRESHLAYOUT_H

#include "frontend/aten/Call.h"

namespace accc::aten {

/// Whether each element of what `op`, "add.Tensor" or "add_.Tensor", gives is a function of the
/// elements at its place in the tensors, broadcast to one shape, and of numbers.
bool isElementwise(llvm::StringRef op);
/// Whether `op` is one of a tensor along the dimensions in its arguments of namesDims(), and treats
/// all that stands along other dimensions alike.
bool isAlongDims(llvm::StringRef op);
bool namesDims(llvm::StringRef parameter);

/// The layout that PyTorch gives the results of a call of `op`, "add.Tensor". `locals` are its
/// arguments, by the names of the parameters of `signature`. Not known for operators that nothing
/// is said of, and where it hangs on the layout of an argument that is not known.
class FreshLayout {
public:
  FreshLayout(llvm::StringRef op, const Signature &signature, const llvm::StringMap<Local> &locals,
              std::optional<MemoryFormat> format);
  Layout of(mlir::RankedTensorType result) const;

private:
  struct Operand {
    Layout layout;
    mlir::Type elementType;
  };
  Layout ofElementwise(llvm::ArrayRef<int64_t> shape) const;
  /// Not known, since those of an argument are not, or else those of this operator's results.
  Layout unknown(llvm::ArrayRef<int64_t> shape) const;
  Layout unknownHere(llvm::ArrayRef<int64_t> shape) const;
  /// Whether PyTorch makes results contiguous for operands like these, and not in the order of
  /// channels last.
  bool isInChannelOrder() const;
  bool isMatrixTimesStack() const;
  bool onlyCrops(const llvm::StringMap<Local> &locals) const;

  std::string op;
  std::optional<MemoryFormat> format;
  /// The tensors among the arguments, in the order of the signature.
  std::vector<Operand> operands;
  bool isCrop = false;
};

} // namespace accc::aten

#endif
