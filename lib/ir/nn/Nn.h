// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect `nn`: what the model said.
#ifndef ACCC_IR_NN_NN_H
#define ACCC_IR_NN_NN_H

#include "ir/prim/Prim.h"

#include "ir/nn/NnDialect.h.inc"
#include "ir/nn/NnDialectEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/nn/NnDialectAttrs.h.inc"

#include "ir/nn/Families.h.inc"

#endif
