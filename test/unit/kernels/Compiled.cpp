// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/Compiled.h"

#include "accc/safetensors.h"
#include "codegen/Generate.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/FunctionContract.h"
#include "kernels/GuardedBuffer.h"
#include "schedule/Schedule.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

using namespace mlir;

namespace accc::test {

std::string (*nameOfTest)() = nullptr;

Tensor toTensor(const ReferenceArray &array, RankedTensorType type) {
  Tensor tensor(static_cast<DType>(dtypeOf(type.getElementType())),
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
    function.setArgAttr(i, kRoleAttr, prim::RoleAttr::get(b.getContext(), Role::Input));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.setResultAttr(i, kNameAttr, b.getStringAttr("out" + std::to_string(i)));
    function.setResultAttr(i, kRoleAttr, prim::RoleAttr::get(b.getContext(), Role::Output));
  }
}

namespace {
/// What a sample's run gave, beside its inputs; a data error as metadata.
void writeSample(const std::string &folder, const std::string &entry, const TensorMap &inputs,
                 const TensorMap &outputs, const std::string &error) {
  if (folder.empty())
    return;
  accc::Metadata metadata{{"test", nameOfTest ? nameOfTest() : ""}};
  if (!error.empty())
    metadata["error"] = error;
  save_safetensors(folder + "/" + entry + ".in.safetensors", inputs);
  save_safetensors(folder + "/" + entry + ".out.safetensors", outputs, metadata);
}

/// A folder for the library at `path`, with a copy of it, where samples are wanted; else "".
std::string makeSampleFolder(StringRef path) {
  static int count = 0;
  const char *all = std::getenv("ACCC_TEST_SAMPLES");
  if (!all)
    return "";
  std::string folder = llvm::formatv("{0}/{1,0+4}", all, count++);
  if (llvm::sys::fs::create_directories(folder) ||
      llvm::sys::fs::copy_file(path, folder + "/model.so"))
    throw std::runtime_error("cannot write samples to " + folder);
  return folder;
}
} // namespace

namespace {
/// What one run gave, or why it gave nothing.
struct Outcome {
  TensorMap outputs;
  std::string error;

  bool operator==(const Outcome &other) const {
    return error == other.error && outputs.size() == other.outputs.size() &&
           llvm::all_of(outputs, [&](const auto &output) {
             auto found = other.outputs.find(output.first);
             return found != other.outputs.end() && isSame(output.second, found->second);
           });
  }

private:
  static bool isSame(const Tensor &a, const Tensor &b) {
    return a.size_bytes() == b.size_bytes() &&
           (a.size_bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.size_bytes()) == 0);
  }
};

/// With copies of the inputs that lie at pages which may not be touched.
Outcome runGuarded(Session &session, const std::string &name, const TensorMap &inputs,
                   Guard guard) {
  Outcome outcome;
  std::vector<GuardedBuffer> buffers;
  TensorMap guarded;
  try {
    for (const auto &[input, values] : inputs) {
      GuardedBuffer &buffer = buffers.emplace_back(values.size_bytes(), guard);
      if (values.size_bytes() > 0)
        std::memcpy(buffer.data(), values.raw(), values.size_bytes());
      guarded.emplace(input, Tensor::borrow(values.dtype(), values.shape(), buffer.data()));
    }
    for (const auto &[output, values] : session.run(name, guarded).tensors())
      outcome.outputs.emplace(output, values.clone());
  } catch (const std::exception &failure) { // as code without RTTI must
    outcome.error = failure.what();
  }
  return outcome;
}
} // namespace

SmallVector<ReferenceArray> Compiled::run(const std::string &name, FunctionType type,
                                          ArrayRef<ReferenceArray> arguments) {
  TensorMap inputs;
  for (auto [i, argument] : llvm::enumerate(arguments))
    inputs.emplace("in" + std::to_string(i),
                   toTensor(argument, cast<RankedTensorType>(type.getInput(i))));
  Outcome outcome = runGuarded(*session, name, inputs, Guard::Before);
  error = outcome.error;
  writeSample(sampleFolder, name, inputs, outcome.outputs, error);
  if (!(runGuarded(*session, name, inputs, Guard::Behind) == outcome))
    error = "another result where the inputs lie elsewhere";
  SmallVector<ReferenceArray> results;
  if (error.empty())
    for (auto [i, each] : llvm::enumerate(type.getResults()))
      results.push_back(toArray(outcome.outputs.find("out" + std::to_string(i))->second,
                                cast<RankedTensorType>(each)));
  return results;
}

std::unique_ptr<Target> createTestTarget(const std::string &arch) {
  const char *target = std::getenv("ACCC_TEST_TARGET");
  if (StringRef(target ? target : "").starts_with("cuda")) {
    SmallVector<StringRef> archs;
    StringRef(target).split(':').second.split(archs, ',', -1, /*KeepEmpty=*/false);
    return llvm::cantFail(
        createTarget("cuda", archs.empty() ? std::vector<std::string>{"compute_80"}
                                           : std::vector<std::string>(archs.begin(), archs.end())));
  }
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
  std::unique_ptr<Target> target = createTestTarget(arch);
  GenerateOptions options;
  options.modelName = "test";
  if (const char *dump = getenv("ACCC_TEST_DUMP"))
    options.dumpDir = dump;
  if (failed(generateLibrary({{**program, target.get()}}, weights, options, path))) {
    compiled.error = "code generation failed: " + diagnostics;
  } else {
    try {
      compiled.session = std::make_unique<Session>(Model::load(path.str().str()));
      compiled.sampleFolder = makeSampleFolder(path);
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
