// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What names of TensorFlow's graphs say.
#include "frontend/onnx/TensorFlowName.h"

#include <catch2/catch.hpp>

using accc::onnx_import::TensorFlowName;

TEST_CASE("variables of TensorFlow are named after what reads them") {
  CHECK(TensorFlowName("model/dense_1/Cast/ReadVariableOp:0").isVariable());
  CHECK(TensorFlowName("model/conv/ReadVariableOp_12:0").isVariable());
  CHECK(TensorFlowName("gru/cell/split/ReadVariableOp/resource:0").isVariable());
  CHECK(!TensorFlowName("model/ReadVariableOp_2/Reshape:1").isConstant());
  for (const char *name :
       {"dense/Reshape:0", "const_fold_opt__12", "ReadVariableOp__3", "", "/", ":0"})
    CHECK(!TensorFlowName(name).isVariable());
}

TEST_CASE("constants of TensorFlow are told from what was computed of variables") {
  for (const char *name : {"layer/add/y:0", "layer/Const:0", "layer/Const_2:0", "gru/zeros:0", "x"})
    CHECK(TensorFlowName(name).isConstant());
  for (const char *name : {"layer/mul:0", "layer/mul_1:0", "Exp", "Const__12", "layer/y/Neg:0"})
    CHECK(!TensorFlowName(name).isConstant());
  CHECK(TensorFlowName("conv2d_1/Squeeze:0").isRearranged());
  CHECK(TensorFlowName("norm/Reshape_1:0").isRearranged());
  CHECK(!TensorFlowName("Squeeze__12").isRearranged());
  CHECK(TensorFlowName("const_fold_opt__12").isOfConverter());
  CHECK(!TensorFlowName("layer/mul_12:0").isOfConverter());
}

TEST_CASE("what TensorFlow folds and draws, and where") {
  CHECK(TensorFlowName("conv/convolution/merged_input:0").isFoldedConvolution());
  CHECK(TensorFlowName("conv/Conv2D_weights_fused_bn").isFoldedConvolution());
  CHECK(TensorFlowName("a/batch_norm_1/batchnorm/mul:0").isOfBatchNorm());
  CHECK(!TensorFlowName("a/batchnorm:0").isOfBatchNorm());
  CHECK(TensorFlowName("a/batch_norm_1/batchnorm/mul:0").scope() == "a/batch_norm_1");
  CHECK(TensorFlowName("a/norm/moments/mean:0").isOfMoments());
  CHECK(TensorFlowName("a/dropout_1/stateless_dropout/GreaterEqual:0").isDrawn());
  CHECK(TensorFlowName("a/dropout_1/stateless_dropout/GreaterEqual:0").scope() ==
        "a/dropout_1/stateless_dropout");
  CHECK(TensorFlowName("noise/stateless_random_normal:0").isDrawn());
  CHECK(!TensorFlowName("random_dense/Cast/ReadVariableOp:0").isDrawn());
  CHECK(!TensorFlowName("stateless_dropout/ReadVariableOp:0").isDrawn());
  CHECK(TensorFlowName("mul:0").scope() == "mul:0");
}
