// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors of the backend interface of the stand-in for libcudnn.so, and what graphs of them
// compute.
#ifndef ACCC_TEST_GPU_STANDIN_CUDNNNODE_H
#define ACCC_TEST_GPU_STANDIN_CUDNNNODE_H

#include "Convolution.h"

#include <cstring>
#include <memory>

namespace standin {

/// An engine by its number. Most are wrong for one reason each; RoundsFactors is right in all but
/// full f32, and Broken cannot be told from a right one before it runs.
enum Engine { Random, Missing, Large, RoundsSums, RoundsFactors, Converts, Right, Broken };

/// What a graph computes.
class Computation {
public:
  virtual ~Computation() = default;
  /// Whether the library has kernels for it.
  virtual bool isSupported() const { return true; }
  virtual void run(const std::map<int64_t, CUdeviceptr> &tensors,
                   const std::map<int64_t, double> &numbers) const = 0;

  /// Of what each execution is given: tensors in the device's memory, and floats in the host's.
  std::vector<int64_t> tensorIds, numberIds;
  /// In bytes, of each of the tensors: what their addresses have been said to be multiples of.
  std::map<int64_t, int64_t> alignments;
};

struct Step; // of CudnnOperations.h

struct Attribute {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;
};

struct Node {
  explicit Node(cudnnBackendDescriptorType_t type) : type(type) {}

  template <typename T> std::vector<T> all(cudnnBackendAttributeName_t name) const {
    auto found = attributes.find(name);
    if (found == attributes.end())
      return {};
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T> std::optional<T> one(cudnnBackendAttributeName_t name) const {
    auto values = all<T>(name);
    return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
  }
  /// Whether the attribute is there and true.
  bool is(cudnnBackendAttributeName_t name) const { return one<char>(name).value_or(0) != 0; }
  /// A descriptor of that type which is finalized; else null.
  const Node *node(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t wanted) const {
    auto found = one<Node *>(name);
    return found && (*found)->finalized && (*found)->type == wanted ? *found : nullptr;
  }

  const cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;
  bool finalized = false;
  std::shared_ptr<const Step> step;               // of an operation but a convolution
  std::shared_ptr<const Computation> computation; // of a convolution, or of what comes of graphs
  Engine engine = Missing;                        // of what the library made
};

/// Whether a convolution's descriptor is right.
bool isConvolution(const Node &node);
/// What a node of a convolution's operation computes; null where its attributes do not fit.
std::shared_ptr<const Computation> convolutionOf(const Node &node);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_CUDNNNODE_H
