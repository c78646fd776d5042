#pragma once

// Internal to src/gpu: the one place that names CUPTI's functions. Toolkits before 12.6 have no
// range profiler: FATUNE_HAS_RANGE_PROFILER is 0 then, and of this file that is all.

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_profiler_host.h>)
#define FATUNE_HAS_RANGE_PROFILER 1

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

#include "core/error.hpp"

#define FATUNE_CUPTI_FUNCTIONS(X)                 \
  X(cuptiGetResultString)                         \
  X(cuptiProfilerInitialize)                      \
  X(cuptiProfilerDeviceSupported)                 \
  X(cuptiProfilerGetCounterAvailability)          \
  X(cuptiDeviceGetChipName)                       \
  X(cuptiProfilerHostInitialize)                  \
  X(cuptiProfilerHostDeinitialize)                \
  X(cuptiProfilerHostGetMetricProperties)         \
  X(cuptiProfilerHostConfigAddMetrics)            \
  X(cuptiProfilerHostGetConfigImageSize)          \
  X(cuptiProfilerHostGetConfigImage)              \
  X(cuptiProfilerHostGetNumOfPasses)              \
  X(cuptiProfilerHostEvaluateToGpuValues)         \
  X(cuptiRangeProfilerEnable)                     \
  X(cuptiRangeProfilerDisable)                    \
  X(cuptiRangeProfilerGetCounterDataSize)         \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerSetConfig)                  \
  X(cuptiRangeProfilerStart)                      \
  X(cuptiRangeProfilerStop)                       \
  X(cuptiRangeProfilerDecodeData)                 \
  X(cuptiRangeProfilerGetCounterDataInfo)

/// A parameter block of CUPTI with its size filled in, which is how CUPTI tells versions apart.
#define FATUNE_CUPTI_PARAMS(Type, name) \
  Type##_Params name{};                 \
  name.structSize = Type##_Params_STRUCT_SIZE

/// Calls it with the block, and checks.
#define FATUNE_CUPTI(cupti, function, params) (cupti).check((cupti).function(&(params)), #function)

extern "C" CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text);

namespace fatune::gpu {

/// CUPTI's functions, found in its library at run time.
struct CuptiApi {
#define FATUNE_MEMBER(name) decltype(&::name) name = nullptr;
  FATUNE_CUPTI_FUNCTIONS(FATUNE_MEMBER)
#undef FATUNE_MEMBER
  std::string library;  ///< the file

  /// Throws cupti_error() unless the call succeeded.
  void check(CUptiResult result, const char* call) const;
};

/// Loads the library, which stays loaded: it has hooks in the driver. It is the file named by the
/// environment variable FATUNE_CUPTI, or the first of cupti_candidates() that can be loaded. Throws
/// Error(gpu_failure): there is none, or it is older than 12.6 and has no range profiler.
[[nodiscard]] CuptiApi load_cupti();

/// A call that failed, with CUPTI's words for it and what to do about it, as an Error(gpu_failure).
[[nodiscard]] Error cupti_error(const CuptiApi& cupti, CUptiResult result, const char* call);

}  // namespace fatune::gpu

#else
#define FATUNE_HAS_RANGE_PROFILER 0
#endif
