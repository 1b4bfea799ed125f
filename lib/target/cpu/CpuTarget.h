// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// x86-64 CPUs.
#ifndef ACCC_TARGET_CPU_CPUTARGET_H
#define ACCC_TARGET_CPU_CPUTARGET_H

#include "target/Target.h"
#include "target/cpu/CpuArch.h"

#include <vector>

namespace accc {

class CpuTarget final : public Target {
public:
  /// `archs`: at least one, the best first.
  explicit CpuTarget(std::vector<CpuArch> archs) : archs(std::move(archs)) {}

  static bool classof(const Target *target) { return target->getName() == "cpu"; }

  llvm::StringRef getName() const override { return "cpu"; }
  const std::vector<CpuArch> &getArchs() const { return archs; }

  int64_t getLaunchBytes() const override;
  int64_t getExpensiveOpBytes() const override;
  FlopsPerByte getFlopsPerByte(mlir::Type element, bool tf32) const override;
  int64_t getCachedElements() const override;
  KernelLimits getKernelLimits() const override;
  RepeatedRuns getRepeatedRuns() const override;
  std::optional<ReductionParts> getReductionParts(int64_t elements, int64_t columns,
                                                  ReducedDimensions reduced) const override;
  int64_t getStripRows(int64_t rows, int64_t elements) const override;
  std::optional<int64_t> getScanRun(int64_t lines, int64_t extent, bool isRow) const override;
  int64_t getSmallReductionBytes() const override;
  int64_t getMaxRowElements() const override;
  std::optional<int64_t> getMaxSortedElements(int64_t elementBytes) const override;
  bool gathersUpdates(int64_t rows, int64_t updates, int64_t most) const override;
  int64_t getMaxComparedUpdates() const override;
  bool sortsUpdates(int64_t rows, int64_t updates, int64_t together, bool known) const override;
  int64_t getChunkBytes() const override;
  int64_t getBucketBytes() const override;
  bool computesCounts() const override;
  bool runsInLibrary(mlir::Operation *op) const override;
  bool hasAttention() const override;
  bool addsBias(prim::DotGeneralOp product) const override;
  size_t getMaxBatchDimensions() const override;
  std::optional<ContractionAlignment> getContractionAlignment(mlir::Type element,
                                                              bool tf32) const override;
  std::optional<ConvolutionLayout> getConvolutionLayout(mlir::Type element,
                                                        bool tf32) const override;
  bool hasTf32() const override;
  int64_t getFactorizationBlock() const override;
  int64_t getMaxPackedRows(mlir::Type element) const override;
  std::optional<int64_t> getPanelWidth(int64_t depth, int64_t columns, size_t uses) const override;

private:
  std::vector<CpuArch> archs;
};

/// Archs, at least one, are "native" or CPUs as LLVM names them.
llvm::Expected<std::unique_ptr<Target>> createCpuTarget(llvm::ArrayRef<std::string> archs);

} // namespace accc

#endif
