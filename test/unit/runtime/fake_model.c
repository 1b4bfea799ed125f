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
static const int64_t initial_scale[1] = {7};
#define INITIAL(x) x
#define WEIGHTS_FILE NULL
#endif
#ifdef OVERLAP
#define B_OFFSET W
#else
#define B_OFFSET B
#endif

static const accc_variable variables[] = {
    {{"linear.weight", ACCC_F32, 2, shape_w}, ACCC_PARAMETER, 1, W, INITIAL(initial_w)},
    {{"linear.bias", ACCC_F32, 1, shape_b}, ACCC_PARAMETER, 1, B_OFFSET, INITIAL(initial_b)},
    {{"scale", ACCC_I64, 0, NULL}, ACCC_BUFFER, 0, SCALE, INITIAL(initial_scale)},
    {{"velocity.linear.weight", ACCC_F32, 2, shape_w}, ACCC_OPTIMIZER_STATE, 0, VELOCITY_W, NULL},
    {{"velocity.linear.bias", ACCC_F32, 1, shape_b}, ACCC_OPTIMIZER_STATE, 0, VELOCITY_B, NULL}};

#define IN_X {{"x", ACCC_F32, 2, shape_x}, ACCC_DATA}
#define IN_TARGET {{"target", ACCC_F32, 2, shape_y}, ACCC_TARGET}
#define IN_RATE {{"learning_rate", ACCC_F32, 0, NULL}, ACCC_LEARNING_RATE}
#define IN_SEED {{"seed", ACCC_I64, 0, NULL}, ACCC_SEED}
#define IN_STEP {{"step", ACCC_I64, 0, NULL}, ACCC_STEP}
#define GRAD_W {{"grad.linear.weight", ACCC_F32, 2, shape_w}, ACCC_GRADIENT}
#define GRAD_B {{"grad.linear.bias", ACCC_F32, 1, shape_b}, ACCC_GRADIENT}
#define OUT_LOSS {{"loss", ACCC_F32, 0, NULL}, ACCC_LOSS}
#define OUT_Y {{"y", ACCC_F32, 2, shape_y}, ACCC_DATA}
/* What the step saw of seed and step number, so that tests can see it too. */
#define OUT_RANDOM {{"random", ACCC_I64, 0, NULL}, ACCC_DATA}

