#include "emulator/memory/shared_memory.hpp"

#include <array>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace fatune::emulate {
namespace {

constexpr std::uint32_t kBytes = 64;
constexpr std::size_t kAgents = 3;

/// A reference implementation of the same rules, byte by byte and without merged words.
class PlainShadow {
 public:
  std::optional<SharedFault> read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    const auto fault = find_fault(who, offset, count, false);
    for_bytes(offset, count, [&](Byte& byte) { byte.reads[who.agent] = who.epoch(); });
    return fault;
  }
  std::optional<SharedFault> write(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    const auto fault = find_fault(who, offset, count, true);
    land(who, offset, count);
    return fault;
  }
  std::optional<SharedFault> issue(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    const auto fault = find_fault(who, offset, count, true);
    for_bytes(offset, count, [&](Byte& byte) {
      byte.in_flight = true;
      byte.write = who.epoch();
    });
    return fault;
  }
  void land(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    for_bytes(offset, count, [&](Byte& byte) {
      byte.in_flight = false;
      byte.write = who.epoch();
    });
  }
  std::optional<SharedFault> begin_read(const Accessor& who, const VectorClock& fenced,
                                        std::uint32_t offset, std::uint32_t count) {
    auto fault = find_fault(who, offset, count, false);
    if (!fault) {
      fault = unfenced(fenced, offset, count);
    }
    for_bytes(offset, count, [](Byte& byte) { ++byte.async_reads; });
    return fault;
  }
  void end_read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    for_bytes(offset, count, [&](Byte& byte) {
      --byte.async_reads;
      byte.reads[who.agent] = who.epoch();
    });
  }

 private:
  struct Byte {
    bool in_flight = false;
    int async_reads = 0;
    Epoch write;
    std::array<Epoch, kAgents> reads;
  };

  template <typename Work>
  void for_bytes(std::uint32_t offset, std::uint32_t count, Work work) {
    for (std::uint32_t i = offset; i < offset + count; ++i) {
      work(bytes_[i]);
    }
  }
  template <typename Wrong>
  std::optional<std::uint32_t> first(std::uint32_t offset, std::uint32_t count, Wrong wrong) const {
    for (std::uint32_t i = offset; i < offset + count; ++i) {
      if (wrong(bytes_[i])) {
        return i;
      }
    }
    return std::nullopt;
  }

  std::optional<SharedFault> unfenced(const VectorClock& fenced, std::uint32_t offset,
                                      std::uint32_t count) const {
    const auto i = first(offset, count, [&](const Byte& byte) {
      return !byte.write.never() && byte.write.clock() > fenced.of(byte.write.agent());
    });
    return i ? std::optional(SharedFault{SharedFault::Kind::unfenced, *i, bytes_[*i].write, true})
             : std::nullopt;
  }

  std::optional<SharedFault> find_fault(const Accessor& who, std::uint32_t offset,
                                        std::uint32_t count, bool writes) const {
    using Kind = SharedFault::Kind;
    if (const auto i = first(offset, count, [](const Byte& byte) { return byte.in_flight; })) {
      return SharedFault{Kind::in_flight, *i, bytes_[*i].write, true};
    }
    if (const auto i =
            first(offset, count, [&](const Byte& byte) { return !who.follows(byte.write); })) {
      return SharedFault{Kind::race, *i, bytes_[*i].write, true};
    }
    if (!writes) {
      const auto i = first(offset, count, [](const Byte& byte) { return byte.write.never(); });
      return i ? std::optional(SharedFault{Kind::uninitialised, *i, {}, false}) : std::nullopt;
    }
    if (const auto i =
            first(offset, count, [](const Byte& byte) { return byte.async_reads > 0; })) {
      return SharedFault{Kind::being_read, *i, {}, false};
    }
    for (Agent agent = 0; agent < kAgents; ++agent) {
      if (const auto i = first(offset, count,
                               [&](const Byte& byte) { return !who.follows(byte.reads[agent]); })) {
        return SharedFault{Kind::race, *i, bytes_[*i].reads[agent], false};
      }
    }
    return std::nullopt;
  }

  std::array<Byte, kBytes> bytes_;
};

