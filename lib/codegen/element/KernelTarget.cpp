// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/KernelTarget.h"

using namespace accc::codegen;

KernelTarget::~KernelTarget() = default;
