// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The bias of a matrix product, where one is added to it.
#ifndef ACCC_IR_PRIM_ADDEDBIAS_H
#define ACCC_IR_PRIM_ADDEDBIAS_H

#include "ir/prim/Prim.h"

namespace accc::prim {

struct AddedBias {
  AddOp addition;                     ///< of the product, perhaps as another shape
  mlir::Value row;                    ///< what is added to each of the product's rows
  llvm::SmallVector<int64_t> extents; ///< of the product's columns, as many elements as the row's

  /// The addition that alone reads `product`, if what it adds is repeated for each row.
  static std::optional<AddedBias> find(DotGeneralOp product);
};

} // namespace accc::prim

#endif
