/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Custom operators for tests. Compiled with macros that make other libraries of it: one that speaks
 * another version, one with other results, ...
 *
 * test::split(x f32[n, m], k i64 scalar; scale): rows times scale, each row's sum, and how many
 * rows; backward reads the output `rows`' gradient and that of `sums`.
 */
#include "accc/custom_op.h"

#include <stdio.h>
#include <string.h>

static int32_t refuse(const accc_custom_arguments *arguments, const char *why) {
  snprintf(arguments->message, ACCC_CUSTOM_MESSAGE_BYTES, "%s", why);
  return 1;
}

static const accc_attribute *find(const accc_custom_arguments *arguments, const char *name) {
  for (int32_t i = 0; i < arguments->num_attributes; ++i)
    if (strcmp(arguments->attributes[i].name, name) == 0)
      return &arguments->attributes[i];
  return NULL;
}

/* The product of all attributes: numbers as they are, strings as their length. */
static float scale_of(const accc_custom_arguments *arguments) {
  double scale = 1;
  for (const char *const *name = (const char *const[]){"scale", "powers", "label", NULL}; *name;
       ++name) {
    const accc_attribute *attribute = find(arguments, *name);
    for (int32_t i = 0; attribute && i < attribute->count; ++i)
      scale *= attribute->kind == ACCC_INTEGERS ? (double)attribute->integers[i]
               : attribute->kind == ACCC_REALS  ? attribute->reals[i]
                                                : (double)strlen(attribute->strings[i]);
  }
  return (float)scale;
}

static int32_t infer_split(const accc_custom_arguments *arguments, accc_result_type *results) {
  const accc_operand *x = &arguments->inputs[0];
  if (x->dtype != ACCC_F32 || x->rank != 2)
    return refuse(arguments, "split takes a matrix of f32");
#ifdef OTHER_RESULTS
  int32_t count = ACCC_I32;
#else
  int32_t count = ACCC_I64;
#endif
  results[0] = (accc_result_type){x->dtype, 2, {x->shape[0], x->shape[1]}};
  results[1] = (accc_result_type){x->dtype, 1, {x->shape[0]}};
  results[2] = (accc_result_type){count, 0, {0}};
  return 0;
}

static uint64_t workspace_split(const accc_custom_arguments *arguments, int32_t backward) {
  return backward ? 0 : (uint64_t)arguments->inputs[0].shape[0] * sizeof(double);
}

static int32_t split(const accc_custom_arguments *arguments) {
  int64_t n = arguments->inputs[0].shape[0], m = arguments->inputs[0].shape[1];
  const float *x = arguments->inputs[0].data;
  float *rows = arguments->outputs[0].data, *sums = arguments->outputs[1].data;
  double *partial = arguments->workspace;
  if (arguments->workspace_bytes < (uint64_t)n * sizeof(double) || arguments->stream ||
      arguments->threads < 1)
    return refuse(arguments, "the arguments are not what was asked for");
  if (*(const int64_t *)arguments->inputs[1].data < 0)
    return refuse(arguments, "the second input is negative");
  for (int64_t i = 0; i < n; ++i) {
    partial[i] = 0;
    for (int64_t j = 0; j < m; ++j) {
      rows[i * m + j] = x[i * m + j] * scale_of(arguments);
      partial[i] += x[i * m + j];
    }
    sums[i] = (float)partial[i];
  }
  *(int64_t *)arguments->outputs[2].data = n;
  return 0;
}

static int32_t split_backward(const accc_custom_arguments *arguments) {
  int64_t n = arguments->inputs[0].shape[0], m = arguments->inputs[0].shape[1];
  const float *drows = arguments->output_gradients[0].data;
  const float *dsums = arguments->output_gradients[1].data;
  float *dx = arguments->input_gradients[0].data;
  if (arguments->inputs[0].data || arguments->outputs[0].data ||
      arguments->output_gradients[2].data || arguments->input_gradients[1].data)
    return refuse(arguments, "data is there that nobody asked for");
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = 0; j < m; ++j)
      dx[i * m + j] = drows[i * m + j] * scale_of(arguments) + dsums[i];
  return 0;
}

/* test::product(a, b) f32, element by element. Checks that a gradient that nobody wants has no
 * memory. */
static int32_t infer_product(const accc_custom_arguments *arguments, accc_result_type *results) {
  const accc_operand *a = &arguments->inputs[0];
  results[0].dtype = a->dtype;
  results[0].rank = a->rank;
  for (int32_t i = 0; i < a->rank; ++i)
    results[0].shape[i] = a->shape[i];
  return 0;
}

static int64_t size_of(const accc_operand *tensor) {
  int64_t size = 1;
  for (int32_t i = 0; i < tensor->rank; ++i)
    size *= tensor->shape[i];
  return size;
}

static int32_t product(const accc_custom_arguments *arguments) {
  const float *a = arguments->inputs[0].data, *b = arguments->inputs[1].data;
  for (int64_t i = 0; i < size_of(&arguments->inputs[0]); ++i)
    ((float *)arguments->outputs[0].data)[i] = a[i] * b[i];
  return 0;
}

static int32_t product_backward(const accc_custom_arguments *arguments) {
  const float *dy = arguments->output_gradients[0].data;
  for (int side = 0; side < 2; ++side) {
    const float *other = arguments->inputs[1 - side].data;
    float *gradient = arguments->input_gradients[side].data;
    for (int64_t i = 0; gradient && i < size_of(&arguments->inputs[0]); ++i)
      gradient[i] = dy[i] * other[i];
  }
  return 0;
}

static const accc_custom_operator operators[] = {
    {.name = "test::split",
     .num_inputs = 2,
     .num_outputs = 3,
     .infer = infer_split,
     .workspace = workspace_split,
     .gradient = ACCC_GRADIENT_BACKWARD,
     .differentiable_inputs = 1,
     .forward_cpu = split,
     .backward_cpu = split_backward},
    {.name = "test::product",
     .num_inputs = 2,
     .num_outputs = 1,
     .infer = infer_product,
     .gradient = ACCC_GRADIENT_BACKWARD,
     .differentiable_inputs = 3,
#ifndef READS_LESS
     .backward_inputs = 3,
#endif
     .forward_cpu = product,
     .backward_cpu = product_backward},
    {.name = "test::constant",
     .num_inputs = 2,
     .num_outputs = 1,
     .infer = infer_product,
     .gradient = ACCC_GRADIENT_UNKNOWN,
     .forward_cpu = product},
#ifdef WRONG_BITS
    {.name = "test::wrong",
     .num_inputs = 1,
     .num_outputs = 1,
     .infer = infer_product,
     .gradient = ACCC_GRADIENT_BACKWARD,
     .differentiable_inputs = 2,
     .forward_cpu = product,
     .backward_cpu = product_backward},
#endif
};

#ifndef NO_SYMBOL
const accc_custom_operators *accc_custom_ops(void) {
  static const accc_custom_operators all = {
#ifdef WRONG_VERSION
      ACCC_CUSTOM_OPS_VERSION + 1,
#else
      ACCC_CUSTOM_OPS_VERSION,
#endif
#ifdef FEWER
      1,
#else
      sizeof operators / sizeof *operators,
#endif
      operators};
  return &all;
}
#endif
