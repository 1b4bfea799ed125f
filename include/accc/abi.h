/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The contract between a compiled model (`model.so`) and a runtime.
 *
 * A compiled model exports one symbol, `accc_model`, which returns a constant
 * description: what it stores, what can be called, and, as data, the steps of
 * each call: kernels of the library's own, and library calls that the runtime
 * makes. It imports nothing. Any runtime of the same ABI version can load it.
 *
 * All sizes and offsets are bytes, all shapes are row-major (last dimension
 * contiguous), all strings UTF-8 and NUL-terminated. Everything the
 * description points to is constant and lives as long as the library is loaded.
 */
#ifndef ACCC_ABI_H
#define ACCC_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a struct or the meaning of a field changes. */
#define ACCC_ABI_VERSION 11

/* Alignment of every buffer: the state block, the arena, the constants, every
 * slice of them, and what the runtime passes as inputs and outputs. */
#define ACCC_ALIGNMENT 64

/* Element types. A boolean is one byte, 0 or 1. */
typedef enum accc_dtype {
  ACCC_F32 = 1,
  ACCC_F64 = 2,
  ACCC_F16 = 3,
  ACCC_BF16 = 4,
  ACCC_BOOL = 5,
  ACCC_I8 = 6,
  ACCC_I16 = 7,
  ACCC_I32 = 8,
  ACCC_I64 = 9,
  ACCC_U8 = 10,
  ACCC_U16 = 11,
  ACCC_U32 = 12,
  ACCC_U64 = 13
} accc_dtype;

typedef struct accc_tensor {
  const char *name;
  int32_t dtype; /* accc_dtype */
  int32_t rank;
  const int64_t *shape; /* `rank` extents; NULL for rank 0 */
} accc_tensor;

/* What persists between calls. */
typedef enum accc_role {
  ACCC_PARAMETER = 1,      /* trained; has a gradient unless frozen */
  ACCC_BUFFER = 2,         /* not trained: running statistics, constants of the model */
  ACCC_OPTIMIZER_STATE = 3 /* moments, step count; starts as zeros */
} accc_role;

typedef struct accc_variable {
  accc_tensor tensor;  /* as users see it; see accc_code.variable_orders */
  int32_t role;        /* accc_role */
  int32_t trainable;   /* 1: an optimizer updates it */
  uint64_t offset;     /* into the state block */
  const void *initial; /* its initial bytes, or NULL: see accc_model.weights_file */
} accc_variable;

/* How the caller is expected to treat an input or output of an entry point. */
typedef enum accc_usage {
  ACCC_DATA = 1,          /* an input or output of the model itself */
  ACCC_TARGET = 2,        /* the input that a loss compares with */
  ACCC_LEARNING_RATE = 3, /* scalar: f64 if it updates parameters of f64, else f32 */
  ACCC_SEED = 4,          /* i64 scalar: the run's random seed */
  ACCC_STEP = 5,          /* i64 scalar: how many such calls were done before; seeds random bits */
  ACCC_LOSS = 6,          /* scalar output: f64 of a model in f64, else f32 */
  ACCC_GRADIENT = 7       /* output of grad_step, input of apply_step: `grad.<parameter>` */
} accc_usage;

/* What the elements of an integer input may be that choose classes or rows: those in [first, end),
 * and `ignored`. Kernels do not look here: it is for messages about others. */
typedef struct accc_indices {
  int64_t first, end, ignored;
  int32_t has_ignored, reserved;
  const char *what; /* "classes", "rows" */
} accc_indices;

typedef struct accc_value {
  accc_tensor tensor;
  int32_t usage;               /* accc_usage */
  const accc_indices *indices; /* of an input, or NULL */
} accc_value;

/* ---- Library calls: contractions and attentions that the runtime hands to a library. ---- */

#define ACCC_MAX_BATCH_DIMS 4
#define ACCC_MAX_SPATIAL_DIMS 3

typedef enum accc_call_kind {
  /* buffers: A, B, C.       C[b,m,n] = sum_k A[b,m,k] * B[b,k,n]  (+ C[b,m,n] if accumulate);
   * with an epilogue: A, B, what that reads, C */
  ACCC_CALL_MATMUL = 1,
  /* buffers: x, w, y        y = conv(x, w) */
  ACCC_CALL_CONVOLUTION = 2,
  /* buffers: dy, w, dx      the gradient of ACCC_CALL_CONVOLUTION with respect to x */
  ACCC_CALL_CONVOLUTION_BACKWARD_DATA = 3,
  /* buffers: x, dy, dw      ... with respect to w */
  ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS = 4,
  /* buffers: q, k, v, the bias if it has one, y, stats
   * y = softmax(scale q k^T + bias) v for each head; stats are the logarithms of the sums of
   * e^score */
  ACCC_CALL_ATTENTION = 5,
  /* buffers: q, k, v, y, stats, dy, the bias if it has one, dq, dk, dv
   * the gradients of ACCC_CALL_ATTENTION's y */
  ACCC_CALL_ATTENTION_BACKWARD = 6
} accc_call_kind;

