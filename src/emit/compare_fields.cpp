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

const std::vector<Field<ComparedProblem>>& compared_problem_fields() {
  using P = ComparedProblem;
  static const std::vector<Field<P>> fields{
      {"problem", "problem", "the problem that was measured, e.g. b16 s4096 h16 d128 FP16", 0,
       kEverywhere, [](const P& p) { return describe_run(p.problem, p.run); },
       ColumnFit{.least = 14, .once = true}},
      {"winner", "winner",
       "same: both runs have the same winner; tied: the winners differ, but one of the runs cannot "
       "tell the two apart; changed: the winners differ; unknown: one of the runs ranked nothing",
       0, kEverywhere, [](const P& p) { return std::string(winner_change_name(p.winner)); }},
      {"old_winner", "old winner",
       "short form of the old run's winner; null: the run ranked nothing", 0, kEverywhere,
       [](const P& p) { return text_or_none(p.old_winner); },
       ColumnFit{.leaves = 3, .least = 24, .config = true}},
      {"new_winner", "new winner",
       "short form of the new run's winner; null: the run ranked nothing", 0, kEverywhere,
       [](const P& p) { return text_or_none(p.new_winner); },
       ColumnFit{.least = 24, .config = true}},
      {"old_us", "old us",
       "median time of the old winner in the old run in microseconds; null: the run ranked nothing",
       1, kEverywhere, member<&P::old_us>, ColumnFit{.leaves = 5}},
      {"new_us", "new us",
       "median time of the new winner in the new run in microseconds; null: the run ranked nothing",
       1, kEverywhere, member<&P::new_us>, ColumnFit{.leaves = 6}},
      {"change_percent", "change %",
       "by how many percent the new winner in the new run is slower than the old winner in the old "
       "run",
       kPercentDecimals, kEverywhere,
       [](const P& p) { return more_percent_than(p.old_us, p.new_us); }},
      {"shared", "shared", "number of configurations that both runs measured", 0, kEverywhere,
       member<&P::shared>, ColumnFit{.leaves = 2}},
      {"drift_percent", "drift %",
       "by how many percent the new run as a whole is slower: the median over the configurations "
       "that both runs measured",
       kPercentDecimals, kEverywhere, [](const P& p) { return percent_of(p.movement.log_drift); }},
      {"spread_percent", "spread %",
       "standard deviation, in percent, of the differences between the two runs that neither the "
       "drift nor the samples' noise explains",
       kPercentDecimals, kEverywhere, [](const P& p) { return percent_of(p.movement.spread); },
       ColumnFit{.leaves = 4}},
      {"is_usual_spread", "usual spread",
       "true: too few configurations are shared to estimate spread_percent, which is a usual value "
       "instead",
       0, kForPrograms, [](const P& p) { return p.movement.spread_is_usual; }},
      {"old_sm_mhz", "old MHz", "median SM clock in the old run in MHz; null: not known", 0,
       kEverywhere, member<&P::old_sm_mhz>, ColumnFit{.leaves = 1}},
      {"new_sm_mhz", "new MHz", "median SM clock in the new run in MHz; null: not known", 0,
       kEverywhere, member<&P::new_sm_mhz>, ColumnFit{.leaves = 1}},
      {"old_temperature_c", "old C",
       "highest temperature in the old run in degrees Celsius; null: not known", 0, kForPrograms,
       member<&P::old_temperature_c>},
      {"new_temperature_c", "new C",
       "highest temperature in the new run in degrees Celsius; null: not known", 0, kForPrograms,
       member<&P::new_temperature_c>},
  };
  return fields;
}

const std::vector<Field<RunRow>>& compared_run_fields() {
  using R = RunRow;
  static const std::vector<Field<R>> fields{
      {"side", "", "which of the two runs this is: OLD or NEW", 0, kEverywhere,
       [](const R& r) { return std::string(r.side); }},
      {"name", "run", "name of the file or stored run, as the user gave it", 0, kEverywhere,
       [](const R& r) { return r.run->name; }, kWraps},
      {"started_at", "started", "start of the run, UTC; null: not known", 0, kEverywhere,
       [](const R& r) { return text_or_none(r.run->report.started_at); }, ColumnFit{.leaves = 2}},
      {"device", "device", "name of the GPU model", 0, kEverywhere,
       [](const R& r) { return r.run->report.device.name; }, ColumnFit{.once = true}},
      {"driver", "driver", "release of the driver; null: not known", 0, kEverywhere,
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_release); },
       ColumnFit{.leaves = 4, .once = true}},
      {"driver_cuda", "CUDA", "CUDA version of the driver; null: not known", 0, kEverywhere,
       [](const R& r) { return text_or_none(r.run->report.toolchain.driver_version); },
       ColumnFit{.leaves = 3, .once = true}},
      {"nvrtc", "NVRTC", "version of the compiler NVRTC; null: not known", 0, kEverywhere,
       [](const R& r) { return text_or_none(r.run->report.toolchain.nvrtc_version); },
       ColumnFit{.leaves = 3, .once = true}},
      {"fatune", "fatune", "version of fatune that measured the run; null: not known", 0,
       kEverywhere, [](const R& r) { return text_or_none(r.run->report.toolchain.fatune_version); },
       ColumnFit{.leaves = 1, .once = true}},
      {"command_line", "command", "command line of the run", 0, kForPrograms,
       [](const R& r) { return r.run->report.command_line; }},
      {"is_part", "part",
       "true: the run is only a part (a file of winners, a stopped run), and configurations that "
       "it lacks are neither gone nor added",
       0, kForPrograms, [](const R& r) { return r.run->is_part; }},
  };
  return fields;
}

}  // namespace fatune
