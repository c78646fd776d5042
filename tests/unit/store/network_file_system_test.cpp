#include "store/open_store.hpp"

#include "unit/store/store_folder.hpp"

namespace fatune {
namespace {

TEST(NetworkFileSystem, IsToldByTheTypeOfItsMount) {
  for (const char* const type : {"nfs", "nfs4", "cifs", "lustre", "gpfs", "fuse.sshfs"}) {
    EXPECT_TRUE(is_network_file_system(type)) << type;
  }
  for (const char* const type : {"ext4", "tmpfs", "overlay", "fuseblk", ""}) {
    EXPECT_FALSE(is_network_file_system(type)) << type;
  }
}

class NetworkFile : public StoreFolder {};

TEST_F(NetworkFile, IsRefusedWhereverItsFolderIsNotThereYet) {
  EXPECT_NO_THROW(check_store_file(folder_ / "not" / "there" / "yet.db"));
}

}  // namespace
}  // namespace fatune
