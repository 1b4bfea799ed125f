// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Moments.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/BatchNorm.cpp.inc"

namespace {
/// The statistics of a batch. Forward and derivative both compute them, so that
/// common-subexpression elimination merges it.
class Batch {
public:
  template <typename Op>
  Batch(Op op, Tensor x)
      : dimensions(allBut(x.rank(), 1)),
        rows(static_cast<double>(x.size() / std::max<int64_t>(x.dim(1), 1))) {
    if (op.getSynchronized())
      moments = synchronizedMoments(x);
    else
      moments = nn::moments(x, dimensions);
    rstd = rsqrt(moments->var + op.getEpsilon());
  }

  const Moments &getMoments() const { return *moments; }
  Tensor getRstd() const { return *rstd; }

  /// The sum over this process's rows, a value for each channel.
  Tensor sumOf(Tensor x) const { return sum(x, dimensions); }

  /// Of such sums the means over all rows that the statistics are of.
  SmallVector<Tensor> meansOf(ArrayRef<Tensor> sums) const {
    if (!allRows)
      return llvm::map_to_vector(sums, [&](Tensor each) { return each * (1.0 / rows); });
    return llvm::map_to_vector(addUp(sums), [&](Tensor each) { return byAllRows(each); });
  }

  /// v n / (n - 1), of a variance of n rows. One row has no unbiased one.
  Tensor unbiased(Tensor v) const {
    if (!allRows)
      return v * (rows > 1 ? rows / (rows - 1) : 1.0);
    Tensor factor = *allRows / max(*allRows - 1.0, 1.0);
    return v * factor.broadcast(v.shape(), {});
  }

private:
  /// The sums over all processes, exchanged at once.
  static SmallVector<Tensor> addUp(ArrayRef<Tensor> own) {
    Tensor first = own.front();
    SmallVector<Value> inputs(own.begin(), own.end());
    auto sums = first.getBuilder().create<prim::AllReduceOp>(first.getLoc(), inputs, /*sum=*/true);
    return llvm::map_to_vector(sums.getOutputs(), [&](Value each) { return first.wrap(each); });
  }

  Tensor byAllRows(Tensor sum) const { return sum / allRows->broadcast(sum.shape(), {}); }

  /// The number of rows is exchanged, too: processes may have unequal ones.
  Moments synchronizedMoments(Tensor x) {
    Tensor own = x.full(RankedTensorType::get({}, x.elementType()), rows);
    SmallVector<Tensor> sums = addUp({sumOf(x), own});
    allRows = sums[1];
    Tensor mean = byAllRows(sums[0]);
    Tensor centered = x - mean.broadcastAlong(x.shape(), dimensions);
    return {mean, centered, meansOf(sumOf(centered * centered)).front()};
  }

  SmallVector<int64_t> dimensions;
  double rows; // of this process
  std::optional<Tensor> allRows;
  std::optional<Moments> moments;
  std::optional<Tensor> rstd;
};

/// y.
template <typename Op> Tensor normalize(Op op, Tensor x, const Batch &batch) {
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  Tensor factor = batch.getRstd() * operand(op.getScale());
  Tensor y = batch.getMoments().centered * alongChannels(factor, x.shape()) +
             alongChannels(operand(op.getBias()), x.shape());
  return y.convert(typeOf(op.getX()).getElementType());
}

// With n elements a channel, xhat = (x - mean) rstd, all sums over a channel:
//   dbias = sum dy, dscale = sum dy xhat,
//   dx = scale rstd (dy - dbias / n - xhat dscale / n)        (Ioffe and Szegedy, section 3)
// Synchronized, n and the sums of dx are those of all processes. dbias and dscale are averaged with
// the other gradients.
template <typename Op> void pullBack(Op op, Gradients &gradients, Tensor x, const Batch &batch) {
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  auto channels = [&](Tensor vector) { return alongChannels(vector, x.shape()); };
  Tensor dy = operand(gradients.of(op.getY()));
  Tensor xhat = batch.getMoments().centered * channels(batch.getRstd());
  Tensor dbias = batch.sumOf(dy), dscale = batch.sumOf(dy * xhat);
  if (gradients.wants(op.getX())) {
    SmallVector<Tensor> means = batch.meansOf({dbias, dscale});
    Tensor inner = dy - channels(means[0]) - xhat * channels(means[1]);
    addNarrowed(gradients, op.getX(), channels(operand(op.getScale()) * batch.getRstd()) * inner);
  }
  if (gradients.wants(op.getScale()))
    addNarrowed(gradients, op.getScale(), dscale);
  if (gradients.wants(op.getBias()))
    addNarrowed(gradients, op.getBias(), dbias);
}
} // namespace

