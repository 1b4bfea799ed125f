/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A compiled model as the compiler would have written it, by hand: the linear
 * regression y = x w + b under a mean squared error, trained by SGD with
 * momentum 0.5. A batch is x f32[4, 3] and target f32[4, 1]; with SIZES there are
 * batches of two rows as well.
 */
#include "accc/abi.h"

#include <stddef.h>
#include <stdint.h>

#ifndef NO_SYMBOL

enum { ROWS = 4, FEW_ROWS = 2, COLUMNS = 3 };

/* The state block. */
enum { W = 0, B = 64, VELOCITY_W = 128, VELOCITY_B = 192, SCALE = 256, STATE_SIZE = 320 };
/* The arena. */
enum { Y = 0, DY = 64, ARENA_SIZE = 128, SMALL_ARENA_SIZE = 64 };

static const int64_t shape_x[] = {ROWS, COLUMNS}, shape_y[] = {ROWS, 1}, shape_w[] = {COLUMNS, 1},
                     shape_b[] = {1};
#if defined(SIZES) && !defined(SAME_INPUTS)
static const int64_t few_x[] = {FEW_ROWS, COLUMNS}, few_y[] = {FEW_ROWS, 1};
#endif

#ifdef NO_WEIGHTS
#define INITIAL(x) NULL
#define WEIGHTS_FILE NULL
#elif defined(WEIGHTS_BESIDE)
#define INITIAL(x) NULL
#define WEIGHTS_FILE "weights_beside.safetensors"
#elif defined(WEIGHTS_ELSEWHERE)
#define INITIAL(x) NULL
#define WEIGHTS_FILE "../weights_beside.safetensors"
#else
static const float initial_w[COLUMNS] = {0.5f, -0.25f, 1.0f};
static const float initial_b[1] = {0.125f};
static const int64_t initial_scale[] = {7, 8, 9, 10, 11, 12};
#define INITIAL(x) x
#define WEIGHTS_FILE NULL
#endif
#ifdef ORDER
/* A matrix whose columns follow each other in memory. */
static const int64_t shape_scale[] = {2, 3}, order_scale[] = {ORDER, 0};
static const int64_t *const orders[] = {NULL, NULL, order_scale, NULL, NULL};
#define SCALE_RANK 2
#define ORDERS orders
#else
#define shape_scale NULL
#define SCALE_RANK 0
#define ORDERS NULL
#endif
#ifdef OVERLAP
#define B_OFFSET W
#else
#define B_OFFSET B
#endif

static const accc_variable variables[] = {
    {{"linear.weight", ACCC_F32, 2, shape_w}, ACCC_PARAMETER, 1, W, INITIAL(initial_w)},
    {{"linear.bias", ACCC_F32, 1, shape_b}, ACCC_PARAMETER, 1, B_OFFSET, INITIAL(initial_b)},
    {{"scale", ACCC_I64, SCALE_RANK, shape_scale}, ACCC_BUFFER, 0, SCALE, INITIAL(initial_scale)},
    {{"velocity.linear.weight", ACCC_F32, 2, shape_w}, ACCC_OPTIMIZER_STATE, 0, VELOCITY_W, NULL},
    {{"velocity.linear.bias", ACCC_F32, 1, shape_b}, ACCC_OPTIMIZER_STATE, 0, VELOCITY_B, NULL}};

#define IN_X {{"x", ACCC_F32, 2, shape_x}, ACCC_DATA, NULL}
#define IN_TARGET {{"target", ACCC_F32, 2, shape_y}, ACCC_TARGET, NULL}
#define IN_RATE {{"learning_rate", ACCC_F32, 0, NULL}, ACCC_LEARNING_RATE, NULL}
#define IN_SEED {{"seed", ACCC_I64, 0, NULL}, ACCC_SEED, NULL}
#define IN_STEP {{"step", ACCC_I64, 0, NULL}, ACCC_STEP, NULL}
#define GRAD_W {{"grad.linear.weight", ACCC_F32, 2, shape_w}, ACCC_GRADIENT, NULL}
#define GRAD_B {{"grad.linear.bias", ACCC_F32, 1, shape_b}, ACCC_GRADIENT, NULL}
#define OUT_LOSS {{"loss", ACCC_F32, 0, NULL}, ACCC_LOSS, NULL}
#define OUT_Y {{"y", ACCC_F32, 2, shape_y}, ACCC_DATA, NULL}
/* What the step saw of seed and step number, so that tests can see it too. */
#define OUT_RANDOM {{"random", ACCC_I64, 0, NULL}, ACCC_DATA, NULL}

