// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interpret before = interpret after, for every phase up to fusion on the training steps of every
// golden model, as every exporter wrote it.
#include "accc/safetensors.h"
#include "budget/Passes.h"
#include "debug/Evaluation.h"
#include "driver/Pipeline.h"
#include "fusion/Chunk.h"
#include "fusion/Passes.h"

#include "mlir/IR/Verifier.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Regex.h"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace mlir;
using namespace accc;
namespace fs = std::filesystem;

namespace {

/// Phases fold constants, and these are float32.
constexpr double kTolerance = 1e-6;

llvm::json::Object metaOf(const fs::path &folder) {
  auto buffer = llvm::MemoryBuffer::getFile((folder / "meta.json").string());
  REQUIRE(buffer);
  auto value = llvm::json::parse((*buffer)->getBuffer());
  REQUIRE(static_cast<bool>(value));
  return *value->getAsObject();
}

CompileOptions optionsOf(const fs::path &folder, const llvm::json::Object &meta,
                         const llvm::json::Object &file) {
  CompileOptions options;
  options.model = (folder / file.getString("file")->str()).string();
  options.losses = {meta.getString("loss")->str()};
  options.optimizers = {meta.getString("optimizer")->str()};
  for (const auto &[name, size] : *meta.getObject("dims"))
    options.dimensions[name.str()] = {*size.getAsInteger()};
  if (const auto *frozen = file.getArray("freeze"))
    for (const llvm::json::Value &name : *frozen)
      options.freeze.push_back("^" + llvm::Regex::escape(*name.getAsString()) + "$");
  return options;
}

constexpr const char *kSteps[] = {"grad_step", "train_step"};

/// What a step of the fused model gives.
NamedArrays resultsOf(Compilation &c, const char *step, const TensorMap &inputs) {
  FailureOr<NamedArrays> results =
      evaluate(c.module->lookupSymbol<func::FuncOp>(step), startingValues(inputs, c.weights,
                                                                          /*learningRate=*/0.01));
  REQUIRE(succeeded(results));
  return std::move(*results);
}

/// Gives less and less memory until the compiler refuses: what is computed again must be the same
/// bits. Returns the most values that were.
int64_t checkBudgets(CompileOptions options, const TensorMap &inputs) {
  std::map<std::string, NamedArrays> expected;
  std::map<std::string, int64_t> ops;
  int64_t most = 0;
  constexpr int64_t kPlenty = 1 << 23; // more than any golden model takes
  for (options.memoryBudget = kPlenty;; options.memoryBudget -= options.memoryBudget / 8) {
    INFO("a budget of " << options.memoryBudget);
    MLIRContext context(MLIRContext::Threading::DISABLED);
    registerDialects(context);
    Compilation c(context, options);
    ExitCode code = runPipeline(c, "fuse", {});
    if (code == ExitCode::Usage)
      return most;
    REQUIRE(code == ExitCode::Done);
    for (const char *step : kSteps) {
      auto count = static_cast<int64_t>(
          llvm::range_size(c.module->lookupSymbol<func::FuncOp>(step).front()));
      most = std::max(most, count - ops.try_emplace(step, count).first->second);
      NamedArrays found = resultsOf(c, step, inputs);
      for (const auto &[name, array] : expected[step]) {
        INFO(step << " " << name.str());
        CHECK(relativeDifference(found.lookup(name), array) == 0);
      }
      if (expected[step].empty())
        expected[step] = std::move(found);
    }
  }
}

/// Cuts what is between products as small as can be, then forms kernels: both keep the values, but
/// for the order of sums.
void checkChunks(const CompileOptions &options, const TensorMap &inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  Compilation c(context, options);
  REQUIRE(runPipeline(c, "layout", {}) == ExitCode::Done);
  std::map<std::string, NamedArrays> expected;
  for (const char *step : kSteps)
    expected[step] = resultsOf(c, step, inputs);
  auto check = [&](std::unique_ptr<Pass> pass) {
    INFO("after " << pass->getArgument().str());
    REQUIRE(succeeded(runPass(c, *c.module, std::move(pass))));
    REQUIRE(succeeded(verify(*c.module)));
    for (const char *step : kSteps) {
      NamedArrays found = resultsOf(c, step, inputs);
      for (const auto &[name, array] : expected[step]) {
        INFO(step << " " << name.str());
        CHECK(relativeDifference(found.lookup(name), array) <= kTolerance);
      }
    }
  };
  check(createComputeInChunksPass(
      {"cpu", {}, /*leastBytes=*/4096, /*chunkBytes=*/2048, /*always=*/true}));
  DenseSet<Attribute> chunks;
  c.module->walk([&](Operation *op) { chunks.insert(getChunk(op)); });
  CHECK(chunks.size() > 16);
  check(createFormFusionsPass());
}

/// Interprets both steps after each phase, on the model's own weights and the goldens' inputs.
void checkModel(const CompileOptions &options, const TensorMap &inputs) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  Compilation c(context, options);
  std::map<std::string, NamedArrays> before;
  c.afterPhase = [&](StringRef phase) {
    if (phase == "import")
      return success();
    INFO("after " << phase.str());
    NamedArrays start = startingValues(inputs, c.weights, /*learningRate=*/0.01);
    for (const char *step : kSteps) {
      auto function = c.module->lookupSymbol<func::FuncOp>(step);
      REQUIRE(function);
      FailureOr<NamedArrays> results = evaluate(function, start);
      REQUIRE(succeeded(results));
      REQUIRE(!results->empty());
      for (const auto &[name, expected] : before[step]) {
        INFO(step << " " << name.str());
        CHECK(relativeDifference(results->lookup(name), expected) <= kTolerance);
      }
      before[step] = std::move(*results);
    }
    return success();
  };
  REQUIRE(runPipeline(c, "fuse", {}) == ExitCode::Done);
}

} // namespace

