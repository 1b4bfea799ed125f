// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operators do with the elements that a mask selects: rows of the operators' table name these
// rules. Elementwise operators, and those along other dimensions than the mask's, need none.
#ifndef ACCC_FRONTEND_ATEN_SELECTIONRULES_H
#define ACCC_FRONTEND_ATEN_SELECTIONRULES_H

#include "frontend/aten/OpTable.h"

namespace accc::aten::selected {

// ---- SelectionRules.cpp ----

/// Selects by a mask, x[mask] or x[:, mask], or along another dimension of what one selects.
bool read(SelectedCall &call);
bool readAll(SelectedCall &call);
/// Writes back to where the same mask is true: x[mask] = y.
bool write(SelectedCall &call);
/// The same as masked_scatter(x, mask, y), and its gradient.
bool writeAll(SelectedCall &call);
bool writeAllBackward(SelectedCall &call);

/// What treats all in front of the last dimensions of its input alike: what multiplies or
/// normalizes these, or a sample.
bool linear(SelectedCall &call);
bool normalization(SelectedCall &call);
bool sampleNormalization(SelectedCall &call);
bool convolution(SelectedCall &call);
bool embedding(SelectedCall &call);
bool oneHot(SelectedCall &call);
bool dropout(SelectedCall &call);
/// Two tensors, row by row along another dimension than the mask's.
bool similarity(SelectedCall &call);

/// x[:], which TorchScript has for the first dimension of x[:, 1], slices of other dimensions, and
/// x[:n] of as many elements as a mask selects.
bool slice(SelectedCall &call);
bool unsqueeze(SelectedCall &call);
bool transpose(SelectedCall &call);
bool transposeMatrix(SelectedCall &call);
bool transposeMatrices(SelectedCall &call);
bool permute(SelectedCall &call);
bool broadcastTensors(SelectedCall &call);
/// In reverse order, or several times, along the mask.
bool flip(SelectedCall &call);
bool repeatInterleaved(SelectedCall &call);
/// Tensors side by side along another dimension than the mask's; or one behind the other along it,
/// also of several masks and whole ones.
bool concatenate(SelectedCall &call);
bool stack(SelectedCall &call);

// ---- SelectionPadding.cpp ----

/// With constants around, also as many behind as make a size that does not depend on data.
bool pad(SelectedCall &call);

// ---- SelectionSequences.cpp ----

/// The loss of alignments (CTC) whose labels, those of all sequences one behind the other, a mask
/// selects: as transformers has them, without what pads each row.
bool alignments(SelectedCall &call);

// ---- SelectionProducts.cpp ----

/// Products of matrices of which the mask selects rows or columns, or both of those along which
/// they are multiplied.
bool product(SelectedCall &call);
bool addedProduct(SelectedCall &call);
bool sumOfProducts(SelectedCall &call);
/// Attention of which the mask selects samples, queries, or keys with their values.
bool attention(SelectedCall &call);

// ---- SelectionIndices.cpp ----

/// Where a mask is true.
bool nonzero(SelectedCall &call);
bool nonzeroVectors(SelectedCall &call);
bool whereTrue(SelectedCall &call);
/// x[indices] and x[indices] = y, where a mask selects the indices.
bool readAtSelected(SelectedCall &call);
bool writeAtSelected(SelectedCall &call);
/// With selected indices, or along another dimension than the mask's.
bool indexSelect(SelectedCall &call);

// ---- SelectionScatter.cpp ----

bool addAlong(SelectedCall &call);
/// Writes a number, or slices, at selected indices.
bool writeAlong(SelectedCall &call);
/// The same of elements, each of which has an index: messages along the edges of a graph.
bool addElements(SelectedCall &call);
bool writeElements(SelectedCall &call);
bool readElements(SelectedCall &call);

// ---- SelectionSizes.cpp ----

/// What is made in a given size, of which one extent is how many elements a mask selects; or in a
/// size that is known, of the element type that a selection has.
bool ofSizes(SelectedCall &call);
bool expand(SelectedCall &call);
bool expandAs(SelectedCall &call);
/// The shape [-1, ...], of which the other extents are those of parts of what each element of the
/// mask has behind it; or one with how many elements the mask selects, of which those in front have
/// as many elements as before, and those behind.
bool reshape(SelectedCall &call);
bool flatten(SelectedCall &call);
/// Parts along another dimension than the mask's replaced; or the first elements, by those that are
/// selected.
bool scatterAlong(SelectedCall &call);
/// The gradient of what is read along another dimension than the mask's; or of the first elements,
/// as many as a mask selects.
bool viewBackward(SelectedCall &call);

// ---- SelectionBackward.cpp ----

bool softmaxBackward(SelectedCall &call);
bool normalizationBackward(SelectedCall &call);
bool sampleNormalizationBackward(SelectedCall &call);
bool convolutionBackward(SelectedCall &call);
bool embeddingBackward(SelectedCall &call);

// ---- SelectionReductions.cpp ----

/// What is reduced along dimensions of which that of the mask is one: the neutral element stands
/// for what is not selected.
bool sum(SelectedCall &call);
bool multiplied(SelectedCall &call);
bool any(SelectedCall &call);
bool all(SelectedCall &call);
bool greatest(SelectedCall &call);
bool least(SelectedCall &call);
bool logSumExp(SelectedCall &call);
bool norm(SelectedCall &call);
/// The place among the selected elements.
bool placeOfExtreme(SelectedCall &call);
bool mean(SelectedCall &call);
bool variance(SelectedCall &call);
bool deviation(SelectedCall &call);
/// The same where what is given has an element for each along the mask.
bool softmax(SelectedCall &call);
bool cumulativeSum(SelectedCall &call);
bool cumulativeProduct(SelectedCall &call);

/// A loss that is the mean or the sum of an elementwise function.
bool elementLoss(SelectedCall &call);
/// A loss of scores and classes that leaves a class out.
bool classLoss(SelectedCall &call);
/// Their gradients, one for each element of the mask.
bool elementLossBackward(SelectedCall &call);
bool classLossBackward(SelectedCall &call);

} // namespace accc::aten::selected

#endif
