// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of a tensor that a mask selects, x[mask], where it depends on data how many there are.
#ifndef ACCC_FRONTEND_ATEN_SELECTION_H
#define ACCC_FRONTEND_ATEN_SELECTION_H

#include "frontend/aten/Call.h"
#include "frontend/aten/OpTable.h"

namespace accc::aten {

bool hasSelection(const std::vector<NamedLocal> &arguments);

/// The results of a call that reads by a mask of which the value is not known, or that takes what
/// such a mask selects; nothing where no mask decides a size. Throws ImportError, which says why
/// the mask is not known, for a use of selections that is not supported.
std::optional<std::vector<Local>> callOnSelections(Caller &caller, mlir::Location loc,
                                                   const Operator &op, llvm::StringRef opName,
                                                   const std::vector<NamedLocal> &given,
                                                   const llvm::StringMap<Local> &locals,
                                                   llvm::StringRef name);

/// The extent of a dimension of what a mask selects, or the number of all elements; along the mask
/// a tensor that stands for it.
Local sizeOf(Caller &caller, mlir::Location loc, const Selection &selection,
             std::optional<int64_t> dim);

/// The list of these tensors, of which some may be selections or None.
Local listOfTensors(llvm::ArrayRef<Local> tensors);

/// The list of these sizes, of which one may be how many elements a mask selects. Throws
/// ImportError for another that is not known.
Local listOfSizes(Caller &caller, mlir::Location loc, llvm::ArrayRef<Local> sizes);

/// Whether a number is how many elements a mask selects, or computed of that as maskOfNumber() has
/// it.
bool isSelectedSize(Caller &caller, mlir::Location loc, const MutableTensor &number);

/// The mask of which a value is the number of true elements, or null.
mlir::Value maskCountedBy(mlir::Value number);

/// The mask that selects as many elements as a value says that is `total - n`, `n + more` or
/// `n * times`, where another one selects n; or null.
mlir::Value maskOfNumber(Caller &caller, mlir::Location loc, mlir::Value number);

/// As many true elements as `total - n`, where the mask has n of no more than `total`: its false
/// ones, and those that it does not have.
mlir::Value maskOfRest(Caller &caller, mlir::Location loc, mlir::Value mask, int64_t total);

/// The mask of which the elements are those of another one, each `behind` times beside one another,
/// and all that `before` times.
mlir::Value repeatedMask(Caller &caller, mlir::Location loc, mlir::Value mask, int64_t before,
                         int64_t behind);

/// A mask of which each element stands for `times` of another one, which lie beside one another.
struct Repeated {
  mlir::Value mask;
  int64_t times;
};
/// The mask itself once, where it is no other one's.
Repeated repeatedIn(mlir::Value mask);

/// The mask of which each element stands for so many of this one, which lie beside one another; or
/// null.
mlir::Value maskOfEach(Caller &caller, mlir::Location loc, mlir::Value mask, int64_t count);

/// A call of an operator for what masks select: what the rules of SelectionRules.h ask and build
/// with.
class SelectedCall {
public:
  using Arguments = std::vector<NamedLocal>;

  SelectedCall(Caller &caller, mlir::Location loc, const Operator &op, llvm::StringRef opName,
               const Arguments &given, const llvm::StringMap<Local> &locals, llvm::StringRef name);

