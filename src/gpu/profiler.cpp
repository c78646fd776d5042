#include "gpu/profiler.hpp"

#include "gpu/cuda_api.hpp"

namespace fatune::gpu {

ProfiledRegion::ProfiledRegion() { check(api().cuProfilerStart(), "cuProfilerStart"); }

ProfiledRegion::~ProfiledRegion() { log_failed_release(api().cuProfilerStop(), "cuProfilerStop"); }

}  // namespace fatune::gpu
