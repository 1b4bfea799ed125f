// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors of pickles: parts of storages, which lie beside the pickle.
#ifndef ACCC_FRONTEND_PICKLE_TENSORS_H
#define ACCC_FRONTEND_PICKLE_TENSORS_H

#include "frontend/common/Archive.h"
#include "frontend/pickle/Pickle.h"
#include "support/WeightTable.h"

#include "mlir/IR/BuiltinTypes.h"

#include <map>

namespace accc::pickle {

/// The storages of an archive, each of which is read once.
class Storages {
public:
  explicit Storages(const frontend::Archive &archive) : archive(archive) {}
  /// Throws ImportError.
  const frontend::Archive::Record &read(const std::string &record);

private:
  const frontend::Archive &archive;
  std::map<std::string, frontend::Archive::Record> records;
};

struct StoredTensor {
  Weight weight;
  bool requiresGrad = false;
  /// The same for tensors that are the same part of the same storage: tied ones.
  std::string place;
  /// The storage's record, and where in it the tensor lies, in elements.
  std::string record;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// Whether the value is a call of _rebuild_tensor_v2, which the functions below take.
bool isTensor(const Value &value);
mlir::RankedTensorType tensorTypeOf(mlir::MLIRContext &context, const Value &rebuild);
/// The tensor `name`, whose storage lies in `folder`. Throws ImportError.
StoredTensor readTensor(mlir::MLIRContext &context, const Value &rebuild, Storages &storages,
                        const std::string &folder, const std::string &name);

} // namespace accc::pickle

#endif
