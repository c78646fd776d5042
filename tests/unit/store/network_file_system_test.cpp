#include "store/network_file_system.hpp"

#include <linux/magic.h>

#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

using testing::Optional;

TEST(NetworkFileSystem, IsToldByItsNumber) {
  EXPECT_THAT(network_file_system(NFS_SUPER_MAGIC, "nfs4"), Optional(std::string("nfs")));
  EXPECT_THAT(network_file_system(CIFS_SUPER_MAGIC, ""), Optional(std::string("cifs")));
  EXPECT_THAT(network_file_system(0x0BD00BD0, "lustre"), Optional(std::string("lustre")));
  EXPECT_THAT(network_file_system(0x47504653, "gpfs"), Optional(std::string("gpfs")));
}

TEST(NetworkFileSystem, OfFuseIsToldByItsMount) {
  EXPECT_THAT(network_file_system(FUSE_SUPER_MAGIC, "fuse.sshfs"),
              Optional(std::string("fuse.sshfs")));
  EXPECT_FALSE(network_file_system(FUSE_SUPER_MAGIC, "fuseblk"));
}

TEST(NetworkFileSystem, IsNotALocalOne) {
  EXPECT_FALSE(network_file_system(EXT4_SUPER_MAGIC, "ext4"));
  EXPECT_FALSE(network_file_system(TMPFS_MAGIC, "tmpfs"));
  EXPECT_FALSE(network_file_system(OVERLAYFS_SUPER_MAGIC, "overlay"));
}

class NetworkFile : public StoreFolder {};

TEST_F(NetworkFile, IsRefusedWhereverItsFolderIsNotThereYet) {
  EXPECT_NO_THROW(refuse_network_file(folder_ / "not" / "there" / "yet.db"));
}

}  // namespace
}  // namespace fatune
