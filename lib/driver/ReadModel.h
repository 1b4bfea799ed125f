// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The model file, in whichever format it is.
#ifndef ACCC_DRIVER_READMODEL_H
#define ACCC_DRIVER_READMODEL_H

#include "driver/Pipeline.h"

namespace accc {

/// Imports the model at the compilation's sizes: IR text by its name, an archive of torch.export by
/// its first bytes, else ONNX. Problems and remarks are the compilation's.
mlir::LogicalResult readModel(Compilation &c);

} // namespace accc

#endif
