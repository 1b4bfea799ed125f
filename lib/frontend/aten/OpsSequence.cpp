// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sequences of several lengths in one tensor: a loss, and reductions.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A length for each sequence, of a tensor or a list.
Tensor lengthsIn(Node &node, StringRef name, int64_t count) {
  if (!node.isTensor(name))
    return node.integers(node.integers(name, static_cast<size_t>(count)), {count});
  return node.reshape(node.indexIn(name), {count}).convert(node.builder().getI64Type());
}

/// log(e^a + e^b + ...), whose gradient is 0 where all are -inf.
Tensor logSum(ArrayRef<Tensor> terms) {
  Tensor greatest = terms.front();
  for (Tensor term : terms.drop_front())
    greatest = prim::max(greatest, term);
  greatest = detach(prim::select(prim::isFinite(greatest), greatest, greatest.full(0.0)));
  Tensor sum = prim::exp(terms.front() - greatest);
  for (Tensor term : terms.drop_front())
    sum = sum + prim::exp(term - greatest);
  Tensor isNone = prim::equal(sum, 0.0);
  Tensor logarithm = prim::log(prim::select(isNone, sum.full(1.0), sum));
  return prim::select(isNone, sum.full(-kInfinity), logarithm + greatest);
}

/// Of each sequence its labels with a blank before, between and behind them, [N, 2 S + 1]. The
/// labels are rows [N, S], or one behind the other, as long as each sequence is.
Tensor withBlanks(Node &node, Tensor targets, Tensor lengths, int64_t longest, int64_t blank) {
  int64_t count = lengths.size();
  SmallVector<int64_t> shape = {count, 2 * longest + 1}, pairs = {count, count};
  Tensor blanks = lengths.full(static_cast<double>(blank)).broadcast(shape, {0});
  if (longest == 0)
    return blanks;
  Tensor start = node.iota({count}, 0) * static_cast<double>(longest);
  if (targets.rank() == 1) {
    Tensor isBefore = node.iota(pairs, 1) < node.iota(pairs, 0);
    Tensor each = lengths.broadcast(pairs, {1});
    start = prim::sum(prim::select(isBefore, each, each.full(0.0)), {1});
    // There are as many labels as the sequences take, or the step ends with a data error.
    double given = static_cast<double>(longest);
    Tensor isOther = prim::notEqual(prim::sum(lengths, {0}), given).broadcast({count}, {});
    start = prim::select(isOther, start.full(given), start);
  }
  Tensor place = node.iota(shape, 1), number = place / 2.0;
  Tensor isLabel = prim::bitAnd(prim::equal(prim::rem(place, place.full(2.0)), 1.0),
                                number < lengths.broadcast(shape, {0}));
  Tensor at = start.broadcast(shape, {0}) + number;
  Tensor label = flat(targets).gather(prim::select(isLabel, at, at.full(0.0)), 0);
  return prim::select(isLabel, label, blanks);
}

/// The loss of each sequence, infinite where no path spells the labels, and the logarithms of the
/// sums over the beginnings of paths, [N, T, 2 S + 1], which are right as far as a sequence goes.
struct Alignments {
  Tensor loss, beginnings;
};

