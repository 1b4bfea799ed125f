// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TARGET_TARGETEDPASS_H
#define ACCC_TARGET_TARGETEDPASS_H

#include "target/Target.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/Pass.h"

namespace accc {

/// A pass that asks a target. `Base` is the base class generated from Passes.td, with the options
/// `target` and `archs`; running the pass fails where these name no target.
template <typename Base> class TargetedPass : public Base {
public:
  using Base::Base;

  mlir::LogicalResult initialize(mlir::MLIRContext *context) override {
    llvm::Expected<std::unique_ptr<Target>> created =
        createTarget(this->target, llvm::ArrayRef<std::string>(this->archs));
    if (!created)
      return mlir::emitError(mlir::UnknownLoc::get(context)) << llvm::toString(created.takeError());
    asked = std::move(*created);
    return mlir::success();
  }

protected:
  const Target &getTarget() const { return *asked; }

private:
  std::shared_ptr<const Target> asked; // shared by the copies that work on different functions
};

} // namespace accc

#endif
