// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For every primitive: forms in which it is compiled, whatever the element type.
#ifndef ACCC_TEST_UNIT_KERNELS_OPROWS_H
#define ACCC_TEST_UNIT_KERNELS_OPROWS_H

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/IR/BuiltinTypes.h"

#include <string>
#include <vector>

namespace accc::test {

/// How an operand is filled. Edges: zeros of both signs, infinities, NaN, the least and greatest
/// integers, and between two operands all pairs of them. Small: numbers whose sums and products of
/// two are exact. Units: numbers whose products are. Index: [0, bound), and again from 0.
enum class Fill { Edges, Small, Units, Index };

struct OperandForm {
  OperandForm(const char *type, Fill fill = Fill::Edges, int64_t bound = 0)
      : type(type), fill(fill), bound(bound) {}
  std::string type;
  Fill fill;
  int64_t bound;
};

/// Types are those of tensors ("5x$Sf32"). In types, attributes and the mnemonic's suffix, $T
/// stands for an element type, $U for another, $S for each of `shapes` and $K for each of `kinds`.
struct OpRow {
  std::string op; // with what stands before its operands: "reduce $K"
  std::vector<OperandForm> operands;
  std::vector<std::string> results;
  /// How many element types $T the op accepts, as its operands' constraint says; 0 without $T.
  int accepts;
  std::string attributes = "";
  std::vector<std::string> shapes = {""}, kinds = {""};

  std::string mnemonic() const { return op.substr(0, op.find(' ')); }
  bool mentions(llvm::StringRef placeholder) const;
};

const std::vector<OpRow> &opRows();

/// Every element type of `prim`, as it is written.
const std::vector<std::string> &elementTypes();

/// One form of a row with everything put in: a module with @f, or text that does not verify where
/// the op does not take the types.
std::string instantiate(const OpRow &row, const std::string &type, const std::string &second,
                        const std::string &shape, const std::string &kind);

/// Values for operand number `which`, that the element type holds.
ReferenceArray fill(const OperandForm &form, mlir::RankedTensorType type, size_t which);

} // namespace accc::test

#endif
