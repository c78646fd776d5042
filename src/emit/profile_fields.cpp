#include "emit/profile_fields.hpp"

#include "attention/flop.hpp"
#include "emit/detail_fields.hpp"

namespace fatune {
namespace {

template <auto kMember>
const auto of_problem = [](const ProfiledConfig& row) {
  return row.problem ? std::optional((*row.problem).*kMember) : std::nullopt;
};

std::optional<double> tflops(const ProfiledConfig& row, double flop) {
  const double us = row.duration_us.value_or(0.0);
  return us > 0.0 ? std::optional(flop / us * kFlopPerUsToTflops) : std::nullopt;
}

/// The rate of the problem's work by one convention for counting FLOP.
template <double (*kFlop)(const Problem&)>
const auto problem_tflops = [](const ProfiledConfig& row) {
  return row.problem ? tflops(row, kFlop(*row.problem)) : std::nullopt;
};

const auto sweep_difference = [](const ProfiledConfig& row) {
  const double us = row.duration_us.value_or(0.0);
  return row.sweep_us && us > 0.0 ? std::optional(100.0 * (us / *row.sweep_us - 1.0))
                                  : std::nullopt;
};

std::optional<DetailValue> profile_detail(const ProfiledConfig& row, const ProblemDetail& detail) {
  return row.problem ? std::optional(detail_value(detail, *row.problem)) : std::nullopt;
}

Fields<ProfiledConfig> plain_problem_fields_of_profiles() {
  return {
      {"dtype", "dtype", kProgramsOnly,
       [](const ProfiledConfig& r) {
         return r.problem ? std::optional(std::string(dtype_name(r.problem->dtype))) : std::nullopt;
       }},
      {"d_head", "d_head", kProgramsOnly, of_problem<&Problem::d_head>},
      {"seq_len", "seq", kProgramsOnly, of_problem<&Problem::seq_len>},
      {"batch", "batch", kProgramsOnly, of_problem<&Problem::batch>},
      {"heads", "heads", kProgramsOnly, of_problem<&Problem::heads>},
      {"causal", "causal", kProgramsOnly, of_problem<&Problem::causal>},
  };
}

Fields<ProfiledConfig> figure_fields() {
  return {
      {"config", "config", Look{.config = true}, &ProfiledConfig::config},
      {"outcome", "outcome", kProgramsOnly,
       [](const ProfiledConfig& r) { return outcome_name(r.outcome); }},
      {"runs", "runs", kProgramsOnly, &ProfiledConfig::runs},
      {"relative_percent", "rel %", Look{.decimals = 1, .leaves = 7},
       &ProfiledConfig::relative_percent},
      {"literature_tflops", "TFLOP/s", Look{.decimals = 1, .leaves = 8},
       problem_tflops<literature_flop>},
      {"attention_tflops", "attn", Look{.decimals = 1, .leaves = 2},
       problem_tflops<attention_flop>},
      {"total_tflops", "total", Look{.decimals = 1, .leaves = 1},
       [](const ProfiledConfig& r) {
         return r.total_flop ? tflops(r, *r.total_flop) : std::nullopt;
       }},
      {"sweep_us", "sweep us", Look{.decimals = 1, .leaves = 5}, &ProfiledConfig::sweep_us},
      {"sweep_difference_percent", "diff %", Look{.decimals = 1, .leaves = 6}, sweep_difference},
      {"kernel_name", "kernel", kProgramsOnly, or_none<&ProfiledConfig::kernel_name>},
      {"detail", "detail", kWraps, or_none<&ProfiledConfig::detail>},
  };
}

}  // namespace

const Fields<ProfiledConfig>& profiled_config_fields() {
  static const Fields<ProfiledConfig> all = joined_fields<ProfiledConfig>(
      {plain_problem_fields_of_profiles(), detail_fields<ProfiledConfig, profile_detail>(),
       figure_fields()});
  return all;
}

}  // namespace fatune
