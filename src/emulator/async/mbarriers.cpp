#include "emulator/async/mbarriers.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/ranges.hpp"

namespace fatune::emulate {

Mbarrier::Mbarrier(Agent agent, std::uint32_t count, Epoch initialiser, std::uint32_t base)
    : agent_(agent), initialiser_(initialiser), base_(base), expected_(count), pending_(count) {}

MbarrierFault Mbarrier::arrive(std::int64_t count, const Knowledge* known) {
  if (count < 1 || count > pending_) {
    return fmt::format("{} arrivals, but the mbarrier's {}", count, describe());
  }
  if (known != nullptr) {
    arriving_.join(*known);
  }
  pending_ -= count;
  complete_if_done();
  return {};
}

MbarrierFault Mbarrier::arrive_drop(std::int64_t count, const Knowledge* known) {
  if (count > expected_) {
    return fmt::format("{} arrivals are dropped, but only {} are expected", count, expected_);
  }
  // This precedes the arrival, since the next phase may begin at once with the new count.
  expected_ -= count;
  return arrive(count, known);
}

MbarrierFault Mbarrier::add_arrival() {
  ++pending_;
  return pending_ > kMostCount ? fmt::format("{} arrivals expected", pending_) : MbarrierFault();
}

MbarrierFault Mbarrier::expect(std::int64_t bytes) {
  pending_bytes_ += bytes;
  return pending_bytes_ > kMostCount
             ? fmt::format("{} bytes expected in one phase; at most {} are possible",
                           pending_bytes_, kMostCount)
             : MbarrierFault();
}

MbarrierFault Mbarrier::complete(std::int64_t bytes) {
  pending_bytes_ -= bytes;
  if (pending_bytes_ < -kMostCount) {
    return fmt::format("{} bytes more than expected; at most {} are possible", -pending_bytes_,
                       kMostCount);
  }
  complete_if_done();
  return {};
}

void Mbarrier::complete_if_done() {
  if (pending_ != 0 || pending_bytes_ != 0) {
    return;
  }
  arriving_.seen.set(agent_, clock());
  completed_ = std::exchange(arriving_, {});
  ++phase_;
  pending_ = expected_;
}

std::uint64_t Mbarrier::state() const {
  return phase_ << kCountBits | static_cast<std::uint64_t>(pending_);
}

std::string Mbarrier::describe() const {
  const std::string bytes =
      pending_bytes_ > 0 ? fmt::format(" and {} bytes", pending_bytes_)
      : pending_bytes_ < 0
          ? fmt::format(", and {} bytes have come that were not expected", -pending_bytes_)
          : "";
  return fmt::format("phase {} waits for {} of {} arrivals{}", phase_, pending_, expected_, bytes);
}

Mbarrier* Mbarriers::find(std::uint32_t offset) { return value_at(live_, offset); }

const Mbarrier* Mbarriers::overlapping(std::uint32_t offset, std::uint32_t bytes) const {
  const auto after = live_.lower_bound(offset + bytes);
  if (after == live_.begin()) {
    return nullptr;
  }
  const auto& [at, barrier] = *std::prev(after);
  return at + Mbarrier::kBytes > offset ? &barrier : nullptr;
}

bool Mbarriers::init(std::uint32_t offset, std::uint32_t count, Epoch initialiser, Agent fresh) {
  invalidate(offset);
  const auto past = past_.find(offset);
  const bool is_new = past == past_.end();
  const Past from = is_new ? Past{fresh, 0} : past->second;
  live_[offset] = Mbarrier(from.agent, count, initialiser, from.clock);
  past_[offset] = from;
  return is_new;
}

void Mbarriers::invalidate(std::uint32_t offset) {
  if (const Mbarrier* const found = find(offset)) {
    past_[offset].clock = found->epoch().clock();
    live_.erase(offset);
  }
}

}  // namespace fatune::emulate