/* Strides are in elements, and so are the offsets of A's and B's first elements in their buffers,
 * where others may lie between them. Of (row, column) of each matrix at least one stride is 1. */
typedef struct accc_matmul {
  int64_t m, n, k;
  int32_t batch_rank; /* <= ACCC_MAX_BATCH_DIMS */
  int32_t accumulate;
  int64_t batch[ACCC_MAX_BATCH_DIMS];
  int64_t a_offset, b_offset;
  int64_t a_batch_strides[ACCC_MAX_BATCH_DIMS], a_row_stride, a_column_stride;
  int64_t b_batch_strides[ACCC_MAX_BATCH_DIMS], b_row_stride, b_column_stride;
  int64_t c_batch_strides[ACCC_MAX_BATCH_DIMS], c_row_stride, c_column_stride;
} accc_matmul;

typedef enum accc_layout {
  ACCC_CHANNELS_FIRST = 0, /* N C spatial... ; of a filter O I kernel... */
  ACCC_CHANNELS_LAST = 1   /* N spatial... C ; of a filter O kernel... I */
} accc_layout;

/* Shapes as in ONNX Conv: x [N, C, spatial], w [O, C/groups, kernel], y [N, O, spatial']. */
typedef struct accc_convolution {
  int32_t spatial_rank;  /* 1 to 3 */
  int32_t layout;        /* accc_layout of x, y, dx and dy */
  int32_t filter_layout; /* accc_layout of w and dw */
  int32_t reserved;
  int64_t batch, in_channels, out_channels, groups;
  int64_t in_size[ACCC_MAX_SPATIAL_DIMS], out_size[ACCC_MAX_SPATIAL_DIMS];
  int64_t kernel[ACCC_MAX_SPATIAL_DIMS], stride[ACCC_MAX_SPATIAL_DIMS],
      dilation[ACCC_MAX_SPATIAL_DIMS]; /* dilation 1 is dense */
  int64_t pad_low[ACCC_MAX_SPATIAL_DIMS], pad_high[ACCC_MAX_SPATIAL_DIMS];
} accc_convolution;

/* Where a tensor [batch, head, position, feature] lies in a buffer, in elements: perhaps beside
 * others, between whose rows its own are. */
typedef struct accc_head_view {
  int64_t offset;
  int64_t strides[3]; /* of batch, head and position; that of a feature is 1 */
} accc_head_view;

/* q and y [batch, heads, queries, features], k [batch, key_heads, keys, features], v likewise with
 * value_features, as y: 16-bit floats of one type, with f32 sums and softmax. Query head h reads
 * key head h / (heads / key_heads). stats [batch, heads, queries], contiguous, f32. Several of q, k
 * and v may be the same buffer, and several of dq, dk and dv, of which no two share an element. */
typedef struct accc_attention {
  int64_t batch, heads, key_heads, queries, keys, features, value_features;
  accc_head_view q, k, v, y, dy, dq, dk, dv; /* those of gradients: zeros in ACCC_CALL_ATTENTION */
  /* of batch, head and query, each 0 where the bias has an extent of 1; that of a key is 1 */
  int64_t bias_strides[3];
  double scale;
  int32_t causal; /* 1: the query at t reads keys s <= t alone */
  int32_t has_bias;
} accc_attention;

/* What a matmul does with its sums before it stores them. */
typedef enum accc_epilogue {
  ACCC_EPILOGUE_NONE = 0,
  /* reads a bias of n contiguous elements of C's type: C[b,m,n] += bias[n]; not if accumulate */
  ACCC_EPILOGUE_BIAS = 1
} accc_epilogue;

/* How a contraction of f32 multiplies. */
typedef enum accc_compute {
  ACCC_COMPUTE_FULL = 0, /* as its operands are, sums of 16-bit operands in f32 */
  ACCC_COMPUTE_TF32 = 1  /* may round factors to 11 bits of significand */
} accc_compute;

