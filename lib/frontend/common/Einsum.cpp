// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Einsum.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

namespace {

/// An operand and the label of each of its dimensions; labels of an ellipsis are 256 + position
/// from the right.
struct Labelled {
  Tensor value;
  SmallVector<int> labels;
};

SmallVector<int> parseLabels(StringRef term, int64_t rank, bool isOutput, int64_t ellipsisRank) {
  SmallVector<int> labels;
  size_t dots = term.find("...");
  int64_t letters = static_cast<int64_t>(term.size()) - (dots == StringRef::npos ? 0 : 3);
  int64_t hidden = isOutput ? ellipsisRank : rank - letters;
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (int64_t d = hidden; d > 0; --d)
        labels.push_back(256 + static_cast<int>(d) - 1);
      i += 2;
    } else if (llvm::isAlpha(term[i])) {
      labels.push_back(term[i]);
    } else {
      fail("the equation has the character '" + Twine(term[i]) + "'");
    }
  }
  if (!isOutput && static_cast<int64_t>(labels.size()) != rank)
    fail("the term '" + term + "' does not fit an operand of rank " + Twine(rank));
  return labels;
}

/// Keeps the diagonal where a label stands twice in one operand.
Labelled takeDiagonals(NodeBuilder &node, Labelled operand) {
  for (size_t i = 0; i < operand.labels.size(); ++i)
    for (size_t j = i + 1; j < operand.labels.size();) {
      if (operand.labels[i] != operand.labels[j]) {
        ++j;
        continue;
      }
      Tensor x = operand.value;
      if (x.dim(i) != x.dim(j))
        fail("a label stands for the extents " + Twine(x.dim(i)) + " and " + Twine(x.dim(j)));
      RankedTensorType indices = x.type().clone(node.builder().getI64Type());
      Tensor on = prim::equal(prim::iota(node.builder(), node.loc(), indices, i),
                              prim::iota(node.builder(), node.loc(), indices, j));
      operand.value = prim::sum(prim::select(on, x, 0.0), {static_cast<int64_t>(j)});
      operand.labels.erase(operand.labels.begin() + j);
    }
  return operand;
}

/// Sums over the labels that nobody else wants.
Labelled sumAway(Labelled operand, llvm::function_ref<bool(int)> isWanted) {
  SmallVector<int64_t> dimensions;
  SmallVector<int> labels;
  for (auto [i, label] : llvm::enumerate(operand.labels))
    if (isWanted(label))
      labels.push_back(label);
    else
      dimensions.push_back(i);
  return {prim::sum(operand.value, dimensions), labels};
}

/// An operand's extent of 1 repeats where the other's is larger.
Labelled dropOnes(Labelled a, const Labelled &b) {
  SmallVector<int64_t> shape;
  SmallVector<int> labels;
  for (auto [i, label] : llvm::enumerate(a.labels)) {
    auto at = llvm::find(b.labels, label);
    if (a.value.dim(i) == 1 && at != b.labels.end() && b.value.dim(at - b.labels.begin()) != 1)
      continue;
    shape.push_back(a.value.dim(i));
    labels.push_back(label);
  }
  return {a.value.reshape(shape), labels};
}

/// prim.dot_general of integers, modulo the range of their type. Narrow ones by way of floats in
/// double precision, where these hold every sum; the others multiplied and added as they are.
Tensor integerProducts(Tensor x, Tensor y, ArrayRef<int64_t> xBatch, ArrayRef<int64_t> yBatch,
                       ArrayRef<int64_t> xContracting, ArrayRef<int64_t> yContracting) {
  Builder &builder = x.getBuilder();
  double most = std::pow(4.0, x.elementType().getIntOrFloatBitWidth());
  for (int64_t d : xContracting)
    most *= static_cast<double>(x.dim(d));
  if (most <= 0x1p53) {
    Type wide = builder.getF64Type();
    Tensor sums = prim::dotGeneral(x.convert(wide), y.convert(wide), xBatch, yBatch, xContracting,
                                   yContracting);
    // A cast from floats gives the nearest, among integers the low bits are left.
    return sums.convert(builder.getI64Type()).convert(x.elementType());
  }
  // Both as [batch, free, contracting].
  auto inOrder = [](Tensor t, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracting) {
    SmallVector<int64_t> order(batch);
    for (int64_t d = 0; d < t.rank(); ++d)
      if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
        order.push_back(d);
    order.append(contracting.begin(), contracting.end());
    return t.transpose(order);
  };
  x = inOrder(x, xBatch, xContracting);
  y = inOrder(y, yBatch, yContracting);
  int64_t batches = xBatch.size(), summed = xContracting.size();
  int64_t xFree = x.rank() - batches - summed, yFree = y.rank() - batches - summed;
  SmallVector<int64_t> shape(x.shape().drop_back(summed));
  llvm::append_range(shape, y.shape().drop_front(batches));
  tensorType(shape, x.elementType());
  int64_t rank = shape.size();
  auto dimensions = [&](int64_t freeFrom, int64_t free) {
    SmallVector<int64_t> result = llvm::to_vector(llvm::seq<int64_t>(0, batches));
    llvm::append_range(result, llvm::seq(freeFrom, freeFrom + free));
    llvm::append_range(result, llvm::seq(rank - summed, rank));
    return result;
  };
  return prim::sum(x.broadcast(shape, dimensions(batches, xFree)) *
                       y.broadcast(shape, dimensions(batches + xFree, yFree)),
                   llvm::to_vector(llvm::seq(rank - summed, rank)));
}