/// Connectionist temporal classification (Graves et al., 2006): the negative logarithm of the sum
/// over all paths that spell the labels with blanks between them, by the recurrence of their
/// section 4.1.
Alignments alignments(Node &node) {
  Tensor x = node.floatIn("log_probs"), targets = node.indexIn("targets");
  bool isSingle = x.rank() == 2;
  if (isSingle)
    x = x.reshape({x.dim(0), 1, x.dim(1)});
  if (x.rank() != 3 || targets.rank() < 1 || targets.rank() > 2)
    fail("log_probs of shape " + show(x.shape()) + " and targets of shape " +
         show(targets.shape()));
  int64_t times = x.dim(0), count = x.dim(1), classes = x.dim(2), blank = node.integer("blank");
  if (blank < 0 || blank >= classes)
    fail("the blank " + Twine(blank) + " is none of " + Twine(classes) + " classes");
  if (targets.rank() == 2 && targets.dim(0) != count)
    fail("targets of shape " + show(targets.shape()) + " for " + Twine(count) + " sequences");
  targets = targets.convert(node.builder().getI64Type());
  Tensor inputLengths = lengthsIn(node, "input_lengths", count);
  Tensor lengths = lengthsIn(node, "target_lengths", count);
  int64_t longest = targets.dim(-1), states = 2 * longest + 1;
  Tensor label = withBlanks(node, targets, lengths, longest, blank);

  // The logarithm of each state's label at each time, [T, N, states].
  SmallVector<int64_t> all = {times, count, states}, one = {count, states};
  Tensor wide = label.broadcast(all, {1, 2});
  Tensor row = (node.iota(all, 0) * static_cast<double>(count) + node.iota(all, 1)) *
               static_cast<double>(classes);
  Tensor emitted = flat(x).gather(whereInside(wide, classes, row + wide), 0);

  // A state follows itself and the one before; that before a blank only where the labels differ.
  // Behind the end of a sequence every state stays as it is. Row 0 is before the first time.
  Tensor none = emitted.full(-kInfinity);
  Tensor goesOn = node.iota(all, 0) < inputLengths.broadcast(all, {1});
  SmallVector<Tensor> steps = {prim::select(goesOn, emitted, emitted.full(0.0))};
  Tensor following = prim::select(goesOn, emitted, none);
  if (states > 1)
    steps.push_back(following);
  if (states > 2) {
    Tensor skips = prim::notEqual(label, label.pad(static_cast<double>(blank), {0, 2}, {0, -2}));
    steps.push_back(prim::select(skips.broadcast(all, {1, 2}), following, none));
  }
  for (Tensor &step : steps)
    step = step.transpose({1, 0, 2})
               .pad(0.0, {0, 1, 0}, {0, 0, 0})
               .reshape({count, 1, times + 1, states});
  SmallVector<int64_t> rows = {count, times + 1, states};
  Tensor isStart = prim::equal(node.iota(rows, 1) + node.iota(rows, 2), 0.0);
  Tensor paths = prim::select(isStart, 0.0, node.full(rows, x.elementType(), -kInfinity));
  paths = node.make<prim::LogRecurrenceOp>({paths, node.concatenate(steps, 1)});

  // A path ends at the last label or at the blank behind it.
  Tensor last = lengths * 2.0;
  Tensor start = node.iota({count}, 0) * static_cast<double>((times + 1) * states);
  start = start + static_cast<double>(times * states);
  Tensor end = whereInside(inputLengths, times + 1, whereInside(last, states, start + last));
  Tensor isEmpty = prim::equal(lengths, 0.0);
  Tensor atBlank = flat(paths).gather(end, 0);
  Tensor atLabel = flat(paths).gather(prim::select(isEmpty, end, end - 1.0), 0);
  Tensor loss = -logSum({atBlank, prim::select(isEmpty, atLabel.full(-kInfinity), atLabel)});

  // PyTorch's gradient is that of the scores before a log_softmax: e^x more than the derivative,
  // which a log_softmax takes away again. That of an infinite loss is NaN.
  Tensor isRead = node.iota(x.shape(), 0) < inputLengths.broadcast(x.shape(), {1});
  Tensor total = prim::sum(prim::select(isRead, prim::exp(x), x.full(0.0)), {0, 2});
  Tensor isInfinite = prim::equal(loss, kInfinity);
  if (!node.boolean("zero_infinity"))
    total = total * prim::select(isInfinite, total.full(std::nan("")), total.full(1.0));
  loss = node.make<nn::StraightThroughOp>({loss, loss + total});
  paths = paths.sliceDim(1, 1, times + 1);
  if (isSingle)
    return {loss.reshape({}), paths.reshape({times, states})};
  return {loss, paths};
}

/// The loss of each sequence; with `zero_infinity` 0 where it is infinite, and so its gradient.
Tensor lossesOfEach(Node &node) {
  Tensor loss = alignments(node).loss;
  if (node.boolean("zero_infinity"))
    loss = prim::select(prim::equal(loss, kInfinity), loss.full(0.0), loss);
  return loss;
}

Entities ctcLoss(Node &node) {
  Tensor loss = lossesOfEach(node);
  int64_t reduction = node.integer("reduction"), count = loss.size();
  if (reduction == 0)
    return {loss};
  loss = loss.reshape({count});
  if (reduction != 1)
    return {prim::sum(loss, {0})};
  Tensor lengths = prim::max(lengthsIn(node, "target_lengths", count), 1.0);
  return {prim::mean(loss / lengths.convert(loss.elementType()), {0})};
}

/// Of each sequence, before `zero_infinity`, and what its gradient reads.
Entities ctcAlignments(Node &node) {
  auto [loss, beginnings] = alignments(node);
  return {loss, beginnings};
}

