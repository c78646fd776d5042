#include "gpu/profiler.hpp"

#include "gpu/cuda_api.hpp"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace fatune::gpu {

#ifdef NVTX_VERSION

NvtxRange::NvtxRange(const std::string& name) { nvtxRangePushA(name.c_str()); }

NvtxRange::~NvtxRange() { nvtxRangePop(); }

NvtxSpan::NvtxSpan(const std::string& name) : id_(nvtxRangeStartA(name.c_str())) {}

NvtxSpan::~NvtxSpan() { nvtxRangeEnd(id_); }

#else

NvtxRange::NvtxRange(const std::string&) {}

NvtxRange::~NvtxRange() = default;

NvtxSpan::NvtxSpan(const std::string&) : id_(0) {}

NvtxSpan::~NvtxSpan() = default;

#endif

ProfiledRegion::ProfiledRegion() { check(api().cuProfilerStart(), "cuProfilerStart"); }

ProfiledRegion::~ProfiledRegion() { log_failed_release(api().cuProfilerStop(), "cuProfilerStop"); }

}  // namespace fatune::gpu
