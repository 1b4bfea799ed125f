// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/Compiled.h"

#include "codegen/Generate.h"
#include "codegen/host/Host.h"
#include "ir/interfaces/ReferenceValues.h"
#include "schedule/Schedule.h"
#include "support/Attributes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace mlir;

namespace accc::test {

Tensor toTensor(const ReferenceArray &array, RankedTensorType type) {
  Tensor tensor(static_cast<DType>(codegen::dtypeOf(type.getElementType())),
                Shape(type.getShape().begin(), type.getShape().end()));
  std::vector<char> bytes = toBytes(array, type);
  if (!bytes.empty())
    std::memcpy(tensor.raw(), bytes.data(), bytes.size());
  return tensor;
}

ReferenceArray toArray(const Tensor &tensor, RankedTensorType type) {
  return fromBytes(type, {static_cast<const char *>(tensor.raw()), tensor.size_bytes()});
}

void nameValues(func::FuncOp function) {
  Builder b(function.getContext());
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.setArgAttr(i, kNameAttr, b.getStringAttr("in" + std::to_string(i)));
    function.setArgAttr(i, kRoleAttr, b.getStringAttr(role::kInput));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.setResultAttr(i, kNameAttr, b.getStringAttr("out" + std::to_string(i)));
    function.setResultAttr(i, kRoleAttr, b.getStringAttr(role::kOutput));
  }
}

SmallVector<ReferenceArray> Compiled::run(const std::string &name, FunctionType type,
                                          ArrayRef<ReferenceArray> arguments) {
  error.clear();
  SmallVector<ReferenceArray> results;
  try {
    TensorMap inputs;
    for (auto [i, argument] : llvm::enumerate(arguments))
      inputs.emplace("in" + std::to_string(i),
                     toTensor(argument, cast<RankedTensorType>(type.getInput(i))));
    Result result = session->run(name, inputs);
    for (auto [i, each] : llvm::enumerate(type.getResults()))
      results.push_back(toArray(result["out" + std::to_string(i)], cast<RankedTensorType>(each)));
  } catch (const std::exception &failure) { // as code without RTTI must
    error = failure.what();
  }
  return results;
}

std::unique_ptr<Target> createTestTarget(const std::string &arch) {
  const char *target = std::getenv("ACCC_TEST_TARGET");
  if (target && std::string_view(target) == "cuda")
    return llvm::cantFail(createTarget("cuda", {"compute_80"}));
  return llvm::cantFail(createTarget("cpu", {arch}));
}

Compiled compileFused(ModuleOp module, const std::string &arch, const WeightTable &weights) {
  Compiled compiled;
  std::string diagnostics;
  ScopedDiagnosticHandler handler(module.getContext(),
                                  [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
  auto program = schedule(module);
  if (failed(program))
    return {nullptr, "schedule failed: " + diagnostics};
  SmallString<128> folder, path;
  if (llvm::sys::fs::createUniqueDirectory("accc-kernel", folder))
    return {nullptr, "no temporary folder"};
  path = folder;
  llvm::sys::path::append(path, "model.so");
  GenerateOptions options;
  options.modelName = "test";
  if (const char *dump = getenv("ACCC_TEST_DUMP"))
    options.dumpDir = dump;
  if (failed(generateLibrary(**program, weights, *createTestTarget(arch), options, path))) {
    compiled.error = "code generation failed: " + diagnostics;
  } else {
    try {
      compiled.session = std::make_unique<Session>(Model::load(path.str().str()));
    } catch (const std::exception &failure) {
      compiled.error = failure.what();
    }
  }
  llvm::sys::fs::remove_directories(folder);
  return compiled;
}

namespace {
/// What the type cannot tell from zero: f16 has subnormals, which kernels keep; of the others a
/// session's arithmetic has none.
double leastOf(Type elementType) {
  if (elementType.isF16())
    return 0x1p-24;
  return elementType.isF64() ? 0x1p-1022 : 0x1p-126;
}
} // namespace

double toleranceOf(Type elementType) {
  if (elementType.isF64())
    return 1e-13;
  return elementType.isF32() ? 2e-6 : elementType.isF16() ? 0x1p-10 : 0x1p-7;
}

std::string difference(const ReferenceArray &found, const ReferenceArray &expected,
                       Type elementType, double tolerance) {
  if (found.shape != expected.shape)
    return "another shape";
  std::string text;
  int64_t count = 0;
  bool isFloat = isa<FloatType>(elementType);
  for (int64_t i = 0; i < found.size(); ++i) {
    double a = found.values[i], b = roundToElement(elementType, expected.values[i]);
    // Of integers beyond 2^53 the reference has 53 bits.
    double apart = isFloat                 ? tolerance * std::abs(b) + leastOf(elementType)
                   : std::abs(b) >= 0x1p53 ? 0x1p-52 * std::abs(b)
                                           : 0;
    bool close = a == b || (std::isnan(a) && std::isnan(b)) ||
                 (std::isfinite(b) && std::abs(a - b) <= apart);
    if (!close && ++count <= 6)
      text += "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
              std::to_string(b) + "\n";
  }
  return count > 6 ? text + "and " + std::to_string(count - 6) + " more\n" : text;
}

} // namespace accc::test
