#include "inspect/counters/counter_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"

namespace fatune {
namespace {

/// The sets that a figure belongs to (CounterSet), one bit each.
enum FieldSets : unsigned { kStandard = 1, kAttention = 2, kCore = 4, kAll = 7 };

struct FieldRow {
  CounterField field;
  unsigned sets = kAttention;
};

FieldRow direct(unsigned sets, const char* name, const char* unit, const char* title,
                const char* metric, double scale, const char* doc) {
  return {{name, unit, title, doc, {metric}, {}, scale}, sets};
}

/// A count, which needs no decimals.
FieldRow whole(FieldRow row) {
  row.field.decimals = 0;
  return row;
}

FieldRow percent(unsigned sets, const char* name, const char* title, const char* metric,
                 const char* doc) {
  return direct(sets, name, "%", title, metric, 1.0, doc);
}

FieldRow quotient(unsigned sets, const char* name, const char* title, const char* numerator,
                  const char* denominator, double scale, const char* doc) {
  return {{name, "%", title, doc, {numerator}, {denominator}, scale}, sets};
}

FieldRow stall(const std::string& reason, const std::string& doc, int least_arch = 80) {
  CounterField field{
      fmt::format("stall_{}_warps", reason),
      "warps",
      fmt::format("stall {}", reason),
      "warps per issued instruction that wait " + doc,
      {fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason)},
      {}};
  field.least_arch = least_arch;
  return {std::move(field), kAttention};
}

std::vector<FieldRow> standard_rows() {
  return {
      direct(kAll, "duration_us", "us", "us", "gpu__time_duration.sum", 1e-3,
             "from the kernel's start to its end on the GPU"),
      whole(direct(kAll, "elapsed_cycles", "cycles", "cycles", "sm__cycles_elapsed.max", 1.0,
                   "clock cycles of the multiprocessor with the greatest count")),
      whole(direct(kAll, "registers_per_thread", "registers", "regs", kRegistersMetric, 1.0,
                   "registers that the compiler gave each thread")),
      percent(kAll, "l2_hit_rate_percent", "L2 hit %", "lts__t_sector_hit_rate.pct",
              "share of the L2 cache's sector look-ups that hit"),
      percent(kStandard | kAttention, "l1_hit_rate_percent", "L1 hit %",
              "l1tex__t_sector_hit_rate.pct",
              "share of the L1 cache's sector look-ups that hit; cp.async that bypasses L1 misses"),
      direct(kAll, "dram_gb_per_s", "GB/s", "DRAM GB/s", "dram__bytes.sum.per_second", 1e-9,
             "DRAM traffic, both ways"),
      percent(kStandard | kAttention, "memory_busy_percent", "mem busy %",
              "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
              "how busy the busiest unit inside the memory system was"),
      percent(kStandard | kAttention, "memory_bandwidth_percent", "mem bw %",
              "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
              "how busy the busiest link between the units of the memory system was"),
      percent(kStandard | kAttention, "memory_pipes_percent", "mem pipes %",
              "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
              "how busy the multiprocessors' pipes for memory instructions were"),
  };
}

/// Bytes that threads requested, per byte of the 32-byte sectors that were moved for them.
FieldRow efficiency(const char* name, const char* title, const std::vector<std::string>& ops,
                    const char* doc) {
  CounterField field{name, "%", title, doc, {}, {}, 100.0 / 32.0};
  for (const std::string& op : ops) {
    field.numerator.push_back(fmt::format("smsp__sass_data_bytes_mem_global_op_{}.sum", op));
    field.denominator.push_back(
        fmt::format("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum", op));
  }
  return {std::move(field), kAttention};
}

std::vector<FieldRow> attention_rows() {
  return {
      direct(kAttention | kCore, "dram_mb", "MB", "DRAM MB", "dram__bytes.sum", 1e-6,
             "DRAM traffic, both ways"),
      percent(kAttention | kCore, "tensor_pipe_percent", "tensor %",
              "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
              "share of the cycles in which the tensor cores worked"),
      whole(direct(kAttention | kCore, "bank_conflicts", "", "bank conflicts",
                   "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1.0,
                   "shared-memory wavefronts that conflicts between banks added")),
      quotient(kAttention | kCore, "bank_conflict_percent", "conflict %",
               "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
               "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", 100.0,
               "share of the shared-memory wavefronts that conflicts added"),
      efficiency("global_load_efficiency_percent", "load eff %", {"ld", "ldgsts"},
                 "bytes that loads and cp.async requested, per byte moved; not TMA"),
      efficiency("global_store_efficiency_percent", "store eff %", {"st"},
                 "bytes that stores wrote, per byte moved; not TMA"),
      percent(kAttention, "issue_slot_percent", "issue %",
              "smsp__issue_active.avg.pct_of_peak_sustained_active",
              "share of a scheduler's active cycles in which it issued an instruction"),
      percent(kAttention, "instruction_throughput_percent", "inst %",
              "sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
              "instructions executed, relative to the most that the multiprocessors can execute"),
      quotient(kAttention, "warp_execution_efficiency_percent", "warp eff %",
               "smsp__thread_inst_executed.sum", "smsp__inst_executed.sum", 100.0 / 32.0,
               "share of a warp's 32 threads that take part in its instructions"),
      percent(kAttention, "achieved_occupancy_percent", "occupancy %",
              "sm__warps_active.avg.pct_of_peak_sustained_active",
              "warps in flight on an active multiprocessor, relative to the most that it holds"),
  };
}

std::vector<FieldRow> stall_rows() {
  return {
      stall("long_scoreboard", "for global or local memory"),
      stall("short_scoreboard", "for shared memory or special functions"),
      stall("mio_throttle", "because the queue for shared memory and the like is full"),
      stall("lg_throttle", "because the queue for global memory is full"),
      stall("tex_throttle", "because the texture queue is full"),
      stall("math_pipe_throttle", "for a busy arithmetic or tensor pipe"),
      stall("wait", "for a dependency of fixed latency"),
      stall("barrier", "at a barrier of the block"),
      stall("membar", "at a memory barrier"),
      stall("gmma", "for the warp group's matrix unit", 90),
      stall("sleeping", "in a nanosleep"),
      stall("not_selected", "because another warp was chosen"),
      stall("no_instruction", "for the instruction cache or a jump's target"),
      stall("imc_miss", "for the constant cache"),
      stall("branch_resolving", "for a branch"),
      stall("dispatch_stall", "for the dispatcher"),
      stall("drain", "at their end for outstanding stores"),
      stall("misc", "for something else"),
  };
}

/// Every figure, in the order in which they are shown.
const std::vector<FieldRow>& counter_field_table() {
  static const std::vector<FieldRow> rows = [] {
    std::vector<FieldRow> all = standard_rows();
    for (auto&& more : {attention_rows(), stall_rows()}) {
      append(all, more);
    }
    return all;
  }();
  return rows;
}

struct NamedSet {
  std::string_view name;
  CounterSet set;
  FieldSets bit;
};

constexpr std::array<NamedSet, 3> kSets{{
    {"standard", CounterSet::standard, kStandard},
    {"attention", CounterSet::attention, kAttention},
    {"core", CounterSet::core, kCore},
}};

[[noreturn]] void reject(const std::string& name) {
  throw Error(
      ExitCode::usage, fmt::format("there is no metric '{}'", name), "--metrics",
      fmt::format(
          "a set, a figure or a profiler's metric such as lts__t_bytes.sum; sets and "
          "figures: {}, {}",
          joined(kSets, ", ", &NamedSet::name),
          joined(counter_field_table(), ", ", [](const FieldRow& row) { return row.field.name; })));
}

/// Whether it can be the name of a profiler's metric: unit__what.
bool is_raw_metric(std::string_view name) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  return name.find("__") != std::string_view::npos && name.find("__") != 0 &&
         name.find_first_not_of(kLetters) == std::string_view::npos;
}

