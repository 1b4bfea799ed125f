// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --sort-scatters=target=cuda | FileCheck %s
// RUN: accc-opt %s --sort-scatters=target=cuda --split-sorts=target=cuda --form-fusions=target=cuda | FileCheck %s --check-prefix=FUSED
// RUN: accc-opt %s --sort-scatters | FileCheck %s --check-prefix=CPU
// UNSUPPORTED: small-thresholds

// Messages along the edges of a graph: two scatters by the same indices share their order, in which each kernel reads its
// updates where they lie.
// CHECK-LABEL: @edges
// CHECK: %[[SORTED:.*]], %[[ORDER:.*]] = prim.sort %{{.*}} {descending = false, dimension = 0 : i64} : (tensor<60000xi64>)
// CHECK: %[[A:.*]] = prim.gather %{{.*}}, %[[ORDER]] {axis = 0 : i64} : (tensor<60000x2xf32>, tensor<60000xi64>) -> tensor<60000x2xf32>
// CHECK: prim.scatter %{{.*}}, %[[SORTED]], %[[A]] {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind add>}
// CHECK-NOT: prim.sort
// CHECK: %[[B:.*]] = prim.gather %{{.*}}, %[[ORDER]] {axis = 0 : i64} : (tensor<60000xf32>, tensor<60000xi64>) -> tensor<60000xf32>
// CHECK: prim.scatter %{{.*}}, %[[SORTED]], %[[B]] {axis = 0 : i64, indices_are_sorted, kind = #prim<scatter_kind max>}
// FUSED-LABEL: @edges
// FUSED: prim.fusion scatter "gather_scatter"
// FUSED: prim.fusion scatter "gather_scatter"
// CPU-LABEL: @edges
// CPU-NOT: prim.sort
func.func @edges(%x: tensor<3000x2xf32>, %s: tensor<3000xf32>, %to: tensor<300x200xi64>, %m: tensor<300x200x2xf32>, %w: tensor<300x200xf32>) -> (tensor<3000x2xf32>, tensor<3000xf32>) {
  %0 = prim.scatter %x, %to, %m {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<3000x2xf32>, tensor<300x200xi64>, tensor<300x200x2xf32>) -> tensor<3000x2xf32>
  %1 = prim.scatter %s, %to, %w {axis = 0 : i64, kind = #prim<scatter_kind max>} : (tensor<3000xf32>, tensor<300x200xi64>, tensor<300x200xf32>) -> tensor<3000xf32>
  return %0, %1 : tensor<3000x2xf32>, tensor<3000xf32>
}

// Looking through the indices of a batch of words is sooner done than sorting them.
// CHECK-LABEL: @words
// CHECK-NEXT: prim.scatter %arg0, %arg1, %arg2 {axis = 0 : i64, kind = #prim<scatter_kind add>}
func.func @words(%x: tensor<50257x2xf32>, %i: tensor<8x1024xi64>, %u: tensor<8x1024x2xf32>) -> tensor<50257x2xf32> {
  %0 = prim.scatter %x, %i, %u {axis = 0 : i64, kind = #prim<scatter_kind add>} : (tensor<50257x2xf32>, tensor<8x1024xi64>, tensor<8x1024x2xf32>) -> tensor<50257x2xf32>
  return %0 : tensor<50257x2xf32>
}
