#include "process/channel.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "process/spawn.hpp"

namespace fatune {
namespace {

using Clock = Channel::Clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// The end of a connection whose peer says nothing and reads nothing, although its other output
/// never ends (for two seconds, so that a test that waits for the end fails).
class SilentPeer : public testing::Test {
 protected:
  Ends ends_ = open_socket();
  Descriptor endless_{::open("/dev/zero", O_RDONLY | O_CLOEXEC)};
  const Clock::time_point start_ = Clock::now();
  Channel channel_{
      std::move(ends_.ours),
      Channel::Companion{endless_.get(), [this] { return Clock::now() < start_ + seconds(2); }}};
};

TEST_F(SilentPeer, IsNotWaitedForBeyondTheDeadline) {
  Message message;
  EXPECT_EQ(channel_.receive(message, start_ + milliseconds(50)), Exchange::too_late);
  EXPECT_LT(Clock::now() - start_, seconds(1));
}

TEST_F(SilentPeer, IsNotSentToBeyondTheDeadline) {
  const Message large{{{"type", "t"}}, std::vector<char>(std::size_t{8} << 20)};
  EXPECT_EQ(channel_.send(large, start_ + milliseconds(50)), Exchange::too_late);
  EXPECT_LT(Clock::now() - start_, seconds(1));
}

TEST_F(SilentPeer, WhatHasArrivedIsReceivedAfterTheDeadline) {
  Channel peer(std::move(ends_.theirs));
  ASSERT_EQ(peer.send(Message{{{"type", "t"}}, {}}), Exchange::done);
  Message message;
  EXPECT_EQ(channel_.receive(message, start_ - seconds(1)), Exchange::done);
  EXPECT_EQ(type_of(message), "t");
}

}  // namespace
}  // namespace fatune