typedef struct accc_library_call {
  int32_t kind;    /* accc_call_kind */
  int32_t compute; /* accc_compute */
  /* accc_dtype of each buffer of a matmul or a convolution, in the order that accc_call_kind names;
   * of an attention the first is that of all but stats */
  int32_t dtypes[3];
  int32_t epilogue; /* accc_epilogue of a matmul */
  union {
    accc_matmul matmul;
    accc_convolution convolution;
    accc_attention attention;
  } u;
} accc_library_call;

/* ---- Custom calls: functions that a library of the user's gives (accc/custom_op.h). ---- */

struct accc_attribute; /* custom_op.h */

typedef struct accc_custom_call {
  const char *name;                /* of the operator, "domain::name" */
  const char *library;             /* the file that gives it, without a folder */
  int32_t backward;                /* 0: its forward function; 1: its backward function */
  int32_t num_inputs, num_outputs; /* of the operator */
  int32_t num_attributes;
  const accc_tensor *inputs, *outputs; /* without names */
  const struct accc_attribute *attributes;
  /* For each input, each output, each output's gradient and each input's gradient which buffer of
   * the step it is; -1: the call has none. */
  const int32_t *buffers;
} accc_custom_call;

/* ---- Collectives: what the processes that train a model together exchange (accc/group.h). ---- */

typedef enum accc_collective_kind {
  /* the mean of floats over all n processes: the sum of each one's x / n */
  ACCC_ALL_REDUCE = 1,
  /* what the first process has */
  ACCC_BROADCAST = 2,
  /* the sum of floats over all processes */
  ACCC_ALL_REDUCE_SUM = 3
} accc_collective_kind;

/* All processes make the same collectives in the same order. Buffers: tensors to send and then, as
 * many and as large, those that are received, which may be the same. */
typedef struct accc_collective {
  int32_t kind;  /* accc_collective_kind */
  int32_t dtype; /* accc_dtype of all tensors */
} accc_collective;

/* ---- Kernels: machine code of the library. ---- */

/* On a CPU: the tasks of the half-open range [begin, end). Calls for disjoint ranges may run at the
 * same time on different threads; how the range is split never changes the result. */
typedef void (*accc_kernel_function)(char *const *buffers, int64_t begin, int64_t end);

/* Its buffers are those of the step that launches it. */
typedef struct accc_kernel {
  const char *name;
  accc_kernel_function function; /* on a CPU; else NULL, and `name` is a symbol of the image */
  /* On a GPU: blocks of `threads` threads, each of which does `tasks_per_block` tasks. The buffers
   * are parameters, a device pointer each; or there is one parameter, the address of an array of
   * these pointers in device memory. */
  int32_t threads, tasks_per_block;
  int32_t shared_bytes; /* of dynamic shared memory */
  int32_t buffers_in_memory;
} accc_kernel;

/* ---- Steps: what an entry point runs, in order. ---- */

typedef enum accc_space {
  ACCC_STATE = 0,    /* offset: bytes into the state block */
  ACCC_ARENA = 1,    /* offset: bytes into the arena */
  ACCC_INPUT = 2,    /* offset: the number of the input */
  ACCC_OUTPUT = 3,   /* offset: the number of the output */
  ACCC_CONSTANT = 4, /* offset: bytes into accc_model_description.constants */
  ACCC_TABLE = 5,    /* offset: bytes into accc_code.tables */
  ACCC_STATUS = 6    /* the status of the call, an int64_t (accc_status); offset 0 */
} accc_space;

typedef enum accc_access { ACCC_READ = 1, ACCC_WRITE = 2, ACCC_READ_WRITE = 3 } accc_access;

typedef struct accc_buffer {
  int32_t space;  /* accc_space */
  int32_t access; /* accc_access */
  uint64_t offset;
  uint64_t bytes;
} accc_buffer;

typedef enum accc_step_kind {
  /* Kernel number `index` of accc_code.kernels over the tasks [0, tasks). Its last buffer is the
   * status, which it sets where the data is at fault. */
  ACCC_STEP_LAUNCH = 1,
  /* Number `index` of accc_entry.library_calls. */
  ACCC_STEP_LIBRARY_CALL = 2,
  /* Ends the call unless the status is ACCC_DONE: what comes after changes the state. A device that
   * runs ahead of the host may instead make the later kernels do nothing, which look at the
   * status themselves. */
  ACCC_STEP_CHECK = 3,
  /* Number `index` of accc_entry.custom_calls. */
  ACCC_STEP_CUSTOM_CALL = 4,
  /* Number `index` of accc_entry.collectives. Steps that do not use its buffers may run while it is
   * under way. */
  ACCC_STEP_COLLECTIVE = 5,
  /* Makes the status of the call ACCC_OTHER_FAILED where it is ACCC_DONE, unless it is that in all
   * processes. Stands behind the collectives of an entry, and before its check if it has one. */
  ACCC_STEP_AGREE = 6
} accc_step_kind;

