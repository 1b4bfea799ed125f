// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s --simplify | FileCheck %s
// What integers lie between.

// Places of sorted elements need not be wrapped around, nor kept inside.
// CHECK-LABEL: @places
// CHECK: %[[I:.*]] = prim.arg_reduce max %arg0
// CHECK: %{{.*}}, %[[ORDER:.*]] = prim.sort
// CHECK: return %[[ORDER]], %[[I]]
func.func @places(%x: tensor<6x100xf32>) -> (tensor<6x100xi64>, tensor<6xi64>) {
  %best = prim.arg_reduce max %x {dimension = 1 : i64} : (tensor<6x100xf32>) -> tensor<6xi64>
  %values, %order = prim.sort %x {dimension = 1 : i64, descending = false} : (tensor<6x100xf32>) -> (tensor<6x100xf32>, tensor<6x100xi64>)
  %zero = prim.constant dense<0> : tensor<6x100xi64>
  %hundred = prim.constant dense<100> : tensor<6x100xi64>
  %none = prim.constant dense<-1> : tensor<6x100xi64>
  %last = prim.constant dense<99> : tensor<6xi64>
  %first = prim.constant dense<0> : tensor<6xi64>
  %negative = prim.compare lt %order, %zero : (tensor<6x100xi64>, tensor<6x100xi64>) -> tensor<6x100xi1>
  %more = prim.add %order, %hundred : (tensor<6x100xi64>, tensor<6x100xi64>) -> tensor<6x100xi64>
  %wrapped = prim.select %negative, %more, %order : (tensor<6x100xi1>, tensor<6x100xi64>, tensor<6x100xi64>) -> tensor<6x100xi64>
  %high = prim.compare lt %wrapped, %hundred : (tensor<6x100xi64>, tensor<6x100xi64>) -> tensor<6x100xi1>
  %0 = prim.select %high, %wrapped, %none : (tensor<6x100xi1>, tensor<6x100xi64>, tensor<6x100xi64>) -> tensor<6x100xi64>
  %1 = prim.min %best, %last : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %2 = prim.max %first, %1 : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  return %0, %2 : tensor<6x100xi64>, tensor<6xi64>
}

// 2 i + [5, 9] of i = 0, ..., 9 lies in [5, 27].
// CHECK-LABEL: @every_direction
// CHECK-DAG: %[[T:.*]] = prim.constant dense<true> : tensor<10xi1>
// CHECK-DAG: %[[F:.*]] = prim.constant dense<false> : tensor<10xi1>
// CHECK: return %[[T]], %[[F]], %[[T]], %[[F]], %[[F]], %[[T]]
func.func @every_direction(%b: tensor<10xi1>) -> (tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>) {
  %i = prim.iota {dimension = 0 : i64} : () -> tensor<10xi64>
  %two = prim.constant dense<2> : tensor<10xi64>
  %five = prim.constant dense<5> : tensor<10xi64>
  %nine = prim.constant dense<9> : tensor<10xi64>
  %four = prim.constant dense<4> : tensor<10xi64>
  %28 = prim.constant dense<28> : tensor<10xi64>
  %27 = prim.constant dense<27> : tensor<10xi64>
  %offset = prim.select %b, %five, %nine : (tensor<10xi1>, tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
  %twice = prim.mul %i, %two : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
  %x = prim.add %twice, %offset : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
  %0 = prim.compare lt %x, %28 : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %1 = prim.compare gt %x, %27 : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %2 = prim.compare ge %x, %five : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %3 = prim.compare le %x, %four : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %4 = prim.compare eq %x, %28 : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %5 = prim.compare ne %four, %x : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>
}

// The ends themselves; numbers of another type than the places; what may wrap around; inputs; lines without elements.
// CHECK-LABEL: @undecided
// CHECK-COUNT-8: prim.compare
// CHECK: return
func.func @undecided(%n: tensor<10xi64>, %b: tensor<10xi1>, %e: tensor<10x0xf32>) -> (tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10x0xi1>) {
  %i = prim.iota {dimension = 0 : i64} : () -> tensor<10xi64>
  %zero = prim.constant dense<0> : tensor<10xi64>
  %nine = prim.constant dense<9> : tensor<10xi64>
  %ten = prim.constant dense<10> : tensor<10xi64>
  %0 = prim.compare lt %i, %nine : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %1 = prim.compare gt %i, %zero : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %2 = prim.compare ne %i, %nine : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %short = prim.iota {dimension = 0 : i64} : () -> tensor<10xui8>
  %one = prim.constant dense<1> : tensor<10xui8>
  %max = prim.constant dense<255> : tensor<10xui8>
  %less = prim.sub %short, %one : (tensor<10xui8>, tensor<10xui8>) -> tensor<10xui8>
  %3 = prim.compare lt %less, %max : (tensor<10xui8>, tensor<10xui8>) -> tensor<10xi1>
  %huge = prim.constant dense<4611686018427387904> : tensor<10xi64>
  %wrapped = prim.mul %i, %huge : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
  %4 = prim.compare ge %wrapped, %zero : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %5 = prim.compare lt %n, %ten : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %either = prim.select %b, %i, %n : (tensor<10xi1>, tensor<10xi64>, tensor<10xi64>) -> tensor<10xi64>
  %6 = prim.compare lt %either, %ten : (tensor<10xi64>, tensor<10xi64>) -> tensor<10xi1>
  %values, %order = prim.sort %e {dimension = 1 : i64, descending = false} : (tensor<10x0xf32>) -> (tensor<10x0xf32>, tensor<10x0xi64>)
  %none = prim.constant dense<10> : tensor<10x0xi64>
  %7 = prim.compare lt %order, %none : (tensor<10x0xi64>, tensor<10x0xi64>) -> tensor<10x0xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10xi1>, tensor<10x0xi1>
}
