#pragma once

#include <cstdint>
#include <string>

namespace fatune::gpu {

/// An NVTX range of this thread, which profilers show. Ranges of one thread end in the reverse
/// order of their starts. Without a profiler a range costs a few nanoseconds. Built without NVTX's
/// header (a toolkit before 10.0), it does nothing.
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;
  ~NvtxRange();
};

/// An NVTX range of the process, for spans that do not nest.
class NvtxSpan {
 public:
  explicit NvtxSpan(const std::string& name);
  NvtxSpan(const NvtxSpan&) = delete;
  NvtxSpan& operator=(const NvtxSpan&) = delete;
  ~NvtxSpan();

 private:
  std::uint64_t id_;
};

/// Marks what a profiler records. A profiler that was told to wait (`ncu --profile-from-start off`)
/// records this process only while an object of this class lives. Without a profiler it does
/// nothing. Needs a usable driver; the constructor throws DriverError.
class ProfiledRegion {
 public:
  ProfiledRegion();
  ProfiledRegion(const ProfiledRegion&) = delete;
  ProfiledRegion& operator=(const ProfiledRegion&) = delete;
  ~ProfiledRegion();
};

}  // namespace fatune::gpu
