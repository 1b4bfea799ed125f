// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions=target=cuda | FileCheck %s
// UNSUPPORTED: small-thresholds

// A row of logits is too long for registers. To write exponentials, the first kernel would walk it
// once more behind the maximum; the second computes them again.
// CHECK-LABEL: @long_rows
// CHECK: prim.fusion reduce {{.*}} : (tensor<8x50257xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: prim.fusion reduce {{.*}}(%arg0,
func.func @long_rows(%x: tensor<8x50257xf32>) -> (tensor<8xf32>, tensor<50257xf32>) {
  %m = prim.reduce max %x {dimensions = array<i64: 1>} : (tensor<8x50257xf32>) -> tensor<8xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x50257xf32>
  %d = prim.sub %x, %b : (tensor<8x50257xf32>, tensor<8x50257xf32>) -> tensor<8x50257xf32>
  %e = prim.exp %d : (tensor<8x50257xf32>) -> tensor<8x50257xf32>
  %s = prim.reduce sum %e {dimensions = array<i64: 1>} : (tensor<8x50257xf32>) -> tensor<8xf32>
  %c = prim.broadcast %s {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8x50257xf32>
  %p = prim.div %e, %c : (tensor<8x50257xf32>, tensor<8x50257xf32>) -> tensor<8x50257xf32>
  %g = prim.reduce sum %p {dimensions = array<i64: 0>} : (tensor<8x50257xf32>) -> tensor<50257xf32>
  return %s, %g : tensor<8xf32>, tensor<50257xf32>
}

// A short row stays in registers.
// CHECK-LABEL: @short_rows
// CHECK: prim.fusion reduce {{.*}} : (tensor<64x1024xf32>) -> ({{.*}}tensor<64x1024xf32>
func.func @short_rows(%x: tensor<64x1024xf32>) -> (tensor<64xf32>, tensor<1024xf32>) {
  %m = prim.reduce max %x {dimensions = array<i64: 1>} : (tensor<64x1024xf32>) -> tensor<64xf32>
  %b = prim.broadcast %m {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1024xf32>
  %d = prim.sub %x, %b : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %e = prim.exp %d : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %s = prim.reduce sum %e {dimensions = array<i64: 1>} : (tensor<64x1024xf32>) -> tensor<64xf32>
  %c = prim.broadcast %s {dimensions = array<i64: 0>} : (tensor<64xf32>) -> tensor<64x1024xf32>
  %p = prim.div %e, %c : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %g = prim.reduce sum %p {dimensions = array<i64: 0>} : (tensor<64x1024xf32>) -> tensor<1024xf32>
  return %s, %g : tensor<64xf32>, tensor<1024xf32>
}
