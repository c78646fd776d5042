// The type of the elements of K and V.
#ifndef FATUNE_KERNELS_FLASH_DECODE_KV_TYPE_CUH
#define FATUNE_KERNELS_FLASH_DECODE_KV_TYPE_CUH

#ifndef FATUNE_KV_DTYPE
#define FATUNE_KV_DTYPE 0
#endif

#ifndef FATUNE_KEY_SCALES
#define FATUNE_KEY_SCALES 0
#endif

// Elements of K and V have the type of Q, or 8 bits: e4m3 or e5m2, with scales. Where they have the
// type of Q, nothing here may change the machine code, in which constants that are not enumerators
// leave symbols.
enum : int { kKvDtype = FATUNE_KV_DTYPE };  // 0: that of Q, 24: e4m3, 23: e5m2
enum : bool {
  kKvIs8Bit = FATUNE_KV_DTYPE != 0,
  kKvIsE4m3 = FATUNE_KV_DTYPE == 24,
  kHasKeyScales = FATUNE_KEY_SCALES != 0  // keys have scales of their own; else heads have
};

static_assert(kKvDtype == 0 || kKvDtype == 23 || kKvDtype == 24, "a type of K and V");

#endif
