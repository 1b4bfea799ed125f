/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Custom operators: what a shared library of yours exports, so that models may use operators that
 * accc does not know. Plain C; docs/custom-operators.md explains it with an example.
 *
 * The library exports one function, ACCC_CUSTOM_OPS_SYMBOL. `accc compile --custom-ops LIB.so`
 * calls it to learn which operators there are and asks each for the types of its results. The
 * runtime calls it when a compiled model is loaded, and the operators' functions in every step.
 *
 * Tensors are row-major (last dimension contiguous) and begin at addresses aligned to
 * ACCC_ALIGNMENT bytes; a boolean is one byte, 0 or 1. All memory that a function is given belongs
 * to its caller and is the function's until it returns (on a GPU: until the work that it put into
 * the stream is done); it must not be kept, freed or reallocated.
 *
 * What a function must promise:
 * - Results depend on nothing but the operands, the attributes and the types: the same call gives
 *   the same numbers. Calls may be left out where nobody reads their results, made once for several
 *   equal uses, and made again.
 * - It writes every element of its results and nothing else, never its operands. Results share no
 *   memory with each other or with an operand.
 * - It accepts any values, NaN and indices out of range included: where data is at fault, a step
 * may still run to its end with garbage before that is reported.
 * - It does not throw, exit or longjmp through its caller.
 * On a CPU it is called with subnormal numbers flushed to zero, as all of a step's arithmetic.
 *
 * Threads: of one session, one function is called at a time; sessions in different threads may call
 * the same function at the same time.
 */
#ifndef ACCC_CUSTOM_OP_H
#define ACCC_CUSTOM_OP_H

#include "accc/abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Raised whenever a struct or the meaning of a field of this header changes. */
#define ACCC_CUSTOM_OPS_VERSION 1

/* The most operands, and the most results, of an operator, and the most dimensions of a result. */
#define ACCC_CUSTOM_MAX_TENSORS 32
#define ACCC_CUSTOM_MAX_RANK 16

/* The size in bytes of the buffer for a message. */
#define ACCC_CUSTOM_MESSAGE_BYTES 512

/* An attribute of an ONNX node, or an argument of a PyTorch operator that is no tensor, under its
 * name. A single value is a list of one; a boolean is an integer, 0 or 1. An argument that the
 * model file leaves out because it has its default value is not there. */
typedef enum accc_attribute_kind {
  ACCC_INTEGERS = 1,
  ACCC_REALS = 2,
  ACCC_STRINGS = 3 /* UTF-8, NUL-terminated */
} accc_attribute_kind;

typedef struct accc_attribute {
  const char *name;
  int32_t kind;  /* accc_attribute_kind */
  int32_t count; /* of values */
  /* `count` values where `kind` says so, else NULL. */
  const int64_t *integers;
  const double *reals;
  const char *const *strings;
} accc_attribute;

typedef struct accc_operand {
  int32_t dtype; /* accc_dtype */
  int32_t rank;
  const int64_t *shape; /* `rank` extents; NULL for rank 0 */
  void *data; /* on a GPU an address of the device; NULL where the call has no such tensor */
} accc_operand;

/* What a function is called with. */
typedef struct accc_custom_arguments {
  int32_t num_inputs, num_outputs, num_attributes;
  /* How many threads the function may use, its caller's included; 1 on a GPU. OpenMP's team has
   * been set to it. */
  int32_t threads;
  /* forward: reads inputs[].data, writes outputs[].data.
   * infer, workspace: no data, and infer has no outputs either.
   * backward: reads the data of the inputs and outputs that the operator says it reads (others have
   * none) and of the output gradients, and writes that of the input gradients that are wanted. */
  const accc_operand *inputs;  /* num_inputs */
  const accc_operand *outputs; /* num_outputs */
  /* backward: num_outputs, the gradient of the loss with respect to each output, zeros where the
   * loss does not depend on it; no data for outputs that are not floats. Else NULL. */
  const accc_operand *output_gradients;
  /* backward: num_inputs, to be overwritten, not added to; no data where nobody wants the gradient
   * of the input, or it has none. Else NULL. */
  const accc_operand *input_gradients;
  const accc_attribute *attributes; /* num_attributes, by name */
  /* Scratch of as many bytes as accc_custom_operator.workspace asked for, contents undefined. */
  void *workspace;
  uint64_t workspace_bytes;
  /* On a GPU the CUstream (cudaStream_t) of the session, else NULL. */
  void *stream;
  /* ACCC_CUSTOM_MESSAGE_BYTES, at first an empty string: why a function failed, NUL-terminated. */
  char *message;
} accc_custom_arguments;

