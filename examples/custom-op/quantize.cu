// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// acme::quantize on a GPU: the functions put their kernels into the session's stream and return.
#include "quantize.h"

#include <cuda_runtime.h>

namespace {
constexpr int kThreads = 256;

__device__ float clamp(float value, float low, float high) {
  return fminf(fmaxf(value, low), high);
}
} // namespace

extern "C" __global__ void quantize_forward(const float *x, const float *step, float *y,
                                            int64_t size, float low, float high) {
  int64_t i = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (i < size)
    y[i] = rintf(clamp(x[i] / *step, low, high)) * *step;
}

// One block, so that the sum has the same order, and the same bits, in every step.
extern "C" __global__ void quantize_backward(const float *x, const float *step, const float *dy,
                                             float *dx, float *dstep, int64_t size, float low,
                                             float high) {
  __shared__ double sums[kThreads];
  double sum = 0;
  for (int64_t i = threadIdx.x; i < size; i += kThreads) {
    float ratio = x[i] / *step;
    bool inside = ratio > low && ratio < high;
    if (dx) // nobody wants it where x takes no gradient
      dx[i] = inside ? dy[i] : 0;
    sum += dy[i] * (inside ? rintf(ratio) - ratio : clamp(ratio, low, high));
  }
  sums[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half)
      sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0 && dstep)
    *dstep = float(sums[0] / sqrt(double(size) * high));
}

static int32_t launched(const accc_custom_arguments *arguments) {
  cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? 0 : refuse(arguments, cudaGetErrorString(error));
}

extern "C" int32_t quantize_forward_cuda(const accc_custom_arguments *arguments) {
  float low, high;
  quantize_bounds(arguments, &low, &high);
  int64_t size = size_of(&arguments->inputs[0]);
  if (size == 0)
    return 0;
  quantize_forward<<<unsigned((size + kThreads - 1) / kThreads), kThreads, 0,
                     static_cast<cudaStream_t>(arguments->stream)>>>(
      static_cast<const float *>(arguments->inputs[0].data),
      static_cast<const float *>(arguments->inputs[1].data),
      static_cast<float *>(arguments->outputs[0].data), size, low, high);
  return launched(arguments);
}

extern "C" int32_t quantize_backward_cuda(const accc_custom_arguments *arguments) {
  float low, high;
  quantize_bounds(arguments, &low, &high);
  quantize_backward<<<1, kThreads, 0, static_cast<cudaStream_t>(arguments->stream)>>>(
      static_cast<const float *>(arguments->inputs[0].data),
      static_cast<const float *>(arguments->inputs[1].data),
      static_cast<const float *>(arguments->output_gradients[0].data),
      static_cast<float *>(arguments->input_gradients[0].data),
      static_cast<float *>(arguments->input_gradients[1].data),
      size_of(&arguments->inputs[0]), low, high);
  return launched(arguments);
}
