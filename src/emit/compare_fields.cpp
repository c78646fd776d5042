#include <array>

#include "emit/compare_report.hpp"
#include "emit/verdict_report.hpp"

namespace fatune {
namespace {

constexpr int kPercentDecimals = 1;

std::string_view winner_change_name(WinnerChange change) {
  constexpr std::array<std::string_view, 4> kNames{"same", "tied", "changed", "unknown"};
  return kNames.at(static_cast<std::size_t>(change));
}

std::optional<double> more_percent_than(const std::optional<double>& before,
                                        const std::optional<double>& after) {
  return before && after ? std::optional(100.0 * (*after / *before - 1.0)) : std::nullopt;
}

}  // namespace

const Fields<ComparedProblem>& compared_problem_fields() {
  using P = ComparedProblem;
  static const Fields<P> fields{
      {"problem", "problem", Look{.least = 14, .once = true},
       [](const P& p) { return describe_run(p.problem, p.run); }},
      {"winner", "winner", [](const P& p) { return winner_change_name(p.winner); }},
      {"old_winner", "old winner", Look{.leaves = 3, .least = 24, .config = true},
       or_none<&P::old_winner>},
      {"new_winner", "new winner", Look{.least = 24, .config = true}, or_none<&P::new_winner>},
      {"old_us", "old us", Look{.decimals = 1, .leaves = 5}, &P::old_us},
      {"new_us", "new us", Look{.decimals = 1, .leaves = 6}, &P::new_us},
      {"change_percent", "change %", Look{.decimals = kPercentDecimals},
       [](const P& p) { return more_percent_than(p.old_us, p.new_us); }},
      {"shared", "shared", Look{.leaves = 2}, &P::shared},
      {"drift_percent", "drift %", Look{.decimals = kPercentDecimals},
       [](const P& p) { return percent_of(p.movement.log_drift); }},
      {"spread_percent", "spread %", Look{.decimals = kPercentDecimals, .leaves = 4},
       [](const P& p) { return percent_of(p.movement.spread); }},
      {"is_usual_spread", "usual spread", kProgramsOnly,
       [](const P& p) { return p.movement.spread_is_usual; }},
      {"old_sm_mhz", "old MHz", Look{.leaves = 1}, &P::old_sm_mhz},
      {"new_sm_mhz", "new MHz", Look{.leaves = 1}, &P::new_sm_mhz},
      {"old_temperature_c", "old C", kProgramsOnly, &P::old_temperature_c},
      {"new_temperature_c", "new C", kProgramsOnly, &P::new_temperature_c},
  };
  return fields;
}

const Fields<RunRow>& compared_run_fields() {
  using R = RunRow;
  static const Fields<R> fields{
      {"side", "", [](const R& r) { return std::string(r.side); }},
      {"name", "run", kWraps, [](const R& r) { return r.run->name; }},
      {"started_at", "started", Look{.leaves = 2},
       [](const R& r) { return text_or_none(r.run->report.started_at); }},
      {"device", "device", Look{.once = true},
       [](const R& r) { return r.run->report.device.name; }},
      {"driver", "driver", Look{.leaves = 4, .once = true},
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_release); }},
      {"driver_cuda", "CUDA", Look{.leaves = 3, .once = true},
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_version); }},
      {"nvrtc", "NVRTC", Look{.leaves = 3, .once = true},
       [](const R& r) { return text_or_none(r.run->report.toolchain.nvrtc_version); }},
      {"fatune", "fatune", Look{.leaves = 1, .once = true},
       [](const R& r) { return text_or_none(r.run->report.toolchain.fatune_version); }},
      {"command_line", "command", kProgramsOnly,
       [](const R& r) { return r.run->report.command_line; }},
      {"is_part", "part", kProgramsOnly, [](const R& r) { return r.run->is_part; }},
  };
  return fields;
}

}  // namespace fatune
