// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences and optionals, which exist only while importing: their lengths and positions must be
// known.
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

const std::vector<Entity> &sequenceIn(Node &node, size_t input) {
  const Entity &entity = node.entity(input);
  if (!entity.sequence)
    fail("input " + Twine(input) + " must be a sequence");
  return *entity.sequence;
}

/// A position in [-size, size] (or below size), made positive.
size_t position(Node &node, size_t input, size_t size, bool mayBeEnd) {
  int64_t at = node.knownInteger(input, "position"), count = static_cast<int64_t>(size);
  int64_t absolute = at < 0 ? at + count : at;
  if (absolute < 0 || absolute >= count + (mayBeEnd ? 1 : 0))
    fail("the position " + Twine(at) + " is outside a sequence of " + Twine(count) + " elements");
  return static_cast<size_t>(absolute);
}

Entities construct(Node &node) {
  std::vector<Entity> elements;
  for (size_t i = 0; i < node.inputs(); ++i)
    elements.push_back(node.entity(i));
  return {Entity::ofSequence(std::move(elements))};
}

Entities empty(Node &) { return {Entity::ofSequence({})}; }

Entities at(Node &node) {
  const std::vector<Entity> &sequence = sequenceIn(node, 0);
  return {sequence[position(node, 1, sequence.size(), /*mayBeEnd=*/false)]};
}

Entities insert(Node &node) {
  std::vector<Entity> sequence = sequenceIn(node, 0);
  size_t where =
      node.has(2) ? position(node, 2, sequence.size(), /*mayBeEnd=*/true) : sequence.size();
  sequence.insert(sequence.begin() + static_cast<ptrdiff_t>(where), node.entity(1));
  return {Entity::ofSequence(std::move(sequence))};
}

Entities erase(Node &node) {
  std::vector<Entity> sequence = sequenceIn(node, 0);
  if (sequence.empty())
    fail("nothing to erase from an empty sequence");
  size_t where =
      node.has(1) ? position(node, 1, sequence.size(), /*mayBeEnd=*/false) : sequence.size() - 1;
  sequence.erase(sequence.begin() + static_cast<ptrdiff_t>(where));
  return {Entity::ofSequence(std::move(sequence))};
}

Entities length(Node &node) {
  return {node.integers({static_cast<int64_t>(sequenceIn(node, 0).size())}, {})};
}

/// Pieces of the given lengths, or of one length (the last may be shorter), or single elements.
Entities splitToSequence(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank()), extent = x.dim(axis);
  SmallVector<int64_t> parts;
  bool keep = true;
  if (extent > 65536)
    fail("an axis of " + Twine(extent) + " elements is too long for a sequence");
  if (!node.has(1)) {
    keep = node.integer("keepdims", 1) != 0;
    parts.assign(extent, 1);
  } else if (node.in(1).rank() == 0) {
    int64_t size = node.knownInteger(1, "length of the pieces");
    if (size < 1)
      fail("the length of the pieces is " + Twine(size));
    for (int64_t rest = extent; rest > 0; rest -= size)
      parts.push_back(std::min(size, rest));
    // ONNX ignores the attribute where a length is given. ONNX Runtime does not where it is 1, and
    // PyTorch up to 2.8 writes `unbind` so.
    keep = size != 1 || node.integer("keepdims", 1) != 0;
  } else {
    parts = node.knownIntegers(1, "lengths of the pieces");
  }
  std::vector<Entity> pieces;
  int64_t start = 0;
  for (int64_t size : parts) {
    if (size < 0 || size > extent - start)
      fail("the pieces " + show(parts) + " do not sum to the extent " + Twine(extent));
    Tensor piece = x.sliceDim(axis, start, start + size);
    start += size;
    if (!keep) {
      SmallVector<int64_t> shape(piece.shape());
      shape.erase(shape.begin() + axis);
      piece = piece.reshape(shape);
    }
    pieces.push_back(piece);
  }
  if (start != extent)
    fail("the pieces " + show(parts) + " do not sum to the extent " + Twine(extent));
  return {Entity::ofSequence(std::move(pieces))};
}

Entities concatFromSequence(Node &node) {
  const std::vector<Entity> &sequence = sequenceIn(node, 0);
  bool newAxis = node.integer("new_axis", 0) != 0;
  SmallVector<Tensor> inputs;
  for (const Entity &element : sequence) {
    if (!element.tensor)
      fail("the sequence's elements must be tensors");
    Tensor tensor = node.wrap(element.tensor);
    if (newAxis) {
      SmallVector<int64_t> shape(tensor.shape());
      shape.insert(shape.begin() + node.axis(node.integer("axis"), tensor.rank() + 1), 1);
      tensor = tensor.reshape(shape);
    }
    inputs.push_back(tensor);
  }
  if (inputs.empty())
    fail("nothing to concatenate");
  return {node.concatenate(inputs, node.axis(node.integer("axis"), inputs.front().rank()))};
}

/// The body for each element of the first sequence; other sequences walk along, tensors stay.
Entities map(Node &node) {
  const std::vector<Entity> &first = sequenceIn(node, 0);
  const onnx::GraphProto &body = node.graph("body");
  SmallVector<std::vector<Entity>> results(body.output_size());
  for (size_t i = 0; i < first.size(); ++i) {
    Entities inputs = {first[i]};
    for (size_t other = 1; other < node.inputs(); ++other) {
      const Entity &entity = node.entity(other);
      if (entity.sequence && entity.sequence->size() != first.size())
        fail("the sequences have different lengths");
      inputs.push_back(entity.sequence ? (*entity.sequence)[i] : entity);
    }
    for (auto [o, result] :
         llvm::enumerate(node.importer().importSubgraph(body, node.scope(), inputs)))
      results[o].push_back(result);
  }
  Entities sequences;
  for (std::vector<Entity> &elements : results) {
    if (llvm::any_of(elements, [](const Entity &element) { return element.isBroken; }))
      return {};
    sequences.push_back(Entity::ofSequence(std::move(elements)));
  }
  return sequences;
}

// ---- optionals ----

Entities optional(Node &node) { return {node.has(0) ? node.entity(0) : Entity::none()}; }

Entities getElement(Node &node) {
  if (node.entity(0).isNone)
    fail("the optional holds nothing");
  return {node.entity(0)};
}

Entities hasElement(Node &node) {
  bool holds = node.has(0) && !node.entity(0).isNone;
  return {node.full({}, node.builder().getI1Type(), holds)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::sequenceOps() {
  static const OpRow rows[] = {
      {"SequenceConstruct", construct},
      {"SequenceEmpty", empty},
      {"SequenceAt", at},
      {"SequenceInsert", insert},
      {"SequenceErase", erase},
      {"SequenceLength", length},
      {"SplitToSequence", splitToSequence},
      {"ConcatFromSequence", concatFromSequence},
      {"SequenceMap", map},
      {"Optional", optional},
      {"OptionalGetElement", getElement},
      {"OptionalHasElement", hasElement},
  };
  return rows;
}
