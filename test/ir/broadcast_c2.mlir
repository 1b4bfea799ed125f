// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @extent(%a: tensor<3x2xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{'prim.broadcast' op operand dimension 1 has extent 2, result dimension 1 has 4}}
  %r = prim.broadcast %a {dimensions = array<i64: 0, 1>} : (tensor<3x2xf32>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
