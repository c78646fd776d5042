#include "base/worker_process.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>

#include "base/run_program.hpp"

namespace fatune {
namespace {

using testing::HasSubstr;

Message sample(std::mt19937& random) {
  std::uniform_int_distribution<std::size_t> size(0, 3000);
  std::uniform_int_distribution<int> byte(-128, 127);
  Message message{{{"type", "t"}, {"text", std::string(size(random), 'x')}}, {}};
  message.blob.resize(size(random));
  for (char& c : message.blob) {
    c = static_cast<char>(byte(random));
  }
  return message;
}

TEST(Protocol, MessagesComeBackHoweverTheStreamIsCut) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Message> sent;
    std::vector<char> stream;
    for (int i = 0; i < 5; ++i) {
      sent.push_back(sample(random));
      const std::vector<char> bytes = encode(sent.back());
      stream.insert(stream.end(), bytes.begin(), bytes.end());
    }
    FrameDecoder decoder;
    std::vector<Message> received;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t step = std::min(std::size_t{1} + random() % 2000, stream.size() - at);
      decoder.feed({stream.data() + at, step});
      at += step;
      while (auto message = decoder.next()) {
        received.push_back(*std::move(message));
      }
    }
    ASSERT_EQ(received.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(received[i].body, sent[i].body);
      EXPECT_EQ(received[i].blob, sent[i].blob);
    }
  }
}

TEST(Protocol, ASpoiledByteIsAnErrorOrAnotherMessageAndNeverACrash) {
  std::mt19937 random(2);
  for (int round = 0; round < 2000; ++round) {
    std::vector<char> bytes = encode(sample(random));
    for (int i = 0; i < 3; ++i) {
      bytes[random() % std::min<std::size_t>(bytes.size(), 40)] = static_cast<char>(random());
    }
    FrameDecoder decoder;
    decoder.feed(bytes);
    try {
      while (auto message = decoder.next()) {
        EXPECT_TRUE(message->body.is_object());
      }
    } catch (const ProtocolError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
}

std::string error_of(const std::string& bytes) {
  FrameDecoder decoder;
  decoder.feed(bytes);
  try {
    static_cast<void>(decoder.next());
  } catch (const ProtocolError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Protocol, GarbageAndBoundlessSizesAreRefusedAtOnce) {
  EXPECT_THAT(error_of("printf from a kernel"), HasSubstr("not a message"));
  EXPECT_THAT(error_of(std::string("FTN1\xff\xff\xff\xff\0\0\0\0", 12)), HasSubstr("4294967295"));
  EXPECT_THAT(error_of(std::string("FTN1\2\0\0\0\0\0\0\0[]", 14)), HasSubstr("not a JSON object"));
  EXPECT_THROW(static_cast<void>(type_of({nlohmann::json::object(), {}})), ProtocolError);
}

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
