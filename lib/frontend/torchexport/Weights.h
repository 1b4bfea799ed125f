// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of an exported program: parameters, buffers, constants.
#ifndef ACCC_FRONTEND_TORCHEXPORT_WEIGHTS_H
#define ACCC_FRONTEND_TORCHEXPORT_WEIGHTS_H

#include "frontend/common/Archive.h"
#include "frontend/torchexport/Json.h"
#include "frontend/torchexport/Overlap.h"
#include "support/WeightTable.h"

#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace accc::torchexport {

using namespace frontend; // what every importer builds with

/// The element type of a ScalarType of the format; null for those that accc does not have.
mlir::Type elementTypeOrNull(mlir::MLIRContext &context, int64_t scalarType);

/// The same, but throws ImportError instead of returning null.
mlir::Type elementType(mlir::MLIRContext &context, int64_t scalarType);

/// The number of a SymInt that must be one.
int64_t plainSize(const Json &symInt);

/// One tensor of the archive.
struct StoredTensor {
  Weight weight;
  bool requiresGrad = false;
  /// The same for tensors that are the same part of the same storage: tied ones.
  std::string place;
  MemoryView view;
};

/// The tensors of an archive by their names in the module. Storages hold more than one tensor, with
/// strides and offsets, which are checked against the storage's bounds.
class Weights {
public:
  virtual ~Weights() = default;
  /// Throws ImportError.
  virtual StoredTensor read(const std::string &name) = 0;
  /// All names of a tensor that was read, in the order of the module; none where the signature has
  /// them.
  virtual std::vector<std::string> namesOf(const StoredTensor &tensor) { return {}; }

protected:
  [[noreturn]] static void missing(const std::string &name);
};

/// Those of the program `model`, each storage in a record of its own. The archive must outlive
/// them.
std::unique_ptr<Weights> weightsInRecords(mlir::MLIRContext &context, const Archive &archive,
                                          const std::string &model);
/// Those of archives of PyTorch up to 2.8, of which two records are archives of torch.save.
std::unique_ptr<Weights> weightsInPickles(mlir::MLIRContext &context, const Archive &archive,
                                          const std::string &state, const std::string &constants);

} // namespace accc::torchexport

#endif
