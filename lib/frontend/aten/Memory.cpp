// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Memory.h"
#include "frontend/common/Complex.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

struct MutableTensor::Storage {
  Value value;
  int64_t version = 0;
  /// The tensor that was written through last, and whether it may be a copy.
  std::string writer;
  bool isMaybe = false;
};

struct MutableTensor::State {
  std::shared_ptr<Storage> storage;
  std::vector<ViewStep> steps;
  std::string name;
  bool isMaybe = false;
  /// What was read last, of which version of the storage.
  Value value;
  int64_t version = 0;
};

MutableTensor::MutableTensor(Value value, StringRef name) : state(std::make_shared<State>()) {
  state->storage = std::make_shared<Storage>();
  state->storage->value = state->value = value;
  state->name = name.str();
}

MutableTensor MutableTensor::view(ViewStep step, Value value, bool isMaybe, StringRef name) const {
  MutableTensor result;
  result.state = std::make_shared<State>(*state);
  result.state->steps.push_back(std::move(step));
  result.state->name = name.str();
  result.state->isMaybe |= isMaybe;
  result.state->value = value;
  result.state->version = state->storage->version;
  return result;
}

Type MutableTensor::type() const { return state->value.getType(); }

Value MutableTensor::read(ForwardBuilder &, Location) const {
  Storage &storage = *state->storage;
  if (state->version == storage.version)
    return state->value;
  if (state->isMaybe || storage.isMaybe)
    fail("reads '" + state->name + "' after a write into '" + storage.writer +
         "': whether these share their elements depends on strides, which the file does not "
         "prove; clone() the one that is written");
  Value value = storage.value;
  for (const ViewStep &step : state->steps)
    value = step.view(value);
  state->value = value;
  state->version = storage.version;
  return value;
}

/// The tensor with other elements where a view of it has them.
static Value putBack(ForwardBuilder &function, Location loc, const ViewStep &step, Value whole,
                     Value part) {
  if (step.put)
    return step.put(whole, part);
  NodeBuilder node(function, loc);
  auto type = cast<RankedTensorType>(whole.getType());
  Tensor index = node.iota({type.getNumElements()}, 0).reshape(type.getShape());
  Tensor there = node.wrap(step.view(index));
  auto replaced = [&](Tensor tensor, Tensor elements) {
    return flat(tensor)
        .scatter(flat(there), flat(elements), 0, ScatterKind::set)
        .reshape(tensor.shape());
  };
  if (!isComplex(type))
    return replaced(node.wrap(whole), node.wrap(part));
  Complex tensor = Complex::ofValue(node, whole), elements = Complex::ofValue(node, part);
  return Complex(replaced(tensor.real, elements.real),
                 replaced(tensor.imaginaryOrZero(), elements.imaginaryOrZero()))
      .value(node);
}

void MutableTensor::write(ForwardBuilder &function, Location loc, Value value) {
  Storage &storage = *state->storage;
  if (value.getType() != state->value.getType())
    fail("writes " + show(cast<RankedTensorType>(value.getType()).getShape()) +
         " (or another element type) into the tensor '" + state->name + "' of shape " +
         show(cast<RankedTensorType>(state->value.getType()).getShape()));
  read(function, loc); // or fails, where it is not known what is written into
  SmallVector<Value> wholes = {storage.value};
  for (const ViewStep &step : state->steps)
    wholes.push_back(step.view(wholes.back()));
  Value written = value;
  for (size_t i = state->steps.size(); i-- > 0;)
    written = putBack(function, loc, state->steps[i], wholes[i], written);
  storage.value = written;
  ++storage.version;
  storage.writer = state->name;
  storage.isMaybe = state->isMaybe;
  state->value = value;
  state->version = storage.version;
}
