// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All of the runtime's public interface.
#ifndef ACCC_ACCC_H
#define ACCC_ACCC_H

#include "accc/error.h"
#include "accc/group.h"
#include "accc/model.h"
#include "accc/safetensors.h"
#include "accc/session.h"
#include "accc/tensor.h"
#include "accc/trainer.h"

#endif // ACCC_ACCC_H
