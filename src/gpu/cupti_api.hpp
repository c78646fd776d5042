#pragma once

// Internal to src/gpu: the one place that names CUPTI's functions. Toolkits before 12.6 have no
// range profiler; for them this file only defines FATUNE_HAS_RANGE_PROFILER as 0.

#if __has_include(<cupti_range_profiler.h>) && __has_include(<cupti_profiler_host.h>)
#define FATUNE_HAS_RANGE_PROFILER 1

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <string>

#include "base/error.hpp"

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

/// Declares a parameter block of CUPTI with its size filled in. CUPTI tells versions apart by the
/// size.
#define FATUNE_CUPTI_PARAMS(Type, name) \
  Type##_Params name{};                 \
  name.structSize = Type##_Params_STRUCT_SIZE

/// Calls a function of CUPTI with its parameter block and checks the result.
#define FATUNE_CUPTI(cupti, function, params) (cupti).check((cupti).function(&(params)), #function)

extern "C" CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text);

namespace fatune::gpu {

/// CUPTI's functions, found in its library at run time.
struct CuptiApi {
#define FATUNE_MEMBER(name) decltype(&::name) name = nullptr;
  FATUNE_CUPTI_FUNCTIONS(FATUNE_MEMBER)
#undef FATUNE_MEMBER
  std::string library;  ///< the library file

  /// Throws cupti_error() unless the call succeeded.
  void check(CUptiResult result, const char* call) const;
};

/// Loads the library, which stays loaded because it has hooks in the driver. It is the file named
/// by the environment variable FATUNE_CUPTI, or the first of cupti_candidates() that can be loaded.
/// Throws Error(gpu_failure) if there is none, or if it is older than 12.6 and has no range
/// profiler.
[[nodiscard]] CuptiApi load_cupti();

/// The Error(gpu_failure) for a call that failed, with CUPTI's description and a remedy.
[[nodiscard]] Error cupti_error(const CuptiApi& cupti, CUptiResult result, const char* call);

}  // namespace fatune::gpu

#else
#define FATUNE_HAS_RANGE_PROFILER 0
#endif
