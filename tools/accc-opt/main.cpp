// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// accc-opt: runs passes on IR text, for tests. See `accc-opt --help`.
#include "AllPasses.h.inc"
#include "Import.h"
#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  if (argc > 1 && llvm::StringRef(argv[1]) == "--import")
    return importAndPrint(argc - 2, argv + 2);
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  accc::registerAcccPasses();
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, accc::prim::PrimDialect, accc::nn::NnDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "accc's passes on IR text\n", registry));
}
