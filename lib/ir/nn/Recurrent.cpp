// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/nn/Sequence.h"

using namespace mlir;
using namespace accc;
using namespace accc::nn;
using accc::prim::Tensor;

#define GET_OP_CLASSES
#include "ir/nn/Recurrent.cpp.inc"

namespace {
/// Types of y and of the final states, after checking every operand against Recurrent.td's table.
template <typename Op>
LogicalResult inferRecurrent(std::optional<Location> location, typename Op::Adaptor op,
                             int64_t gates, ArrayRef<std::pair<StringRef, Value>> states,
                             Value peepholes, SmallVectorImpl<Type> &types) {
  auto x = typeOf(op.getX()), r = typeOf(op.getR());
  if (x.getRank() != 3 || r.getRank() != 3)
    return prim::inferError<Op>(location, "x of type ", x, " and r of type ", r,
                                " do not have rank 3");
  SequenceShape s = SequenceShape::of(op);
  if (s.steps < 1)
    return prim::inferError<Op>(location, "x of type ", x, " has no steps");
  auto check = [&](StringRef name, Value value, ArrayRef<int64_t> shape) -> LogicalResult {
    auto expected = x.clone(shape);
    if (value && value.getType() != expected)
      return prim::inferError<Op>(location, name, " has type ", value.getType(), ", expected ",
                                  expected);
    return success();
  };
  int64_t rows = gates * s.hidden;
  if (failed(check("w", op.getW(), {s.directions, rows, s.inputs})) ||
      failed(check("r", op.getR(), {s.directions, rows, s.hidden})) ||
      failed(check("b", op.getB(), {s.directions, 2 * rows})) ||
      failed(check("p", peepholes, {s.directions, 3 * s.hidden})))
    return failure();
  for (auto [name, state] : states)
    if (failed(check(name, state, s.state())))
      return failure();
  types.push_back(x.clone(s.output()));
  types.append(states.size(), x.clone(s.state()));
  return success();
}

/// Both halves of a bias [2 K], the input's and the state's.
std::pair<Tensor, Tensor> halves(Tensor b) {
  int64_t half = b.dim(0) / 2;
  return {b.sliceDim(0, 0, half), b.sliceDim(0, half, 2 * half)};
}
/// Their sum, where the cell adds both in the same place.
std::optional<Tensor> wholeBias(const Sequence &sequence, Value b) {
  if (!b)
    return std::nullopt;
  auto [input, state] = halves(sequence.own(b));
  return input + state;
}
} // namespace

// ---- lstm ----

LogicalResult LstmOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // lstm_c1
  return inferRecurrent<LstmOp>(
      location, adaptor, 4,
      {{"initial_h", adaptor.getInitialH()}, {"initial_c", adaptor.getInitialC()}}, adaptor.getP(),
      types);
}

namespace {
/// One step of one direction; gate values are after their activations.
struct LstmStep {
  Tensor previousH, previousC, i, o, f, g, c, tanhC, h;
};

/// Gate k of the peepholes [3 H], repeated for the batch.
Tensor peephole(const Sequence &sequence, Value p, int64_t k) {
  return sequence.gate(sequence.own(p), k)
      .broadcast({sequence.shape.batch, sequence.shape.hidden}, {1});
}

/// The steps in time's order. Forward and derivative both call it, so that common-subexpression
/// elimination merges them.
SmallVector<LstmStep> unroll(LstmOp op, const Sequence &sequence) {
  Tensor projected =
      sequence.project(sequence.ownFactor(op.getW()), wholeBias(sequence, op.getB()));
  Tensor r = sequence.ownFactor(op.getR());
  Tensor h = sequence.ownState(op.getInitialH()), c = sequence.ownState(op.getInitialC());
  Value p = op.getP();
  SmallVector<LstmStep> steps(sequence.shape.steps, LstmStep{h, c, h, h, h, h, c, c, h});
  for (int64_t t : sequence.order()) {
    Tensor a = sequence.step(projected, t) + sequence.recur(h, r);
    auto gate = [&](int64_t k) { return sequence.gate(a, k); };
    Tensor i = logistic(p ? gate(0) + peephole(sequence, p, 0) * c : gate(0));
    Tensor f = logistic(p ? gate(2) + peephole(sequence, p, 2) * c : gate(2));
    Tensor g = tanh(gate(3));
    Tensor newC = f * c + i * g;
    Tensor o = logistic(p ? gate(1) + peephole(sequence, p, 1) * newC : gate(1));
    Tensor tanhC = tanh(newC);
    Tensor newH = o * tanhC;
    steps[t] = {h, c, i, o, f, g, newC, tanhC, newH};
    h = newH;
    c = newC;
  }
  return steps;
}
} // namespace