bool same(const std::optional<SharedFault>& a, const std::optional<SharedFault>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->kind == b->kind && a->offset == b->offset && a->other == b->other &&
                 a->other_writes == b->other_writes));
}

/// Warps that access and synchronise at random, at widths from 1 to 16 bytes.
class RandomAccesses {
 public:
  explicit RandomAccesses(unsigned seed) : random_(seed), shared_(kBytes, kAgents) {
    for (Agent agent = 0; agent < kAgents; ++agent) {
      clocks_[agent].set(agent, 1);
    }
  }

  /// Does one random step. Returns false if the two implementations disagree on it.
  bool step() {
    const Agent agent = pick(kAgents);
    const Accessor who{agent, static_cast<int>(pick(2)), &clocks_[agent]};
    const std::uint32_t count = 1U << pick(5);
    const std::uint32_t offset = pick(kBytes / count) * count;
    switch (pick(10)) {
      case 0:
        synchronise(agent, pick(kAgents));
        return true;
      case 8:
        return begin_read(who, offset, count);
      case 9:
        end_read();
        return true;
      case 1:
        shared_.note_landing(who.epoch(), offset, count);
        plain_.land(who, offset, count);
        return true;
      case 2:
        return same(shared_.note_issue(who, offset, count), plain_.issue(who, offset, count));
      case 3:
      case 4:
        return same(shared_.note_write(who, offset, count), plain_.write(who, offset, count));
      default:
        return same(shared_.note_read(who, offset, count), plain_.read(who, offset, count));
    }
  }

 private:
  struct AsyncRead {
    Agent agent;
    std::uint32_t offset;
    std::uint32_t count;
  };

  bool begin_read(const Accessor& who, std::uint32_t offset, std::uint32_t count) {
    async_reads_.push_back({who.agent, offset, count});
    VectorClock fenced = clocks_[who.agent];
    if (pick(2) == 0) {
      fenced.set(who.agent, clocks_[who.agent].of(who.agent) - 1);
    }
    return same(shared_.begin_async_read(who, fenced, offset, count),
                plain_.begin_read(who, fenced, offset, count));
  }
  void end_read() {
    if (async_reads_.empty()) {
      return;
    }
    const AsyncRead read = async_reads_.back();
    async_reads_.pop_back();
    const Accessor who{read.agent, 0, &clocks_[read.agent]};
    shared_.end_async_read(who, read.offset, read.count);
    plain_.end_read(who, read.offset, read.count);
  }

  std::uint32_t pick(std::size_t count) { return static_cast<std::uint32_t>(random_() % count); }
  void synchronise(Agent a, Agent b) {
    clocks_[a].join(clocks_[b]);
    clocks_[b].join(clocks_[a]);
    for (const Agent agent : {a, b}) {
      clocks_[agent].set(agent, clocks_[agent].of(agent) + 1);
    }
  }

  std::mt19937 random_;
  SharedMemory shared_;
  PlainShadow plain_;
  std::array<VectorClock, kAgents> clocks_;
  std::vector<AsyncRead> async_reads_;
};

TEST(SharedMemory, FindsWhatAShadowOfSingleBytesFinds) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    RandomAccesses accesses(seed);
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(accesses.step()) << "seed " << seed << ", access " << i;
    }
  }
}

TEST(SharedMemory, BytesOfAWordMayBelongToDifferentThreads) {
  SharedMemory shared(kBytes, kAgents);
  VectorClock clock;
  clock.set(0, 1);
  for (int lane = 0; lane < 4; ++lane) {
    EXPECT_FALSE(shared.note_write({0, lane, &clock}, static_cast<std::uint32_t>(lane), 1)) << lane;
  }
  const auto fault = shared.note_read({0, 2, &clock}, 0, 4);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, SharedFault::Kind::race);
  EXPECT_EQ(fault->offset, 0U);
  EXPECT_EQ(fault->other.lane(), 0);
  EXPECT_FALSE(shared.note_read({0, 2, &clock}, 2, 1));
}

}  // namespace
}  // namespace fatune::emulate
