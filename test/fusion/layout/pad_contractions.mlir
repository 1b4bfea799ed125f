// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --pad-contractions="target=cuda tf32=true" | FileCheck %s
// RUN: accc-opt %s --pad-contractions=target=cuda | FileCheck %s --check-prefix=WHOLE
// RUN: accc-opt %s --pad-contractions="target=cpu" | FileCheck %s --check-prefix=WHOLE
// UNSUPPORTED: small-thresholds
// Full f32, and a CPU, take matrices as they are.
// WHOLE-NOT: prim.pad

// The words of a vocabulary: the rows of the logits, and in both products with their gradient those
// of an operand. The weight and the gradient are padded once.
// CHECK-LABEL: @vocabulary
// CHECK: %[[W:.*]] = prim.pad %arg1, %{{.*}} {high = array<i64: 7, 0>, interior = array<i64: 0, 0>, low = array<i64: 0, 0>} : (tensor<50257x768xf32>, tensor<f32>) -> tensor<50264x768xf32>
// CHECK-NEXT: %[[L:.*]] = prim.dot_general %arg0, %[[W]] {{.*}} -> tensor<8x256x50264xf32>
// CHECK-NEXT: %[[Y:.*]] = prim.slice %[[L]] {limits = array<i64: 8, 256, 50257>, starts = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}
// CHECK-NEXT: %[[G:.*]] = prim.neg %[[Y]]
// CHECK: %[[P:.*]] = prim.pad %[[G]], %{{.*}} {high = array<i64: 0, 0, 7>,
// CHECK-NEXT: %[[DX:.*]] = prim.dot_general %[[P]], %[[W]] {{.*}} -> tensor<8x256x768xf32>
// CHECK-NEXT: %[[D:.*]] = prim.dot_general %[[P]], %arg0 {{.*}} -> tensor<50264x768xf32>
// CHECK-NEXT: %[[DW:.*]] = prim.slice %[[D]] {limits = array<i64: 50257, 768>,
// CHECK-NEXT: return %[[DX]], %[[DW]]
func.func @vocabulary(%x: tensor<8x256x768xf32>, %w: tensor<50257x768xf32>) -> (tensor<8x256x768xf32>, tensor<50257x768xf32>) {
  %y = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 1>} : (tensor<8x256x768xf32>, tensor<50257x768xf32>) -> tensor<8x256x50257xf32>
  %g = prim.neg %y : (tensor<8x256x50257xf32>) -> tensor<8x256x50257xf32>
  %dx = prim.dot_general %g, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<8x256x50257xf32>, tensor<50257x768xf32>) -> tensor<8x256x768xf32>
  %dw = prim.dot_general %g, %x {lhs_batch = array<i64>, lhs_contracting = array<i64: 0, 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0, 1>} : (tensor<8x256x50257xf32>, tensor<8x256x768xf32>) -> tensor<50257x768xf32>
  return %dx, %dw : tensor<8x256x768xf32>, tensor<50257x768xf32>
}

// The probabilities of attention over 197 patches: to copy them takes longer.
// CHECK-LABEL: @attention
// CHECK-NOT: prim.pad
func.func @attention(%p: tensor<768x197x197xf32>, %v: tensor<768x197x64xf32>) -> tensor<768x197x64xf32> {
  %0 = prim.dot_general %p, %v {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<768x197x197xf32>, tensor<768x197x64xf32>) -> tensor<768x197x64xf32>
  return %0 : tensor<768x197x64xf32>
}

// Rows of several dimensions have no end at which zeros could stand; f64 has no tensor cores to wait for.
// CHECK-LABEL: @left
// CHECK-NOT: prim.pad
func.func @left(%x: tensor<4096x4096xf32>, %w: tensor<4096x5x1001xf32>, %d: tensor<4096x4096xf64>, %e: tensor<4096x4097xf64>) -> (tensor<4096x5x1001xf32>, tensor<4096x4097xf64>) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4096x4096xf32>, tensor<4096x5x1001xf32>) -> tensor<4096x5x1001xf32>
  %1 = prim.dot_general %d, %e {lhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64>, rhs_contracting = array<i64: 0>} : (tensor<4096x4096xf64>, tensor<4096x4097xf64>) -> tensor<4096x4097xf64>
  return %0, %1 : tensor<4096x5x1001xf32>, tensor<4096x4097xf64>
}

// Every dimension at once, and a batch: a few rows are not worth it, but where thresholds are small.
// CHECK-LABEL: @small
// CHECK-NOT: prim.pad
func.func @small(%x: tensor<5x65x63xf32>, %w: tensor<5x63x61xf32>, %t: tensor<5x63x65xf32>) -> (tensor<5x65x61xf32>, tensor<5x65x61xf32>) {
  %0 = prim.dot_general %x, %w {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 2>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<5x65x63xf32>, tensor<5x63x61xf32>) -> tensor<5x65x61xf32>
  %1 = prim.dot_general %t, %w {lhs_batch = array<i64: 0>, lhs_contracting = array<i64: 1>, rhs_batch = array<i64: 0>, rhs_contracting = array<i64: 1>} : (tensor<5x63x65xf32>, tensor<5x63x61xf32>) -> tensor<5x65x61xf32>
  return %0, %1 : tensor<5x65x61xf32>, tensor<5x65x61xf32>
}