LogicalResult LstmOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  SmallVector<Tensor> outputs, finalH, finalC;
  SequenceShape shape = SequenceShape::of(*this);
  for (int64_t d = 0; d < shape.directions; ++d) {
    Sequence sequence(*this, builder, d);
    SmallVector<LstmStep> steps = unroll(*this, sequence);
    SmallVector<Tensor> hs;
    for (const LstmStep &step : steps)
      hs.push_back(step.h);
    outputs.push_back(Sequence::stack(hs));
    const LstmStep &last = steps[sequence.order().back()];
    finalH.push_back(last.h);
    finalC.push_back(last.c);
  }
  Sequence first(*this, builder, 0);
  results.assign({first.joinOutputs(outputs), first.joinStates(finalH), first.joinStates(finalC)});
  return success();
}

// Backpropagation through time. Per step, with the cotangents dh and dc of what it hands on:
//   do = dh tanh c, dc += dh o (1 - tanh^2 c), di = dc g, dg = dc i, df = dc c_previous;
//   da = the same times the activations' slopes, dh_previous = da r, dc_previous = dc f.
// The steps' da are then stacked, so that each weight's gradient, and x's, is one product over all
// steps and not a sum of T small ones.
LogicalResult LstmOp::differentiate(Gradients &gradients) {
  OpBuilder &builder = gradients.builder();
  SmallVector<Tensor> dws, drs, dbs, dps, dhs, dcs;
  std::optional<Tensor> dx;
  SequenceShape shape = SequenceShape::of(*this);
  Value p = getP();
  for (int64_t d = 0; d < shape.directions; ++d) {
    Sequence sequence(*this, builder, d);
    SmallVector<LstmStep> steps = unroll(*this, sequence);
    Tensor w = sequence.ownFactor(getW()), r = sequence.ownFactor(getR());
    Tensor dy = sequence.ownOutput(gradients.of(getY()));
    Tensor dh = sequence.ownState(gradients.of(getYH())),
           dc = sequence.ownState(gradients.of(getYC()));
    SmallVector<Tensor> das(shape.steps, dh);
    SmallVector<int64_t> order = sequence.order();
    for (int64_t t : llvm::reverse(order)) {
      const LstmStep &s = steps[t];
      auto throughLogistic = [](Tensor dGate, Tensor gate) {
        return dGate * (gate * (1.0 - gate));
      };
      Tensor total = dh + sequence.step(dy, t);
      Tensor dao = throughLogistic(total * s.tanhC, s.o);
      dc = dc + total * s.o * (1.0 - s.tanhC * s.tanhC);
      if (p)
        dc = dc + dao * peephole(sequence, p, 1);
      Tensor dai = throughLogistic(dc * s.g, s.i), daf = throughLogistic(dc * s.previousC, s.f);
      Tensor dag = dc * s.i * (1.0 - s.g * s.g);
      das[t] = prim::concatenate({dai, dao, daf, dag}, 1);
      dc = dc * s.f;
      if (p)
        dc = dc + dai * peephole(sequence, p, 0) + daf * peephole(sequence, p, 2);
      dh = wideDotGeneral(sequence.asFactor(das[t]), r, {}, {}, {1}, {0});
    }
    dhs.push_back(dh);
    dcs.push_back(dc);

    auto stackOf = [&](auto member) {
      SmallVector<Tensor> values;
      for (const LstmStep &step : steps)
        values.push_back(step.*member);
      return Sequence::stack(values);
    };
    Tensor da = Sequence::stack(das), factor = sequence.asFactor(da);
    if (gradients.wants(getX())) {
      Tensor part = wideDotGeneral(factor, w, {}, {}, {2}, {0});
      dx = dx ? *dx + part : part;
    }
    if (gradients.wants(getW()))
      dws.push_back(dotGeneral(factor, sequence.input(), {}, {}, {0, 1}, {0, 1}));
    if (gradients.wants(getR()))
      drs.push_back(dotGeneral(factor, sequence.asFactor(stackOf(&LstmStep::previousH)), {}, {},
                               {0, 1}, {0, 1}));
    if (getB() && gradients.wants(getB())) {
      Tensor db = sum(da, {0, 1});
      dbs.push_back(prim::concatenate({db, db}, 0));
    }
    if (p && gradients.wants(p)) {
      Tensor previousC = stackOf(&LstmStep::previousC), c = stackOf(&LstmStep::c);
      auto slope = [&](int64_t gate, Tensor state) {
        return sum(sequence.gate(da, gate) * state, {0, 1});
      };
      dps.push_back(prim::concatenate({slope(0, previousC), slope(1, c), slope(2, previousC)}, 0));
    }
  }
  Sequence first(*this, builder, 0);
  if (gradients.wants(getX()))
    addNarrowed(gradients, getX(), first.timeMajor(*dx));
  auto addJoined = [&](Value operand, ArrayRef<Tensor> directions) {
    if (!directions.empty())
      addNarrowed(gradients, operand, joinDirections(directions));
  };
  addJoined(getW(), dws);
  addJoined(getR(), drs);
  addJoined(getB(), dbs);
  addJoined(p, dps);
  if (getInitialH() && gradients.wants(getInitialH()))
    gradients.add(getInitialH(), first.joinStates(dhs));
  if (getInitialC() && gradients.wants(getInitialC()))
    gradients.add(getInitialC(), first.joinStates(dcs));
  return success();
}

