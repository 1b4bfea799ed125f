// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not accc-opt %s --form-fusions=target=abacus 2>&1 | FileCheck %s
// RUN: not accc-opt %s --split-reductions="target=cpu arch=z80" 2>&1 | FileCheck %s --check-prefix=ARCH

// CHECK: --target abacus: this accc compiles for cuda, cpu
// ARCH: unknown --arch 'z80'
func.func @empty() {
  return
}
