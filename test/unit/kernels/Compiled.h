// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions compiled into a library that the test itself loads and runs.
#ifndef ACCC_TEST_UNIT_KERNELS_COMPILED_H
#define ACCC_TEST_UNIT_KERNELS_COMPILED_H

#include "accc/session.h"
#include "ir/interfaces/ReferenceArray.h"
#include "support/WeightTable.h"
#include "target/Target.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>

namespace accc::test {

/// The array rounded to the type's elements, and back.
Tensor toTensor(const ReferenceArray &array, mlir::RankedTensorType type);
ReferenceArray toArray(const Tensor &tensor, mlir::RankedTensorType type);

/// Makes the arguments inputs in0, in1, ... and the results outputs out0, out1, ...
void nameValues(mlir::func::FuncOp function);

/// What a sample says it comes from (ACCC_TEST_SAMPLES); null where the program has no named tests.
extern std::string (*nameOfTest)();

/// A session on a library, or why there is none.
struct Compiled {
  std::unique_ptr<Session> session;
  std::string error;
  std::string sampleFolder = {}; ///< where run() writes what it was given and what came out; or ""

  /// What the entry point `name` gives for inputs in0, in1, ... of a function of this type; `error`
  /// is then about the run.
  llvm::SmallVector<ReferenceArray> run(const std::string &name, mlir::FunctionType type,
                                        llvm::ArrayRef<ReferenceArray> arguments);
};

/// The CPU that --arch names; none that is not known. Where the environment's ACCC_TEST_TARGET is
/// "cuda", a GPU in place of any CPU, by PTX: the same tests run on a device, or on a stand-in. As
/// "cuda:sm_90,compute_80" it names the code.
std::unique_ptr<Target> createTestTarget(const std::string &arch);

/// Schedules the functions of a module whose fusions have been formed, generates code for `arch`
/// and loads it; every function is an entry point. The library's file is removed. Where the
/// environment's ACCC_TEST_DUMP names a folder, the kernels are written there; where its
/// ACCC_TEST_SAMPLES does, a folder is made there for each library and the inputs and outputs of
/// its runs, which gpu_runner compares with those of another device.
Compiled compileFused(mlir::ModuleOp module, const std::string &arch,
                      const WeightTable &weights = {});

/// Empty if `found` holds the values of `expected` as a computation in the type's elements may give
/// them: NaN and infinities alike, integers equal, floats within `tolerance` relative to their own
/// magnitude, and those that the type or the session's arithmetic takes for zero as zero.
std::string difference(const ReferenceArray &found, const ReferenceArray &expected,
                       mlir::Type elementType, double tolerance);

/// For one operation that is rounded once, in f32 at least: some units in the last place.
double toleranceOf(mlir::Type elementType);

} // namespace accc::test

#endif
