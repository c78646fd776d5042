#include "print/run_report.hpp"

#include <algorithm>
#include <set>

#include "model/flop.hpp"
#include "model/problem.hpp"
#include "model/record_json.hpp"
#include "print/comparisons.hpp"

namespace fatune {
namespace {

std::optional<int> rank_or_none(int rank) { return rank == 0 ? std::nullopt : std::optional(rank); }

std::optional<double> us_of(const ResultRow& row) {
  return is_ranked(row.result->outcome) ? std::optional(ranked_us(row.result->outcome))
                                        : std::nullopt;
}

std::optional<double> tflops(const ResultRow& row, double flop) {
  const double us = us_of(row).value_or(0.0);
  return us > 0.0 ? std::optional(flop / us * kFlopPerUsToTflops) : std::nullopt;
}

template <double Timing::*kMember, std::int64_t kLeastSamples = 1>
const auto timing = [](const ResultRow& row) {
  const auto* measured = std::get_if<Measured>(&row.result->outcome);
  return measured == nullptr || measured->timing.sample_count < kLeastSamples
             ? std::nullopt
             : std::optional(measured->timing.*kMember);
};

std::optional<double> share_or_none(double share) {
  return share > 0.0 ? std::optional(share) : std::nullopt;
}

const auto part_share = [](const ResultRow& row) {
  const auto* measured = std::get_if<Measured>(&row.result->outcome);
  return measured == nullptr ? std::nullopt : share_or_none(measured->timing.part_share);
};

const auto sample_count = [](const ResultRow& row) {
  const auto* measured = std::get_if<Measured>(&row.result->outcome);
  return measured == nullptr || measured->timing.sample_count == 0
             ? std::nullopt
             : std::optional(measured->timing.sample_count);
};

template <auto kMember>
const auto fact = [](const ResultRow& row) {
  return row.result->facts ? std::optional((*row.result->facts).*kMember) : std::nullopt;
};

/// Gets a member of the result; nothing if the configuration was not compiled.
template <auto kMember>
const auto if_compiled = [](const ResultRow& row) {
  return row.result->facts ? std::optional((*row.result).*kMember) : std::nullopt;
};

/// The input on which O came closest to its limit, or furthest beyond it.
const ErrorStats* tightest_input(const ResultRow& row) {
  const Verification* verification = verification_of(row.result->outcome);
  if (verification == nullptr) {
    return nullptr;
  }
  return &tightest_input(verification->inputs);
}

template <double ErrorStats::*kMember>
const auto error_stat = [](const ResultRow& row) {
  const ErrorStats* stats = tightest_input(row);
  return stats == nullptr ? std::nullopt : std::optional(stats->*kMember);
};

const auto mismatched_percent = [](const ResultRow& row) {
  const ErrorStats* stats = tightest_input(row);
  return stats == nullptr ? std::nullopt : std::optional(stats->mismatched_percent());
};

const auto not_verified_because = [](const ResultRow& row) {
  const auto* estimated = std::get_if<Estimated>(&row.result->outcome);
  return estimated == nullptr ? std::nullopt : text_or_none(estimated->not_verified_because);
};

const auto estimated_from = [](const ResultRow& row) {
  const auto* estimated = std::get_if<Estimated>(&row.result->outcome);
  return estimated == nullptr ? std::nullopt
                              : text_or_none(std::string(enum_name(estimated->from)));
};

const auto why_not_ranked = [](const ResultRow& row) {
  return is_ranked(row.result->outcome) ? std::nullopt
                                        : std::optional(outcome_summary(row.result->outcome));
};

const auto deterministic = [](const ResultRow& row) {
  const auto* measured = std::get_if<Measured>(&row.result->outcome);
  return measured == nullptr ? std::nullopt : std::optional(measured->verification.deterministic);
};

/// The rank, the configuration and its outcome.
Fields<ResultRow> outcome_fields() {
  return {
      {"rank", "rank", Look{.shown = kInRanking},
       [](const ResultRow& r) { return rank_or_none(r.result->rank); }},
      {"tie_group", "tie", Look{.shown = kInRanking},
       [](const ResultRow& r) { return rank_or_none(r.result->tie_group); }},
      {"config", "config", kWraps, [](const ResultRow& r) { return r.result->short_form; }},
      {kFamilyField, "family",
       [](const ResultRow& r) { return text_or_none(r.result->config.family); }},
      {"outcome", "outcome", Look{.shown = kInFailures},
       [](const ResultRow& r) { return outcome_name(r.result->outcome); }},
      {"measured", "measured", kProgramsOnly,
       [](const ResultRow& r) { return std::holds_alternative<Measured>(r.result->outcome); }},
      {"verified", "verified", kProgramsOnly,
       [](const ResultRow& r) { return text_or_none(verified_by(r.result->outcome)); }},
      {"deterministic", "deterministic", kProgramsOnly, deterministic},
      {"reused", "reused", kProgramsOnly, [](const ResultRow& r) { return r.result->reused; }},
      {"pruned_by", "pruned by",
       [](const ResultRow& r) { return text_or_none(r.result->pruned_by); }},
      {"proposed_by", "proposed by", kProgramsOnly,
       [](const ResultRow& r) { return text_or_none(r.result->proposed_by); }},
      {"proposal", "proposal", kProgramsOnly,
       [](const ResultRow& r) {
         return r.result->proposal == 0 ? std::nullopt : std::optional(r.result->proposal);
       }},
  };
}

/// Measured or estimated times.
Fields<ResultRow> timing_fields() {
  return {
      {"time_us", "us", Look{.decimals = 1, .shown = kInRanking}, us_of},
      {"mean_us", "mean", Look{.decimals = 1, .shown = kForPrograms}, timing<&Timing::mean_us>},
      {"min_us", "min", Look{.decimals = 1, .shown = kInRanking}, timing<&Timing::min_us>},
      {"max_us", "max", Look{.decimals = 1, .shown = kForPrograms}, timing<&Timing::max_us>},
      {"stddev_us", "stddev", Look{.decimals = 2, .shown = kInRanking},
       timing<&Timing::stddev_us, 2>},
      {"median_low_us", "low", Look{.decimals = 1, .shown = kForPrograms},
       timing<&Timing::median_low_us>},
      {"median_high_us", "high", Look{.decimals = 1, .shown = kForPrograms},
       timing<&Timing::median_high_us>},
      {"samples", "n", Look{.shown = kInRanking}, sample_count},
      {"part_share", "part", Look{.decimals = 2, .shown = kInRanking}, part_share},
      {"relative_percent", "rel %", Look{.decimals = 1, .shown = kInRanking},
       [](const ResultRow& r) {
         return r.result->rank == 0 ? std::nullopt : std::optional(r.result->relative_percent);
       }},
  };
}

/// The times as FLOP per second, in three conventions, and as bytes per second.
Fields<ResultRow> throughput_fields() {
  return {
      {"literature_tflops", "TFLOP/s", Look{.decimals = 1, .shown = kInRanking},
       [](const ResultRow& r) { return literature_tflops(*r.problem, *r.result); }},
      {kGbPerSField, "GB/s", Look{.shown = kInRanking},
       [](const ResultRow& r) { return gb_per_s(*r.problem, *r.result); }},
      {"attention_tflops", "attn", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) { return tflops(r, attention_flop(r.problem->problem)); }},
      {"total_tflops", "total", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) {
         return r.result->total_flop ? tflops(r, *r.result->total_flop) : std::nullopt;
       }},
      {"percent_of_matmul", "% dense", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) { return percent_of_matmul(*r.problem, *r.result); }},
      {"percent_of_peak_at_clock", "% peak", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) { return percent_of_peak_at_clock(*r.run, *r.problem, *r.result); }},
      {"percent_of_reads", "% reads", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) { return percent_of_reads(*r.problem, *r.result); }},
      {"needed_bytes", "bytes", kProgramsOnly,
       [](const ResultRow& r) {
         return static_cast<std::int64_t>(needed_bytes(r.problem->problem));
       }},
  };
}

