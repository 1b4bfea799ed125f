// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/Interfaces.h"

#include "ir/interfaces/Interfaces.cpp.inc"
