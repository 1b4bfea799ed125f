// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @table(%a: tensor<1x2x3x4xf32>, %b: tensor<3x4xf32>, %c: tensor<3x4xf32>) -> tensor<1x2x3x4xf32> {
  // expected-error@+1 {{'nn.rotary_embedding' op cos and sin of types 'tensor<3x4xf32>' and 'tensor<3x4xf32>' do not fit x of type 'tensor<1x2x3x4xf32>'}}
  %r = nn.rotary_embedding %a, %b, %c {interleaved = false} : (tensor<1x2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<1x2x3x4xf32>
  return %r : tensor<1x2x3x4xf32>
}
