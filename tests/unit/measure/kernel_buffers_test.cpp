#include "measure/loaded_kernel.hpp"

#include <gmock/gmock.h>

#include <bit>

#include "gpu/driver.hpp"
#include "unit/gpu/fake_driver.hpp"

namespace fatune {
namespace {

/// The first word of a buffer. The fake driver's device memory is host memory.
std::uint32_t& first_word(const KernelBuffers& buffers, const char* name) {
  return *std::bit_cast<std::uint32_t*>(buffers.find(name).value());
}

class KernelBuffersTest : public gpu::FakeDriverTest {};

TEST_F(KernelBuffersTest, AreFilledAndClearedWhenTheyAskForIt) {
  const gpu::Context context(0);
  const gpu::Stream stream;
  const KernelBuffers buffers({{"never", 5, 1, "never", ""},
                               {"before", 4, 2, "before_launch", ""},
                               {"timed", 4, 3, "timed", ""},
                               {"lse", 4, 0, "never", "lse", "float32", {1}}});
  EXPECT_EQ(first_word(buffers, "never"), 1U);
  EXPECT_FALSE(buffers.find("lse")) << "an output is no workspace";
  EXPECT_FALSE(buffers.find("q"));
  for (const char* name : {"never", "before", "timed"}) {
    first_word(buffers, name) = 9;
  }
  buffers.queue_clear(ClearTime::before_launch, stream);
  EXPECT_EQ(first_word(buffers, "before"), 2U);
  EXPECT_EQ(first_word(buffers, "timed"), 9U);
  buffers.queue_clear(ClearTime::timed, stream);
  EXPECT_EQ(first_word(buffers, "timed"), 3U);
  EXPECT_EQ(first_word(buffers, "never"), 9U);
}

TEST_F(KernelBuffersTest, NoMemoryIsAnErrorOfTheDriver) {
  const gpu::Context context(0);
  try {
    const KernelBuffers buffers({{"huge", std::int64_t{1} << 40, 0, "never", ""}});
    FAIL() << "there is no such memory";
  } catch (const gpu::DriverError& error) {
    EXPECT_TRUE(error.out_of_memory()) << error.what();
  }
}

}  // namespace
}  // namespace fatune
