// Arguments of the kernel that reads memory. Included by the host too; plain C++ types only, no
// includes.
#ifndef FATUNE_KERNELS_REFERENCE_READ_MEMORY_ARGS_H
#define FATUNE_KERNELS_REFERENCE_READ_MEMORY_ARGS_H

inline constexpr int kReadThreads = 256;  // of a block
inline constexpr int kChunkBytes = 16;

struct ReadMemoryArgs {
  const void* data;           // aligned to kChunkBytes
  unsigned long long chunks;  // of kChunkBytes
  unsigned* mixed;            // the exclusive or of all 32-bit words is applied to it
};

#endif