TEST_CASE("phases keep the values of models") {
  std::vector<fs::path> folders;
  for (const fs::directory_entry &entry :
       fs::directory_iterator(ACCC_TEST_SOURCE "/training/goldens"))
    if (entry.is_directory())
      folders.push_back(entry.path());
  llvm::sort(folders);
  for (const fs::path &folder : folders) {
    llvm::json::Object meta = metaOf(folder);
    for (const llvm::json::Value &file : *meta.getArray("files"))
      DYNAMIC_SECTION(folder.filename().string()
                      << " " << file.getAsObject()->getString("file")->str()) {
        checkModel(optionsOf(folder, meta, *file.getAsObject()),
                   load_safetensors((folder / "inputs.safetensors").string()));
      }
  }
}

TEST_CASE("what a memory budget has computed again are the same bits") {
  for (const char *name : {"gpt2", "bert_dropout", "resnet18", "swin_t", "lstm"})
    DYNAMIC_SECTION(name) {
      fs::path folder = fs::path(ACCC_TEST_SOURCE "/training/goldens") / name;
      llvm::json::Object meta = metaOf(folder);
      const llvm::json::Object &file = *meta.getArray("files")->front().getAsObject();
      CHECK(checkBudgets(optionsOf(folder, meta, file),
                         load_safetensors((folder / "inputs.safetensors").string())) > 0);
    }
}

TEST_CASE("tensors in chunks keep the values of models") {
  for (const char *name : {"gpt2", "bert_dropout", "swin_t", "llama15m"})
    DYNAMIC_SECTION(name) {
      fs::path folder = fs::path(ACCC_TEST_SOURCE "/training/goldens") / name;
      llvm::json::Object meta = metaOf(folder);
      checkChunks(optionsOf(folder, meta, *meta.getArray("files")->front().getAsObject()),
                  load_safetensors((folder / "inputs.safetensors").string()));
    }
}
