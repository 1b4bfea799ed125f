// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/Host.h"
#include "ir/prim/ElementTypes.h"

#include "llvm/IR/Constants.h"

using namespace accc;
using namespace accc::codegen;

llvm::Constant *ConstantWriter::i32(int64_t value) {
  return llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), static_cast<uint64_t>(value),
                                true);
}

llvm::Constant *ConstantWriter::i64(int64_t value) {
  return llvm::ConstantInt::get(llvm::Type::getInt64Ty(context), static_cast<uint64_t>(value),
                                true);
}

llvm::Constant *ConstantWriter::null() {
  return llvm::ConstantPointerNull::get(llvm::PointerType::getUnqual(context));
}

llvm::Constant *ConstantWriter::global(llvm::Constant *initial, llvm::StringRef name,
                                       uint64_t alignment) {
  auto *variable = new llvm::GlobalVariable(module, initial->getType(), /*isConstant=*/true,
                                            llvm::GlobalValue::InternalLinkage, initial, name);
  variable->setAlignment(llvm::Align(alignment));
  return variable;
}

llvm::Constant *ConstantWriter::string(llvm::StringRef text) {
  llvm::Constant *&known = strings[text];
  if (!known)
    known = global(llvm::ConstantDataArray::getString(context, text), "text", 1);
  return known;
}

llvm::Constant *ConstantWriter::bytes(llvm::ArrayRef<char> data, llvm::StringRef name) {
  return global(llvm::ConstantDataArray::getRaw(llvm::StringRef(data.data(), data.size()),
                                                data.size(), llvm::Type::getInt8Ty(context)),
                name, ACCC_ALIGNMENT);
}

llvm::Constant *ConstantWriter::structure(llvm::ArrayRef<llvm::Constant *> fields) {
  return llvm::ConstantStruct::getAnon(context, fields);
}

llvm::Constant *ConstantWriter::array(llvm::ArrayRef<llvm::Constant *> elements,
                                      llvm::StringRef name) {
  if (elements.empty())
    return null();
  auto *type = llvm::ArrayType::get(elements.front()->getType(), elements.size());
  return global(llvm::ConstantArray::get(type, elements), name, 8);
}

void ConstantWriter::share(llvm::Constant *data, llvm::StringRef symbol) {
  auto *variable = llvm::cast<llvm::GlobalVariable>(data);
  variable->setName(symbol);
  variable->setLinkage(llvm::GlobalValue::ExternalLinkage);
  variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
}

llvm::Constant *ConstantWriter::declare(llvm::StringRef symbol) {
  if (llvm::GlobalVariable *known = module.getNamedGlobal(symbol))
    return known;
  auto *variable =
      new llvm::GlobalVariable(module, llvm::Type::getInt8Ty(context), /*isConstant=*/true,
                               llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  variable->setVisibility(llvm::GlobalValue::HiddenVisibility);
  return variable;
}

llvm::Constant *ConstantWriter::tensor(llvm::StringRef name, mlir::RankedTensorType type) {
  llvm::SmallVector<llvm::Constant *> shape;
  for (int64_t extent : type.getShape())
    shape.push_back(i64(extent));
  return structure({string(name), i32(dtypeOf(type.getElementType())), i32(type.getRank()),
                    array(shape, "shape")});
}
