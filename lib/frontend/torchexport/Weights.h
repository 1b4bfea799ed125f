// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of an exported program: parameters, buffers, constants.
#ifndef ACCC_FRONTEND_TORCHEXPORT_WEIGHTS_H
#define ACCC_FRONTEND_TORCHEXPORT_WEIGHTS_H

#include "frontend/common/Archive.h"
#include "frontend/torchexport/Json.h"
#include "frontend/torchexport/Overlap.h"
#include "support/WeightTable.h"

#include "mlir/IR/MLIRContext.h"

#include <map>

namespace accc::torchexport {

using namespace frontend; // what every importer builds with

/// The element type of a ScalarType of the format. Throws ImportError for those that accc does not
/// have.
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

/// Reads tensors by their names in the module. Storages hold more than one tensor, with strides and
/// offsets, which are checked against the storage's bounds.
class Weights {
public:
  /// `model` is the name of the program in the archive.
  Weights(mlir::MLIRContext &context, const Archive &archive, const std::string &model);

  bool has(const std::string &name) const { return entries.contains(name); }
  /// Throws ImportError.
  StoredTensor read(const std::string &name);

private:
  void addConfig(const std::string &folder, const std::string &config);
  const Archive::Record &storage(const std::string &record);

  mlir::MLIRContext &context;
  const Archive &archive;
  std::vector<std::unique_ptr<nlohmann::json>> documents;
  struct Entry {
    std::string folder;
    Json payload;
  };
  std::map<std::string, Entry> entries;
  std::map<std::string, Archive::Record> storages;
};

} // namespace accc::torchexport

#endif
