// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a name of a model's graph stands for.
#ifndef ACCC_FRONTEND_COMMON_ENTITY_H
#define ACCC_FRONTEND_COMMON_ENTITY_H

#include "ir/prim/Tensor.h"

#include <memory>
#include <vector>

namespace accc::frontend {

/// What hangs on how many elements a mask selects, in a graph of ONNX (onnx/SelectedNode.h).
struct SelectedValue;

/// A tensor; or a sequence, whose length is always known and which exists only while importing; or
/// an optional without a value; or what a node that could not be imported would have given.
struct Entity {
  mlir::Value tensor;
  std::shared_ptr<const std::vector<Entity>> sequence;
  /// Beside a tensor, where that is a number.
  std::shared_ptr<const SelectedValue> selected;
  bool isNone = false;
  bool isBroken = false;

  Entity() = default;
  Entity(mlir::Value tensor) : tensor(tensor) {}
  Entity(const prim::Tensor &tensor) : tensor(tensor.get()) {}

  static Entity ofSequence(std::vector<Entity> elements) {
    Entity entity;
    entity.sequence = std::make_shared<const std::vector<Entity>>(std::move(elements));
    return entity;
  }
  static Entity none() {
    Entity entity;
    entity.isNone = true;
    return entity;
  }
  static Entity broken() {
    Entity entity;
    entity.isBroken = true;
    return entity;
  }
};

using Entities = llvm::SmallVector<Entity, 2>;

} // namespace accc::frontend

#endif