  // ---- arguments ----
  const Operator &op() const { return called; }
  /// An argument of this type by the name of its parameter, or null.
  template <typename T> const T *argument(llvm::StringRef parameter) const {
    auto found = locals.find(parameter);
    return found == locals.end() ? nullptr : std::get_if<T>(&found->second);
  }
  bool isGiven(llvm::StringRef parameter) const;
  /// The number of dimensions of an argument, whether a mask selects it or not.
  std::optional<int64_t> rankOf(llvm::StringRef parameter) const;
  /// The mask of the first selection, or of the first sizes, among the arguments; or null.
  mlir::Value mask() const { return firstMask; }
  /// Whether there are some, all by the same mask, and the result is not written into an argument.
  bool hasOneMask() const { return firstMask && isOne && !isWritten; }
  /// The same, of several masks.
  bool hasMasks() const { return firstMask && !isWritten; }
  bool isOnlySelection() const { return selections == 1; }
  /// How many elements tensors have in the place of the selections' dimension, which is the same
  /// for all of these; 1 where one is for all that is selected. Nothing where they do not agree.
  std::optional<int64_t> extentBeside() const;
  /// Whether what is given for an element of the selections depends on those in its place and on
  /// tensors that have nothing along the mask.
  bool isAligned() const { return extentBeside() == 1; }
  /// The dimensions in the arguments, made positive for `self`; nothing where one is not given.
  std::optional<Integers> dims(const Selection &self) const;
  /// The arguments with something else in place of one.
  Arguments with(llvm::StringRef parameter, const Local &instead) const;
  /// The arguments with the elements of selections in their place, and sizes that have room for
  /// these. Others that have a gradient do not have one where nothing is selected.
  Arguments withElements() const;
  /// The same with something else in place of one argument.
  Arguments withElements(llvm::StringRef parameter, const Local &instead) const;

  // ---- building ----
  /// Calls an operator that gives one tensor.
  MutableTensor operator()(llvm::StringRef op, const Arguments &arguments) const;
  MutableTensor view(const MutableTensor &x, llvm::ArrayRef<int64_t> shape) const;
  MutableTensor tensor(mlir::Value value) const;
  mlir::Value read(const MutableTensor &tensor) const { return caller.read(loc, tensor); }
  bool isKnown(mlir::Value value) const { return caller.isKnown(loc, value); }
  mlir::Value maskOfRest(mlir::Value mask, int64_t total) const {
    return aten::maskOfRest(caller, loc, mask, total);
  }
  mlir::Value repeatedMask(mlir::Value mask, int64_t before, int64_t behind) const {
    return aten::repeatedMask(caller, loc, mask, before, behind);
  }
  mlir::Value maskOfEach(mlir::Value mask, int64_t count) const {
    return aten::maskOfEach(caller, loc, mask, count);
  }
  /// The mask in the place of a selection's dimension, [1..., elements, 1...].
  MutableTensor maskOf(const Selection &selection) const;
  /// The mask as a vector.
  MutableTensor flags(mlir::Value mask) const;
  /// How many elements are selected in front of each of the mask, if that is selected itself.
  MutableTensor placesAmong(mlir::Value mask) const;
  MutableTensor isAny(mlir::Value mask) const;
  /// The elements, as indices: 0 where nothing is selected, which is in range.
  MutableTensor indices(const Selection &selection) const;
  /// The elements, and `otherwise` where the mask is false.
  MutableTensor filled(const Selection &selection, Local otherwise) const;
  /// What the mask selects of x along the dimensions from `dim` on; nothing where it does not fit.
  std::optional<Selection> select(const MutableTensor &x, mlir::Value mask, int64_t dim) const;
  /// A selection that may have anything where the mask is false.
  Selection repeated(const Selection &selection) const;

  // ---- results ----
  bool give(Local result);
  /// Calls the operator itself with these arguments.
  bool giveCall(const Arguments &arguments);
  /// The same with withElements(); what it gives are selections again, along the dimension that
  /// `dimOf` says for a result of so many dimensions, or that is as far from the last one.
  bool giveForElements(llvm::function_ref<std::optional<int64_t>(int64_t rank)> dimOf);
  bool giveForElements();
  bool giveSelections(const Arguments &arguments,
                      llvm::function_ref<std::optional<int64_t>(int64_t rank)> dimOf);
  /// The dimension of the mask in a result of so many dimensions that is aligned.
  std::optional<int64_t> alignedDim(int64_t rank) const;
  /// For an operator that is called with tensors that have an element for each selected one: there
  /// are as many, or the step ends with a data error. The result is one of these, and a selection
  /// where it is written into one.
  bool giveBesideWhole();
  /// For an operator that treats all in front of the last `inner` dimensions of `input` alike,
  /// where that alone is a selection.
  bool giveAlike(llvm::StringRef input, int64_t inner);
  /// For an operator along other dimensions than the mask's.
  bool giveAlongOthers(const Selection &self);

