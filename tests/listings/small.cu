// Small kernels whose listings show what a parser meets: loops, calls, a jump table.
__device__ __noinline__ int helper(int x) { return x * x + 7; }

extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    y[i] = a * x[i] + y[i];
  }
}

extern "C" __global__ void nested(int* out, const int* in, int n, int m) {
  __shared__ int tile[64];
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    tile[threadIdx.x] = in[i * 64 + threadIdx.x];
    __syncthreads();
#pragma unroll 1
    for (int j = 0; j < m; ++j) {
      sum += tile[j & 63] * helper(j);
    }
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void chosen(int* out, int which) {
  int x = out[threadIdx.x];
  switch (which) {
    case 0:
      x += 17;
      __threadfence();
      break;
    case 1:
      x = helper(x);
      break;
    case 2:
      x ^= 0x55;
      out[5] = x;
      break;
    case 3:
      x = __popc(x);
      break;
    case 4:
      x = x / which;
      break;
    case 5:
      x = __clz(x);
      out[7] = 1;
      break;
    case 6:
      x = __ffs(x);
      break;
    case 7:
      x = x * x * x;
      break;
    default:
      out[1] = 3;
      return;
  }
  out[threadIdx.x] = x;
}
