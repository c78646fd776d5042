#include "emit/result_fields.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "attention/flop.hpp"
#include "attention/problem.hpp"
#include "core/outcome.hpp"
#include "emit/detail_fields.hpp"
#include "emit/roofline.hpp"
#include "record/record_json.hpp"

namespace fatune {
namespace {

using Fields = std::vector<Field<ResultRow>>;

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
Fields outcome_fields() {
  return {
      {"rank", "rank", doc_of<Result>("rank"), 0, kInRanking,
       [](const ResultRow& r) { return rank_or_none(r.result->rank); }},
      {"tie_group", "tie", doc_of<Result>("tie_group"), 0, kInRanking,
       [](const ResultRow& r) { return rank_or_none(r.result->tie_group); },
       ColumnFit{.leaves = 10}},
      {"config", "config", doc_of<Result>("config"), 0, kEverywhere,
       [](const ResultRow& r) { return r.result->short_form; }, ColumnFit{.config = true}},
      {kFamilyField, "family", doc_of<Result>(kFamilyField), 0, kEverywhere,
       [](const ResultRow& r) { return text_or_none(r.result->config.family); },
       ColumnFit{.leaves = 13}},
      {"outcome", "outcome", doc_of<Result>("outcome"), 0, kInFailures,
       [](const ResultRow& r) { return outcome_name(r.result->outcome); }, ColumnFit{.once = true}},
      {"measured", "measured", "false: nothing was timed for this result", 0, kForPrograms,
       [](const ResultRow& r) { return std::holds_alternative<Measured>(r.result->outcome); }},
      {"verified", "verified",
       "how the output was found correct: gpu, or emulated (on the CPU, on a small problem); null: "
       "it was not",
       0, kForPrograms,
       [](const ResultRow& r) { return text_or_none(verified_by(r.result->outcome)); }},
      {"deterministic", "deterministic",
       "false: correct outputs for the same inputs differed from run to run; null: not measured", 0,
       kForPrograms, deterministic},
      {"reused", "reused", doc_of<Result>("reused"), 0, kForPrograms,
       [](const ResultRow& r) { return r.result->reused; }},
      {"pruned_by", "pruned by", doc_of<Result>("pruned_by"), 0, kEverywhere,
       [](const ResultRow& r) { return text_or_none(r.result->pruned_by); },
       ColumnFit{.leaves = 12}},
      {"proposed_by", "proposed by", doc_of<Result>("proposed_by"), 0, kForPrograms,
       [](const ResultRow& r) { return text_or_none(r.result->proposed_by); }},
      {"proposal", "proposal", doc_of<Result>("proposal"), 0, kForPrograms,
       [](const ResultRow& r) {
         return r.result->proposal == 0 ? std::nullopt : std::optional(r.result->proposal);
       }},
  };
}

/// Measured or estimated times.
Fields timing_fields() {
  return {
      {"time_us", "us", doc_of<Result>("time_us"), 1, kInRanking,
       [](const ResultRow& r) { return us_of(r); }},
      {"mean_us", "mean", doc_of<Result>("mean_us"), 1, kForPrograms, timing<&Timing::mean_us>},
      {"min_us", "min", doc_of<Result>("min_us"), 1, kInRanking, timing<&Timing::min_us>,
       ColumnFit{.leaves = 3}},
      {"max_us", "max", doc_of<Result>("max_us"), 1, kForPrograms, timing<&Timing::max_us>},
      {"stddev_us", "stddev", doc_of<Result>("stddev_us"), 2, kInRanking,
       timing<&Timing::stddev_us, 2>, ColumnFit{.leaves = 2}},
      {"median_low_us", "low", doc_of<Result>("median_low_us"), 1, kForPrograms,
       timing<&Timing::median_low_us>},
      {"median_high_us", "high", doc_of<Result>("median_high_us"), 1, kForPrograms,
       timing<&Timing::median_high_us>},
      {"samples", "n", doc_of<Result>("samples"), 0, kInRanking, sample_count,
       ColumnFit{.leaves = 4}},
      {"part_share", "part", doc_of<Result>("part_share"), 2, kInRanking, part_share,
       ColumnFit{.leaves = 14}},
      {"relative_percent", "rel %", doc_of<Result>("relative_percent"), 1, kInRanking,
       [](const ResultRow& r) {
         return r.result->rank == 0 ? std::nullopt : std::optional(r.result->relative_percent);
       },
       ColumnFit{.leaves = 9}},
  };
}

/// The times as FLOP per second, in three conventions.
Fields throughput_fields() {
  return {
      {"literature_tflops", "TFLOP/s",
       "10^12 FLOP per second by the literature's convention: 4*s^2*d*batch*heads, half when "
       "causal",
       1, kInRanking, [](const ResultRow& r) { return literature_tflops(*r.problem, *r.result); },
       ColumnFit{.leaves = 11}},
      {"attention_tflops", "attn",
       "10^12 FLOP per second by the attention count: batch*heads*(4*s^2*d + 6*s^2)", 1,
       kForPrograms,
       [](const ResultRow& r) { return tflops(r, attention_flop(r.problem->problem)); }},
      {"total_tflops", "total",
       "10^12 FLOP per second by the configuration's own count, softmax and rescaling included", 1,
       kForPrograms,
       [](const ResultRow& r) {
         return r.result->total_flop ? tflops(r, *r.result->total_flop) : std::nullopt;
       }},
      {"percent_of_matmul", "% dense",
       "literature_tflops in percent of the rate of dense matrix products in the same run; null: "
       "not known, or the time is from an earlier run",
       1, kForPrograms,
       [](const ResultRow& r) { return percent_of_matmul(*r.problem, *r.result); }},
      {"percent_of_peak_at_clock", "% peak",
       "literature_tflops in percent of the tensor cores' nominal peak at the median SM clock of "
       "the samples; null: not known, or the time is from an earlier run",
       1, kForPrograms,
       [](const ResultRow& r) { return percent_of_peak_at_clock(*r.run, *r.problem, *r.result); }},
  };
}

/// The resources that the machine code needs.
Fields resource_fields() {
  return {
      {"registers_per_thread", "regs", doc_of<Result>("registers_per_thread"), 0, kInRanking,
       fact<&ResourceFacts::registers_per_thread>, ColumnFit{.leaves = 8}},
      {"spill_store_bytes", "spill st", doc_of<Result>("spill_store_bytes"), 0, kForPrograms,
       fact<&ResourceFacts::spill_store_bytes>},
      {"spill_load_bytes", "spill", doc_of<Result>("spill_load_bytes"), 0, kInRanking,
       fact<&ResourceFacts::spill_load_bytes>, ColumnFit{.leaves = 7}},
      {"local_bytes", "local", doc_of<Result>("local_bytes"), 0, kForPrograms,
       fact<&ResourceFacts::local_bytes>},
      {"static_smem_bytes", "static smem", doc_of<Result>("static_smem_bytes"), 0, kForPrograms,
       fact<&ResourceFacts::static_smem_bytes>},
      {"dynamic_smem_bytes", "dynamic smem", doc_of<Result>("dynamic_smem_bytes"), 0, kForPrograms,
       if_compiled<&Result::dynamic_smem_bytes>},
      {"smem_bytes", "smem", "shared memory per block in bytes, static and dynamic", 0, kInRanking,
       [](const ResultRow& r) {
         return r.result->facts ? std::optional(r.result->facts->static_smem_bytes +
                                                r.result->dynamic_smem_bytes)
                                : std::nullopt;
       },
       ColumnFit{.leaves = 5}},
      {"threads_per_block", "threads", doc_of<Result>("threads_per_block"), 0, kForPrograms,
       if_compiled<&Result::threads_per_block>},
      {"blocks_per_sm", "blk/SM", doc_of<Result>("blocks_per_sm"), 0, kInRanking,
       if_compiled<&Result::blocks_per_sm>, ColumnFit{.leaves = 6}},
      {"code_bytes", "code", doc_of<Result>("code_bytes"), 0, kForPrograms,
       fact<&ResourceFacts::code_bytes>},
      {"compile_ms", "compile ms", doc_of<Result>("compile_ms"), 0, kForPrograms,
       if_compiled<&Result::compile_ms>},
      {"from_cache", "cached", doc_of<Result>("from_cache"), 0, kForPrograms,
       if_compiled<&Result::from_cache>},
  };
}

/// Where the outcome comes from, the verification, and what identifies the kernel in other tools
/// and files.
Fields record_fields() {
  return {
      {"same_code_as", "same code as", doc_of<Result>("same_code_as"), 0, kEverywhere,
       [](const ResultRow& r) { return text_or_none(r.result->same_code_as); },
       ColumnFit{.leaves = 1, .config = true}},
      {"max_abs_error", "max err",
       "greatest absolute difference from the fp32 reference, on the input closest to its limit", 5,
       kForPrograms, error_stat<&ErrorStats::max_abs_error>},
      {"max_abs_error_limit", "err limit",
       "upper limit for max_abs_error: twice the 16-bit reference's own greatest difference from "
       "the fp32 reference",
       5, kForPrograms, error_stat<&ErrorStats::limit>},
      {"mismatched_percent", "mismatch %",
       "percentage of elements that differ from the 16-bit reference by more than atol 1e-5, rtol "
       "1e-3",
       3, kForPrograms, mismatched_percent},
      {"not_verified_because", "not verified", doc_of<Result>("not_verified_because"), 0,
       kForPrograms, not_verified_because},
      {"estimated_from", "from", doc_of<Result>("estimated_from"), 0, kForPrograms, estimated_from},
      {"kernel_name", "kernel", doc_of<Result>("kernel_name"), 0, kForPrograms,
       [](const ResultRow& r) { return text_or_none(r.result->kernel_name); }},
      {"artifact_key", "key", doc_of<Result>("artifact_key"), 0, kForPrograms,
       [](const ResultRow& r) { return text_or_none(r.result->artifact_key); }},
      {"detail", "detail", "why the configuration has no rank; null: it has one", 0, kInFailures,
       why_not_ranked, kWraps},
  };
}

Fields concatenated(std::initializer_list<Fields> groups) {
  Fields fields;
  for (const Fields& group : groups) {
    fields.insert(fields.end(), group.begin(), group.end());
  }
  return fields;
}

std::optional<DetailValue> result_detail(const ResultRow& row, const ProblemDetail& detail) {
  return detail_value(detail, row.problem->problem);
}

std::vector<Field<ResultRow>> documented_problem_fields() {
  return {
      {"dtype", "dtype", "element type of Q, K, V and O", 0, kEverywhere,
       [](const ResultRow& r) { return std::string(dtype_name(r.problem->problem.dtype)); }},
      {"batch", "batch", "number of sequences per launch", 0, kEverywhere,
       [](const ResultRow& r) { return r.problem->problem.batch; }},
      {"seq_len", "seq", "number of queries in a sequence", 0, kEverywhere,
       [](const ResultRow& r) { return r.problem->problem.seq_len; }},
      {"heads", "heads", "number of attention heads", 0, kEverywhere,
       [](const ResultRow& r) { return r.problem->problem.heads; }},
      {"d_head", "d_head", "head dimension", 0, kEverywhere,
       [](const ResultRow& r) { return r.problem->problem.d_head; }},
      {"causal", "causal", "whether a query sees only keys up to its own position", 0, kEverywhere,
       [](const ResultRow& r) { return r.problem->problem.causal; }},
  };
}

}  // namespace

const std::vector<Field<ResultRow>>& problem_fields() {
  static const std::vector<Field<ResultRow>> all = [] {
    std::vector<Field<ResultRow>> fields = documented_problem_fields();
    add_detail_fields<ResultRow, result_detail>(fields);
    fields.push_back({"run", "run", "number of the repetition of the whole measurement, from 1", 0,
                      kEverywhere, [](const ResultRow& r) { return r.problem->run; }});
    return fields;
  }();
  return all;
}

const std::vector<Field<ResultRow>>& run_fields() {
  static const std::vector<Field<ResultRow>> fields{
      {"matmul_tflops", "dense",
       "rate of dense matrix products of the problem's element type in 10^12 FLOP per second, "
       "measured just before the problem; null: not measured",
       1, kForPrograms,
       [](const ResultRow& r) {
         return r.problem->matmul ? std::optional(r.problem->matmul->tflops) : std::nullopt;
       }},
      {"device", "device", "name of the GPU, or of the device that was estimated for", 0,
       kForPrograms, [](const ResultRow& r) { return r.run->device.name; }},
  };
  return fields;
}

const std::vector<Field<ResultRow>>& result_fields() {
  static const Fields fields = concatenated(
      {outcome_fields(), timing_fields(), throughput_fields(), resource_fields(), record_fields()});
  return fields;
}

}  // namespace fatune
