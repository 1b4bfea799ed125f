// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a library says of itself, once for the code of all machines: variables, their values,
// constants.
#include "codegen/host/Host.h"
#include "ir/prim/FunctionContract.h"
#include "support/TensorBytes.h"

#include "llvm/IR/IRBuilder.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

int32_t roleOf(Role role) {
  switch (role) {
  case Role::Parameter:
    return ACCC_PARAMETER;
  case Role::OptimizerState:
    return ACCC_OPTIMIZER_STATE;
  default:
    return ACCC_BUFFER;
  }
}

/// Row-major bytes of a constant; booleans one byte each.
std::vector<char> constantBytes(ElementsAttr value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  std::vector<char> bytes;
  if (element.isInteger(1)) {
    for (bool bit : value.getValues<bool>())
      bytes.push_back(bit ? 1 : 0);
    return bytes;
  }
  auto append = [&](const APInt &bits) {
    const char *raw = reinterpret_cast<const char *>(bits.getRawData());
    bytes.insert(bytes.end(), raw, raw + bits.getBitWidth() / 8);
  };
  if (isa<FloatType>(element))
    for (const APFloat &x : value.getValues<APFloat>())
      append(x.bitcastToAPInt());
  else
    for (const APInt &x : value.getValues<APInt>())
      append(x);
  return bytes;
}
} // namespace

static uint64_t aligned(uint64_t offset) {
  return (offset + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
}

void ConstantBlock::add(ModuleOp program) {
  for (auto constant : program.getOps<exec::ConstantOp>()) {
    ElementsAttr value = constant.getValue();
    uint64_t begin = aligned(end);
    if (offsets.insert({value, begin}).second)
      end = begin + static_cast<uint64_t>(tensorBytes(cast<RankedTensorType>(value.getType())));
  }
}

uint64_t ConstantBlock::offsetOf(exec::ConstantOp constant) const {
  const auto *found = offsets.find(constant.getValue());
  assert(found != offsets.end() && "a constant of a program that was not added");
  return found->second;
}

std::vector<char> ConstantBlock::getBytes() const {
  std::vector<char> bytes(end);
  for (const auto &[value, offset] : offsets)
    llvm::copy(constantBytes(cast<ElementsAttr>(value)),
               bytes.begin() + static_cast<ptrdiff_t>(offset));
  return bytes;
}

void codegen::addDescription(ModuleOp program, const WeightTable &weights,
                             const ConstantBlock &constants, const GenerateOptions &options,
                             ArrayRef<std::string> codes, llvm::Module &module) {
  ConstantWriter w(module);
  std::vector<char> constantData = constants.getBytes();
  uint64_t stateSize = 0;
  SmallVector<llvm::Constant *> variables;
  for (auto variable : program.getOps<exec::VariableOp>()) {
    auto type = cast<RankedTensorType>(variable.getType());
    auto size = static_cast<uint64_t>(tensorBytes(type));
    stateSize = std::max(stateSize, static_cast<uint64_t>(variable.getOffset()) + size);
    llvm::Constant *initial = w.null();
    if (options.embedWeights)
      if (auto it = weights.find(variable.getName().str()); it != weights.end())
        initial = w.bytes(it->second.bytes, "weight");
    variables.push_back(
        w.structure({w.tensor(variable.getName(), type), w.i32(roleOf(variable.getRole())),
                     w.i32(variable.getTrainable()),
                     w.i64(static_cast<int64_t>(variable.getOffset())), initial}));
  }
  stateSize = aligned(stateSize);

  SmallVector<llvm::Constant *> table;
  for (const std::string &code : codes)
    table.push_back(w.declare(code));

  llvm::Constant *description = w.structure(
      {w.i32(ACCC_ABI_VERSION), w.i32(sizeof(accc_model_description)), w.string(options.modelName),
       w.string(options.compilerVersion), w.string(options.manifest),
       options.weightsFile.empty() ? w.null() : w.string(options.weightsFile),
       w.i64(static_cast<int64_t>(stateSize)), w.bytes(constantData, "constants"),
       w.i64(static_cast<int64_t>(constantData.size())),
       w.i32(static_cast<int64_t>(variables.size())), w.i32(static_cast<int64_t>(table.size())),
       w.array(variables, "variables"), w.array(table, "codes")});
  llvm::Constant *global = w.array({description}, "description");

  llvm::IRBuilder<> b(module.getContext());
  auto *accessor =
      llvm::Function::Create(llvm::FunctionType::get(b.getPtrTy(), false),
                             llvm::GlobalValue::ExternalLinkage, ACCC_MODEL_SYMBOL, module);
  accessor->addFnAttr("target-cpu", "x86-64"); // it runs before anybody looked at the CPU
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", accessor));
  b.CreateRet(global);
}
