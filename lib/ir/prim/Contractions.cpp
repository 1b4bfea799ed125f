// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products; the convolutions of this family are in Convolutions.cpp.
#include "ir/prim/ContractionSide.h"
#include "ir/prim/Infer.h"
#include "ir/prim/ReverseWalk.h"
#include "ir/prim/StridedLoop.h"
#include "ir/prim/ViewedTensor.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/Contractions.cpp.inc"

namespace {

/// The dimensions of one side that are neither batch nor contracted.
SmallVector<int64_t> freeDimensions(int64_t rank, ArrayRef<int64_t> batch,
                                    ArrayRef<int64_t> contracting) {
  SmallVector<int64_t> result;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(batch, d) && !llvm::is_contained(contracting, d))
      result.push_back(d);
  return result;
}

SmallVector<int64_t> range(int64_t from, int64_t to) {
  SmallVector<int64_t> result(to - from);
  std::iota(result.begin(), result.end(), from);
  return result;
}

/// The array with its dimensions in the given order, as plain doubles.
std::vector<double> permuted(const ReferenceArray &x, ArrayRef<int64_t> order) {
  SmallVector<int64_t> shape, strides = x.strides();
  StridedWalk walk;
  for (int64_t d : order) {
    shape.push_back(x.shape[d]);
    walk.strides.push_back(strides[d]);
  }
  std::vector<double> result;
  result.reserve(x.values.size());
  stridedLoop<1>(shape, {walk}, [&](int64_t at) { result.push_back(x.values[at]); });
  return result;
}

int64_t extentOf(const ReferenceArray &x, ArrayRef<int64_t> dimensions) {
  int64_t product = 1;
  for (int64_t d : dimensions)
    product *= x.shape[d];
  return product;
}

/// The cotangent of `self`, where dy = [batch, free of lhs, free of rhs] and `dyFree`, `dyOther`
/// are the dimensions of dy that came from self's and other's free dimensions: dy contracted with
/// other over other's free dimensions, then self's dimensions in their own order. As precise as the
/// product was.
Tensor cotangent(MatrixProduct op, Tensor dy, const ContractionSide &self,
                 const ContractionSide &other, ArrayRef<int64_t> dyFree,
                 ArrayRef<int64_t> dyOther) {
  int64_t batches = static_cast<int64_t>(self.batch.size());
  int64_t frees = static_cast<int64_t>(self.free().size());
  int64_t contracted = static_cast<int64_t>(self.contracting.size());
  // The contracted dimensions come out in other's order.
  SmallVector<int64_t> pairs = range(0, contracted);
  llvm::sort(pairs,
             [&](int64_t a, int64_t b) { return other.contracting[a] < other.contracting[b]; });

  auto permutationFor = [&](int64_t firstFree, int64_t firstContracted) {
    SmallVector<int64_t> permutation(batches + frees + contracted);
    for (auto [k, d] : llvm::enumerate(self.batch))
      permutation[d] = static_cast<int64_t>(k);
    for (auto [k, d] : llvm::enumerate(self.free()))
      permutation[d] = firstFree + static_cast<int64_t>(k);
    for (auto [k, pair] : llvm::enumerate(pairs))
      permutation[self.contracting[pair]] = firstContracted + static_cast<int64_t>(k);
    return permutation;
  };
  // Of the two orders of the operands take the one that leaves nothing to transpose, if there is
  // one.
  Tensor o = dy.wrap(other.value);
  SmallVector<int64_t> dyBatch = range(0, batches);
  SmallVector<int64_t> swapped = permutationFor(batches + contracted, batches);
  if (llvm::is_sorted(swapped))
    return dotGeneral(o, dy, other.batch, dyBatch, other.free(), dyOther, op.getFullPrecision());
  return dotGeneral(dy, o, dyBatch, other.batch, dyOther, other.free(), op.getFullPrecision())
      .transpose(permutationFor(batches, batches + frees));
}

