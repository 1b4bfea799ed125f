/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The functions for GPUs of examples/custom-op by the driver's own interface, which the stand-in
 * has: they load quantize.ptx, which is examples/custom-op/quantize.cu as nvcc -ptx
 * -arch=compute_80 compiles it.
 */
#include "quantize.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stdlib.h>

enum { threads = 256 };

/* Kernels of the module, which is loaded when the first is asked for: outside a capture. */
static CUfunction find(const char *name, const accc_custom_arguments *arguments) {
  static CUmodule module;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  CUresult (*load)(CUmodule *, const void *, unsigned, CUjit_option *, void **);
  CUresult (*function)(CUfunction *, CUmodule, const char *);
  *(void **)&load = dlsym(driver, "cuModuleLoadDataEx");
  *(void **)&function = dlsym(driver, "cuModuleGetFunction");
  if (!module) {
    static char text[1 << 16];
    FILE *file = fopen(getenv("ACCC_TEST_PTX"), "rb");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = 0;
    if (file)
      fclose(file);
    if (load(&module, text, 0, NULL, NULL) != CUDA_SUCCESS) {
      refuse(arguments, "quantize.ptx does not load");
      return NULL;
    }
  }
  CUfunction found = NULL;
  if (function(&found, module, name) != CUDA_SUCCESS)
    refuse(arguments, "there is no such kernel");
  return found;
}

static int32_t launch(const char *name, unsigned blocks, void **parameters,
                      const accc_custom_arguments *arguments) {
  CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned, CUstream, void **, void **);
  *(void **)&launch = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernel");
  CUfunction kernel = find(name, arguments);
  if (!kernel)
    return 1;
  CUresult result =
      launch(kernel, blocks, 1, 1, threads, 1, 1, 0, (CUstream)arguments->stream, parameters, NULL);
  return result == CUDA_SUCCESS ? 0 : refuse(arguments, "the launch fails");
}

int32_t quantize_forward_cuda(const accc_custom_arguments *arguments) {
  float low, high;
  quantize_bounds(arguments, &low, &high);
  int64_t size = size_of(&arguments->inputs[0]);
  accc_operand x = arguments->inputs[0], step = arguments->inputs[1], y = arguments->outputs[0];
  void *parameters[] = {&x.data, &step.data, &y.data, &size, &low, &high};
  return launch("quantize_forward", (unsigned)((size + threads - 1) / threads), parameters,
                arguments);
}

int32_t quantize_backward_cuda(const accc_custom_arguments *arguments) {
  float low, high;
  quantize_bounds(arguments, &low, &high);
  int64_t size = size_of(&arguments->inputs[0]);
  accc_operand x = arguments->inputs[0], step = arguments->inputs[1],
               dy = arguments->output_gradients[0], dx = arguments->input_gradients[0],
               dstep = arguments->input_gradients[1];
  void *parameters[] = {&x.data, &step.data, &dy.data, &dx.data, &dstep.data, &size, &low, &high};
  return launch("quantize_backward", 1, parameters, arguments);
}