// ---- batch_norm_training ----

LogicalResult BatchNormTrainingOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                                    Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // batch_norm_c1
  if (failed(checkChannels<BatchNormTrainingOp>(location, adaptor.getOperands(), 2)))
    return failure();
  types.assign({adaptor.getX().getType(), adaptor.getRunningMean().getType(),
                adaptor.getRunningVar().getType()});
  return success();
}

LogicalResult BatchNormTrainingOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  Batch batch(*this, x);
  results.push_back(normalize(*this, x, batch));

  double m = getMomentum();
  auto update = [&](Value running, Tensor sample) {
    Tensor before = x.wrap(running).convert(x.elementType());
    results.push_back((before * (1.0 - m) + sample * m).convert(typeOf(running).getElementType()));
  };
  Tensor var = batch.getMoments().var;
  update(getRunningMean(), batch.getMoments().mean);
  update(getRunningVar(), getUnbiased() ? batch.unbiased(var) : var);
  return success();
}

void BatchNormTrainingOp::getEvaluationValues(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  results.push_back(builder.create<BatchNormInferenceOp>(getLoc(), getX(), getScale(), getBias(),
                                                         getRunningMean(), getRunningVar(),
                                                         getEpsilonAttr()));
  results.append({getRunningMean(), getRunningVar()});
}

// Beside what pullBack says, through the running statistics, whose cotangents are m and v:
//   dx += momentum m / n + 2 momentum v (x - mean) / n, v times n / (n - 1) if unbiased.
LogicalResult BatchNormTrainingOp::differentiate(Gradients &gradients) {
  Tensor x = widen(Tensor(gradients.builder(), getLoc(), getX()));
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  auto channels = [&](Tensor vector) { return alongChannels(vector, x.shape()); };
  Batch batch(*this, x);
  double momentum = getMomentum();

  if (gradients.has(getY()))
    pullBack(*this, gradients, x, batch);
  if (gradients.has(getNewMean())) {
    Tensor m = operand(gradients.of(getNewMean()));
    if (gradients.wants(getX()))
      addNarrowed(gradients, getX(), channels(batch.meansOf(m * momentum).front()));
    if (gradients.wants(getRunningMean()))
      addNarrowed(gradients, getRunningMean(), m * (1.0 - momentum));
  }
  if (gradients.has(getNewVar())) {
    Tensor v = operand(gradients.of(getNewVar()));
    if (gradients.wants(getX())) {
      Tensor mean = batch.meansOf(v * (2.0 * momentum)).front();
      addNarrowed(gradients, getX(),
                  batch.getMoments().centered *
                      channels(getUnbiased() ? batch.unbiased(mean) : mean));
    }
    if (gradients.wants(getRunningVar()))
      addNarrowed(gradients, getRunningVar(), v * (1.0 - momentum));
  }
  return success();
}

// ---- batch_norm_untracked ----

LogicalResult BatchNormUntrackedOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  // batch_norm_c1
  if (failed(checkChannels<BatchNormUntrackedOp>(location, adaptor.getOperands(), 2)))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult BatchNormUntrackedOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  results.push_back(normalize(*this, x, Batch(*this, x)));
  return success();
}

LogicalResult BatchNormUntrackedOp::differentiate(Gradients &gradients) {
  Tensor x = widen(Tensor(gradients.builder(), getLoc(), getX()));
  pullBack(*this, gradients, x, Batch(*this, x));
  return success();
}

// ---- batch_norm_inference ----

LogicalResult BatchNormInferenceOp::inferReturnTypes(MLIRContext *,
                                                     std::optional<Location> location,
                                                     Adaptor adaptor,
                                                     SmallVectorImpl<Type> &types) {
  // batch_norm_c1
  if (failed(checkChannels<BatchNormInferenceOp>(location, adaptor.getOperands(), 2)))
    return failure();
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult BatchNormInferenceOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  Tensor x = widen(Tensor(builder, getLoc(), getX()));
  auto operand = [&](Value value) { return x.wrap(value).convert(x.elementType()); };
  auto channels = [&](Tensor vector) { return alongChannels(vector, x.shape()); };
  Tensor factor = operand(getScale()) * rsqrt(operand(getVar()) + getEpsilon());
  Tensor y = (x - channels(operand(getMean()))) * channels(factor) + channels(operand(getBias()));
  results.push_back(y.convert(getType().getElementType()));
  return success();
}
