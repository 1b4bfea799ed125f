// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs of one convolution in the stand-in for libcudnn.so.
#include "CudnnNode.h"

#include <algorithm>

namespace standin {

bool isConvolution(const Node &node) {
  auto rank = node.one<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS).value_or(0);
  auto fits = [&](cudnnBackendAttributeName_t name, int64_t least) {
    auto values = node.all<int64_t>(name);
    return int64_t(values.size()) == rank &&
           std::ranges::all_of(values, [&](int64_t value) { return value >= least; });
  };
  return rank >= 2 && fits(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0) &&
         fits(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0) &&
         fits(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) &&
         fits(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) &&
         node.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
             CUDNN_CROSS_CORRELATION &&
         node.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
}

namespace {

using Kind = ConvolutionKind;

struct ConvolutionComputation final : Computation {
  /// `ids` are those of x, w and y.
  ConvolutionComputation(ConvolutionProblem problem, Kind kind, std::vector<int64_t> ids)
      : problem(std::move(problem)), kind(kind) {
    tensorIds = std::move(ids);
  }
  void run(const std::map<int64_t, CUdeviceptr> &at,
           const std::map<int64_t, double> &) const override {
    problem.compute(kind, at.at(tensorIds[0]), at.at(tensorIds[1]), at.at(tensorIds[2]));
  }

  ConvolutionProblem problem;
  Kind kind;
};

/// What an operation's attributes are called.
struct Names {
  Kind kind;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

#define STANDIN_NAMES(kind, direction, x, w, y)                                                    \
  Names {                                                                                          \
    kind, CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##x,                                      \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##w,                                        \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##y,                                        \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_CONV_DESC,                                  \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_ALPHA,                                      \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_BETA                                        \
  }

std::shared_ptr<const Computation> operationOf(const Node &node, const Names &names) {
  const Node *x = node.node(names.x, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *w = node.node(names.w, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *y = node.node(names.y, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *c = node.node(names.convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (!x || !w || !y || !c)
    return nullptr;
  auto typeOf = [](const Node *tensor) {
    return tensor->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  };
  auto type = *elementsOf(*typeOf(x));
  bool isDouble = type == Type::F64;
  if (typeOf(w) != typeOf(x) || typeOf(y) != typeOf(x) ||
      c->one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) !=
          (isDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    return nullptr;
  // Factors are of the type in which it computes.
  auto factor = [&](cudnnBackendAttributeName_t name) -> std::optional<double> {
    if (isDouble)
      return node.one<double>(name);
    return node.one<float>(name);
  };
  if (factor(names.alpha) != 1 || factor(names.beta) != 0)
    return nullptr;
  auto elements = [](const Node *tensor) {
    return Strided{tensor->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                   tensor->all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)};
  };
  auto id = [](const Node *tensor) { return *tensor->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID); };
  auto made = std::make_shared<ConvolutionComputation>(
      ConvolutionProblem{type, elements(x), elements(w), elements(y),
                         c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
                         c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
                         c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
                         c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS)},
      names.kind, std::vector<int64_t>{id(x), id(w), id(y)});
  for (const Node *tensor : {x, w, y})
    made->alignments[id(tensor)] = *tensor->one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT);
  return made->problem.fits() ? made : nullptr;
}

} // namespace

std::shared_ptr<const Computation> convolutionOf(const Node &node) {
  switch (node.type) {
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return operationOf(node, STANDIN_NAMES(Kind::Forward, FORWARD, X, W, Y));
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    return operationOf(node, STANDIN_NAMES(Kind::Data, BWD_DATA, DX, W, DY));
  default:
    return operationOf(node, STANDIN_NAMES(Kind::Weights, BWD_FILTER, X, DW, DY));
  }
}

} // namespace standin