/* The type of a result, to be filled in. */
typedef struct accc_result_type {
  int32_t dtype; /* accc_dtype */
  int32_t rank;  /* at most ACCC_CUSTOM_MAX_RANK */
  int64_t shape[ACCC_CUSTOM_MAX_RANK];
} accc_result_type;

/* Fills in the type of each of num_outputs results. Returns 0, or anything else where it refuses
 * the operands, with a message that says what it needs. Pure: it is called when a model is compiled
 * and again when it is loaded, and must say the same. */
typedef int32_t (*accc_infer_function)(const accc_custom_arguments *arguments,
                                       accc_result_type *results);

/* Computes. Returns 0, or anything else where it failed, with a message: the step ends with an
 * error of the kind `machine`, which carries it. Variables are unchanged then.
 *
 * On a GPU: data and workspace are memory of the device, whose context is current. The function
 * puts its work into `stream` and returns without waiting for it. It must be capturable: no call
 * that synchronises, allocates or frees memory, or uses another stream without joining it by
 * events. The first time it is called outside a capture, so that it may load modules and set up
 * libraries then; after that the work of a call is captured once as a part of a CUDA graph and
 * replayed in every step, so that what it reads of the host counts as it was at the capture. When
 * the session's memory moves it is called again. */
typedef int32_t (*accc_custom_function)(const accc_custom_arguments *arguments);

/* How many bytes of scratch a call of the forward function (or, where `backward` is 1, of the
 * backward function) needs. Asked once for each call of an entry point, when the entry point is
 * made ready. */
typedef uint64_t (*accc_workspace_function)(const accc_custom_arguments *arguments,
                                            int32_t backward);

/* What the derivative of an operator is. */
typedef enum accc_custom_gradient {
  /* Nobody has said: an error where a trained parameter acts on the loss through the operator. */
  ACCC_GRADIENT_UNKNOWN = 0,
  /* Zero with respect to every input: comparisons, rounding, indices. */
  ACCC_GRADIENT_ZERO = 1,
  /* What the backward function computes. */
  ACCC_GRADIENT_BACKWARD = 2
} accc_custom_gradient;

typedef struct accc_custom_operator {
  /* "domain::name". An ONNX node of that domain and operator type; a PyTorch operator of that
   * namespace and name, whatever its overload. */
  const char *name;
  int32_t num_inputs, num_outputs; /* tensors; 1 to ACCC_CUSTOM_MAX_TENSORS */
  accc_infer_function infer;
  accc_workspace_function workspace; /* or NULL: none is needed */
  int32_t gradient;                  /* accc_custom_gradient */
  /* With a backward function: bit i is set where input i has a gradient (others' is zero); where
   * the backward function reads the data of input i; of output i. The less it reads, the less
   * memory a step needs. */
  uint32_t differentiable_inputs, backward_inputs, backward_outputs;
  /* By target; NULL where the operator does not run there. */
  accc_custom_function forward_cpu, backward_cpu;
  accc_custom_function forward_cuda, backward_cuda;
} accc_custom_operator;

typedef struct accc_custom_operators {
  uint32_t version; /* ACCC_CUSTOM_OPS_VERSION; first, so that it can be read whatever follows */
  int32_t num_operators;
  const accc_custom_operator *operators;
} accc_custom_operators;

/* What the library exports: constant, valid as long as the library is loaded, which is until the
 * process ends. */
#define ACCC_CUSTOM_OPS_SYMBOL "accc_custom_ops"
typedef const accc_custom_operators *(*accc_custom_ops_function)(void);

#ifdef __cplusplus
}
#endif
#endif
