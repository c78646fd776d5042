#pragma once

namespace fatune::gpu {

/// What a profiler in front of this process records, if it was told to wait for this (`ncu
/// --profile-from-start off`), is what happens while one of these lives. Without a profiler it does
/// nothing. Needs a usable driver; the constructor throws DriverError.
class ProfiledRegion {
 public:
  ProfiledRegion();
  ProfiledRegion(const ProfiledRegion&) = delete;
  ProfiledRegion& operator=(const ProfiledRegion&) = delete;
  ProfiledRegion(ProfiledRegion&&) = delete;
  ProfiledRegion& operator=(ProfiledRegion&&) = delete;
  ~ProfiledRegion();
};

}  // namespace fatune::gpu
