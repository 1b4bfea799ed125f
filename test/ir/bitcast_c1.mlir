// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -verify-diagnostics

func.func @widths(%a: tensor<4xf32>) -> tensor<4xi16> {
  // expected-error@+1 {{element types 'f32' and 'i16' differ in width}}
  %r = prim.bitcast %a : (tensor<4xf32>) -> tensor<4xi16>
  return %r : tensor<4xi16>
}
