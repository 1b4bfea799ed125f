// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of ATen operators on the tensors of a program, with what they write and share.
#ifndef ACCC_FRONTEND_ATEN_CALL_H
#define ACCC_FRONTEND_ATEN_CALL_H

#include "frontend/aten/Memory.h"

namespace accc::aten {

using MutableTensors = std::vector<MutableTensor>;

/// The elements of a tensor that a mask selects along neighbouring dimensions, x[mask] or
/// x[:, mask], where the value of the mask is not known at compile time.
struct Selection {
  /// One for each element of the mask, along the dimension `dim`; see Selection.cpp.
  MutableTensor elements;
  mlir::Value mask;
  int64_t dim = 0;

  int64_t rank() const { return elements.rank(); }
};
/// A list of which one at least is such; others without a mask are plain tensors, and without
/// elements None.
using Selections = std::vector<Selection>;

/// A list of sizes, of which one is how many elements a mask selects.
struct SelectedSizes {
  /// With the number of all elements of the mask in its place.
  Integers sizes;
  mlir::Value mask;
  int64_t dim = 0;
};

/// What a name of a program stands for. Empty tensors of a list are None.
using Local = std::variant<NoValue, MutableTensor, MutableTensors, Selection, Selections, int64_t,
                           double, bool, std::string, Integers, SelectedSizes, Reals, Booleans,
                           mlir::Type, MemoryFormat, Irrelevant>;

/// An argument with the name of its parameter; by position where that is empty.
struct NamedLocal {
  std::string name;
  Local value;
};

class Caller {
public:
  explicit Caller(ForwardBuilder &function) : function(function) {}

  /// Calls an operator, "add_.Tensor", and gives its results, which `name` names in messages.
  /// Throws ImportError.
  std::vector<Local> call(mlir::Location loc, llvm::StringRef op,
                          const std::vector<NamedLocal> &arguments, llvm::StringRef name);

  /// Calls an operator of the user's own; arguments that are no tensors are its attributes.
  std::vector<Local> callCustom(mlir::Location loc, const prim::CustomOperator &op,
                                const std::vector<NamedLocal> &arguments, llvm::StringRef name);

  /// Whether a value may count as known, as in NodeBuilder::knownElements.
  bool isKnown(mlir::Location loc, mlir::Value value);
  /// Throws ImportError, which says why the value of a mask is not known.
  void requireKnown(mlir::Location loc, mlir::Value mask);
  /// The same of a size.
  void requireKnownSize(mlir::Location loc, mlir::Value size);

  /// The value of a tensor as it is now.
  mlir::Value read(mlir::Location loc, const MutableTensor &tensor) {
    return tensor.read(function, loc);
  }

  /// A tensor of this element type, which the file or the caller of @forward gives as `pairs` where
  /// it is complex: these as complex numbers, else the tensor itself.
  MutableTensor ofElementType(mlir::Location loc, const MutableTensor &pairs, mlir::Type type,
                              llvm::StringRef name);
  /// A complex number of a program, a tensor without dimensions.
  MutableTensor complexNumber(mlir::Location loc, double real, double imaginary);
  /// The value of a tensor as it is now, or the pairs of a complex one.
  mlir::Value readPairs(mlir::Location loc, const MutableTensor &tensor);

  /// Whether what is written and computed carries a gradient: torch.set_grad_enabled().
  bool isGradientOn() const { return hasGradient; }
  void setGradient(bool isOn) { hasGradient = isOn; }

  /// While it lives, nothing that is written or computed carries a gradient: torch.no_grad().
  class NoGradient {
  public:
    explicit NoGradient(Caller &caller, bool isOff) : caller(caller), before(caller.hasGradient) {
      caller.hasGradient &= !isOff;
    }
    ~NoGradient() { caller.hasGradient = before; }
    NoGradient(const NoGradient &) = delete;
    NoGradient &operator=(const NoGradient &) = delete;

  private:
    Caller &caller;
    bool before;
  };

private:
  /// The value, without its gradient where that is off.
  mlir::Value recorded(mlir::Location loc, mlir::Value value);
  void write(mlir::Location loc, MutableTensor target, mlir::Value value);

  ForwardBuilder &function;
  bool hasGradient = true;
};

} // namespace accc::aten

#endif
