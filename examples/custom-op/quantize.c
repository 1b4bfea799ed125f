/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * acme::quantize(x, step, bits) for accc: rounds x to multiples of a trained step (quantize.py has
 * the same in PyTorch). A library of custom operators to start from.
 */
#include "quantize.h"

#include <math.h>

static int32_t infer(const accc_custom_arguments *arguments, accc_result_type *results) {
  const accc_operand *x = &arguments->inputs[0], *step = &arguments->inputs[1];
  float low, high;
  if (!quantize_bounds(arguments, &low, &high))
    return refuse(arguments, "quantize needs an attribute bits from 2 to 16");
  if (x->dtype != ACCC_F32 || step->dtype != ACCC_F32 || step->rank != 0)
    return refuse(arguments, "quantize takes a tensor of f32 and a step, a scalar of f32");
  if (x->rank > ACCC_CUSTOM_MAX_RANK)
    return refuse(arguments, "quantize takes tensors of up to 16 dimensions");
  results[0].dtype = x->dtype;
  results[0].rank = x->rank;
  for (int32_t i = 0; i < x->rank; ++i)
    results[0].shape[i] = x->shape[i];
  return 0;
}

static float clamp(float value, float low, float high) { return fminf(fmaxf(value, low), high); }

static int32_t forward(const accc_custom_arguments *arguments) {
  const float *x = arguments->inputs[0].data, step = *(const float *)arguments->inputs[1].data;
  float *y = arguments->outputs[0].data, low, high;
  quantize_bounds(arguments, &low, &high);
  int64_t size = size_of(&arguments->inputs[0]);
  for (int64_t i = 0; i < size; ++i)
    y[i] = rintf(clamp(x[i] / step, low, high)) * step;
  return 0;
}

static int32_t backward(const accc_custom_arguments *arguments) {
  const float *x = arguments->inputs[0].data, step = *(const float *)arguments->inputs[1].data;
  const float *dy = arguments->output_gradients[0].data;
  float *dx = arguments->input_gradients[0].data, *dstep = arguments->input_gradients[1].data;
  float low, high;
  double sum = 0;
  quantize_bounds(arguments, &low, &high);
  int64_t size = size_of(&arguments->inputs[0]);
  for (int64_t i = 0; i < size; ++i) {
    float ratio = x[i] / step;
    int inside = ratio > low && ratio < high;
    if (dx) /* nobody wants it where x takes no gradient */
      dx[i] = inside ? dy[i] : 0;
    sum += dy[i] * (inside ? rintf(ratio) - ratio : clamp(ratio, low, high));
  }
  if (dstep)
    *dstep = (float)(sum / sqrt((double)size * high));
  return 0;
}

static const accc_custom_operator operators[] = {{
    .name = "acme::quantize",
    .num_inputs = 2,
    .num_outputs = 1,
    .infer = infer,
    .gradient = ACCC_GRADIENT_BACKWARD,
    .differentiable_inputs = 1 << 0 | 1 << 1,
    .backward_inputs = 1 << 0 | 1 << 1,
    .forward_cpu = forward,
    .backward_cpu = backward,
#ifdef ACME_CUDA
    .forward_cuda = quantize_forward_cuda,
    .backward_cuda = quantize_backward_cuda,
#endif
}};

__attribute__((visibility("default"))) const accc_custom_operators *accc_custom_ops(void) {
  static const accc_custom_operators all = {ACCC_CUSTOM_OPS_VERSION, 1, operators};
  return &all;
}