Entities ctcBackward(Node &node) {
  auto each = [](Node &forward) -> Entities { return {lossesOfEach(forward)}; };
  return {pullBack(node, each, {{"log_probs", node.floatIn("log_probs")}}, node.floatIn("grad"))
              .front()};
}

// ---- segments ----

/// Where each segment starts and ends, [matrices, segments].
std::pair<Tensor, Tensor> segmentBounds(Node &node, Tensor x, int64_t axis) {
  if (node.has("lengths") == node.has("offsets"))
    fail("segments are given by 'lengths' or by 'offsets'");
  bool hasLengths = node.has("lengths");
  Tensor given = node.indexIn(hasLengths ? "lengths" : "offsets");
  given = given.convert(node.builder().getI64Type());
  if (given.rank() != axis + 1 || given.shape().drop_back() != x.shape().take_front(axis) ||
      (!hasLengths && given.dim(-1) == 0))
    fail("segments of shape " + show(given.shape()) + " for data of shape " + show(x.shape()) +
         " along the dimension " + Twine(axis));
  int64_t count = given.dim(-1);
  given = given.reshape({ReferenceArray::count(x.shape().take_front(axis)), count});
  if (!hasLengths)
    return {given.sliceDim(1, 0, count - 1), given.sliceDim(1, 1, count)};
  Tensor ends = prim::cumulative(prim::ReduceKind::sum, given, 1);
  return {ends - given, ends};
}

/// Reductions of neighbours along a dimension, as many each time as the lengths say.
Entities segmentReduce(Node &node) {
  Tensor x = node.floatIn("data");
  int64_t axis = node.dim("axis", x);
  std::string name = node.string("reduce");
  auto kind = llvm::StringSwitch<std::optional<prim::ReduceKind>>(name)
                  .Cases("sum", "mean", prim::ReduceKind::sum)
                  .Case("prod", prim::ReduceKind::prod)
                  .Case("max", prim::ReduceKind::max)
                  .Case("min", prim::ReduceKind::min)
                  .Default(std::nullopt);
  if (!kind || node.has("indices"))
    fail(kind ? "'indices' are not supported" : "the reduction '" + name + "' is unknown");
  auto [starts, ends] = segmentBounds(node, x, axis);
  int64_t outer = starts.dim(0), segments = starts.dim(1), length = x.dim(axis);
  int64_t inner = ReferenceArray::count(x.shape().drop_front(axis + 1));

  SmallVector<int64_t> places = {outer, segments, length}, all = {outer, segments, length, inner};
  Tensor place = node.iota(places, 2);
  Tensor isIn = prim::bitAnd(place >= starts.broadcast(places, {0, 1}),
                             place < ends.broadcast(places, {0, 1}));
  double none = name == "prod" ? 1.0 : name == "max" ? -kInfinity : name == "min" ? kInfinity : 0.0;
  Tensor wide = x.reshape({outer, length, inner}).broadcast(all, {0, 2, 3});
  wide = prim::select(isIn.broadcast(all, {0, 1, 2}), wide, wide.full(none));
  Tensor result = prim::reduce(*kind, wide, {2});

  if (node.has("initial")) {
    double initial = node.number("initial");
    if (name == "prod")
      result = result * initial;
    else if (name == "max")
      result = prim::select(result < initial, result.full(initial), result);
    else if (name == "min")
      result = prim::select(result > initial, result.full(initial), result);
    else
      result = result + initial;
  }
  if (name == "mean") {
    Tensor count = (ends - starts).convert(x.elementType()).broadcast(result.shape(), {0, 1});
    Tensor isEmpty = prim::equal(count, 0.0);
    Tensor ofNone = node.has("initial") ? result : result.full(std::nan(""));
    result = prim::select(isEmpty, ofNone, result / prim::max(count, 1.0));
  }
  SmallVector<int64_t> shape(x.shape());
  shape[axis] = segments;
  return {result.reshape(shape)};
}

} // namespace

ArrayRef<OpRow> accc::aten::sequenceOps() {
  static const OpRow rows[] = {
      {"ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction=1, "
       "zero_infinity=False)",
       ctcLoss, Alias::None, selected::alignments},
      {"_ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False)",
       ctcAlignments, Alias::None, selected::alignments},
      {"_ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, "
       "neg_log_likelihood, log_alpha, blank, zero_infinity=False)",
       ctcBackward, Alias::None, selected::alignments},
      {"segment_reduce(data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, "
       "unsafe=False, initial=None)",
       segmentReduce},
  };
  return rows;
}