static const accc_value train_inputs[] = {IN_X, IN_TARGET, IN_RATE, IN_SEED, IN_STEP};
static const accc_value train_outputs[] = {OUT_LOSS, OUT_RANDOM};
static const accc_value grad_inputs[] = {IN_X, IN_TARGET, IN_SEED, IN_STEP};
static const accc_value grad_outputs[] = {OUT_LOSS, GRAD_W, GRAD_B};
#ifdef SIZES
#ifdef SAME_INPUTS
#define FEW_X IN_X
#define FEW_TARGET IN_TARGET
#else
#define FEW_X {{"x", ACCC_F32, 2, few_x}, ACCC_DATA, NULL}
#define FEW_TARGET {{"target", ACCC_F32, 2, few_y}, ACCC_TARGET, NULL}
#endif
static const accc_value few_train_inputs[] = {FEW_X, FEW_TARGET, IN_RATE, IN_SEED, IN_STEP};
static const accc_value few_grad_inputs[] = {FEW_X, FEW_TARGET, IN_SEED, IN_STEP};
#endif
static const accc_value apply_inputs[] = {GRAD_W, GRAD_B, IN_RATE};
static const accc_value eval_inputs[] = {IN_X};
static const accc_value eval_outputs[] = {OUT_Y};

#ifdef I32_MATMUL
#define MATMUL_TYPE ACCC_I32
#else
#define MATMUL_TYPE ACCC_F32
#endif
#ifdef SCATTERED_MATMUL
#define COLUMN_STRIDE 2 /* and rows that are not contiguous either */
#else
#define COLUMN_STRIDE 1
#endif
#define MATMUL(rows)                                                                               \
  {                                                                                                \
    ACCC_CALL_MATMUL, ACCC_COMPUTE_FULL, {MATMUL_TYPE, MATMUL_TYPE, MATMUL_TYPE}, 0, {             \
      .matmul = {.m = rows,                                                                        \
                 .n = 1,                                                                           \
                 .k = COLUMNS,                                                                     \
                 .a_row_stride = COLUMNS,                                                          \
                 .a_column_stride = COLUMN_STRIDE,                                                 \
                 .b_row_stride = 1,                                                                \
                 .b_column_stride = 1,                                                             \
                 .c_row_stride = 1,                                                                \
                 .c_column_stride = 1}                                                             \
    }                                                                                              \
  }
static const accc_library_call calls[] = {MATMUL(ROWS)};
#ifdef SIZES
static const accc_library_call few_calls[] = {MATMUL(FEW_ROWS)};
#endif
static const char *const errors[] = {"target[0] is not a number"};

/* Buffers: x, target, status. */
static void check_batch(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  int64_t *status = (int64_t *)buffers[2];
  /* As kernels do, relies on what the contract says of inputs; there is no such status. */
  if ((uintptr_t)buffers[0] % ACCC_ALIGNMENT)
    *status = -7;
  float target = *(const float *)buffers[1];
  if (target != target)
    *status = ACCC_FIRST_DATA_ERROR;
#ifdef FAILING_CALL
  *status = ACCC_CALL_FAILED;
#endif
}

/* Buffers: b, y, status. y += b, one row a task. */
static void add_bias(char *const *buffers, int64_t begin, int64_t end) {
  float *y = (float *)buffers[1];
  for (int64_t i = begin; i < end; ++i)
    y[i] += *(const float *)buffers[0];
}

/* Buffers: y, target, x, loss, grad_w, grad_b, status. */
static void gradients(char *const *buffers, int rows) {
  const float *y = (const float *)buffers[0], *target = (const float *)buffers[1],
              *x = (const float *)buffers[2];
  float *loss = (float *)buffers[3], *grad_w = (float *)buffers[4], *grad_b = (float *)buffers[5];
  *loss = 0, *grad_b = 0;
  for (int j = 0; j < COLUMNS; ++j)
    grad_w[j] = 0;
  for (int i = 0; i < rows; ++i) {
    float error = y[i] - target[i], dy = 2 * error / (float)rows;
    *loss += error * error / (float)rows;
    *grad_b += dy;
    for (int j = 0; j < COLUMNS; ++j)
      grad_w[j] += dy * x[i * COLUMNS + j];
  }
}

