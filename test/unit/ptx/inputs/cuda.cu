// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" {
__global__ void reduce(const float *__restrict__ in, float *out, int n) {
  __shared__ float part[32];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += in[i];
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}
__global__ void transpose(const float *__restrict__ in, float *__restrict__ out, int rows, int cols) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
__global__ void softmax(const float *in, float *out, int cols) {
  extern __shared__ float row[];
  __shared__ float red[32];
  const float *x = in + blockIdx.x * cols;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) { row[i] = x[i]; m = fmaxf(m, x[i]); }
  for (int d = 16; d; d >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = m;
  __syncthreads();
  m = red[0];
  for (int i = 1; i < blockDim.x / 32; ++i) m = fmaxf(m, red[i]);
  __syncthreads();
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) s += row[i] = __expf(row[i] - m);
  for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  for (int i = 0; i < blockDim.x / 32; ++i) s += red[i];
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[blockIdx.x * cols + i] = row[i] / s;
}
__global__ void elementary(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  out[i] = expf(x); out[n + i] = logf(fabsf(x)); out[2 * n + i] = sinf(x); out[3 * n + i] = tanhf(x);
  out[4 * n + i] = erff(x); out[5 * n + i] = powf(fabsf(x), 1.5f); out[6 * n + i] = rsqrtf(fabsf(x)); out[7 * n + i] = cbrtf(x);
  out[8 * n + i] = log1pf(fabsf(x)); out[9 * n + i] = atan2f(x, 2.0f); out[10*n+i] = sqrtf(fabsf(x)); out[11*n+i] = 1.0f / x;
  out[12 * n + i] = fmodf(x, 0.7f); out[13*n+i] = floorf(x) + truncf(x) + rintf(x) + roundf(x);
}
__global__ void doubles(const double *in, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  double x = in[i];
  out[i] = exp(x); out[n + i] = log(fabs(x)); out[2 * n + i] = sin(x); out[3 * n + i] = x / 3.7; out[4 * n + i] = sqrt(fabs(x));
  out[5 * n + i] = tanh(x); out[6 * n + i] = erf(x); out[7*n+i] = pow(fabs(x), 2.5); out[8*n+i] = (double)(long long)x; out[9*n+i]=(float)x;
}
__global__ void integers(const int *a, const int *b, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = a[i], y = b[i];
  out[i] = x / y; out[n + i] = x % y; out[2 * n + i] = (unsigned)x / (unsigned)y; out[3 * n + i] = (int)((long long)x * 1000003 / y);
  out[4 * n + i] = __popc(x) + __clz(y); out[5 * n + i] = __brev(x); out[6 * n + i] = __ffs(y); out[7 * n + i] = __mulhi(x, y);
  out[8*n+i] = __funnelshift_l(x, y, 7); out[9*n+i] = __byte_perm(x, y, 0x5214); out[10*n+i] = x / 7; out[11*n+i] = x % 48;
  out[12*n+i] = (int)(((unsigned long long)x << 20 | (unsigned)y) % 1000007ull);
  short s = x; signed char c = y; out[13*n+i] = s / (c ? c : 1);
}
__global__ void choose(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int r;
  switch (in[i]) {
  case 0: r = 17 * i; break; case 1: r = i ^ 91; break; case 2: r = i / 3; break; case 3: r = i << 3; break;
  case 4: r = in[n - 1 - i]; break; case 5: r = i * i; break; case 6: r = -i; break; case 7: r = i % 5; break; default: r = -1;
  }
  out[i] = r;
}
__device__ __noinline__ float poly(float x, int d) { float r = 1; for (int i = 0; i < d; ++i) r = r * x + i; return r; }
__device__ __noinline__ float2 both(float x) { return make_float2(poly(x, 3), poly(x, 5)); }
__global__ void calls(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 r = both(in[i]);
  out[i] = (i & 1) ? poly(r.x, i % 7) : poly(r.y, 2);
}
__global__ void halves(const __nv_bfloat16 *a, const __half *b, float *out, __nv_bfloat162 *o2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __bfloat162float(a[i]) * __half2float(b[i]);
  out[n + i] = __half2float(__hadd(b[i], b[i])) + __half2float(__hfma(b[i], b[i], b[i]));
  out[2*n + i] = __hlt(b[i], __float2half(0.5f)) ? 1 : 2;
  o2[i] = __hfma2(__bfloat162bfloat162(a[i]), __float2bfloat162_rn(1.5f), __floats2bfloat162_rn(1.0f, -2.0f));
}
__global__ void votes(const int *in, unsigned *out, float *sum, unsigned *mx) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, x = in[i];
  out[i] = __ballot_sync(~0u, x > 3) + __any_sync(~0u, x > 100) + __all_sync(~0u, x < 50) + __reduce_add_sync(~0u, x) + __popc(__activemask());
  atomicAdd(sum, 1.0f); atomicMax(mx, (unsigned)x); atomicCAS(mx + 1, 0u, 5u); atomicExch(mx + 2, x); atomicInc(mx + 3, 7);
  out[i] += __syncthreads_count(x & 1) + __match_any_sync(~0u, x);
}
__global__ void local_array(const int *idx, float *out) {
  float v[16];
  for (int i = 0; i < 16; ++i) v[i] = i * 1.5f + idx[i];
  float s = 0; for (int i = 0; i < 8; ++i) { int k = idx[threadIdx.x + i] & 15; s += v[k]; v[k] = s; }
  out[threadIdx.x] = s;
}
__constant__ float table[8] = {1, 2, 3, 4.5f, 5, 6, 7, 8};
__device__ int counter = 3;
__device__ const float *pointer = table;
struct P { int a; float b[3]; double c; };
__global__ void constants(P p, float *out) { out[threadIdx.x] = table[threadIdx.x & 7] + p.b[threadIdx.x % 3] + p.a + (float)p.c + counter + pointer[1]; }
__device__ unsigned ticket;
__global__ void last_block(const float *in, float *part, float *out, int n) {
  __shared__ bool last;
  if (threadIdx.x == 0) { float s = 0; for (int i = blockIdx.x; i < n; i += gridDim.x) s += in[i]; part[blockIdx.x] = s; __threadfence(); last = atomicAdd(&ticket, 1) == gridDim.x - 1; __threadfence(); }
  __syncthreads();
  if (last && threadIdx.x == 0) { float s = 0; for (int i = 0; i < gridDim.x; ++i) s += part[i]; *out = s; }
}
__global__ void copy_async(const float4 *in, float4 *out) {
  __shared__ float4 buf[64];
  unsigned s = __cvta_generic_to_shared(&buf[threadIdx.x]);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(s), "l"(in + threadIdx.x) : "memory");
  asm volatile("cp.async.commit_group;"); asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = buf[63 - threadIdx.x];
}
}
