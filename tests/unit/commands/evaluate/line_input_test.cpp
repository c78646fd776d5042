#include "commands/evaluate/lines.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <string_view>
#include <thread>

#include "base/error.hpp"

namespace fatune {
namespace {

using std::chrono::milliseconds;

class PipedLines : public testing::Test {
 protected:
  PipedLines() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  PipedLines(const PipedLines&) = delete;
  PipedLines& operator=(const PipedLines&) = delete;
  PipedLines(PipedLines&&) = delete;
  PipedLines& operator=(PipedLines&&) = delete;
  ~PipedLines() override {
    end();
    ::close(ends_[0]);
  }

  void write(std::string_view text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    if (ends_[1] >= 0) {
      ::close(std::exchange(ends_[1], -1));
    }
  }
  [[nodiscard]] LineInput input() const { return LineInput(ends_[0]); }

 private:
  std::array<int, 2> ends_{};
};

TEST_F(PipedLines, ComeOneByOneWithoutWaiting) {
  LineInput lines = input();
  EXPECT_EQ(lines.next(milliseconds{0}), std::nullopt);
  write("a\n\nb\npart");
  EXPECT_EQ(lines.next(milliseconds{0}), "a");
  EXPECT_EQ(lines.next(milliseconds{0}), "");
  EXPECT_EQ(lines.next(milliseconds{0}), "b");
  EXPECT_EQ(lines.next(milliseconds{0}), std::nullopt);
  write("ial\n");
  EXPECT_EQ(lines.next(milliseconds{0}), "partial");
  EXPECT_FALSE(lines.ended());
}

TEST_F(PipedLines, TheLastNeedsNoEnd) {
  LineInput lines = input();
  write("a\nlast");
  end();
  EXPECT_EQ(lines.next(milliseconds{0}), "a");
  EXPECT_EQ(lines.next(milliseconds{0}), "last");
  EXPECT_EQ(lines.next(milliseconds{0}), std::nullopt);
  EXPECT_TRUE(lines.ended());
}

TEST_F(PipedLines, AreWaitedForNoLongerThanSaid) {
  LineInput lines = input();
  std::thread later([this] {
    std::this_thread::sleep_for(milliseconds{20});
    write("late\n");
  });
  EXPECT_EQ(lines.next(milliseconds{60'000}), "late");
  later.join();
}

TEST_F(PipedLines, WithoutEndAreAnError) {
  LineInput lines = input();
  std::thread writer([this] {
    const std::string much(4096, 'x');  // fits into the pipe after the reader has stopped
    for (std::size_t i = 0; i <= LineInput::kLongestLine / much.size(); ++i) {
      write(much);
    }
  });
  EXPECT_THROW(
      while (true) { (void)lines.next(milliseconds{1000}); }, Error);
  writer.join();
}

}  // namespace
}  // namespace fatune
