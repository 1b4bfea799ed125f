// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// random_graphs: checks random models; scripts/random says how.
#include "Isolated.h"
#include "Minimize.h"
#include "Model.h"

#include "driver/Pipeline.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace mlir;
using namespace accc;
using namespace accc::test;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<int64_t> countOption("count", cl::desc("Number of models"), cl::init(100),
                                    cl::cat(category));
static cl::opt<int64_t> seedOption("seed", cl::desc("Seed of the first model"), cl::init(1),
                                   cl::cat(category));
static cl::opt<int> jobsOption("jobs", cl::desc("Models at a time"), cl::init(2),
                               cl::cat(category));
static cl::opt<bool> printOption("print", cl::desc("Print the models instead of checking them"),
                                 cl::cat(category));
static cl::opt<bool> hereOption("here", cl::desc("Check in this process, for a debugger"),
                                cl::cat(category));
static cl::opt<bool> phasesOption("phases", cl::desc("Check the phases alone, compile nothing"),
                                  cl::cat(category));
static cl::opt<std::string> minimalOption("minimal",
                                          cl::desc("Folder to write minimal failing cases to"),
                                          cl::cat(category));
static cl::opt<int> perKindOption("per-kind", cl::desc("Failures of one kind to minimise"),
                                  cl::init(3), cl::cat(category));
static cl::opt<std::string> fileOption(cl::Positional, cl::desc("[CASE.mlir]"), cl::cat(category));

namespace {

class Sweep {
public:
  explicit Sweep(MLIRContext &context) : context(context) {
    options.library = !phasesOption;
    count = fileOption.empty() ? countOption : 1;
  }

  int run() {
    if (printOption) {
      for (int64_t i = 0; i < count; ++i)
        if (OwningOpRef<ModuleOp> module = make(i))
          llvm::outs() << *module << "\n";
      return 0;
    }
    auto begin = std::chrono::steady_clock::now();
    if (hereOption)
      for (int64_t i = 0; i < count; ++i) {
        OwningOpRef<ModuleOp> module = make(i);
        if (module)
          add(i, checkCase(*module, options));
      }
    else
      checkIsolated(
          count, {.jobs = jobsOption}, options, [&](int64_t i) { return make(i); },
          [&](int64_t i, const Verdict &verdict) { add(i, verdict); });
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    summarize(seconds.count());
    if (!minimalOption.empty())
      minimizeFailures();
    return total[static_cast<int>(Verdict::Status::Failed)] != 0;
  }

private:
  OwningOpRef<ModuleOp> make(int64_t i) {
    if (!fileOption.empty())
      return parseSourceFile<ModuleOp>(fileOption, ParserConfig(&context));
    return randomModel(&context, static_cast<uint64_t>(seedOption + i));
  }

  void add(int64_t i, const Verdict &verdict) {
    ++total[static_cast<int>(verdict.status)];
    compared += verdict.compared;
    illConditioned += verdict.illConditioned;
    notFinite += verdict.notFinite;
    if (verdict.status == Verdict::Status::Rejected)
      rejected[verdict.kind].push_back(i);
    if (verdict.status != Verdict::Status::Failed)
      return;
    failed[verdict.kind].push_back(i);
    llvm::outs() << "seed " << seedOption + i << ": " << verdict.kind << ": "
                 << StringRef(verdict.message).split('\n').first << "\n";
    llvm::outs().flush();
  }

  void summarize(double seconds) {
    auto list = [&](StringRef what, const std::map<std::string, std::vector<int64_t>> &kinds) {
      for (const auto &[kind, numbers] : kinds) {
        llvm::outs() << what << numbers.size() << ": " << kind << " (seeds";
        for (size_t i = 0; i < std::min<size_t>(numbers.size(), 8); ++i)
          llvm::outs() << " " << seedOption + numbers[i];
        llvm::outs() << (numbers.size() > 8 ? " ...)\n" : ")\n");
      }
    };
    list("rejected ", rejected);
    list("failed ", failed);
    llvm::outs() << compared << " tensors compared; not compared: " << illConditioned
                 << " that rounding decides, " << notFinite << " not finite\n"
                 << llvm::format("%.1f s, %.2f models per second\n", seconds,
                                 static_cast<double>(count) / seconds)
                 << total[0] << " passed, " << total[2] << " failed, " << total[1] << " rejected\n";
  }

  void minimizeFailures() {
    for (const auto &[kind, numbers] : failed)
      for (size_t i = 0; i < std::min<size_t>(numbers.size(), perKindOption); ++i)
        writeMinimal(kind, numbers[i]);
  }

  void writeMinimal(const std::string &kind, int64_t number) {
    OwningOpRef<ModuleOp> module = make(number);
    std::string message;
    auto fails = [&](ModuleOp candidate) {
      Verdict verdict = checkIsolated(candidate, options);
      bool same = verdict.status == Verdict::Status::Failed && verdict.kind == kind;
      if (same)
        message = StringRef(verdict.message).split('\n').first.str();
      return same;
    };
    if (!module || !fails(*module))
      return;
    minimize(module, fails);
    llvm::SmallString<128> path(minimalOption);
    llvm::sys::fs::create_directories(path);
    llvm::sys::path::append(path, "seed-" + std::to_string(seedOption + number) + ".mlir");
    std::error_code code;
    llvm::raw_fd_ostream stream(path, code);
    stream << "// " << kind << ": " << message << "\n" << *module << "\n";
    llvm::outs() << "minimal case: " << path << "\n";
  }

  MLIRContext &context;
  CheckOptions options;
  int64_t count = 0, total[3] = {}, compared = 0, illConditioned = 0, notFinite = 0;
  std::map<std::string, std::vector<int64_t>> rejected, failed;
};

} // namespace

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "Checks random models, or one from a file: every phase and the library against "
      "the interpreter\n");
  MLIRContext context(MLIRContext::Threading::DISABLED);
  registerDialects(context);
  return Sweep(context).run();
}
