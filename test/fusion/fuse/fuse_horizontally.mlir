// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt --fuse-horizontally %s | FileCheck %s

// Two updates by the same arithmetic are two segments; the third does other arithmetic, the fourth is
// read by a kernel and returned as an output.
// CHECK-LABEL: @updates
// CHECK: %[[N:.*]] = prim.fusion loop "neg"
// CHECK: %[[C:.*]] = prim.fusion loop "other"
// CHECK: %[[E:.*]]:2 = prim.fusion_each "step"(%arg0, %arg3, %arg1, %arg4)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<1073741824xf32>, %{{.*}}: tensor<1073741824xf32>):
// CHECK-NEXT:   prim.sub
// CHECK: return %[[E]]#0, %[[E]]#1, %[[C]], %[[N]]
func.func @updates(%a: tensor<4xf32>, %b: tensor<2x3xf32>, %c: tensor<4xf32>,
                   %da: tensor<4xf32>, %db: tensor<2x3xf32>)
    -> (tensor<4xf32> {accc.name = "a", accc.role = #prim.role<update>, accc.updates = "a"},
        tensor<2x3xf32> {accc.name = "b", accc.role = #prim.role<update>, accc.updates = "b"},
        tensor<4xf32> {accc.name = "c", accc.role = #prim.role<update>, accc.updates = "c"},
        tensor<4xf32> {accc.name = "y", accc.role = #prim.role<output>}) {
  %0 = prim.fusion loop "step" (%a, %da) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %dx: tensor<4xf32>):
    %r = prim.sub %x, %dx : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  %1 = prim.fusion loop "step" (%b, %db) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%x: tensor<2x3xf32>, %dx: tensor<2x3xf32>):
    %r = prim.sub %x, %dx : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    prim.yield %r : tensor<2x3xf32>
  }
  %2 = prim.fusion loop "neg" (%c, %da) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %dx: tensor<4xf32>):
    %r = prim.sub %x, %dx : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  %3 = prim.fusion loop "other" (%2) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  return %0, %1, %3, %2 : tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>
}

// A reversal is no elementwise arithmetic.
// CHECK-LABEL: @not_elementwise
// CHECK-NOT: fusion_each
func.func @not_elementwise(%a: tensor<4xf32>, %b: tensor<4xf32>)
    -> (tensor<4xf32> {accc.name = "a", accc.role = #prim.role<update>, accc.updates = "a"},
        tensor<4xf32> {accc.name = "b", accc.role = #prim.role<update>, accc.updates = "b"}) {
  %0 = prim.fusion loop "reverse" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.reverse %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  %1 = prim.fusion loop "reverse" (%b) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.reverse %x {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// A learning rate of rank one would have to be as long as each parameter.
// CHECK-LABEL: @rate_of_rank_one
// CHECK-NOT: fusion_each
func.func @rate_of_rank_one(%a: tensor<4xf32>, %b: tensor<4xf32>, %rate: tensor<1xf32>)
    -> (tensor<4xf32> {accc.name = "a", accc.role = #prim.role<update>, accc.updates = "a"},
        tensor<4xf32> {accc.name = "b", accc.role = #prim.role<update>, accc.updates = "b"}) {
  %0 = prim.fusion loop "step" (%a, %rate) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %r: tensor<1xf32>):
    %s = prim.reshape %r : (tensor<1xf32>) -> tensor<f32>
    %f = prim.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %n = prim.mul %x, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    prim.yield %n : tensor<4xf32>
  }
  %1 = prim.fusion loop "step" (%b, %rate) : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %r: tensor<1xf32>):
    %s = prim.reshape %r : (tensor<1xf32>) -> tensor<f32>
    %f = prim.broadcast %s {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
    %n = prim.mul %x, %f : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    prim.yield %n : tensor<4xf32>
  }
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