  std::vector<Local> results;

private:
  void note(mlir::Value mask);
  void note(const Selection &selection);

  Caller &caller;
  mlir::Location loc;
  const Operator &called;
  llvm::StringRef opName;
  const Arguments &given;
  const llvm::StringMap<Local> &locals;
  llvm::StringRef name;
  mlir::Value firstMask;
  std::optional<Selection> any;
  bool isOne = true, isWritten = false;
  int selections = 0;
};

inline mlir::Type elementTypeOf(const Selection &x) {
  return mlir::getElementTypeOrSelf(x.elements.type());
}

namespace selected {
/// Gives x with the selection where its mask is true, from this dimension on, or writes that into
/// x; false where the shapes do not fit.
bool giveWritten(SelectedCall &call, const MutableTensor &x, int64_t dim, const Selection &values,
                 bool accumulates);
/// Indices from 0 on, of which those that are out of range are greater than the extent, with one
/// more than all others for what is not selected.
MutableTensor orBehind(const SelectedCall &call, const Selection &indices, int64_t extent);
/// Calls an operator that writes into x, with these arguments, of which indices along `dim` are
/// orBehind(): into a tensor of one more along it, which is cut off.
bool giveOverwritten(SelectedCall &call, const MutableTensor &x, int64_t dim,
                     SelectedCall::Arguments arguments);
/// Calls an operator that adds to x, which keeps its gradient where nothing is selected.
bool giveAdded(SelectedCall &call, const MutableTensor &x, llvm::StringRef parameter,
               const Local &values);
/// The selected elements one behind the other, and `value` behind them, `total` in all.
MutableTensor compact(const SelectedCall &call, const Selection &selection, int64_t total,
                      const Local &value);
/// The selected elements one behind the other; a data error where they are not `total`.
MutableTensor whole(const SelectedCall &call, const Selection &selection, int64_t total);
/// The elements of x along a dimension in the places that the mask selects; a data error where it
/// does not select as many.
Selection spread(const SelectedCall &call, const MutableTensor &x, mlir::Value mask, int64_t dim);
/// Whether an argument is this number, which it is where it is not given.
bool isOr(const SelectedCall &call, llvm::StringRef parameter, int64_t otherwise);
/// The mask that selects as many elements as an argument, a number or a list of one, says; or null.
mlir::Value countedBy(const SelectedCall &call, llvm::StringRef parameter);
/// The same as spread() of the first elements of x, which may have more than the mask selects.
Selection first(const SelectedCall &call, const MutableTensor &x, mlir::Value mask, int64_t dim);
} // namespace selected

/// How many elements masks select together, where that does not depend on data; since all are
/// known, or since one selects what another one leaves.
std::optional<int64_t> sizeOfMasks(const SelectedCall &call, llvm::ArrayRef<mlir::Value> masks);

/// Whether indices along neighbouring dimensions are where their mask is true, each time it is, in
/// order: those of where(mask).
bool arePlaces(const SelectedCall &call, llvm::ArrayRef<Selection> columns);

/// Puts another value in place of an argument.
inline void replace(SelectedCall::Arguments &arguments, llvm::StringRef parameter, Local instead) {
  for (NamedLocal &each : arguments)
    if (each.name == parameter)
      each.value = instead;
}

/// The value that this one is in another shape.
mlir::Value withoutReshapes(mlir::Value value);

/// Whether two masks are computed in the same way, but for their shapes.
bool isSameMask(mlir::Value a, mlir::Value b);

} // namespace accc::aten

#endif
