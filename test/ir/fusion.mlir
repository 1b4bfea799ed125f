// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s | accc-opt | FileCheck %s

// CHECK-LABEL: @two
func.func @two(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  // CHECK: prim.fusion loop "add_compare"(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>)
  // CHECK: prim.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi1>
  %r:2 = prim.fusion loop "add_compare" (%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    %s = prim.add %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %c = prim.compare lt %x, %s : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    prim.yield %s, %c : tensor<4xf32>, tensor<4xi1>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: @none
func.func @none() {
  // CHECK: prim.fusion loop "nothing"() : () -> ()
  // CHECK-NEXT: prim.yield{{$}}
  prim.fusion loop "nothing" () : () -> () {
    prim.yield
  }
  return
}