/// Of these factors.
template <typename Product>
FailureOr<RankedTensorType> inferProduct(std::optional<Location> loc,
                                         typename Product::Adaptor adaptor, RankedTensorType lhs,
                                         RankedTensorType rhs) {
  ArrayRef<int64_t> lhsBatch = adaptor.getLhsBatch(), rhsBatch = adaptor.getRhsBatch();
  ArrayRef<int64_t> lhsContracting = adaptor.getLhsContracting();
  ArrayRef<int64_t> rhsContracting = adaptor.getRhsContracting();
  if (lhsBatch.size() != rhsBatch.size())
    return inferError<Product>(loc, "has ", lhsBatch.size(), " batch dimensions on the left and ",
                               rhsBatch.size(), " on the right");
  if (lhsContracting.size() != rhsContracting.size())
    return inferError<Product>(loc, "contracts ", lhsContracting.size(),
                               " dimensions on the left and ", rhsContracting.size(),
                               " on the right");
  SmallVector<int64_t> lhsUsed(lhsBatch), rhsUsed(rhsBatch);
  llvm::append_range(lhsUsed, lhsContracting);
  llvm::append_range(rhsUsed, rhsContracting);
  if (failed(
          checkDimensions<Product>(loc, "lhs_batch and lhs_contracting", lhsUsed, lhs.getRank())) ||
      failed(
          checkDimensions<Product>(loc, "rhs_batch and rhs_contracting", rhsUsed, rhs.getRank())))
    return failure();
  for (auto [l, r] : llvm::zip(lhsUsed, rhsUsed))
    if (lhs.getDimSize(l) != rhs.getDimSize(r))
      return inferError<Product>(loc, "pairs lhs dimension ", l, " of extent ", lhs.getDimSize(l),
                                 " with rhs dimension ", r, " of extent ", rhs.getDimSize(r));
  if (lhs.getElementType() != rhs.getElementType())
    return inferError<Product>(loc, "lhs has element type ", lhs.getElementType(), " but rhs ",
                               rhs.getElementType());
  Type element = lhs.getElementType();
  if (adaptor.getWideResult()) {
    if (element.getIntOrFloatBitWidth() != 16)
      return inferError<Product>(loc, "has a wide result of factors of type ", element);
    element = Float32Type::get(element.getContext());
  }
  SmallVector<int64_t> shape;
  for (int64_t d : lhsBatch)
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d : freeDimensions(lhs.getRank(), lhsBatch, lhsContracting))
    shape.push_back(lhs.getDimSize(d));
  for (int64_t d : freeDimensions(rhs.getRank(), rhsBatch, rhsContracting))
    shape.push_back(rhs.getDimSize(d));
  return RankedTensorType::get(shape, element);
}

void differentiateProduct(MatrixProduct op, Tensor dy, Gradients &gradients) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  int64_t batches = static_cast<int64_t>(lhs.batch.size());
  int64_t split = batches + static_cast<int64_t>(lhs.free().size());
  SmallVector<int64_t> lhsFree = range(batches, split), rhsFree = range(split, dy.rank());
  dy = dy.convert(tensorType(op.getLhs()).getElementType()); // of a wide result
  if (gradients.wants(lhs.value))
    gradients.add(lhs.value, cotangent(op, dy, lhs, rhs, lhsFree, rhsFree));
  if (gradients.wants(rhs.value))
    gradients.add(rhs.value, cotangent(op, dy, rhs, lhs, rhsFree, lhsFree));
}

/// As [batch, m, k] times [batch, k, n], so that the inner loop runs along memory; begins with a
/// row of `bias` where there is one.
ReferenceArray evaluateProduct(MatrixProduct op, const ReferenceArray &x, const ReferenceArray &y,
                               const ReferenceArray *bias = nullptr) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  SmallVector<int64_t> lhsOrder(lhs.batch), rhsOrder(rhs.batch);
  llvm::append_range(lhsOrder, lhs.free());
  llvm::append_range(lhsOrder, lhs.contracting);
  llvm::append_range(rhsOrder, rhs.contracting);
  llvm::append_range(rhsOrder, rhs.free());
  std::vector<double> left = permuted(x, lhsOrder), right = permuted(y, rhsOrder);
  int64_t batch = extentOf(x, lhs.batch), m = extentOf(x, lhs.free()),
          k = extentOf(x, lhs.contracting);
  int64_t n = extentOf(y, rhs.free());

  ReferenceArray result(tensorType(op->getResult(0)).getShape());
  for (int64_t row = 0; row < batch * m; ++row) {
    double *to = result.values.data() + row * n;
    if (bias)
      llvm::copy(bias->values, to);
    for (int64_t c = 0; c < k; ++c) {
      double a = left[row * k + c];
      const double *from = right.data() + (row / m * k + c) * n;
      for (int64_t j = 0; j < n; ++j)
        to[j] += a * from[j];
    }
  }
  return result;
}

/// Those of the result: batch dimensions are of both operands, free ones of one.
SmallVector<ChunkedDimension> resultDimensions(MatrixProduct op) {
  ContractionSide lhs = ContractionSide::lhsOf(op), rhs = ContractionSide::rhsOf(op);
  SmallVector<ChunkedDimension> dimensions;
  auto add = [&](std::optional<int64_t> left, std::optional<int64_t> right) {
    dimensions.push_back({{left, right}, static_cast<int64_t>(dimensions.size())});
  };
  for (auto [left, right] : llvm::zip(lhs.batch, rhs.batch))
    add(left, right);
  for (int64_t d : lhs.free())
    add(d, std::nullopt);
  for (int64_t d : rhs.free())
    add(std::nullopt, d);
  return dimensions;
}

} // namespace

