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

std::vector<Field<ProfiledConfig>> plain_problem_fields_of_profiles() {
  return {
      {"dtype", "dtype", "element type of Q, K, V and O", 0, kForPrograms,
       [](const ProfiledConfig& r) {
         return r.problem ? std::optional(std::string(dtype_name(r.problem->dtype))) : std::nullopt;
       }},
      {"d_head", "d_head", "head dimension", 0, kForPrograms, of_problem<&Problem::d_head>},
      {"seq_len", "seq", "number of queries in a sequence", 0, kForPrograms,
       of_problem<&Problem::seq_len>},
      {"batch", "batch", "number of sequences per launch", 0, kForPrograms,
       of_problem<&Problem::batch>},
      {"heads", "heads", "number of attention heads", 0, kForPrograms, of_problem<&Problem::heads>},
      {"causal", "causal", "whether a query sees only keys up to its own position", 0, kForPrograms,
       of_problem<&Problem::causal>},
  };
}

std::vector<Field<ProfiledConfig>> figure_fields() {
  return {
      {"config", "config", "the configuration's short form", 0, kEverywhere,
       member<&ProfiledConfig::config>, ColumnFit{.config = true}},
      {"outcome", "outcome",
       "profiled, or how the configuration ended instead: wrong_result, crashed, ...", 0,
       kForPrograms, [](const ProfiledConfig& r) { return outcome_name(r.outcome); }},
      {"runs", "runs", "number of launches that were counted; the figures are averages over them",
       0, kForPrograms, member<&ProfiledConfig::runs>},
      {"relative_percent", "rel %",
       "100 * duration of the baseline / duration of this configuration", 1, kEverywhere,
       [](const ProfiledConfig& r) { return r.relative_percent; }, ColumnFit{.leaves = 7}},
      {"literature_tflops", "TFLOP/s",
       "rate over the duration in 10^12 FLOP per second by the literature's convention: "
       "4*s^2*d*batch*heads, half when causal",
       1, kEverywhere, problem_tflops<literature_flop>, ColumnFit{.leaves = 8}},
      {"attention_tflops", "attn",
       "rate over the duration in 10^12 FLOP per second by the attention count: "
       "batch*heads*(4*s^2*d + 6*s^2)",
       1, kEverywhere, problem_tflops<attention_flop>, ColumnFit{.leaves = 2}},
      {"total_tflops", "total",
       "rate over the duration in 10^12 FLOP per second by the configuration's own count, softmax "
       "and rescaling included",
       1, kEverywhere,
       [](const ProfiledConfig& r) {
         return r.total_flop ? tflops(r, *r.total_flop) : std::nullopt;
       },
       ColumnFit{.leaves = 1}},
      {"sweep_us", "sweep us",
       "median time in microseconds that the stored run measured; null: none", 1, kEverywhere,
       [](const ProfiledConfig& r) { return r.sweep_us; }, ColumnFit{.leaves = 5}},
      {"sweep_difference_percent", "diff %",
       "by how many percent the duration is longer than sweep_us", 1, kEverywhere, sweep_difference,
       ColumnFit{.leaves = 6}},
      {"kernel_name", "kernel", "the kernel's name as profilers print it", 0, kForPrograms,
       [](const ProfiledConfig& r) { return text_or_none(r.kernel_name); }},
      {"detail", "detail", "what went wrong; null: nothing", 0, kEverywhere,
       [](const ProfiledConfig& r) { return text_or_none(r.detail); }, kWraps},
  };
}

}  // namespace

const std::vector<Field<ProfiledConfig>>& profiled_config_fields() {
  static const std::vector<Field<ProfiledConfig>> all = [] {
    std::vector<Field<ProfiledConfig>> fields = plain_problem_fields_of_profiles();
    add_detail_fields<ProfiledConfig, profile_detail>(fields);
    const std::vector<Field<ProfiledConfig>> figures = figure_fields();
    fields.insert(fields.end(), figures.begin(), figures.end());
    return fields;
  }();
  return all;
}

}  // namespace fatune
