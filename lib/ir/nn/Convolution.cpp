// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Rules.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Convolution.cpp.inc"

namespace {
/// convolution_c1, c3 and the parts of c2 that both ops share; `outputs` is O.
template <typename Op>
LogicalResult checkGeometry(std::optional<Location> location, typename Op::Adaptor op,
                            int64_t outputs) {
  auto x = typeOf(op.getX());
  size_t spatial = x.getRank() - 2;
  for (auto [name, entries] : {std::pair<StringRef, ArrayRef<int64_t>>("strides", op.getStrides()),
                               {"dilations", op.getDilations()},
                               {"pad_low", op.getPadLow()},
                               {"pad_high", op.getPadHigh()}})
    if (entries.size() != spatial)
      return prim::inferError<Op>(location, name, " has ", entries.size(), " entries for ", spatial,
                                  " spatial dimensions");
  for (ArrayRef<int64_t> steps : {op.getStrides(), op.getDilations()})
    if (llvm::any_of(steps, [](int64_t step) { return step < 1; }))
      return prim::inferError<Op>(location, "strides and dilations must be at least 1");
  for (Value operand : op.getOperands().drop_front())
    if (typeOf(operand).getElementType() != x.getElementType())
      return prim::inferError<Op>(location, "operands have different element types, ", x, " and ",
                                  operand.getType());
  if (op.getBias() && shapeOf(op.getBias()) != ArrayRef<int64_t>(outputs))
    return prim::inferError<Op>(location, "bias of type ", op.getBias().getType(),
                                " does not have ", outputs, " elements");
  return success();
}

template <typename Op>
LogicalResult checkRanks(std::optional<Location> location, RankedTensorType x, RankedTensorType w) {
  if (x.getRank() < 3 || x.getRank() > 5 || w.getRank() != x.getRank())
    return prim::inferError<Op>(location, "x of type ", x, " and w of type ", w,
                                " do not have the same 1 to 3 spatial dimensions");
  return success();
}

Tensor plusBias(Tensor y, Value bias) {
  return bias ? y + alongChannels(y.wrap(bias), y.shape()) : y;
}
} // namespace

// ---- convolution ----

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                              Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto x = typeOf(adaptor.getX()), w = typeOf(adaptor.getW());
  // convolution_c1, convolution_c3
  if (failed(checkRanks<ConvolutionOp>(location, x, w)) ||
      failed(checkGeometry<ConvolutionOp>(location, adaptor, w.getDimSize(0))))
    return failure();
  // convolution_c2
  int64_t groups = adaptor.getGroups(), channels = x.getDimSize(1), outputs = w.getDimSize(0);
  if (groups < 1 || channels % groups || outputs % groups || w.getDimSize(1) != channels / groups)
    return prim::inferError<ConvolutionOp>(location, groups, " groups do not fit x of type ", x,
                                           " and w of type ", w);
  SmallVector<int64_t> shape{x.getDimSize(0), outputs};
  for (int64_t i = 0, e = x.getRank() - 2; i < e; ++i) {
    int64_t padded = x.getDimSize(i + 2) + adaptor.getPadLow()[i] + adaptor.getPadHigh()[i];
    int64_t reach = (w.getDimSize(i + 2) - 1) * adaptor.getDilations()[i] + 1;
    // convolution_c4
    if (reach < 1 || padded < reach)
      return prim::inferError<ConvolutionOp>(location, "the kernel of w ", w, " does not fit x ", x,
                                             " padded to ", padded, " in spatial dimension ", i);
    shape.push_back((padded - reach) / adaptor.getStrides()[i] + 1);
  }
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult ConvolutionOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  Tensor y = x.wrap(builder.create<prim::ConvolutionOp>(getLoc(), getType(), getX(), getW(),
                                                        getStrides(), getDilations(), getPadLow(),
                                                        getPadHigh(), getGroups()));
  results.push_back(plusBias(y, getBias()));
  return success();
}

// ---- conv_transpose ----

LogicalResult ConvTransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  auto x = typeOf(adaptor.getX()), w = typeOf(adaptor.getW());
  int64_t groups = adaptor.getGroups();
  if (failed(checkRanks<ConvTransposeOp>(location, x, w)))
    return failure();
  // conv_transpose_c2
  if (groups < 1 || x.getDimSize(1) % groups || w.getDimSize(0) != x.getDimSize(1))
    return prim::inferError<ConvTransposeOp>(location, groups, " groups do not fit x of type ", x,
                                             " and w of type ", w);
  int64_t outputs = w.getDimSize(1) * groups;
  // conv_transpose_c1, conv_transpose_c3
  if (failed(checkGeometry<ConvTransposeOp>(location, adaptor, outputs)))
    return failure();
  // conv_transpose_c4
  ArrayRef<int64_t> extra = adaptor.getOutputPadding();
  if (extra.size() != adaptor.getStrides().size())
    return prim::inferError<ConvTransposeOp>(location, "output_padding has ", extra.size(),
                                             " entries for ", adaptor.getStrides().size(),
                                             " spatial dimensions");
  SmallVector<int64_t> shape{x.getDimSize(0), outputs};
  for (int64_t i = 0, e = x.getRank() - 2; i < e; ++i) {
    int64_t stride = adaptor.getStrides()[i];
    if (extra[i] < 0 || extra[i] >= stride)
      return prim::inferError<ConvTransposeOp>(location, "output_padding ", extra[i],
                                               " is outside [0, stride ", stride, ")");
    int64_t reach = (w.getDimSize(i + 2) - 1) * adaptor.getDilations()[i] + 1;
    shape.push_back((x.getDimSize(i + 2) - 1) * stride + reach - adaptor.getPadLow()[i] -
                    adaptor.getPadHigh()[i] + extra[i]);
    if (shape.back() < 0)
      return prim::inferError<ConvTransposeOp>(location, "spatial dimension ", i,
                                               " of the result would be negative");
  }
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult ConvTransposeOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x(builder, getLoc(), getX());
  Tensor y = x.wrap(builder.create<prim::ConvolutionBackwardDataOp>(
      getLoc(), getType(), getX(), getW(), getStrides(), getDilations(), getPadLow(), getPadHigh(),
      getGroups()));
  results.push_back(plusBias(y, getBias()));
  return success();
}
