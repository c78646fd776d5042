#include "measure/repeated_launches.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace fatune {
namespace {

constexpr auto kSumsBytes =
    static_cast<std::int64_t>(sizeof(InputSum)) * RepeatedLaunches::kLaunches;

std::size_t stage_of(int launch) { return static_cast<std::size_t>(launch % 2); }

}  // namespace

RepeatedLaunches::RepeatedLaunches(const Verifier& verifier, const gpu::Stream& stream)
    : verifier_(verifier), stream_(stream), device_sums_(kSumsBytes), host_sums_(kSumsBytes) {}

// Whether all outputs of a stage have the fingerprint of its last one.
bool RepeatedLaunches::left_the_same(const Stages& stages, const MakeLaunch& make_launch) const {
  const std::array<KernelLaunch, 2> launches{make_launch(*stages[0]), make_launch(*stages[1])};
  gpu::fill_words_async(device_sums_.address(), 0, kSumsBytes / 4, stream_);
  for (int i = 0; i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    stage.poison_output();
    launches.at(stage_of(i)).queue(stream_);
    stage.queue_fingerprint(device_sums_.as<InputSum>() + i);
  }
  gpu::copy_to_host_async(host_sums_.host(), device_sums_.address(), kSumsBytes, stream_);
  stream_.synchronize();
  const auto* const sums = host_sums_.host_as<const InputSum>();
  bool same = true;
  for (int i = 0; i < kLaunches; ++i) {
    const InputSum& last = sums[kLaunches - 2 + stage_of(i)];
    same = same && sums[i].plain == last.plain && sums[i].mixed == last.mixed;
  }
  return same;
}

std::optional<WrongResult> RepeatedLaunches::check(const Stage& stage, int launch) const {
  Verdict verdict = verifier_.check(stage);
  if (!verdict.finding) {
    return std::nullopt;
  }
  return WrongResult{
      std::move(verdict.verification),
      fmt::format("launch {} of {} in a row: {}", launch + 1, kLaunches, *verdict.finding)};
}

RepeatedLaunches::Result RepeatedLaunches::run(const Stages& stages,
                                               const MakeLaunch& make_launch) const {
  const bool same = left_the_same(stages, make_launch);
  for (int i = kLaunches - 2; i < kLaunches; ++i) {
    if (auto wrong = check(*stages.at(stage_of(i)), i)) {
      return {std::move(wrong), true};
    }
  }
  for (int i = 0; !same && i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    const KernelLaunch launch = make_launch(stage);
    stage.poison_output();
    launch.queue(stream_);
    if (auto wrong = check(stage, i)) {
      return {std::move(wrong), true};
    }
  }
  return {std::nullopt, same};
}

}  // namespace fatune
