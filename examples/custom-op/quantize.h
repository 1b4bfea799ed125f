/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What the functions of acme::quantize for CPUs and for GPUs share. */
#ifndef ACME_QUANTIZE_H
#define ACME_QUANTIZE_H

#include "accc/custom_op.h"

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In quantize.cu. */
int32_t quantize_forward_cuda(const accc_custom_arguments *arguments);
int32_t quantize_backward_cuda(const accc_custom_arguments *arguments);

#ifdef __cplusplus
}
#endif

/* The smallest and the largest multiple of the step; returns 0 where the attribute `bits` is
 * missing or wrong. */
static inline int quantize_bounds(const accc_custom_arguments *arguments, float *low, float *high) {
  *low = *high = 0;
  for (int32_t i = 0; i < arguments->num_attributes; ++i) {
    const accc_attribute *attribute = &arguments->attributes[i];
    if (strcmp(attribute->name, "bits") != 0)
      continue;
    int isNumber = attribute->kind == ACCC_INTEGERS && attribute->count == 1;
    int64_t bits = isNumber ? attribute->integers[0] : 0;
    if (bits < 2 || bits > 16)
      return 0;
    *low = -(float)(1 << (bits - 1));
    *high = (float)((1 << (bits - 1)) - 1);
    return 1;
  }
  return 0;
}

static inline int64_t size_of(const accc_operand *tensor) {
  int64_t size = 1;
  for (int32_t i = 0; i < tensor->rank; ++i)
    size *= tensor->shape[i];
  return size;
}

/* Leaves a message; what a function that fails returns. */
static inline int32_t refuse(const accc_custom_arguments *arguments, const char *why) {
  snprintf(arguments->message, ACCC_CUSTOM_MESSAGE_BYTES, "%s", why);
  return 1;
}

#endif
