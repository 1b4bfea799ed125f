// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IR text, which `accc compile` takes as a model.
#include "ir/exec/Exec.h"
#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::func::FuncDialect, accc::prim::PrimDialect, accc::nn::NnDialect,
                      accc::exec::ExecDialect>();
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &) { return mlir::success(); });
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  (void)mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  return 0;
}