typedef struct accc_step {
  int32_t kind; /* accc_step_kind */
  int32_t index;
  int64_t tasks;
  int32_t first_buffer, num_buffers; /* of accc_entry.buffers */
  /* For profiles and reports: what it computes, and the modules of the model that this belongs to
   * ("blocks.0.mlp", "blocks.0.* (backward)"; "" or NULL where that is not known). */
  const char *label, *module;
} accc_step;

/* The status of a call. Positive: the data is at fault, and accc_entry.errors[status - 1] says how.
 * Negative: the machine is. The state is unchanged unless it is ACCC_DONE. */
typedef enum accc_status {
  ACCC_DONE = 0,
  ACCC_FIRST_DATA_ERROR = 1,
  ACCC_CALL_FAILED = -1, /* a library or custom call or a collective; the runtime, which made it,
                            knows why */
  ACCC_OTHER_FAILED = -2 /* this process could go on, another of its group cannot, and says why */
} accc_status;

typedef struct accc_entry {
  const char
      *name; /* train_step, grad_step, apply_step, eval_step; of the step d train_step.d, ... */
  /* Where a model was compiled for several sizes, those of this entry: "batch=32,seq=64". There is
   * then one entry of the name for each, and they differ in the shapes of their inputs, by which a
   * caller's tensors choose. "" where an entry fits all sizes. */
  const char *sizes;
  uint64_t arena_size; /* bytes of scratch, contents undefined at the start of a call */
  int32_t num_inputs, num_outputs, num_library_calls, num_errors, num_steps, num_buffers;
  int32_t num_launches, num_custom_calls, num_collectives; /* launches: among the steps */
  const accc_value *inputs;
  const accc_value *outputs;
  const accc_library_call *library_calls;
  const accc_custom_call *custom_calls;
  const accc_collective *collectives;
  const char *const *errors;
  const accc_step *steps;
  const accc_buffer *buffers; /* of all steps */
} accc_entry;

/* All entries for one kind of machine. */
typedef struct accc_code {
  const char *target; /* "cpu", "cuda" */
  /* On a CPU the instructions needed, as LLVM names them: a level ("x86-64-v3"), or a CPU and the
   * features of it that the code may use ("znver4:avx512f,avx512bf16,fma"), against which the
   * runtime holds the CPU. On a GPU "sm_90", a cubin for that compute capability and later minor
   * ones, or "compute_90", PTX for it and all later ones. */
  const char *arch;
  const void *image; /* a GPU's code: a cubin, or PTX that ends with a NUL; else NULL */
  uint64_t image_bytes;
  const void *tables; /* what some kernels are told beside tensors */
  uint64_t tables_bytes;
  int32_t num_kernels, num_entries;
  const accc_kernel *kernels;
  const accc_entry *entries;
  /* How the variables lie in the state block for this code: one a variable, NULL where it is
   * row-major as its shape says, else its dimensions from the outermost in memory to the innermost
   * ({0, 2, 3, 1}: a filter [O, I, H, W] lies as [O, H, W, I]). NULL where all are row-major. */
  const int64_t *const *variable_orders;
} accc_code;

typedef struct accc_model_description {
  uint32_t abi_version; /* first, so that a runtime can read it whatever follows */
  uint32_t struct_size;
  const char *name;             /* the model's name */
  const char *compiler_version; /* "accc 0.1.0" */
  const char *manifest;         /* JSON: options, input hash, loss, optimizer */
  /* Where variables with no `initial` start from: the name of a safetensors file in the folder of
   * the library, or NULL where the caller must give them. Optimizer state starts as zeros. */
  const char *weights_file;
  uint64_t state_size;
  const void *constants; /* read-only tensors that steps use */
  uint64_t constants_bytes;
  int32_t num_variables, num_codes;
  const accc_variable *variables; /* of every entry */
  /* The same entries for different machines, the best first: a runtime takes the first that its
   * machine can run. */
  const accc_code *const *codes;
} accc_model_description;

#define ACCC_MODEL_SYMBOL "accc_model"
typedef const accc_model_description *(*accc_model_function)(void);

#ifdef __cplusplus
}
#endif
#endif
