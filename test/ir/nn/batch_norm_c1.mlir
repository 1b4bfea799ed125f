// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: accc-opt %s -split-input-file -verify-diagnostics

func.func @rank(%a: tensor<3xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error@+2 {{'nn.batch_norm_inference' op x of type 'tensor<3xf32>' has a rank below 2}}
  // expected-error@+1 {{'nn.batch_norm_inference' op failed to infer returned types}}
  %r = nn.batch_norm_inference %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

func.func @channels(%a: tensor<2x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<3xf32>, %e: tensor<3xf32>) -> tensor<2x4xf32> {
  // expected-error@+2 {{'nn.batch_norm_inference' op an operand of type 'tensor<3xf32>' does not have one element for each of the 4 channels of x}}
  // expected-error@+1 {{'nn.batch_norm_inference' op failed to infer returned types}}
  %r = nn.batch_norm_inference %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64} : (tensor<2x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}

// -----

func.func @training(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<3xf32>, %d: tensor<4xf32>, %e: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>) {
  // expected-error@+2 {{'nn.batch_norm_training' op an operand of type 'tensor<4xf32>' does not have one element for each of the 3 channels of x}}
  // expected-error@+1 {{'nn.batch_norm_training' op failed to infer returned types}}
  %r:3 = nn.batch_norm_training %a, %b, %c, %d, %e {epsilon = 1.0e-05 : f64, momentum = 1.0e-01 : f64, unbiased = true} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x3x4xf32>, tensor<4xf32>, tensor<3xf32>
}

// -----

func.func @untracked(%a: tensor<2x3x4xf32>, %b: tensor<3xf32>, %c: tensor<4xf32>) -> tensor<2x3x4xf32> {
  // expected-error@+2 {{'nn.batch_norm_untracked' op an operand of type 'tensor<4xf32>' does not have one element for each of the 3 channels of x}}
  // expected-error@+1 {{'nn.batch_norm_untracked' op failed to infer returned types}}
  %r = nn.batch_norm_untracked %a, %b, %c {epsilon = 1.0e-05 : f64} : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}
