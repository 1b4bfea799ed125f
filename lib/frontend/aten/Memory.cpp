// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Memory.h"
#include "frontend/common/Complex.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

struct MutableTensor::Storage {
  Value value;
  std::string name;
  Layout layout;
  /// Whether any of the value may have a gradient.
  bool hasGradient = true;
  bool isLeaf = false;
  int64_t version = 0;
  /// The tensor that was written through last, and the doubt whether it is a copy.
  std::string writer = {}, doubt = {};
};

struct MutableTensor::State {
  std::shared_ptr<Storage> storage;
  std::string name;
  Layout layout;
  /// What was read last, of which version of the storage.
  Value value;
  int64_t version = 0;
  std::vector<ViewStep> steps = {};
  /// The operator of whose result the strides would say whether this is a copy; or "".
  std::string doubt = {};
  bool isNumber = false;
  Value countedMask = {};
};

MutableTensor::MutableTensor(Value value, StringRef name, Layout layout) {
  bool hasGradient = isDifferentiable(value.getType()) && !knownValue(value);
  auto storage = std::make_shared<Storage>(Storage{value, name.str(), layout, hasGradient});
  state = std::make_shared<State>(State{storage, name.str(), std::move(layout), value});
}

MutableTensor MutableTensor::view(ViewStep step, Value value, Layout layout, bool isMaybe,
                                  StringRef name) const {
  auto elementsOf = [](Type type) { return cast<RankedTensorType>(type).getNumElements(); };
  step.repeats = layout.isKnown()
                     ? layout.overlaps()
                     : step.repeats || elementsOf(value.getType()) > elementsOf(type());
  MutableTensor result;
  result.state = std::make_shared<State>(*state);
  result.state->steps.push_back(std::move(step));
  result.state->name = name.str();
  result.state->isNumber = false;
  result.state->countedMask = nullptr;
  if (isMaybe && result.state->doubt.empty())
    result.state->doubt = layout.origin();
  result.state->layout = std::move(layout);
  result.state->value = value;
  result.state->version = state->storage->version;
  return result;
}

void MutableTensor::markConstant() { state->storage->hasGradient = false; }
void MutableTensor::markLeaf() { state->storage->isLeaf = true; }
void MutableTensor::markNumber() { state->isNumber = true; }
bool MutableTensor::isNumber() const { return state->isNumber; }
void MutableTensor::markCount(Value mask) {
  markNumber();
  state->countedMask = mask;
}
Value MutableTensor::countedMask() const { return state->countedMask; }

Type MutableTensor::type() const { return state->value.getType(); }

ArrayRef<int64_t> MutableTensor::shape() const { return cast<RankedTensorType>(type()).getShape(); }

int64_t MutableTensor::rank() const { return static_cast<int64_t>(shape().size()); }

const Layout &MutableTensor::layout() const { return state->layout; }

void MutableTensor::setLayout(Layout layout) {
  if (state->steps.empty())
    state->storage->layout = layout;
  state->layout = std::move(layout);
}

MutableTensor MutableTensor::whole() const {
  const Storage &storage = *state->storage;
  bool isKnown = state->doubt.empty() && storage.layout.isKnown() && storage.layout.isDense() &&
                 getElementTypeOrSelf(storage.value) == getElementTypeOrSelf(state->value);
  if (!isKnown || state->steps.empty())
    return *this;
  MutableTensor result;
  result.state = std::make_shared<State>(
      State{state->storage, storage.name, storage.layout, storage.value, storage.version});
  return result;
}

bool MutableTensor::sharesStorage(const MutableTensor &other) const {
  return state->storage == other.state->storage;
}

void MutableTensor::become(const MutableTensor &other) { *state = State(*other.state); }

Value MutableTensor::read(ForwardBuilder &, Location) const {
  Storage &storage = *state->storage;
  if (state->version == storage.version)
    return state->value;
  if (const std::string &doubt = state->doubt.empty() ? storage.doubt : state->doubt;
      !doubt.empty())
    fail("reads '" + state->name + "' after a write into '" + storage.writer +
         "': whether these share their elements depends on strides, and those of what '" + doubt +
         "' gives are not known; clone() the one that is written");
  Value value = storage.value;
  for (const ViewStep &step : state->steps)
    value = step.view(value);
  state->value = value;
  state->version = storage.version;
  return value;
}

Value MutableTensor::readToWrite(ForwardBuilder &function, Location loc) const {
  Value value = read(function, loc);
  if (llvm::none_of(state->steps, [](const ViewStep &step) { return step.isOfStorage; }))
    return value;
  value = state->storage->value;
  for (const ViewStep &step : state->steps)
    value = step.view(value);
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

/// The steps as one, which has no way of its own to put elements back.
static ViewStep joined(ArrayRef<ViewStep> steps) {
  ViewStep all;
  all.view = [steps = std::vector<ViewStep>(steps)](Value tensor) {
    for (const ViewStep &step : steps)
      tensor = step.view(tensor);
    return tensor;
  };
  return all;
}

void MutableTensor::write(ForwardBuilder &function, Location loc, Value value, bool isRecorded) {
  Storage &storage = *state->storage;
  isRecorded &= !storage.isLeaf;
  if (value.getType() != state->value.getType())
    fail("writes " + show(cast<RankedTensorType>(value.getType()).getShape()) +
         " (or another element type) into the tensor '" + state->name + "' of shape " +
         show(cast<RankedTensorType>(state->value.getType()).getShape()));
  read(function, loc); // or fails, where it is not known what is written into
  if (state->layout.isKnown() && state->layout.overlaps())
    fail("writes into '" + state->name +
         "', elements of which share their memory: which of several values stays there is not "
         "defined; clone() it before");
  // Of a view that repeats elements this view has single ones: they go back by their places.
  std::vector<ViewStep> steps = state->steps;
  auto repeating = llvm::find_if(steps, [](const ViewStep &step) { return step.repeats; });
  if (repeating != steps.end() && std::next(repeating) != steps.end()) {
    ViewStep rest = joined(ArrayRef(steps).drop_front(repeating - steps.begin()));
    steps.erase(repeating, steps.end());
    steps.push_back(std::move(rest));
  }
  SmallVector<Value> wholes = {storage.value};
  for (const ViewStep &step : steps)
    wholes.push_back(step.view(wholes.back()));
  bool isSeen = isRecorded && llvm::none_of(state->steps, [](const ViewStep &step) {
                  return step.stopsGradient;
                });
  if (isSeen && storage.hasGradient) // PyTorch's graph has an edge to what was there
    value = zeroDependence(function, loc, value, state->value);
  Value written = isSeen ? value : withoutGradient(function, loc, value);
  for (size_t i = steps.size(); i-- > 0;) {
    if (!steps[i].put && getElementTypeOrSelf(wholes[i]) != getElementTypeOrSelf(written))
      fail("writes into '" + state->name + "', a view as other numbers of one that has elements " +
           "several times; clone() that before");
    written = putBack(function, loc, steps[i], wholes[i], written);
  }
  if (isSeen)
    storage.hasGradient = isDifferentiable(written.getType());
  else if (storage.hasGradient)
    written = straightThrough(function, loc, written, storage.value);
  storage.value = written;
  ++storage.version;
  storage.writer = state->name;
  storage.doubt = state->doubt;
  if (!isRecorded) // this tensor, too, has the gradient that it had
    return;
  state->value = value;
  state->version = storage.version;
}