/// The resources that the machine code needs.
Fields<ResultRow> resource_fields() {
  return {
      {"registers_per_thread", "regs", Look{.shown = kInRanking},
       fact<&ResourceFacts::registers_per_thread>},
      {"spill_store_bytes", "spill st", kProgramsOnly, fact<&ResourceFacts::spill_store_bytes>},
      {"spill_load_bytes", "spill", Look{.shown = kInRanking},
       fact<&ResourceFacts::spill_load_bytes>},
      {"local_bytes", "local", kProgramsOnly, fact<&ResourceFacts::local_bytes>},
      {"static_smem_bytes", "static smem", kProgramsOnly, fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", kProgramsOnly,
       if_compiled<&Result::dynamic_smem_bytes>},
      {"smem_bytes", "smem", Look{.shown = kInRanking},
       [](const ResultRow& r) {
         return r.result->facts ? std::optional(r.result->facts->static_smem_bytes +
                                                r.result->dynamic_smem_bytes)
                                : std::nullopt;
       }},
      {"threads_per_block", "threads", kProgramsOnly, if_compiled<&Result::threads_per_block>},
      {"blocks_per_sm", "blk/SM", Look{.shown = kInRanking}, if_compiled<&Result::blocks_per_sm>},
      {"code_bytes", "code", kProgramsOnly, fact<&ResourceFacts::code_bytes>},
      {"compile_ms", "compile ms", kProgramsOnly, if_compiled<&Result::compile_ms>},
      {"from_cache", "cached", kProgramsOnly, if_compiled<&Result::from_cache>},
  };
}

