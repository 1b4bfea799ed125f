// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Import.h"

#include "frontend/onnx/Import.h"

#include "llvm/Support/raw_ostream.h"

int importAndPrint(int argc, char **argv) {
  accc::ImportOptions options;
  std::string path;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument == "-D" && i + 1 < argc) {
      auto [name, value] = llvm::StringRef(argv[++i]).split('=');
      int64_t number = 0;
      if (value.getAsInteger(10, number)) {
        llvm::errs() << "error: -D needs name=number\n";
        return 2;
      }
      options.dimensions[name.str()] = number;
    } else if (argument == "--freeze" && i + 1 < argc) {
      options.frozen.push_back(argv[++i]);
    } else if (argument == "--assume-dropout-training") {
      options.assumeDropoutTraining = true;
    } else if (argument == "--assume-batchnorm-training") {
      options.assumeBatchNormTraining = true;
    } else if (argument == "--no-raise") {
      options.raise = false;
    } else {
      path = argument.str();
    }
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  accc::ImportResult result = accc::importOnnx(path, options, context);
  for (const auto *list : {&result.remarks, &result.problems})
    for (const accc::Problem &problem : *list)
      llvm::errs() << nameOf(problem.severity) << ": " << describe(problem) << "\n";
  if (!result.module)
    return 1;
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16);
  result.module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