static void all_gradients(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  gradients(buffers, ROWS);
}

static void few_gradients(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  gradients(buffers, FEW_ROWS);
}

/* Buffers: grad_w, grad_b, rate, w, b, velocity_w, velocity_b, status. */
static void apply(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  const float *grad_w = (const float *)buffers[0], *grad_b = (const float *)buffers[1];
  float rate = *(const float *)buffers[2];
  float *w = (float *)buffers[3], *b = (float *)buffers[4];
  float *vw = (float *)buffers[5], *vb = (float *)buffers[6];
  for (int j = 0; j < COLUMNS; ++j) {
    vw[j] = 0.5f * vw[j] + grad_w[j];
    w[j] -= rate * vw[j];
  }
  *vb = 0.5f * *vb + *grad_b;
  *b -= rate * *vb;
}

/* Buffers: seed, step, random, status. */
static void show_random(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(int64_t *)buffers[2] = 1000 * *(const int64_t *)buffers[0] + *(const int64_t *)buffers[1];
}

/* Buffers: y in the arena, loss, status. Gives what it finds in its arena: to see the poison. */
static void show(char *const *buffers, int64_t begin, int64_t end) {
  (void)begin, (void)end;
  *(float *)buffers[1] = *(const float *)buffers[0];
}

enum { CHECK_BATCH, ADD_BIAS, ALL_GRADIENTS, FEW_GRADIENTS, APPLY, SHOW_RANDOM, SHOW };
#define KERNEL(function) {#function, function, 0, 0, 0, 0}
static const accc_kernel kernels[] = {
    KERNEL(check_batch), KERNEL(add_bias),    KERNEL(all_gradients), KERNEL(few_gradients),
    KERNEL(apply),       KERNEL(show_random), KERNEL(show)};

#define INPUT(number) {ACCC_INPUT, ACCC_READ, number, 4}
#define OUTPUT(number) {ACCC_OUTPUT, ACCC_WRITE, number, 4}
#define STATUS {ACCC_STATUS, ACCC_READ_WRITE, 0, 8}
#define ARENA(offset, how) {ACCC_ARENA, how, offset, 4}
#ifdef OUT_OF_ARENA
#define Y_BYTES(rows) 4 * rows + ARENA_SIZE
#else
#define Y_BYTES(rows) 4 * rows
#endif
#define FORWARD_BUFFERS(rows, y)                                                                   \
  INPUT(0), {ACCC_STATE, ACCC_READ, W, 4 * COLUMNS}, y(rows, ACCC_WRITE),                          \
      {ACCC_STATE, ACCC_READ, B, 4}, y(rows, ACCC_READ_WRITE), STATUS
#define ARENA_Y(rows, how) {ACCC_ARENA, how, Y, Y_BYTES(rows)}
#define OUTPUT_Y(rows, how) {ACCC_OUTPUT, how, 0, 4 * rows}
#ifdef WRITES_CONSTANT
#define LOSS {ACCC_CONSTANT, ACCC_WRITE, 0, 0}
#else
#define LOSS OUTPUT(0)
#endif
#define GRADIENT_BUFFERS(rows, grad_w, grad_b)                                                     \
  INPUT(0), INPUT(1), STATUS, FORWARD_BUFFERS(rows, ARENA_Y), ARENA_Y(rows, ACCC_READ), INPUT(1),  \
      INPUT(0), LOSS, grad_w, grad_b, STATUS
#define APPLY_BUFFERS(grad_w, grad_b, rate)                                                        \
  grad_w, grad_b, INPUT(rate), {ACCC_STATE, ACCC_READ_WRITE, W, 4 * COLUMNS},                      \
      {ACCC_STATE, ACCC_READ_WRITE, B, 4}, {ACCC_STATE, ACCC_READ_WRITE, VELOCITY_W, 4 * COLUMNS}, \
      {ACCC_STATE, ACCC_READ_WRITE, VELOCITY_B, 4}, STATUS
#define TRAIN_BUFFERS(rows)                                                                        \
  {GRADIENT_BUFFERS(rows, ARENA(DY, ACCC_WRITE), ARENA(DY + 16, ACCC_WRITE)),                      \
   APPLY_BUFFERS(ARENA(DY, ACCC_READ), ARENA(DY + 16, ACCC_READ), 2),                              \
   INPUT(3),                                                                                       \
   INPUT(4),                                                                                       \
   OUTPUT(1),                                                                                      \
   STATUS}
