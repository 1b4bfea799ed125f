// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Outputs.h"

#include "accc/safetensors.h"
#include "accc/session.h"
#include "codegen/Generate.h"
#include "codegen/host/Host.h"
#include "driver/Files.h"
#include "driver/Header.h"
#include "driver/Manifest.h"
#include "driver/Report.h"
#include "training/optimizer/Optimizer.h"

#include "llvm/Support/Path.h"

using namespace mlir;
using namespace accc;

/// What libraries hold themselves where the user says nothing.
static constexpr uint64_t kEmbedLimit = 16 << 20;

static bool embedsWeights(const Compilation &c) {
  if (!c.options.weights.empty())
    return c.options.weights == "embed";
  uint64_t bytes = 0;
  for (const auto &[name, weight] : c.weights)
    bytes += weight.bytes.size();
  return bytes <= kEmbedLimit;
}

static LogicalResult machineFault(Compilation &c, const std::string &message) {
  c.problems.add({.message = message});
  c.machineFault = true;
  return failure();
}

/// The initial values as safetensors, under the exporter's names.
static LogicalResult writeWeights(Compilation &c, const std::string &path) {
  NamedTensors tensors;
  for (const auto &[name, weight] : c.weights) {
    auto type = static_cast<DType>(codegen::dtypeOf(weight.type.getElementType()));
    Shape shape(weight.type.getShape().begin(), weight.type.getShape().end());
    tensors.emplace_back(name,
                         Tensor::borrow(type, shape, const_cast<char *>(weight.bytes.data())));
  }
  try {
    save_safetensors(path, tensors);
  } catch (const std::exception &error) { // Error has its type information in code with RTTI alone
    return machineFault(c, error.what());
  }
  return success();
}

static LogicalResult writeHeader(Compilation &c) {
  if (c.options.header.empty())
    return success();
  double learningRate = SessionOptions().learning_rate;
  if (!c.options.optimizer.empty())
    if (auto optimizer = parseOptimizer(c.options.optimizer))
      learningRate = (*optimizer)->learningRate;
  StringRef name = llvm::sys::path::stem(c.options.header);
  if (llvm::Error error = writeTextAtomically(
          c.options.header, makeHeader(programsOf(c).front().program, name, learningRate)))
    return machineFault(c, llvm::toString(std::move(error)));
  return success();
}

LogicalResult accc::writeReport(Compilation &c) {
  if (c.options.report.empty())
    return success();
  std::string manifest = makeManifest(c.options, c.inputHash.get());
  auto print = [&](llvm::raw_ostream &os) {
    printReport(os, programsOf(c), manifest, c.fusionDecisions, c.log);
  };
  if (llvm::Error error = writeTextAtomically(c.options.report, print))
    return machineFault(c, llvm::toString(std::move(error)));
  return success();
}

LogicalResult accc::writeLibrary(Compilation &c) {
  const std::string &output = c.options.output;
  GenerateOptions options;
  options.modelName = llvm::sys::path::stem(c.options.model).str();
  options.compilerVersion = kCompilerVersion;
  options.manifest = makeManifest(c.options, c.inputHash.get());
  options.tf32 = c.options.precision == "tf32";
  options.dumpDir = c.options.dumpDir;
  options.embedWeights = embedsWeights(c);
  if (!options.embedWeights && c.options.weights != "none") {
    llvm::SmallString<128> path(output);
    llvm::sys::path::replace_extension(path, "safetensors");
    options.weightsFile = llvm::sys::path::filename(path).str();
    if (failed(writeWeights(c, path.str().str())))
      return failure();
  }

  if (failed(writeHeader(c)))
    return failure();
  bool written = false;
  auto write = [&](StringRef temporary) {
    return succeeded(generateLibrary(programsOf(c), c.weights, options, temporary));
  };
  if (llvm::Error error = writeAtomically(output, write, written))
    return machineFault(c, llvm::toString(std::move(error)));
  return success(written);
}
