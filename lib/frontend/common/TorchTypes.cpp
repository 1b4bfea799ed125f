// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/TorchTypes.h"
#include "frontend/common/ImportError.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using llvm::Twine;

namespace {

struct Row {
  int64_t code;
  const char *name, *storage;
  Type (*type)(Builder &b);
};

const Row kRows[] = {
    {0, "uint8", "ByteStorage", [](Builder &b) -> Type { return b.getIntegerType(8, false); }},
    {1, "int8", "CharStorage", [](Builder &b) -> Type { return b.getI8Type(); }},
    {2, "int16", "ShortStorage", [](Builder &b) -> Type { return b.getI16Type(); }},
    {3, "int32", "IntStorage", [](Builder &b) -> Type { return b.getI32Type(); }},
    {4, "int64", "LongStorage", [](Builder &b) -> Type { return b.getI64Type(); }},
    {5, "float16", "HalfStorage", [](Builder &b) -> Type { return b.getF16Type(); }},
    {6, "float32", "FloatStorage", [](Builder &b) -> Type { return b.getF32Type(); }},
    {7, "float64", "DoubleStorage", [](Builder &b) -> Type { return b.getF64Type(); }},
    {9, "complex64", "ComplexFloatStorage",
     [](Builder &b) -> Type { return ComplexType::get(b.getF32Type()); }},
    {10, "complex128", "ComplexDoubleStorage",
     [](Builder &b) -> Type { return ComplexType::get(b.getF64Type()); }},
    {11, "bool", "BoolStorage", [](Builder &b) -> Type { return b.getI1Type(); }},
    {15, "bfloat16", "BFloat16Storage", [](Builder &b) -> Type { return b.getBF16Type(); }},
};

} // namespace

Type accc::frontend::typeOfCode(MLIRContext &context, int64_t code) {
  Builder b(&context);
  for (const Row &row : kRows)
    if (row.code == code)
      return row.type(b);
  fail("tensors of the ScalarType " + Twine(code) + " are not supported");
}

int64_t accc::frontend::codeOf(Type type) {
  Builder b(type.getContext());
  for (const Row &row : kRows)
    if (row.type(b) == type)
      return row.code;
  fail("the element type has no number in TorchScript");
}

Type accc::frontend::typeOfName(MLIRContext &context, llvm::StringRef name) {
  Builder b(&context);
  for (const Row &row : kRows)
    if (name == row.name)
      return row.type(b);
  return nullptr;
}

Type accc::frontend::typeOfStorage(MLIRContext &context, llvm::StringRef name) {
  Builder b(&context);
  for (const Row &row : kRows)
    if (name == row.storage)
      return row.type(b);
  fail("tensors of a '" + name + "' are not supported");
}
