// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries, and what was computed elsewhere, held against goldens of examples/export.
#ifndef ACCC_TOOLS_ACCC_GOLDENS_H
#define ACCC_TOOLS_ACCC_GOLDENS_H

#include "accc/accc.h"

#include <map>
#include <string>
#include <vector>

namespace accc::tool {

/// What a folder of goldens says of the run (meta.json of examples/export).
struct GoldenMeta {
  std::string loss, optimizer;
  double learningRate = 1e-3;
  int64_t steps = 10;
  std::map<std::string, std::vector<int64_t>> dimensions;
  std::vector<std::string> freeze;
  bool dropout = false;
  double lossMean = 0, lossDeviation = 0;
};

/// Throws Error where there is none, or it cannot be read. `model` is the model's file, of which
/// `freeze` speaks.
GoldenMeta readGoldenMeta(const std::string &folder, const std::string &model);

/// How goldens are judged.
struct GoldenOptions {
  std::string folder;
  double tolerance = 1e-4; ///< absolute and relative
  bool failedOnly = false; ///< prints only what failed
};

/// Runs a library as its goldens were made, prints the verdicts, and returns the exit code.
int diffGoldens(const std::string &library, const GoldenOptions &options);
/// The same for what `accc run` wrote: outputs, loss and gradients of the first step, and, unless
/// `params` is empty, the variables after the last.
int diffResults(const std::string &results, const std::string &params,
                const GoldenOptions &options);

} // namespace accc::tool

#endif
