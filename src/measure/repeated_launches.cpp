#include "measure/repeated_launches.hpp"

#include <fmt/format.h>

#include <utility>

namespace fatune {
namespace {

constexpr auto kSumsBytes =
    static_cast<std::int64_t>(sizeof(InputSum)) * RepeatedLaunches::kLaunches;

std::size_t stage_of(int launch) { return static_cast<std::size_t>(launch % 2); }

}  // namespace

RepeatedLaunches::RepeatedLaunches(const Verifier& verifier, const gpu::Stream& stream)
    : verifier_(verifier), stream_(stream), device_sums_(kSumsBytes), host_sums_(kSumsBytes) {}

void RepeatedLaunches::queue(const Stages& stages,
                             const std::array<KernelLaunch, 2>& launches) const {
  gpu::fill_words_async(device_sums_.address(), 0, kSumsBytes / 4, stream_);
  for (int i = 0; i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    stage.poison_output(launches.at(stage_of(i)).buffers());
    launches.at(stage_of(i)).queue(stream_);
    stage.queue_fingerprint(device_sums_.as<InputSum>() + i);
  }
  gpu::copy_to_host_async(host_sums_.host(), device_sums_.address(), kSumsBytes, stream_);
}

// Whether all outputs of a stage have the fingerprint of its last one.
bool RepeatedLaunches::left_the_same() const {
  const auto* const sums = host_sums_.host_as<const InputSum>();
  bool same = true;
  for (int i = 0; i < kLaunches; ++i) {
    const InputSum& last = sums[kLaunches - 2 + stage_of(i)];
    same = same && sums[i].plain == last.plain && sums[i].mixed == last.mixed;
  }
  return same;
}

// Repeats the launches and checks each one. Returns the verdict on the first wrong launch, or on
// the last two.
OutputVerdict RepeatedLaunches::check_each(const Stages& stages,
                                           const MakeLaunch& make_launch) const {
  OutputVerdict verdict;
  for (int i = 0; i < kLaunches; ++i) {
    const Stage& stage = *stages.at(stage_of(i));
    const KernelLaunch launch = make_launch(stage);
    stage.poison_output(launch.buffers());
    launch.queue(stream_);
    verdict = verifier_.check(stages);
    if (verdict.finding) {
      verdict.finding =
          fmt::format("launch {} of {} in a row: {}", i + 1, kLaunches, *verdict.finding);
      return verdict;
    }
  }
  return verdict;
}

RepeatedLaunches::Result RepeatedLaunches::run(const Stages& stages,
                                               const MakeLaunch& make_launch) const {
  const std::array<KernelLaunch, 2> launches{make_launch(*stages[0]), make_launch(*stages[1])};
  queue(stages, launches);
  OutputVerdict verdict = verifier_.check(stages);  // waits for all
  if (verdict.finding) {
    verdict.finding =
        fmt::format("the last of {} launches in a row: {}", kLaunches, *verdict.finding);
    return {std::move(verdict), true};
  }
  return left_the_same() ? Result{std::move(verdict), true}
                         : Result{check_each(stages, make_launch), false};
}

}  // namespace fatune