static const accc_value train_inputs[] = {IN_X, IN_TARGET, IN_RATE, IN_SEED, IN_STEP};
static const accc_value train_outputs[] = {OUT_LOSS, OUT_RANDOM};
static const accc_value grad_inputs[] = {IN_X, IN_TARGET, IN_SEED, IN_STEP};
static const accc_value grad_outputs[] = {OUT_LOSS, GRAD_W, GRAD_B};
#ifdef SIZES
#ifdef SAME_INPUTS
#define FEW_X IN_X
#define FEW_TARGET IN_TARGET
#else
#define FEW_X {{"x", ACCC_F32, 2, few_x}, ACCC_DATA}
#define FEW_TARGET {{"target", ACCC_F32, 2, few_y}, ACCC_TARGET}
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
#define MATMUL(rows)                                                                               \
  {                                                                                                \
    ACCC_CALL_MATMUL, MATMUL_TYPE, {                                                               \
      .matmul = {.m = rows,                                                                        \
                 .n = 1,                                                                           \
                 .k = COLUMNS,                                                                     \
                 .a_row_stride = COLUMNS,                                                          \
                 .a_column_stride = 1,                                                             \
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

/* y += b, one row a task. */
static void add_bias(char *const *buffers, int64_t begin, int64_t end) {
  float *y = (float *)buffers[0];
  for (int64_t i = begin; i < end; ++i)
    y[i] += *(const float *)buffers[1];
}

static int32_t forward(const accc_services *services, char *state, float *y, const char *x,
                       int rows) {
  /* As kernels do, relies on what the contract says of inputs; there is no such status. */
  if ((uintptr_t)x % ACCC_ALIGNMENT)
    return -1;
  char *matmul[] = {(char *)x, state + W, (char *)y};
#ifdef FAILING_CALL
  const int32_t call = 7; /* there is none */
#else
  const int32_t call = 0;
#endif
  int32_t status = services->library_call(services->context, call, matmul);
  if (status != ACCC_DONE)
    return status;
  char *bias[] = {(char *)y, state + B};
  services->parallel_for(services->context, add_bias, bias, rows);
  return ACCC_DONE;
}

/* Loss and gradients; an accc_status. */
static int32_t gradients(const accc_services *services, char *state, char *arena, const float *x,
                         const float *target, float *loss, float *grad_w, float *grad_b, int rows) {
  if (target[0] != target[0])
    return ACCC_FIRST_DATA_ERROR;
  float *y = (float *)(arena + Y);
  int32_t status = forward(services, state, y, (const char *)x, rows);
  if (status)
    return status;
  *loss = 0, *grad_b = 0;
  for (int j = 0; j < COLUMNS; ++j)
    grad_w[j] = 0;
  for (int i = 0; i < rows; ++i) {
    float error = y[i] - target[i], dy = 2 * error / rows;
    *loss += error * error / rows;
    *grad_b += dy;
    for (int j = 0; j < COLUMNS; ++j)
      grad_w[j] += dy * x[i * COLUMNS + j];
  }
  return 0;
}

static void apply(char *state, const float *grad_w, const float *grad_b, float rate) {
  float *w = (float *)(state + W), *b = (float *)(state + B);
  float *vw = (float *)(state + VELOCITY_W), *vb = (float *)(state + VELOCITY_B);
  for (int j = 0; j < COLUMNS; ++j) {
    vw[j] = 0.5f * vw[j] + grad_w[j];
    w[j] -= rate * vw[j];
  }
  *vb = 0.5f * *vb + *grad_b;
  *b -= rate * *vb;
}

static int32_t train(const accc_services *services, char *state, char *arena, char *const *io,
                     int rows) {
  float *grad_w = (float *)(arena + DY), grad_b;
  int32_t status = gradients(services, state, arena, (float *)io[0], (float *)io[1], (float *)io[5],
                             grad_w, &grad_b, rows);
  if (status)
    return status;
  apply(state, grad_w, &grad_b, *(float *)io[2]);
  *(int64_t *)io[6] = 1000 * *(int64_t *)io[3] + *(int64_t *)io[4];
  return 0;
}

static int32_t train_step(const accc_services *services, char *state, char *arena,
                          char *const *io) {
  return train(services, state, arena, io, ROWS);
}

static int32_t grad_step(const accc_services *services, char *state, char *arena, char *const *io) {
  return gradients(services, state, arena, (float *)io[0], (float *)io[1], (float *)io[4],
                   (float *)io[5], (float *)io[6], ROWS);
}

#ifdef SIZES
static int32_t few_train_step(const accc_services *services, char *state, char *arena,
                              char *const *io) {
  return train(services, state, arena, io, FEW_ROWS);
}

static int32_t few_grad_step(const accc_services *services, char *state, char *arena,
                             char *const *io) {
  return gradients(services, state, arena, (float *)io[0], (float *)io[1], (float *)io[4],
                   (float *)io[5], (float *)io[6], FEW_ROWS);
}
#endif

static int32_t apply_step(const accc_services *services, char *state, char *arena,
                          char *const *io) {
  (void)services, (void)arena;
  apply(state, (float *)io[0], (float *)io[1], *(float *)io[2]);
  return 0;
}

static int32_t eval_step(const accc_services *services, char *state, char *arena, char *const *io) {
  (void)arena;
  return forward(services, state, (float *)io[1], io[0], ROWS);
}

/* Returns what it finds in its arena: to see the poison. */
static const accc_value peek_outputs[] = {OUT_LOSS, OUT_Y};
static int32_t peek(const accc_services *services, char *state, char *arena, char *const *io) {
  (void)services, (void)state;
  *(float *)io[0] = *(float *)(arena + Y);
  return 0;
}

#ifdef SIZES
#define ALL "rows=4"
#define FEW "rows=2"
#elif defined(NO_SIZES)
#define ALL NULL
#else
#define ALL ""
#endif

static const accc_entry entries[] = {
    {"train_step", ALL, train_step, ARENA_SIZE, 5, 2, 1, 1, 1, train_inputs, train_outputs, calls,
     errors, NULL},
    {"grad_step", ALL, grad_step, ARENA_SIZE, 4, 3, 1, 1, 1, grad_inputs, grad_outputs, calls,
     errors, NULL},
#ifdef SIZES
    {"train_step", FEW, few_train_step, ARENA_SIZE, 5, 2, 1, 1, 1, few_train_inputs, train_outputs,
     few_calls, errors, NULL},
    {"grad_step", FEW, few_grad_step, ARENA_SIZE, 4, 3, 1, 1, 1, few_grad_inputs, grad_outputs,
     few_calls, errors, NULL},
#endif
    {"apply_step", "", apply_step, ARENA_SIZE, 3, 0, 0, 0, 0, apply_inputs, NULL, NULL, NULL, NULL},
    {"eval_step", ALL, eval_step, SMALL_ARENA_SIZE, 1, 1, 1, 0, 1, eval_inputs, eval_outputs, calls,
     NULL, NULL},
#ifdef TWICE
    {"apply_step", "", apply_step, ARENA_SIZE, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL},
#endif
    {"peek", "", peek, ARENA_SIZE, 0, 2, 0, 0, 0, NULL, peek_outputs, NULL, NULL, NULL}};

#define CODE(arch) {arch, sizeof entries / sizeof *entries, entries}
static const accc_code codes[] = {
#ifdef WRONG_ARCH
    CODE("futurecpu:avx,x86-64-v2,no-such-feature"),
#elif defined(ARCHS)
    /* No CPU with these two was ever made. */
    CODE("neither:xop,avx512bf16"),
    CODE("x86-64-v2"),
    CODE("x86-64"),
#elif defined(NO_ARCH)
    CODE("neither:xop,avx512bf16"),
    CODE("nor:sse4.2,fma4,avx512f"),
#else
    CODE("x86-64"),
#endif
};

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
#ifdef WRONG_TARGET
    "cuda",
#else
    "cpu",
#endif
    "{}",
    WEIGHTS_FILE,
    STATE_SIZE,
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
