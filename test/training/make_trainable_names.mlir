// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not accc-opt %s --make-trainable="loss=mse optimizer=adam" 2>&1 | FileCheck %s
// Names that training gives itself: each that the model uses too is named, once for each entry point.

// CHECK-DAG: the model's parameter 'optimizer.step' has the name that accc gives to state of the optimizer: rename it in the model
// CHECK-DAG: the model's parameter 'optimizer.exp_avg.w' has the name that accc gives to state of the optimizer
// CHECK-DAG: the model's parameter 'grad.w' has the name that accc gives to the gradient of a parameter
// CHECK-DAG: the model's input 'learning_rate' has the name that accc gives to the learning rate
// CHECK-DAG: the model's input 'target' has the name that accc gives to what the loss compares with
// CHECK-DAG: the model's input 'seed' has the name that accc gives to the seed of random numbers
// CHECK-DAG: the model's buffer 'step' has the name that accc gives to the number of the step
// CHECK-DAG: the model's parameter '__metadata__' has a name that safetensors files keep for something else: rename it in the model
// CHECK-DAG: the model's parameter '{{.+}}z' has a name that is not UTF-8, which safetensors files cannot hold: rename it in the model
// CHECK-DAG: the model's buffer 'a{{.}}b' has a NUL in its name: rename it in the model
// CHECK-DAG: the model's output 'grad.optimizer.step' has the name that accc gives to the gradient of a parameter

func.func @forward(
    %w: tensor<2xf32> {accc.name = "w", accc.role = #prim.role<parameter>},
    %0: tensor<2xf32> {accc.name = "optimizer.step", accc.role = #prim.role<parameter>},
    %1: tensor<2xf32> {accc.name = "optimizer.exp_avg.w", accc.role = #prim.role<parameter>},
    %2: tensor<2xf32> {accc.name = "grad.w", accc.role = #prim.role<parameter>},
    %3: tensor<2xf32> {accc.name = "learning_rate", accc.role = #prim.role<input>},
    %4: tensor<2xf32> {accc.name = "target", accc.role = #prim.role<input>},
    %5: tensor<2xf32> {accc.name = "seed", accc.role = #prim.role<input>},
    %6: tensor<2xf32> {accc.name = "step", accc.role = #prim.role<buffer>},
    %7: tensor<2xf32> {accc.name = "__metadata__", accc.role = #prim.role<parameter>},
    %8: tensor<2xf32> {accc.name = "a\00b", accc.role = #prim.role<buffer>},
    %9: tensor<2xf32> {accc.name = "\FF\FEz", accc.role = #prim.role<parameter>},
    %key: tensor<2xi64> {accc.name = "random_key", accc.role = #prim.role<random_key>})
    -> (tensor<2xf32> {accc.name = "y", accc.role = #prim.role<output>},
        tensor<2xf32> {accc.name = "grad.optimizer.step", accc.role = #prim.role<output>}) {
  %a = prim.add %w, %0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = prim.add %a, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = prim.mul %b, %2 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %d = prim.mul %c, %3 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %e = nn.dropout %d, %key {ratio = 5.000000e-01 : f64, stream = 0 : i64} : (tensor<2xf32>, tensor<2xi64>) -> tensor<2xf32>
  return %e, %a : tensor<2xf32>, tensor<2xf32>
}
