// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/Code.h"

#include "support/Fault.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

accc_buffer TableBytes::add(ArrayRef<int64_t> words) {
  bytes.resize((bytes.size() + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT);
  accc_buffer buffer = {.space = ACCC_TABLE,
                        .access = ACCC_READ,
                        .offset = bytes.size(),
                        .bytes = words.size() * sizeof(int64_t)};
  const char *raw = reinterpret_cast<const char *>(words.data());
  bytes.insert(bytes.end(), raw, raw + buffer.bytes);
  return buffer;
}

/// accc_code.variable_orders, for the variables as they follow each other in the description.
static llvm::Constant *variableOrders(ModuleOp program, ConstantWriter &w) {
  SmallVector<llvm::Constant *> orders;
  bool any = false;
  for (auto variable : program.getOps<exec::VariableOp>()) {
    std::optional<ArrayRef<int64_t>> order = variable.getOrder();
    any |= order.has_value();
    orders.push_back(
        order ? w.array(llvm::map_to_vector(
                            *order, [&](int64_t d) -> llvm::Constant * { return w.i64(d); }),
                        "order")
              : w.null());
  }
  return any ? w.array(orders, "orders") : w.null();
}

LogicalResult codegen::addCode(ModuleOp program, const ConstantBlock &constants,
                               const KernelShapes &kernels, const ErrorTable &errors,
                               const CodeLabel &label, ArrayRef<char> image, StringRef symbol,
                               llvm::Module &module) {
  ConstantWriter w(module);
  llvm::StringMap<uint64_t> constantOffsets;
  for (auto constant : program.getOps<exec::ConstantOp>())
    constantOffsets[constant.getSymName()] = constants.offsetOf(constant);
  SmallVector<llvm::Constant *> entries, messages, table;
  for (const std::string &message : errors.messages)
    messages.push_back(w.string(message));
  TableBytes tables;
  for (auto entry : program.getOps<exec::EntryOp>()) {
    FailureOr<llvm::Constant *> described =
        describeEntry(entry, kernels, constantOffsets, label.compute, messages, tables, w);
    if (failed(described))
      return failure();
    entries.push_back(*described);
  }
  if (entries.empty())
    return emitBug(program.getLoc()) << "the program has no entry point";
  for (const auto &[name, shape] : kernels) {
    llvm::Constant *function =
        image.empty() ? w.declare(objectSymbol(symbol, kernelSymbol(name))) : w.null();
    table.push_back(w.structure({w.string(image.empty() ? name.str() : deviceSymbol(name)),
                                 function, w.i32(shape.threads), w.i32(shape.tasksPerBlock),
                                 w.i32(shape.sharedBytes), w.i32(shape.buffersInMemory)}));
  }
  llvm::Constant *code = w.structure(
      {w.string(label.target), w.string(label.arch),
       image.empty() ? w.null() : w.bytes(image, "image"),
       w.i64(static_cast<int64_t>(image.size())), w.bytes(tables.get(), "tables"),
       w.i64(static_cast<int64_t>(tables.get().size())), w.i32(static_cast<int64_t>(table.size())),
       w.i32(static_cast<int64_t>(entries.size())), w.array(table, "kernels"),
       w.array(entries, "entries"), variableOrders(program, w)});
  w.share(w.array({code}, "code"), symbol);
  return success();
}