#define COUNT(array) ((int32_t)(sizeof array / sizeof *array))

static const accc_buffer train_buffers[] = TRAIN_BUFFERS(ROWS);
static const accc_buffer grad_buffers[] = {GRADIENT_BUFFERS(ROWS, OUTPUT(1), OUTPUT(2))};
#ifdef SIZES
static const accc_buffer few_train_buffers[] = TRAIN_BUFFERS(FEW_ROWS);
static const accc_buffer few_grad_buffers[] = {GRADIENT_BUFFERS(FEW_ROWS, OUTPUT(1), OUTPUT(2))};
#endif
static const accc_buffer apply_buffers[] = {APPLY_BUFFERS(INPUT(0), INPUT(1), 2)};
static const accc_buffer eval_buffers[] = {FORWARD_BUFFERS(ROWS, OUTPUT_Y)};
static const accc_buffer peek_buffers[] = {ARENA(Y, ACCC_READ), OUTPUT(0), STATUS};

#ifdef UNKNOWN_KERNEL
#define ADD_BIAS_NUMBER 70
#else
#define ADD_BIAS_NUMBER ADD_BIAS
#endif
#define LAUNCH(kernel, tasks, first, count)                                                        \
  {ACCC_STEP_LAUNCH, kernel, tasks, first, count, #kernel, "part"}
#define FORWARD(rows, first)                                                                       \
  {ACCC_STEP_LIBRARY_CALL, 0, 0, first, 3, "matmul", ""},                                          \
      LAUNCH(ADD_BIAS_NUMBER, rows, (first) + 3, 3)
#define GRADIENT_STEPS(rows, kernel)                                                               \
  LAUNCH(CHECK_BATCH, 1, 0, 3), {ACCC_STEP_CHECK, 0, 0, 0, 0, "check", ""}, FORWARD(rows, 3),      \
      LAUNCH(kernel, 1, 9, 7)
#define TRAIN_STEPS(rows, kernel)                                                                  \
  {GRADIENT_STEPS(rows, kernel), LAUNCH(APPLY, 1, 16, 8), LAUNCH(SHOW_RANDOM, 1, 24, 4)}

static const accc_step train_steps[] = TRAIN_STEPS(ROWS, ALL_GRADIENTS);
static const accc_step grad_steps[] = {GRADIENT_STEPS(ROWS, ALL_GRADIENTS)};
#ifdef SIZES
static const accc_step few_train_steps[] = TRAIN_STEPS(FEW_ROWS, FEW_GRADIENTS);
static const accc_step few_grad_steps[] = {GRADIENT_STEPS(FEW_ROWS, FEW_GRADIENTS)};
#endif
static const accc_step apply_steps[] = {LAUNCH(APPLY, 1, 0, 8)};
static const accc_step eval_steps[] = {FORWARD(ROWS, 0)};
static const accc_step peek_steps[] = {LAUNCH(SHOW, 1, 0, 3)};

static const accc_value peek_outputs[] = {OUT_LOSS, OUT_Y};

#ifdef SIZES
#define ALL "rows=4"
#define FEW "rows=2"
#elif defined(NO_SIZES)
#define ALL NULL
#else
#define ALL ""
#endif

/* Custom calls name a file, not a path. */
#ifdef CUSTOM_PATH
#define CUSTOM_CALLS 1
#else
#define CUSTOM_CALLS 0
#endif
static const accc_custom_call custom_call = {
    "acme::swish", "folder/libacme.so", 0, 0, 0, 0, NULL, NULL, NULL, NULL};

/* Of a list of a table, the fields of an entry that count and point. */
#define STEPS(list) .num_steps = COUNT(list##_steps), .steps = list##_steps
#define BUFFERS(list) .num_buffers = COUNT(list##_buffers), .buffers = list##_buffers
#define INPUTS(count, list) .num_inputs = count, .inputs = list
#define OUTPUTS(count, list) .num_outputs = count, .outputs = list
#define CALL_AND_ERROR(list)                                                                       \
  .num_library_calls = 1, .library_calls = list, .num_errors = 1, .errors = errors

static const accc_entry entries[] = {
    {"train_step", ALL, ARENA_SIZE, INPUTS(5, train_inputs), OUTPUTS(2, train_outputs),
     CALL_AND_ERROR(calls), STEPS(train), BUFFERS(train), .num_launches = 5},
    {"grad_step", ALL, ARENA_SIZE, INPUTS(4, grad_inputs), OUTPUTS(3, grad_outputs),
     CALL_AND_ERROR(calls), STEPS(grad), BUFFERS(grad), .num_launches = 3},
#ifdef SIZES
    {"train_step", FEW, ARENA_SIZE, INPUTS(5, few_train_inputs), OUTPUTS(2, train_outputs),
     CALL_AND_ERROR(few_calls), STEPS(few_train), BUFFERS(few_train), .num_launches = 5},
    {"grad_step", FEW, ARENA_SIZE, INPUTS(4, few_grad_inputs), OUTPUTS(3, grad_outputs),
     CALL_AND_ERROR(few_calls), STEPS(few_grad), BUFFERS(few_grad), .num_launches = 3},
#endif
    {"apply_step", "", ARENA_SIZE, INPUTS(3, apply_inputs), STEPS(apply), BUFFERS(apply),
     .num_launches = 1},
    {"eval_step", ALL, SMALL_ARENA_SIZE, INPUTS(1, eval_inputs), OUTPUTS(1, eval_outputs),
     .num_library_calls = 1, .library_calls = calls, .num_custom_calls = CUSTOM_CALLS,
     .custom_calls = &custom_call, STEPS(eval), BUFFERS(eval), .num_launches = 1},
#ifdef TWICE
    {"apply_step", "", ARENA_SIZE, .num_inputs = 0},
#endif
    {"peek", "", ARENA_SIZE, OUTPUTS(2, peek_outputs), STEPS(peek), BUFFERS(peek),
     .num_launches = 1}};

#ifdef WRONG_TARGET
#define TARGET "tpu"
#else
#define TARGET "cpu"
#endif
#define CODE(name, arch)                                                                           \
  static const accc_code name = {TARGET,         arch,           NULL,    0,       NULL,  0,       \
                                 COUNT(kernels), COUNT(entries), kernels, entries, ORDERS};
#ifdef CUDA
#include "fake_kernels.h"
#ifdef CUBIN
#define GPU_ARCH "sm_80"
#define GPU_IMAGE "\177ELF of another processor"
#else
#define GPU_ARCH "compute_80"
#define GPU_IMAGE fake_kernels
#endif
static const accc_code gpu = {"cuda", GPU_ARCH,           GPU_IMAGE,      sizeof GPU_IMAGE, NULL,
                              0,      COUNT(gpu_kernels), COUNT(entries), gpu_kernels,      entries,
                              ORDERS};
#endif
#ifdef WRONG_ARCH
CODE(first, "futurecpu:avx,x86-64-v2,no-such-feature")
static const accc_code *const codes[] = {&first};
#elif defined(ARCHS)
/* No CPU with these two was ever made. */
CODE(first, "neither:xop,avx512bf16")
CODE(second, "x86-64-v2")
CODE(third, "x86-64")
static const accc_code *const codes[] = {&first, &second, &third};
#elif defined(NO_ARCH)
CODE(first, "neither:xop,avx512bf16")
CODE(second, "nor:sse4.2,fma4,avx512f")
static const accc_code *const codes[] = {&first, &second};
#elif defined(CUDA_AND_CPU)
CODE(first, "x86-64")
static const accc_code *const codes[] = {&gpu, &first};
#elif defined(CUDA)
static const accc_code *const codes[] = {&gpu};
#else
CODE(first, "x86-64")
static const accc_code *const codes[] = {&first};
#endif

static const accc_model_description description = {
#ifdef WRONG_VERSION
    ACCC_ABI_VERSION + 1,
#else
    ACCC_ABI_VERSION,
#endif
#ifdef WRONG_SIZE
    sizeof(accc_model_description) - 8,
#else
    sizeof(accc_model_description),
#endif
    "linear",
    "accc test",
#ifdef MANIFEST
    "{\"learning_rate\": 0.25, \"aliases\": {\"linear.weight\": [\"tied.weight\"]}}",
#else
    "{}",
#endif
    WEIGHTS_FILE,
    STATE_SIZE,
    NULL,
    0,
    sizeof variables / sizeof *variables,
#ifdef NO_CODE
    0,
#else
    sizeof codes / sizeof *codes,
#endif
    variables,
    codes};

const accc_model_description *accc_model(void) { return &description; }

#endif
