// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a function of a custom operator is called with, made from types and attributes of IR.
#ifndef ACCC_IR_PRIM_CUSTOMARGUMENTS_H
#define ACCC_IR_PRIM_CUSTOMARGUMENTS_H

#include "accc/custom_op.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeRange.h"

#include <deque>
#include <string>
#include <vector>

namespace accc::prim {

/// Whether the attributes are such as a custom operator can have (inferCustomResults).
bool isCustomConfig(mlir::DictionaryAttr config);

/// The arguments and the memory that they point to, tensors' data left out.
class CustomArguments {
public:
  /// `config` as inferCustomResults takes it.
  CustomArguments(mlir::TypeRange inputs, mlir::TypeRange outputs, mlir::DictionaryAttr config);
  CustomArguments(const CustomArguments &) = delete;

  const accc_custom_arguments &get() const { return arguments; }
  /// The operands of each input, each output, each output's and each input's gradient, one after
  /// the other (CustomCallLike::getPlaces).
  llvm::MutableArrayRef<accc_operand> operands() { return tensors; }
  /// Shows the gradients to the function: it is a backward one.
  void addGradients();
  void setWorkspace(llvm::MutableArrayRef<char> bytes);
  /// Why the function that was called failed.
  std::string message() const;

private:
  void addAttribute(mlir::NamedAttribute attribute);

  accc_custom_arguments arguments = {};
  std::vector<accc_operand> tensors;
  std::vector<accc_attribute> attributes;
  // What these point to.
  std::deque<std::vector<int64_t>> integers;
  std::deque<std::vector<double>> reals;
  std::deque<std::string> texts;
  std::deque<std::vector<const char *>> textLists;
  char text[ACCC_CUSTOM_MESSAGE_BYTES] = {};
};

} // namespace accc::prim

#endif
