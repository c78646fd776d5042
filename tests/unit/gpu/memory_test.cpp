#include "gpu/context.hpp"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cstring>
#include <numeric>

#include "gpu/driver.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune::gpu {
namespace {

class Memory : public FakeDriverTest {};

TEST_F(Memory, IsFilledAndCopied) {
  const Context context(0);
  const Stream stream;
  const DeviceBuffer a(64);
  std::array<unsigned char, 64> out{};
  std::array<unsigned char, 64> in{};
  std::iota(in.begin(), in.end(), static_cast<unsigned char>(1));

  copy_to_device_async(a.address(), in.data(), 64, stream);
  fill_words_async(a.address() + 60, 0xffffffff, 1, stream);
  fill_words_async(a.address(), 0x04030201, 1, stream);
  copy_to_host_async(out.data(), a.address(), 64, stream);
  stream.synchronize();

  std::memset(in.data() + 60, 0xff, 4);
  EXPECT_EQ(out, in);  // the word's bytes are 1, 2, 3, 4, as before
}

TEST_F(Memory, OfNoBytesIsNothing) {
  const Context context(0);
  const DeviceBuffer buffer(0);
  EXPECT_EQ(buffer.address(), 0U);
  EXPECT_EQ(buffer.bytes(), 0);
}

TEST_F(Memory, BeyondTheDevicesIsOutOfMemory) {
  const Context context(0);
  try {
    const DeviceBuffer buffer(std::int64_t{2} << 30);
    FAIL() << "it was allocated";
  } catch (const DriverError& error) {
    EXPECT_TRUE(error.out_of_memory());
  }
}

TEST_F(Memory, OfNegativeSizeIsABug) {
  const Context context(0);
  EXPECT_THROW(DeviceBuffer(-1), Error);
}

TEST_F(Memory, MovesWithItsBuffer) {
  const Context context(0);
  DeviceBuffer first(128);
  const DevicePtr address = first.address();
  const DeviceBuffer second = std::move(first);
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(second.bytes(), 128);
  EXPECT_EQ(first.bytes(), 0);  // NOLINT(bugprone-use-after-move): what is left is the point
}

TEST_F(Memory, PinnedIsZeroAndSeenByTheDevice) {
  const Context context(0);
  const Stream stream;
  const PinnedBuffer flag(8);
  EXPECT_EQ(flag.host_as<std::uint32_t>()[0], 0U);
  fill_words_async(flag.address(), 5, 1, stream);
  stream.synchronize();
  EXPECT_EQ(flag.host_as<std::uint32_t>()[0], 5U);
}

TEST_F(Memory, IsReleasedQuietlyThoughTheDriverFails) {
  const Context context(0);
  const ScopedVariable fail("FATUNE_FAKE_FAIL", "cuMemFree=1,cuMemFreeHost=700");
  spdlog::set_level(spdlog::level::off);
  EXPECT_NO_THROW({
    const DeviceBuffer buffer(16);
    const PinnedBuffer pinned(16);
  });
  spdlog::set_level(spdlog::level::info);
}

}  // namespace
}  // namespace fatune::gpu
