// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of matrix products, elementwise operations, reductions and reshapes, computed one
// operation after the other, just as they are described: the library knows some of them as a whole,
// which must come to the same.
#ifndef ACCC_TEST_GPU_STANDIN_CUDNNOPERATIONS_H
#define ACCC_TEST_GPU_STANDIN_CUDNNOPERATIONS_H

#include "CudnnNode.h"

namespace standin {

/// An operation that is read from its descriptor; null where its attributes do not fit.
std::shared_ptr<const Step> stepOf(const Node &operation);

/// What the operations of a graph compute together; null where they do not fit each other.
std::shared_ptr<const Computation> computationOf(std::vector<std::shared_ptr<const Step>> steps);

/// Whether the descriptor of an elementwise operation, of a matrix product or of a reduction is
/// right.
bool isPointwise(const Node &node);
bool isMatmul(const Node &node);
bool isReduction(const Node &node);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_CUDNNOPERATIONS_H
