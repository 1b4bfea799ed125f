// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/ElementTypes.h"

using namespace mlir;

accc_dtype accc::dtypeOf(Type type) {
  if (type.isF32())
    return ACCC_F32;
  if (type.isF64())
    return ACCC_F64;
  if (type.isF16())
    return ACCC_F16;
  if (type.isBF16())
    return ACCC_BF16;
  auto integer = cast<IntegerType>(type);
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ACCC_BOOL;
  case 8:
    return isUnsigned ? ACCC_U8 : ACCC_I8;
  case 16:
    return isUnsigned ? ACCC_U16 : ACCC_I16;
  case 32:
    return isUnsigned ? ACCC_U32 : ACCC_I32;
  default:
    return isUnsigned ? ACCC_U64 : ACCC_I64;
  }
}

Type accc::elementTypeOf(MLIRContext *context, int32_t dtype) {
  auto integer = [&](unsigned width,
                     IntegerType::SignednessSemantics sign = IntegerType::Signless) {
    return IntegerType::get(context, width, sign);
  };
  switch (dtype) {
  case ACCC_F32:
    return Float32Type::get(context);
  case ACCC_F64:
    return Float64Type::get(context);
  case ACCC_F16:
    return Float16Type::get(context);
  case ACCC_BF16:
    return BFloat16Type::get(context);
  case ACCC_BOOL:
    return integer(1);
  case ACCC_I8:
    return integer(8);
  case ACCC_I16:
    return integer(16);
  case ACCC_I32:
    return integer(32);
  case ACCC_I64:
    return integer(64);
  case ACCC_U8:
    return integer(8, IntegerType::Unsigned);
  case ACCC_U16:
    return integer(16, IntegerType::Unsigned);
  case ACCC_U32:
    return integer(32, IntegerType::Unsigned);
  case ACCC_U64:
    return integer(64, IntegerType::Unsigned);
  default:
    return {};
  }
}
