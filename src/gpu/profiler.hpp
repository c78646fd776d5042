#pragma once

namespace fatune::gpu {

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
