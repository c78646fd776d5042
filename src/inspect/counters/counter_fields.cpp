#include "inspect/counters/counter_fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

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

CounterField direct(const char* name, const char* unit, const char* title, const char* metric,
                    double scale, const char* doc) {
  return {name, unit, title, doc, {metric}, {}, scale};
}

/// A count, which needs no decimals.
CounterField whole(CounterField field) {
  field.decimals = 0;
  return field;
}

CounterField percent(const char* name, const char* title, const char* metric, const char* doc) {
  return direct(name, "%", title, metric, 1.0, doc);
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
      {direct("duration_us", "us", "us", "gpu__time_duration.sum", 1e-3,
              "from the kernel's start to its end on the GPU"),
       kAll},
      {whole(direct("elapsed_cycles", "cycles", "cycles", "sm__cycles_elapsed.max", 1.0,
                    "clock cycles of the multiprocessor with the greatest count")),
       kAll},
      {whole(direct("registers_per_thread", "registers", "regs", kRegistersMetric, 1.0,
                    "registers that the compiler gave each thread")),
       kAll},
      {percent("l2_hit_rate_percent", "L2 hit %", "lts__t_sector_hit_rate.pct",
               "share of the L2 cache's sector look-ups that hit"),
       kAll},
      {percent(
           "l1_hit_rate_percent", "L1 hit %", "l1tex__t_sector_hit_rate.pct",
           "share of the L1 cache's sector look-ups that hit; cp.async that bypasses L1 misses"),
       kStandard | kAttention},
      {direct("dram_gb_per_s", "GB/s", "DRAM GB/s", "dram__bytes.sum.per_second", 1e-9,
              "DRAM traffic, both ways"),
       kAll},
      {percent("memory_busy_percent", "mem busy %",
               "gpu__compute_memory_access_throughput.avg.pct_of_peak_sustained_elapsed",
               "how busy the busiest unit inside the memory system was"),
       kStandard | kAttention},
      {percent("memory_bandwidth_percent", "mem bw %",
               "gpu__compute_memory_request_throughput.avg.pct_of_peak_sustained_elapsed",
               "how busy the busiest link between the units of the memory system was"),
       kStandard | kAttention},
      {percent("memory_pipes_percent", "mem pipes %",
               "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
               "how busy the multiprocessors' pipes for memory instructions were"),
       kStandard | kAttention},
  };
}

/// Bytes that threads requested, per byte of the 32-byte sectors that were moved for them.
CounterField efficiency(const char* name, const char* title, const std::vector<std::string>& ops,
                        const char* doc) {
  CounterField field{name, "%", title, doc, {}, {}, 100.0 / 32.0};
  for (const std::string& op : ops) {
    field.numerator.push_back(fmt::format("smsp__sass_data_bytes_mem_global_op_{}.sum", op));
    field.denominator.push_back(
        fmt::format("smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum", op));
  }
  return field;
}

std::vector<FieldRow> attention_rows() {
  return {
      {direct("dram_mb", "MB", "DRAM MB", "dram__bytes.sum", 1e-6, "DRAM traffic, both ways"),
       kAttention | kCore},
      {percent("tensor_pipe_percent", "tensor %",
               "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
               "share of the cycles in which the tensor cores worked"),
       kAttention | kCore},
      {whole(direct("bank_conflicts", "", "bank conflicts",
                    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", 1.0,
                    "shared-memory wavefronts that conflicts between banks added")),
       kAttention | kCore},
      {CounterField{"bank_conflict_percent",
                    "%",
                    "conflict %",
                    "share of the shared-memory wavefronts that conflicts added",
                    {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"},
                    {"l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
                    100.0},
       kAttention | kCore},
      {efficiency("global_load_efficiency_percent", "load eff %", {"ld", "ldgsts"},
                  "bytes that loads and cp.async requested, per byte moved; not TMA"),
       kAttention},
      {efficiency("global_store_efficiency_percent", "store eff %", {"st"},
                  "bytes that stores wrote, per byte moved; not TMA"),
       kAttention},
      {percent("issue_slot_percent", "issue %",
               "smsp__issue_active.avg.pct_of_peak_sustained_active",
               "share of a scheduler's active cycles in which it issued an instruction"),
       kAttention},
      {percent("instruction_throughput_percent", "inst %",
               "sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
               "instructions executed, relative to the most that the multiprocessors can execute"),
       kAttention},
      {CounterField{"warp_execution_efficiency_percent",
                    "%",
                    "warp eff %",
                    "share of a warp's 32 threads that take part in its instructions",
                    {"smsp__thread_inst_executed.sum"},
                    {"smsp__inst_executed.sum"},
                    100.0 / 32.0},
       kAttention},
      {percent("achieved_occupancy_percent", "occupancy %",
               "sm__warps_active.avg.pct_of_peak_sustained_active",
               "warps in flight on an active multiprocessor, relative to the most that it holds"),
       kAttention},
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
      all.insert(all.end(), more.begin(), more.end());
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
  const auto* const set = std::ranges::find(kSets, name, &NamedSet::name);
  if (set != kSets.end()) {
    return counter_fields(set->set);
  }
  for (const FieldRow& row : counter_field_table()) {
    if (row.field.name == name) {
      return {row.field};
    }
  }
  if (!is_raw_metric(name)) {
    reject(name);
  }
  return {{name, "", name, "as the profiler gives it, in base units", {name}, {}}};
}

std::optional<double> sum_of(const std::vector<std::string>& metrics, const RawCounters& raw) {
  double sum = 0.0;
  for (const std::string& metric : metrics) {
    const auto value = raw.find(metric);
    if (value == raw.end()) {
      return std::nullopt;
    }
    sum += value->second;
  }
  return sum;
}

}  // namespace

std::vector<CounterField> counter_fields(CounterSet set) {
  const auto* const named = std::ranges::find(kSets, set, &NamedSet::set);
  std::vector<CounterField> fields;
  for (const FieldRow& row : counter_field_table()) {
    if ((row.sets & named->bit) != 0U) {
      fields.push_back(row.field);
    }
  }
  return fields;
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
        if (!is_among(metric, metrics)) {
          metrics.push_back(metric);
        }
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