/// Where the outcome comes from, the verification, and what identifies the kernel in other tools
/// and files.
Fields<ResultRow> record_fields() {
  return {
      {"same_code_as", "same code as", kWraps,
       [](const ResultRow& r) { return text_or_none(r.result->same_code_as); }},
      {"max_abs_error", "max err", Look{.decimals = 5, .shown = kForPrograms},
       error_stat<&ErrorStats::max_abs_error>},
      {"max_abs_error_limit", "err limit", Look{.decimals = 5, .shown = kForPrograms},
       error_stat<&ErrorStats::limit>},
      {"mismatched_percent", "mismatch %", Look{.decimals = 3, .shown = kForPrograms},
       mismatched_percent},
      {"not_verified_because", "not verified", kProgramsOnly, not_verified_because},
      {"estimated_from", "from", kProgramsOnly, estimated_from},
      {"kernel_name", "kernel", kProgramsOnly,
       [](const ResultRow& r) { return text_or_none(r.result->kernel_name); }},
      {"artifact_key", "key", kProgramsOnly,
       [](const ResultRow& r) { return text_or_none(r.result->artifact_key); }},
      {"detail", "detail", Look{.shown = kInFailures, .wraps = true}, why_not_ranked},
  };
}

std::optional<DetailValue> result_detail(const ResultRow& row, const ProblemDetail& detail) {
  return detail_value(detail, row.problem->problem);
}

Fields<ResultRow> plain_problem_fields() {
  return {
      {"dtype", "dtype", [](const ResultRow& r) { return dtype_name(r.problem->problem.dtype); }},
      {"batch", "batch", [](const ResultRow& r) { return r.problem->problem.batch; }},
      {"seq_len", "seq", [](const ResultRow& r) { return r.problem->problem.seq_len; }},
      {"heads", "heads", [](const ResultRow& r) { return r.problem->problem.heads; }},
      {"d_head", "d_head", [](const ResultRow& r) { return r.problem->problem.d_head; }},
      {"causal", "causal", [](const ResultRow& r) { return r.problem->problem.causal; }},
  };
}

/// Adds the derived fields to each of the results. `list`: their JSON.
void add_derived(const RunReport& run, const ProblemReport& problem,
                 const std::vector<Result>& results, Json& list) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Field<ResultRow>& field : derived_result_fields()) {
      list[i].emplace(std::string(field.name),
                      json_value(field.get({&run, &problem, &results[i]})));
    }
  }
}

void add_derived(const RunReport& run, Json& problems) {
  for (std::size_t i = 0; i < run.problems.size(); ++i) {
    const ProblemReport& problem = run.problems[i];
    add_derived(run, problem, problem.ranking, problems[i]["ranking"]);
    add_derived(run, problem, problem.failures, problems[i]["failures"]);
    add_derived(run, problem, problem.audited, problems[i]["audited"]);
  }
}

}  // namespace

Fields<ResultRow> problem_fields() {
  return joined_fields<ResultRow>(
      {plain_problem_fields(),
       detail_fields<ResultRow, result_detail>(),
       {{"run", "run", [](const ResultRow& r) { return r.problem->run; }}}});
}

Fields<ResultRow> run_fields() {
  return {
      {"matmul_tflops", "dense", Look{.decimals = 1, .shown = kForPrograms},
       [](const ResultRow& r) {
         return r.problem->matmul ? std::optional(r.problem->matmul->tflops) : std::nullopt;
       }},
      {"read_gb_per_s", "reads", kProgramsOnly,
       [](const ResultRow& r) {
         return r.problem->memory ? std::optional(r.problem->memory->read_gb_per_s) : std::nullopt;
       }},
      {"device", "device", kProgramsOnly, [](const ResultRow& r) { return r.run->device.name; }},
  };
}

Fields<ResultRow> result_fields() {
  return joined_fields<ResultRow>(
      {outcome_fields(), timing_fields(), throughput_fields(), resource_fields(), record_fields()});
}

Fields<ResultRow> result_fields_for_people(const std::vector<ResultRow>& rows) {
  return with_gb_per_s_if(
      std::ranges::any_of(
          rows, [](const ResultRow& r) { return is_memory_nearer(*r.run, *r.problem, *r.result); }),
      result_fields());
}

const Fields<ResultRow>& derived_result_fields() {
  static const Fields<ResultRow> derived = [] {
    std::set<std::string_view> members;
    for (const RecordMember& member : record_members<Result>()) {
      if (!member.of_alternative) {
        members.insert(member.info.name);
      }
    }
    Fields<ResultRow> fields = result_fields();
    std::erase_if(fields, [&](const auto& field) { return members.contains(field.name); });
    return fields;
  }();
  return derived;
}

Json results_object(const RunReport& report) {
  Json json = json_head("results", kResultsVersion);
  json.update(record_json(report));
  add_derived(report, json["problems"]);
  json["gpu_busy_percent"] = report.measured ? json_value(busy_percent(report)) : Json(nullptr);
  json["summary"] = json_summary(report);
  if (report.gate) {
    json["gate"].update(verdict_summary_json(report.gate->checks));
  }
  return json;
}

std::string best_configs_json(const RunReport& report) {
  return json_text(results_object(only_winners(report)));
}

Json runs_object(const std::vector<RunReport>& reports) {
  Json json = json_head("runs", kResultsVersion);
  json["runs"] = json_list(reports, results_object);
  return json;
}

}  // namespace fatune
