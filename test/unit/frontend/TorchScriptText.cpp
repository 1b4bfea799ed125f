// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TorchScriptText.h"

#include "ArchiveEdit.h"

#include "frontend/torchscript/Import.h"

#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>

namespace accc::test {

std::string scriptedModule(const std::string &file) {
  auto buffer = llvm::MemoryBuffer::getFile(ACCC_TRAINING "/" + file + ".pt");
  REQUIRE(buffer);
  return (*buffer)->getBuffer().str();
}

Imported importScripted(const std::string &bytes, const ImportOptions &options) {
  Imported imported;
  imported.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  imported.result = importTorchScriptBytes(bytes, options, *imported.context);
  return imported;
}

ImportOptions typed(std::map<std::string, InputType> types,
                    std::map<std::string, int64_t> dimensions) {
  ImportOptions options;
  options.inputTypes = std::move(types);
  options.dimensions = std::move(dimensions);
  return options;
}

ImportOptions typedX() { return typed({{"x", {"float32", {"4", "6"}}}}); }

std::string withBody(const std::string &body) {
  return changed(
      scriptedModule("scripted/refused/loop"), "code/__torch__/modules.py", [&](std::string &text) {
        text = "class Loop(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n"
               "  def forward(self: __torch__.modules.Loop,\n      x: Tensor) -> Tensor:\n" +
               body;
      });
}

std::string problemsOf(const std::string &body) {
  return importScripted(withBody(body), typedX()).problems();
}

} // namespace accc::test
