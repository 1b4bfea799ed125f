// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/FuseModel.h"

#include "budget/Budget.h"
#include "driver/Pipeline.h"
#include "fusion/Fuse.h"
#include "fusion/Passes.h"
#include "support/Log.h"

using namespace mlir;
using namespace accc;

namespace {
/// One way to make kernels of the model.
struct Attempt {
  OwningOpRef<ModuleOp> module;
  std::vector<FusionNote> notes; // for the report
  Economy economy;
};
} // namespace

/// What makes of some ops others, of which kernels are formed then.
static LogicalResult prepare(Compilation &c) {
  const auto &[target, archs] = c.branch->choice;
  auto run = [&](std::unique_ptr<Pass> pass) { return runPass(c, *c.module, std::move(pass)); };
  // Epilogues, which kernels would take in; then scatters, of rows where they can be, made gathers
  // or comparisons: what is left of these has its indices sorted, before the sorts that are too
  // long; then scans, whose runs are reduced as well; then parts and counts, which fuse with their
  // users.
  return failure(failed(run(createFuseEpiloguesPass({target, archs}))) ||
                 failed(run(createIndexRowsPass())) ||
                 failed(run(createInvertScattersPass({target, archs}))) ||
                 failed(run(createCompareScattersPass({target, archs}))) ||
                 failed(run(createSortScattersPass({target, archs}))) ||
                 failed(run(createSplitSortsPass({target, archs}))) ||
                 failed(run(createSplitScansPass({target, archs}))) ||
                 failed(run(createSplitReductionsPass({target, archs}))) ||
                 failed(run(createComputeCountsPass({target, archs}))));
}

static LogicalResult formKernels(Compilation &c, Attempt &attempt) {
  const auto &[target, archs] = c.branch->choice;
  // What products read where it lies is part of no kernel. Behind chunks, which are cut of whole
  // tensors.
  if (failed(runPass(c, *attempt.module, createViewContractionOperandsPass({target, archs}))))
    return failure();
  {
    TimedPart part("form-fusions");
    if (failed(formFusions(*attempt.module, c.target(),
                           c.options.report.empty() ? nullptr : &attempt.notes)))
      return failure();
  }
  // It is known when each gradient is there, and with that what is sent at once. Behind that: the
  // kernels that are joined must not grow any more.
  return failure(
      failed(runPass(c, *attempt.module, createCombineCollectivesPass({target, archs}))) ||
      failed(runPass(c, *attempt.module, createFuseHorizontallyPass())));
}

/// Last: only final kernels can be copied, and what they take be known.
static LogicalResult fitIntoBudget(Compilation &c, const Costs &costs, Attempt &attempt) {
  if (failed(formKernels(c, attempt)))
    return failure();
  TimedPart part("fit-memory");
  FailureOr<Economy> economy = fitMemory(*attempt.module, costs, c.options.memoryBudget);
  if (failed(economy))
    return failure();
  attempt.economy.cost += economy->cost;
  llvm::append_range(attempt.economy.notes, economy->notes);
  return success();
}

/// The cheaper of two ways: with large tensors whole, or in chunks; in small ones where neither
/// fits. Tensors are cut last before kernels are formed: the other passes see them as a whole.
/// Sizes do not depend on the budget, so that what an error says is enough.
static FailureOr<Attempt> fuseWithinBudget(Compilation &c, Attempt whole) {
  constexpr int64_t kWhole = 0, kSmall = 16; // by this part
  Costs costs(c.target(), c.options.precision == "tf32");
  int64_t chunkBytes = c.target().getChunkBytes();
  std::optional<Attempt> best;
  std::vector<Diagnostic> errors; // of the last attempt; they count where none fits
  for (int64_t bytes : {kWhole, chunkBytes, chunkBytes / kSmall}) {
    if (best && (best->economy.cost <= 0 || bytes == chunkBytes / kSmall))
      break;
    Attempt attempt{whole.module->clone(), {}, {}};
    if (bytes != kWhole) {
      TimedPart part("compute-in-chunks");
      attempt.economy = computeInChunks(*attempt.module, costs, bytes);
      if (attempt.economy.cost == 0)
        continue; // there is nothing to cut
    }
    errors.clear();
    ScopedDiagnosticHandler keep(&c.context, [&](Diagnostic &diagnostic) {
      errors.push_back(std::move(diagnostic));
      return success();
    });
    if (succeeded(fitIntoBudget(c, costs, attempt)) &&
        (!best || attempt.economy.cost < best->economy.cost))
      best = std::move(attempt);
  }
  if (best)
    return std::move(*best);
  for (Diagnostic &error : errors)
    c.context.getDiagEngine().emit(std::move(error));
  return failure();
}

LogicalResult accc::fuseModel(Compilation &c) {
  if (failed(prepare(c)))
    return failure();
  Attempt attempt{std::move(c.module), {}, {}};
  if (c.options.memoryBudget == 0) {
    if (failed(formKernels(c, attempt)))
      return failure();
  } else {
    FailureOr<Attempt> fitting = fuseWithinBudget(c, std::move(attempt));
    if (failed(fitting))
      return failure();
    attempt = std::move(*fitting);
  }
  c.module = std::move(attempt.module);
  for (const std::string &note : attempt.economy.notes)
    log(LogLevel::Note, note);
  if (!c.options.report.empty())
    c.fusionDecisions.push_back({c.branch->choice.target, c.sizes.text, std::move(attempt.notes)});
  return success();
}