std::vector<CounterField> chosen(const std::string& name) {
  if (const NamedSet* const set = find_in(kSets, name, &NamedSet::name)) {
    return counter_fields(set->set);
  }
  const auto name_of = [](const FieldRow& row) { return row.field.name; };
  if (const FieldRow* const row = find_in(counter_field_table(), name, name_of)) {
    return {row->field};
  }
  if (!is_raw_metric(name)) {
    reject(name);
  }
  return {{name, "", name, "as the profiler gives it, in base units", {name}, {}}};
}

std::optional<double> sum_of(const std::vector<std::string>& metrics, const RawCounters& raw) {
  double sum = 0.0;
  for (const std::string& metric : metrics) {
    const double* const value = value_at(raw, metric);
    if (value == nullptr) {
      return std::nullopt;
    }
    sum += *value;
  }
  return sum;
}

}  // namespace

std::vector<CounterField> counter_fields(CounterSet set) {
  const auto* const named = std::ranges::find(kSets, set, &NamedSet::set);
  const auto is_in_set = [&](const FieldRow& row) { return (row.sets & named->bit) != 0U; };
  return mapped(filtered(counter_field_table(), is_in_set), &FieldRow::field);
}

std::vector<CounterField> choose_counter_fields(std::span<const std::string> names) {
  std::vector<CounterField> fields;
  std::set<std::string> seen;
  for (const std::string& name : names) {
    for (CounterField& field : chosen(name)) {
      if (seen.insert(field.name).second) {
        fields.push_back(std::move(field));
      }
    }
  }
  return fields;
}

std::vector<std::string> raw_metrics(std::span<const CounterField> fields, int arch) {
  std::vector<std::string> metrics;
  for (const CounterField& field : fields) {
    if (arch < field.least_arch) {
      continue;
    }
    for (const auto& part : {field.numerator, field.denominator}) {
      for (const std::string& metric : part) {
        append_new(metrics, metric);
      }
    }
  }
  return metrics;
}

std::vector<std::string> hardware_metrics(std::span<const CounterField> fields, int arch) {
  std::vector<std::string> metrics = raw_metrics(fields, arch);
  std::erase_if(metrics, [](const std::string& name) { return name.starts_with("launch__"); });
  return metrics;
}

std::optional<double> derive(const CounterField& field, const RawCounters& raw) {
  const std::optional<double> numerator = sum_of(field.numerator, raw);
  const std::optional<double> denominator =
      field.denominator.empty() ? 1.0 : sum_of(field.denominator, raw);
  if (!numerator || !denominator) {
    return std::nullopt;
  }
  const double value = field.scale * *numerator / *denominator;
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::vector<std::pair<std::string, double>> derive_averages(std::span<const CounterField> fields,
                                                            std::span<const RawCounters> runs) {
  std::vector<std::pair<std::string, double>> averages;
  for (const CounterField& field : fields) {
    double sum = 0.0;
    int count = 0;
    for (const RawCounters& run : runs) {
      if (const auto value = derive(field, run)) {
        sum += *value;
        ++count;
      }
    }
    if (count > 0) {
      averages.emplace_back(field.name, sum / count);
    }
  }
  return averages;
}

}  // namespace fatune
