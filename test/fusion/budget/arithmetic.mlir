// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --form-fusions="target=cuda" --fit-memory="target=cuda budget=93000000" | FileCheck %s
// RUN: accc-opt %s --form-fusions="target=cuda" --fit-memory="target=cuda tf32 budget=93000000" | FileCheck %s --check-prefix=TF32

// Either the product or the sum, 4 MB each, is not kept. The product of 2.1 GFLOP takes as long as 107 MB of memory in
// full f32, as long as 27 MB in TF32; the sum reads 50 MB.

// CHECK-LABEL: func.func @step
// CHECK: prim.dot_general %arg0, %arg0
// CHECK: prim.reduce
// CHECK-NOT: prim.dot_general %arg0, %arg0
// CHECK: prim.reduce
// CHECK: return
// TF32-LABEL: func.func @step
// TF32: prim.dot_general %arg0, %arg0
// TF32: prim.reduce
// TF32-NOT: prim.reduce
// TF32: prim.dot_general %arg0, %arg0
// TF32-NOT: prim.reduce
// TF32: return
func.func @step(%x: tensor<1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "x"},
                %z: tensor<12x1024x1024xf32> {accc.role = #prim.role<input>, accc.name = "z"},
                %w: tensor<1024x4096xf32> {accc.role = #prim.role<input>, accc.name = "w"})
    -> (tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "first"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "narrow"},
        tensor<1024x4xf32> {accc.role = #prim.role<output>, accc.name = "last"}) {
  %u = prim.constant dense<0.5> : tensor<4096x4xf32>
  %v = prim.constant dense<0.5> : tensor<1024x4xf32>
  %a = prim.dot_general %x, %x {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %b = prim.reduce sum %z {dimensions = array<i64: 0>} : (tensor<12x1024x1024xf32>) -> tensor<1024x1024xf32>
  %av = prim.dot_general %a, %v {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %first = prim.dot_general %b, %av {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %wide = prim.dot_general %x, %w {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4096xf32>) -> tensor<1024x4096xf32>
  %narrow = prim.dot_general %wide, %u {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x4096xf32>, tensor<4096x4xf32>) -> tensor<1024x4xf32>
  %an = prim.dot_general %a, %narrow {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  %last = prim.dot_general %b, %an {lhs_batch = array<i64>, rhs_batch = array<i64>, lhs_contracting = array<i64: 1>, rhs_contracting = array<i64: 0>} : (tensor<1024x1024xf32>, tensor<1024x4xf32>) -> tensor<1024x4xf32>
  return %first, %narrow, %last : tensor<1024x4xf32>, tensor<1024x4xf32>, tensor<1024x4xf32>
}