Labelled contract(Labelled a, Labelled b, llvm::function_ref<bool(int)> isWanted) {
  Labelled x = dropOnes(a, b), y = dropOnes(b, a);
  SmallVector<int64_t> xBatch, yBatch, xContracting, yContracting;
  SmallVector<int> batch, xFree, yFree;
  for (auto [i, label] : llvm::enumerate(x.labels)) {
    auto at = llvm::find(y.labels, label);
    if (at == y.labels.end()) {
      xFree.push_back(label);
      continue;
    }
    int64_t j = at - y.labels.begin();
    if (x.value.dim(i) != y.value.dim(j))
      fail("a label stands for the extents " + Twine(x.value.dim(i)) + " and " +
           Twine(y.value.dim(j)));
    (isWanted(label) ? xBatch : xContracting).push_back(i);
    (isWanted(label) ? yBatch : yContracting).push_back(j);
    if (isWanted(label))
      batch.push_back(label);
  }
  for (int label : y.labels)
    if (!llvm::is_contained(x.labels, label))
      yFree.push_back(label);
  bool areFloats = isa<FloatType>(x.value.elementType());
  Labelled result{
      areFloats ? prim::dotGeneral(x.value, y.value, xBatch, yBatch, xContracting, yContracting)
                : integerProducts(x.value, y.value, xBatch, yBatch, xContracting, yContracting),
      batch};
  result.labels.append(xFree);
  result.labels.append(yFree);
  return result;
}

} // namespace

EinsumLabels accc::frontend::einsumLabels(std::string equation, ArrayRef<int64_t> ranks) {
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  auto [left, right] = StringRef(equation).split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != ranks.size() || terms.empty())
    fail("the equation has " + Twine(terms.size()) + " terms for " + Twine(ranks.size()) +
         " operands");
  EinsumLabels labels;
  std::map<int, int> uses;
  int64_t ellipsisRank = 0;
  for (auto [term, rank] : llvm::zip_equal(terms, ranks)) {
    labels.operands.push_back(parseLabels(term, rank, /*isOutput=*/false, 0));
    for (int label : labels.operands.back()) {
      ++uses[label];
      if (label >= 256)
        ellipsisRank = std::max<int64_t>(ellipsisRank, label - 255);
    }
  }
  if (StringRef(equation).contains("->")) {
    labels.result = parseLabels(right, 0, /*isOutput=*/true, ellipsisRank);
    return labels;
  }
  for (int64_t d = ellipsisRank; d > 0; --d)
    labels.result.push_back(256 + static_cast<int>(d) - 1);
  for (auto [label, count] : uses)
    if (label < 256 && count == 1)
      labels.result.push_back(label);
  return labels;
}

Tensor accc::frontend::einsum(NodeBuilder &node, std::string equation, ArrayRef<Tensor> inputs) {
  auto ranks = llvm::map_to_vector(inputs, [](Tensor x) { return x.rank(); });
  EinsumLabels labels = einsumLabels(std::move(equation), ranks);
  ArrayRef<int> output = labels.result;
  Type type = inputs[0].elementType(),
       wide = type.isInteger(1) ? Type(node.builder().getI64Type()) : type;
  SmallVector<Labelled> operands;
  for (auto [x, names] : llvm::zip_equal(inputs, labels.operands)) {
    if (x.elementType() != type)
      fail("the operands have different element types");
    operands.push_back(takeDiagonals(node, {Tensor(x).convert(wide), names}));
  }

  // Left to right; a label is summed as soon as neither the output nor a later operand has it.
  auto wantedAfter = [&](size_t next) {
    return [&, next](int label) {
      return llvm::is_contained(output, label) ||
             llvm::any_of(ArrayRef(operands).drop_front(next),
                          [&](auto &o) { return llvm::is_contained(o.labels, label); });
    };
  };
  Labelled result = sumAway(operands[0], wantedAfter(1));
  for (size_t i = 1; i < operands.size(); ++i) {
    auto inResult = [&](int label) { return llvm::is_contained(result.labels, label); };
    auto wanted = wantedAfter(i + 1);
    Labelled next =
        sumAway(operands[i], [&](int label) { return inResult(label) || wanted(label); });
    result = sumAway(contract(result, next, wanted), wanted);
  }
  SmallVector<int64_t> permutation;
  for (int label : output) {
    auto at = llvm::find(result.labels, label);
    if (at == result.labels.end() || llvm::count(output, label) != 1)
      fail("the output's labels must each stand once, and in an operand");
    permutation.push_back(at - result.labels.begin());
  }
  return result.value.transpose(permutation).convert(type);
}

Tensor accc::frontend::matrixProduct(NodeBuilder &node, Tensor a, Tensor b) {
  if (a.rank() == 0 || b.rank() == 0)
    fail("a tensor without dimensions has no matrix product");
  if (isa<FloatType>(a.elementType()))
    return node.make<nn::MatmulOp>({a, b});
  std::string left = a.rank() == 1 ? "k" : "...mk", right = b.rank() == 1 ? "k" : "...kn";
  std::string result = "...";
  result += a.rank() == 1 ? "" : "m";
  result += b.rank() == 1 ? "" : "n";
  return einsum(node, left + "," + right + "->" + result, {a, b});
}