// ---- dot_general ----

LogicalResult DotGeneralOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  FailureOr<RankedTensorType> type = inferProduct<DotGeneralOp>(
      loc, adaptor, tensorType(adaptor.getLhs()), tensorType(adaptor.getRhs()));
  if (succeeded(type))
    types.push_back(*type);
  return type;
}

LogicalResult DotGeneralOp::differentiate(Gradients &gradients) {
  differentiateProduct(*this, {gradients.builder(), getLoc(), gradients.of(getResult())},
                       gradients);
  return success();
}

LogicalResult DotGeneralOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  results.push_back(evaluateProduct(*this, operands[0], operands[1]));
  return success();
}

SmallVector<ChunkedDimension> DotGeneralOp::getChunkedDimensions() {
  SmallVector<ChunkedDimension> dimensions = resultDimensions(*this);
  if (maySumParts(getType().getElementType()))
    for (auto [left, right] : llvm::zip(getLhsContracting(), getRhsContracting()))
      dimensions.push_back({{left, right}, std::nullopt});
  return dimensions;
}

// ---- gemm ----

LogicalResult GemmOp::inferReturnTypes(MLIRContext *context, std::optional<Location> loc,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  RankedTensorType lhs = tensorType(adaptor.getLhs()), rhs = tensorType(adaptor.getRhs());
  if (ArrayAttr views = adaptor.getViewsAttr()) { // c3
    if (views.size() != 2)
      return inferError<GemmOp>(loc, "has ", views.size(), " views, not 2");
    for (auto [said, factor] : {std::pair(views[0], &lhs), std::pair(views[1], &rhs)}) {
      std::optional<StridedView> view = StridedView::within(*factor, said);
      if (!view)
        return inferError<GemmOp>(loc, "has a view ", said, " of ", *factor);
      *factor = factor->clone(view->shape);
    }
  }
  FailureOr<RankedTensorType> type = inferProduct<GemmOp>(loc, adaptor, lhs, rhs);
  if (failed(type))
    return failure();
  SmallVector<int64_t> shape;
  for (int64_t d :
       freeDimensions(rhs.getRank(), adaptor.getRhsBatch(), adaptor.getRhsContracting()))
    shape.push_back(rhs.getDimSize(d));
  auto wanted = RankedTensorType::get(shape, type->getElementType());
  if (adaptor.getBias() && adaptor.getBias().getType() != wanted)
    return inferError<GemmOp>(loc, "has a bias of type ", adaptor.getBias().getType(),
                              " where the free dimensions of rhs ask for ", wanted);
  types.push_back(*type);
  return success();
}

LogicalResult GemmOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  auto factor = [&](Value operand, size_t i) {
    ArrayAttr views = getViewsAttr();
    return views ? viewed(builder, getLoc(), operand, StridedView::at(views, i)).get() : operand;
  };
  Tensor product(builder, getLoc(),
                 builder.create<DotGeneralOp>(getLoc(), factor(getLhs(), 0), factor(getRhs(), 1),
                                              getLhsBatch(), getRhsBatch(), getLhsContracting(),
                                              getRhsContracting(), getFullPrecision(),
                                              getWideResult()));
  if (Value bias = getBias()) {
    int64_t columns = tensorType(bias).getRank();
    product = product + product.wrap(bias).broadcast(
                            product.shape(), range(product.rank() - columns, product.rank()));
  }
  results.push_back(product.get());
  return success();
}

LogicalResult GemmOp::differentiate(Gradients &gradients) {
  return differentiateParts(*this, gradients);
}

LogicalResult GemmOp::evaluate(ArrayRef<ReferenceArray> operands,
                               SmallVectorImpl<ReferenceArray> &results) {
  const ReferenceArray *bias = getBias() ? &operands[2] : nullptr;
  if (ArrayAttr views = getViewsAttr())
    results.push_back(evaluateProduct(*this, viewed(operands[0], StridedView::at(views, 0)),
                                      viewed(operands[1], StridedView::at(views, 1)), bias));
  else
    results.push_back(evaluateProduct(*this, operands[0], operands[1], bias));
  return success();
}

/// None of views, which speak of the operands' extents.
SmallVector<ChunkedDimension> GemmOp::getChunkedDimensions() {
  if (getViews())
    return {};
  SmallVector<ChunkedDimension> dimensions = resultDimensions(*this);
  if (!getBias())
    return dimensions;
  int64_t columns = tensorType(getBias()).getRank(),
          rows = static_cast<int64_t>(dimensions.size()) - columns;
  for (auto [d, dimension] : llvm::enumerate(dimensions)) {
    auto column = static_cast<int64_t>(d) - rows;
    dimension.operands.push_back(column >= 0 ? std::optional(column) : std::nullopt);
  }
  return dimensions;
}
