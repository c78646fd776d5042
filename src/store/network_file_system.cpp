#include "store/network_file_system.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/environment.hpp"
#include "core/error.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

struct NumberedSystem {
  std::uint32_t magic;
  const char* name;
};

/// Numbers that are missing from linux/magic.h come from the sources of the file systems.
constexpr std::array<NumberedSystem, 14> kNumbered{{
    {NFS_SUPER_MAGIC, "nfs"},
    {SMB_SUPER_MAGIC, "smb"},
    {CIFS_SUPER_MAGIC, "cifs"},
    {SMB2_SUPER_MAGIC, "smb2"},
    {CEPH_SUPER_MAGIC, "ceph"},
    {AFS_SUPER_MAGIC, "afs"},
    {0x6B414653, "afs"},  // the kernel's own client
    {CODA_SUPER_MAGIC, "coda"},
    {0x0BD00BD0, "lustre"},
    {0x47504653, "gpfs"},
    {0x19830326, "beegfs"},
    {0xAAD7AAEA, "panfs"},
    {0x20030528, "orangefs"},
    {0x013111A8, "ibrix"},
}};

constexpr std::array<std::string_view, 10> kOfFuse{
    "fuse.sshfs",  "fuse.glusterfs", "fuse.ceph-fuse", "fuse.ceph", "fuse.juicefs",
    "fuse.rclone", "fuse.s3fs",      "fuse.gcsfuse",   "fuse.nfs",  "fuse.davfs"};

/// The path itself, or its nearest parent folder that exists.
fs::path nearest(const fs::path& path) {
  std::error_code error;
  fs::path there = fs::absolute(path, error);
  while (!fs::exists(there, error) && there != there.parent_path()) {
    there = there.parent_path();
  }
  return there;
}

/// The file system type in /proc/self/mountinfo. Empty if the device is not listed. Source:
/// proc(5).
std::string mount_type(dev_t device) {
  const std::string number = fmt::format("{}:{}", major(device), minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line.substr(0, line.find(" - ")));
    std::string id;
    std::string parent;
    std::string of;
    words >> id >> parent >> of;
    if (const auto rest = line.find(" - "); of == number && rest != std::string::npos) {
      return line.substr(rest + 3, line.find(' ', rest + 3) - rest - 3);
    }
  }
  return {};
}

}  // namespace

std::optional<std::string> network_file_system(std::uint32_t magic, std::string_view mount_type) {
  const auto numbered = std::ranges::find(kNumbered, magic, &NumberedSystem::magic);
  if (numbered != kNumbered.end()) {
    return numbered->name;
  }
  const auto of_fuse = std::ranges::find(kOfFuse, mount_type);
  return of_fuse != kOfFuse.end() ? std::optional(std::string(*of_fuse)) : std::nullopt;
}

void refuse_network_file(const fs::path& path) {
  const fs::path there = nearest(path);
  struct statfs system {};
  struct stat file {};
  if (environment_variable("FATUNE_NETWORK_DB") || ::statfs(there.c_str(), &system) != 0 ||
      ::stat(there.c_str(), &file) != 0) {
    return;
  }
  const auto name =
      network_file_system(static_cast<std::uint32_t>(system.f_type), mount_type(file.st_dev));
  if (name) {
    throw Error(ExitCode::io,
                fmt::format("a database on a network file system ({}) is damaged as soon as two "
                            "machines use it",
                            *name),
                path.string(),
                "name a file on a local disk with --db, and join such files with 'fatune merge'; "
                "with FATUNE_NETWORK_DB=1 it is used anyway");
  }
}

}  // namespace fatune
