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

// What reads arguments alone and writes less than these is one launch, in the first's place. Not what writes as much, reads
// something else, or does other arithmetic.
// CHECK-LABEL: @rounded
// CHECK-NEXT: %[[E:.*]]:2 = prim.fusion_each "round"(%arg0, %arg1)
// CHECK-NEXT: ^bb0(%{{.*}}: tensor<1073741824xf32>):
// CHECK-NEXT:   prim.convert
// CHECK: %[[N:.*]] = prim.fusion loop "neg"(%arg0)
// CHECK: prim.fusion loop "neg"(%arg1)
// CHECK: prim.fusion loop "round"(%[[N]])
// CHECK: prim.fusion loop "half"(%arg0)
func.func @rounded(%a: tensor<4xf32>, %b: tensor<2x3xf32>)
    -> (tensor<4xbf16>, tensor<2x3xbf16>, tensor<2x3xf32>, tensor<4xbf16>, tensor<4xf16>) {
  %0 = prim.fusion loop "round" (%a) : (tensor<4xf32>) -> tensor<4xbf16> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
    prim.yield %r : tensor<4xbf16>
  }
  %1 = prim.fusion loop "neg" (%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.neg %x : (tensor<4xf32>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  %2 = prim.fusion loop "neg" (%b) : (tensor<2x3xf32>) -> tensor<2x3xf32> {
  ^bb0(%x: tensor<2x3xf32>):
    %r = prim.neg %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    prim.yield %r : tensor<2x3xf32>
  }
  %3 = prim.fusion loop "round" (%1) : (tensor<4xf32>) -> tensor<4xbf16> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
    prim.yield %r : tensor<4xbf16>
  }
  %4 = prim.fusion loop "round" (%b) : (tensor<2x3xf32>) -> tensor<2x3xbf16> {
  ^bb0(%x: tensor<2x3xf32>):
    %r = prim.convert %x : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    prim.yield %r : tensor<2x3xbf16>
  }
  %5 = prim.fusion loop "half" (%a) : (tensor<4xf32>) -> tensor<4xf16> {
  ^bb0(%x: tensor<4xf32>):
    %r = prim.convert %x : (tensor<4xf32>) -> tensor<4xf16>
    prim.yield %r : tensor<4xf16>
  }
  return %0, %4, %2, %3, %5 : tensor<4xbf16>, tensor<2x3xbf16>, tensor<2x3xf32>, tensor<4xbf16>, tensor<4xf16>
}

// Scalars, such as the counters of batch norms, are flat tensors of one element.
// CHECK-LABEL: @counters
// CHECK: %[[E:.*]]:2 = prim.fusion_each "add"(%arg0, %arg1) : (tensor<i64>, tensor<1xi64>) -> (tensor<i64>, tensor<i64>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<1073741824xi64>):
// CHECK-NEXT:   %[[ONE:.*]] = prim.constant dense<1> : tensor<1073741824xi64>
// CHECK-NEXT:   prim.add %[[X]], %[[ONE]]
// CHECK: return %[[E]]#0, %[[E]]#1
func.func @counters(%a: tensor<i64>, %b: tensor<1xi64>)
    -> (tensor<i64> {accc.name = "a", accc.role = #prim.role<update>, accc.updates = "a"},
        tensor<i64> {accc.name = "b", accc.role = #prim.role<update>, accc.updates = "b"}) {
  %0 = prim.fusion loop "add" (%a) : (tensor<i64>) -> tensor<i64> {
  ^bb0(%x: tensor<i64>):
    %one = prim.constant dense<1> : tensor<i64>
    %r = prim.add %x, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    prim.yield %r : tensor<i64>
  }
  %1 = prim.fusion loop "add" (%b) : (tensor<1xi64>) -> tensor<i64> {
  ^bb0(%x: tensor<1xi64>):
    %s = prim.reshape %x : (tensor<1xi64>) -> tensor<i64>
    %one = prim.constant dense<1> : tensor<i64>
    %r = prim.add %s, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
    prim.yield %r : tensor<i64>
  }
  return %0, %1 : tensor<i64>, tensor<i64>
}

// What one exchange alone reads is one kernel before it; the third is read by another, too.
// CHECK-LABEL: @sent
// CHECK: %[[C:.*]] = prim.fusion loop "widen"(%arg2)
// CHECK-NEXT: ^bb0
// CHECK: %[[E:.*]]:2 = prim.fusion_each "widen"(%arg0, %arg1)
// CHECK: prim.all_reduce %[[E]]#0, %[[E]]#1, %[[C]]
func.func @sent(%a: tensor<4xbf16>, %b: tensor<2x3xbf16>, %c: tensor<8xbf16>)
    -> (tensor<4xf32>, tensor<2x3xf32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = prim.fusion loop "widen" (%a) : (tensor<4xbf16>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xbf16>):
    %r = prim.convert %x : (tensor<4xbf16>) -> tensor<4xf32>
    prim.yield %r : tensor<4xf32>
  }
  %1 = prim.fusion loop "widen" (%b) : (tensor<2x3xbf16>) -> tensor<2x3xf32> {
  ^bb0(%x: tensor<2x3xbf16>):
    %r = prim.convert %x : (tensor<2x3xbf16>) -> tensor<2x3xf32>
    prim.yield %r : tensor<2x3xf32>
  }
  %2 = prim.fusion loop "widen" (%c) : (tensor<8xbf16>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8xbf16>):
    %r = prim.convert %x : (tensor<8xbf16>) -> tensor<8xf32>
    prim.yield %r : tensor<8xf32>
  }
  %3:3 = prim.all_reduce %0, %1, %2 : (tensor<4xf32>, tensor<2x3xf32>, tensor<8xf32>) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<8xf32>)
  return %3#0, %3#1, %3#2, %2 : tensor<4xf32>, tensor<2x3xf32>, tensor<8xf32>, tensor<8xf32>
}
