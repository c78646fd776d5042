#pragma once

namespace fatune::gpu {

/// A profiler of this process that was told to wait (`ncu --profile-from-start off`) records only
/// while an object of this class lives. Without a profiler it does nothing. Needs a usable driver;
/// the constructor throws DriverError.
class ProfiledRegion {
 public:
  ProfiledRegion();
  ProfiledRegion(const ProfiledRegion&) = delete;
  ProfiledRegion& operator=(const ProfiledRegion&) = delete;
  ~ProfiledRegion();
};

}  // namespace fatune::gpu