// ---- gru, rnn ----

namespace {
/// Runs a cell of one state, h = cell(sequence, projection of x at t, h), over all directions.
template <typename Op, typename Prepare>
LogicalResult decomposeRecurrent(Op op, OpBuilder &builder, SmallVectorImpl<Value> &results,
                                 Prepare prepare) {
  SmallVector<Tensor> outputs, finalH;
  for (int64_t d = 0; d < SequenceShape::of(op).directions; ++d) {
    Sequence sequence(op, builder, d);
    auto cell = prepare(sequence);
    Tensor h = sequence.ownState(op.getInitialH());
    SmallVector<Tensor> hs(sequence.shape.steps, h);
    for (int64_t t : sequence.order()) {
      h = cell(t, h);
      hs[t] = h;
    }
    outputs.push_back(Sequence::stack(hs));
    finalH.push_back(h);
  }
  Sequence first(op, builder, 0);
  results.assign({first.joinOutputs(outputs), first.joinStates(finalH)});
  return success();
}
} // namespace

LogicalResult GruOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // gru_c1
  return inferRecurrent<GruOp>(location, adaptor, 3, {{"initial_h", adaptor.getInitialH()}},
                               Value(), types);
}

LogicalResult GruOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  int64_t hidden = SequenceShape::of(*this).hidden;
  return decomposeRecurrent(*this, builder, results, [&](const Sequence &sequence) {
    Tensor w = sequence.ownFactor(getW()), r = sequence.ownFactor(getR());
    Tensor rzr = r.sliceDim(0, 0, 2 * hidden), rn = r.sliceDim(0, 2 * hidden, 3 * hidden);
    // The state's bias of n is inside what the reset gate scales, if that comes after the product.
    std::optional<Tensor> bias, resetBias;
    if (getB()) {
      auto [input, state] = halves(sequence.own(getB()));
      bias = input + state;
      if (getLinearBeforeReset()) {
        Tensor head = state.sliceDim(0, 0, 2 * hidden);
        resetBias = state.sliceDim(0, 2 * hidden, 3 * hidden);
        bias = input + prim::concatenate({head, resetBias->full(0.0)}, 0);
      }
    }
    Tensor projected = sequence.project(w, bias);
    return [=, this, &sequence](int64_t t, Tensor h) {
      Tensor a = sequence.step(projected, t);
      Tensor an = sequence.gate(a, 2);
      Tensor state = sequence.recur(h, getLinearBeforeReset() ? r : rzr);
      Tensor z = logistic(sequence.gate(a, 0) + sequence.gate(state, 0));
      Tensor reset = logistic(sequence.gate(a, 1) + sequence.gate(state, 1));
      Tensor fromState = an;
      if (getLinearBeforeReset()) {
        fromState = sequence.gate(state, 2);
        if (resetBias)
          fromState = fromState + resetBias->broadcastTo(fromState.shape());
        fromState = reset * fromState;
      } else {
        fromState = sequence.recur(reset * h, rn);
      }
      Tensor n = tanh(an + fromState);
      return (1.0 - z) * n + z * h;
    };
  });
}

LogicalResult RnnOp::inferReturnTypes(MLIRContext *, std::optional<Location> location,
                                      Adaptor adaptor, SmallVectorImpl<Type> &types) {
  // rnn_c1
  return inferRecurrent<RnnOp>(location, adaptor, 1, {{"initial_h", adaptor.getInitialH()}},
                               Value(), types);
}

LogicalResult RnnOp::decompose(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  return decomposeRecurrent(*this, builder, results, [&](const Sequence &sequence) {
    Tensor projected = sequence.project(sequence.ownFactor(getW()), wholeBias(sequence, getB()));
    Tensor r = sequence.ownFactor(getR());
    return [=, this, &sequence](int64_t t, Tensor h) {
      Tensor a = sequence.step(projected, t) + sequence.recur(h, r);
      return getRelu() ? max(a, 0.0) : tanh(a);
    };
  });
}
