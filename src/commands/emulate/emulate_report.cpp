#include "commands/emulate/emulate_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/ranges.hpp"
#include "base/visible_text.hpp"
#include "print/quantization_report.hpp"
#include "print/run_report.hpp"

namespace fatune {
namespace {

const EmulatedCounts& counts_of(const EmulatedPart& row) { return row.counts; }
const EmulatedCounts& counts_of(const EmulatedLine& row) { return row.own; }

template <std::int64_t EmulatedCounts::*kMember>
const auto count = [](const auto& row) {
  if constexpr (requires { row.profile; }) {
    return row.profile ? std::optional(row.profile->all.*kMember) : std::nullopt;
  } else {
    return counts_of(row).*kMember;
  }
};

/// The wavefronts that conflicts added, in percent of the ideal ones; nothing if there are none.
std::optional<double> conflict_percent(const EmulatedCounts& counts) {
  if (counts.ideal_wavefronts == 0) {
    return std::nullopt;
  }
  return 100.0 * static_cast<double>(counts.shared_wavefronts - counts.ideal_wavefronts) /
         static_cast<double>(counts.ideal_wavefronts);
}

template <typename Row>
Fields<Row> count_fields(FieldGetter<Row> conflicts) {
  using Counts = EmulatedCounts;
  return {
      {"warp_instructions", "warp instr", count<&Counts::warp_instructions>},
      {"thread_instructions", "thread instr", count<&Counts::thread_instructions>},
      {"shared_wavefronts", "wavefronts", count<&Counts::shared_wavefronts>},
      {"ideal_wavefronts", "ideal", count<&Counts::ideal_wavefronts>},
      {"conflict_percent", "conflict %", decimals(1), conflicts},
      {"global_sectors", "sectors", count<&Counts::global_sectors>},
      {"bytes", "bytes", kProgramsOnly, count<&Counts::bytes>},
  };
}

Fields<EmulatedConfig> own_config_fields() {
  using Row = EmulatedConfig;
  return {
      {"problem", "problem", [](auto& r) { return describe(r.problem); }},
      {"config", "config", kWraps, &Row::config},
      {"outcome", "outcome", [](auto& r) { return outcome_name(r.outcome); }},
      {"runs", "runs", kProgramsOnly, &Row::runs},
      {"findings_count", "findings", [](auto& r) { return r.findings.size(); }},
  };
}

std::string place_of(const FindingGroup& group) {
  return group.between ? fmt::format("{} and {}", chain_text({group.between->first}),
                                     chain_text({group.between->second}))
                       : chain_text(group.source);
}

bool by_somebody(const EmulatedFinding& finding) {
  return finding.ptx_line != 0 && finding.block != EmulatedFinding::kNobody;
}

constexpr std::size_t kHottest = 15;

Json json_parts(const std::optional<EmulatedProfile>& profile,
                std::vector<EmulatedPart> EmulatedProfile::*parts) {
  return profile ? json_rows(emulated_part_fields(), (*profile).*parts) : Json();
}

Json json_emulated_finding(const EmulatedFinding& finding) {
  Json json = json_object(emulated_finding_fields(), finding);
  json["other"] = finding.other ? json_object(emulated_access_fields(), *finding.other) : Json();
  return json;
}

const ErrorStats* quantization_of(const EmulatedConfig& config) {
  return find_quantization(config.inputs);
}

Fields<EmulatedConfig> fields_of(const std::vector<EmulatedConfig>& configs) {
  return with_quantization_if_any(configs, quantization_of, emulated_config_fields());
}

Json json_config(const EmulatedConfig& config) {
  Json json = json_object(fields_of({config}), config);
  json["findings"] = json_list(config.findings, json_emulated_finding);
  json["groups"] = json_rows(finding_group_fields(), config.groups);
  json["opcodes"] = json_parts(config.profile, &EmulatedProfile::opcodes);
  json["lines"] = json_parts(config.profile, &EmulatedProfile::lines);
  json["source"] =
      config.profile ? json_rows(emulated_line_fields(), config.profile->source) : Json();
  return json;
}

Json json_emulation(const EmulateReport& report) {
  return json_document("emulate", {{"measured", false},
                                   {"complete", report.coverage.complete},
                                   {"family", report.family},
                                   {"space", report.space.empty() ? Json() : Json(report.space)},
                                   {"arch", arch_name(report.arch)},
                                   {"toolchain", report.toolchain},
                                   {"schedules", report.schedules},
                                   {"inputs", report.inputs},
                                   {"seed", report.seed},
                                   {"checks", report.checks},
                                   {"configs", json_list(report.configs, json_config)}});
}

std::string headline(const EmulateReport& report) {
  return fmt::format(
      "EMULATED on the CPU, not timed: PTX of {} for {}; schedules {}; inputs {}; seed {}; {}",
      report.toolchain, arch_name(report.arch), fmt::join(report.schedules, ", "),
      fmt::join(report.inputs, ", "), report.seed,
      report.checks == all_emulation_checks()
          ? "all checks"
          : fmt::format("checks {}", fmt::join(report.checks, ", ")));
}

std::string count_text(const EmulateReport& report) {
  const auto count = [&](OutcomeKind outcome) {
    return std::ranges::count(report.configs, outcome, &EmulatedConfig::outcome);
  };
  const auto right = count(OutcomeKind::right);
  const auto wrong = count(OutcomeKind::wrong_result) + count(OutcomeKind::flagged);
  const auto all = static_cast<std::ptrdiff_t>(report.configs.size());
  std::string text = incomplete_text(report.coverage);
  if (right == all) {
    return text + (report.coverage.complete
                       ? fmt::format("\nall {} right\n", all)
                       : fmt::format("\n{} of {} right\n", all, report.coverage.planned));
  }
  text += fmt::format("\n{} of {} right", right, all);
  return text + fmt::format(", {} WRONG or FLAGGED, {} not emulated\n", wrong, all - right - wrong);
}

std::string who(const EmulatedFinding& finding) {
  return finding.block == EmulatedFinding::kNobody
             ? std::string()
             : fmt::format("block {}, thread {}; ", finding.block, finding.thread);
}

/// One of the two accesses of a race. `when` is printed after the block.
std::string describe_end(const EmulatedAccess& end, const char* when) {
  return fmt::format(
      "  {} by thread {} of block {}{}\n    at {}\n    PTX line {}: {}\n", visible_line(end.access),
      end.thread, end.block, when,
      end.source.empty() ? "no known source line" : visible_line(chain_text(end.source)),
      end.ptx_line, visible_line(end.ptx));
}

std::string describe_place(const EmulatedFinding& finding) {
  if (finding.other) {
    const EmulatedAccess own{finding.access, finding.ptx_line, finding.ptx,
                             finding.source, finding.block,    finding.thread};
    return describe_end(own, "") + describe_end(*finding.other, ", earlier in this run") + "  ";
  }
  if (finding.ptx_line == 0) {
    return "  ";
  }
  return fmt::format(
      "  at {}\n  PTX line {}: {}\n  {}",
      finding.source.empty() ? "no known source line" : visible_line(chain_text(finding.source)),
      finding.ptx_line, visible_line(finding.ptx), who(finding));
}

std::string describe(const EmulatedFinding& finding) {
  return fmt::format("{}\n{}{} times, first with schedule {} on {} inputs\n",
                     visible_line(title(finding)), describe_place(finding), finding.count,
                     visible_line(finding.schedule), visible_line(finding.input));
}

std::string count_of(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// Helps to read a race whose earlier access is further down in the source.
std::string loop_hint(const FindingGroup& group, const EmulatedFinding& finding) {
  const auto& [above, below] = *group.between;
  const bool wraps = finding.other && above.file == below.file && above.line < below.line &&
                     is_among(below, finding.other->source) && is_among(above, finding.source);
  return wraps ? fmt::format(
                     "\nLine {} comes first: in a loop, line {} is in a later iteration. Is a "
                     "barrier missing after line {}?",
                     below.line, above.line, below.line)
               : std::string();
}

/// The group that was met first, with its first finding.
std::string first_group(const EmulatedConfig& config) {
  const FindingGroup& group = config.groups.front();
  std::string text = "\nThe one place to look at first";
  if (group.between) {
    text += fmt::format(": nothing orders what is done at\n  {} and at\n  {}{}",
                        visible_line(chain_text({group.between->first})),
                        visible_line(chain_text({group.between->second})),
                        loop_hint(group, config.findings.front()));
  }
  text += "\n\n" + describe(config.findings.front());
  if (group.findings > 1) {
    text +=
        visible_line(fmt::format("  and {} more of this group: {}{}{}", group.findings - 1,
                                 fmt::join(group.kinds, ", "), group.tensors.empty() ? "" : " of ",
                                 fmt::join(group.tensors, ", "))) +
        "\n";
  }
  return text;
}

Blocks other_groups(const EmulatedConfig& config) {
  if (config.groups.size() < 2) {
    return {};
  }
  const std::vector<FindingGroup> others(config.groups.begin() + 1, config.groups.end());
  return {block::Text{"\nThe others may follow from it; --format json lists every finding\n\n"},
          block::Rows{table_of(finding_group_fields(), others)}};
}

/// Whether two groups of findings are at the same place.
bool is_same_place(const FindingGroup& a, const FindingGroup& b) {
  return a.between == b.between && a.source == b.source;
}

/// Returns the first configuration whose groups are all at the same places as this one's. Null:
/// there is none before it.
const EmulatedConfig* same_place_before(const EmulatedConfig& config,
                                        const std::vector<EmulatedConfig>& all) {
  const auto found = std::ranges::find_if(all, [&](const EmulatedConfig& other) {
    return std::ranges::equal(other.groups, config.groups, is_same_place);
  });
  return found == all.end() || &*found == &config ? nullptr : &*found;
}

Blocks findings_of(const EmulatedConfig& config, const std::vector<EmulatedConfig>& all) {
  if (config.findings.empty()) {
    return {};
  }
  const std::string counts = fmt::format(
      "\n{} on {}: {} in {}\n", visible_line(config.config), describe(config.problem),
      count_of(config.findings.size(), "finding"), count_of(config.groups.size(), "group"));
  if (const EmulatedConfig* const before = same_place_before(config, all)) {
    return {block::Text{fmt::format("{}at the same places as {} on {}\n", counts,
                                    visible_line(before->config), describe(before->problem))}};
  }
  return joined_blocks({{block::Text{counts + first_group(config)}}, other_groups(config)});
}

Blocks hottest(const char* title, const std::vector<EmulatedPart>& parts) {
  const std::size_t shown = std::min(parts.size(), kHottest);
  const std::vector<EmulatedPart> first(parts.begin(),
                                        parts.begin() + static_cast<std::ptrdiff_t>(shown));
  return {block::Text{fmt::format("\n{}: {} of {}, by thread instructions\n\n", title, shown,
                                  parts.size())},
          block::Rows{table_of(emulated_part_fields(), first)}};
}

/// "12.3"; empty for a count of 0.
std::string percent_text(std::int64_t count, std::int64_t all) {
  return count == 0
             ? std::string()
             : fmt::format("{:.1f}", 100.0 * static_cast<double>(count) / static_cast<double>(all));
}

constexpr double kLeastShownPart = 0.005;

/// The lines with at least kLeastShownPart of all thread instructions, by file, each with its
/// share.
std::string annotated_source(const EmulatedProfile& profile) {
  const std::int64_t all = profile.all.thread_instructions;
  std::string text;
  std::string file;
  for (const EmulatedLine& line : profile.source) {
    const std::int64_t own = line.own.thread_instructions;
    const std::int64_t with_inlined = own + line.inlined.thread_instructions;
    if (static_cast<double>(with_inlined) < kLeastShownPart * static_cast<double>(all)) {
      continue;
    }
    if (line.at.file != file) {
      file = line.at.file;
      text += fmt::format("\n== {}\n   own  with conflict\n", visible_line(file));
    }
    const std::int64_t ideal = line.own.ideal_wavefronts;
    text += fmt::format("{:>6} {:>5} {:>8} |{:>5}  {}\n", percent_text(own, all),
                        percent_text(with_inlined, all),
                        percent_text(line.own.shared_wavefronts - ideal, ideal), line.at.line,
                        visible_line(line.text));
  }
  return text;
}

/// The profile of a single configuration. Several profiles would be long; JSON has them.
Blocks profile_of(const EmulateReport& report) {
  if (report.configs.size() != 1 || !report.configs.front().profile) {
    return {};
  }
  const EmulatedProfile& profile = *report.configs.front().profile;
  Blocks blocks = hottest("Source lines", profile.lines);
  append(blocks, hottest("Opcodes", profile.opcodes));
  append(blocks,
         {block::Text{fmt::format("\nSource: lines with {} % of the thread instructions or more; "
                                  "own %, with what was inlined, "
                                  "and bank conflicts in % of the ideal wavefronts\n",
                                  100.0 * kLeastShownPart)},
          block::ParagraphEnd{}, block::Verbatim{annotated_source(profile)}});
  return blocks;
}

Table records_of(const EmulateReport& report) {
  return table_of(fields_of(report.configs), report.configs);
}

Blocks blocks_of(const EmulateReport& report) {
  Blocks blocks{
      block::Line{headline(report)}, block::Text{"\n"}, block::Rows{records_of(report)},
      block::Text{count_text(report) + quantization_text(report.configs, quantization_of)}};
  for (const EmulatedConfig& config : report.configs) {
    append(blocks, findings_of(config, report.configs));
  }
  append(blocks, profile_of(report));
  return blocks;
}

}  // namespace

Fields<EmulatedConfig> emulated_config_fields() {
  using Row = EmulatedConfig;
  return joined_fields<Row>(
      {own_config_fields(),
       error_fields<Row>(kForPrograms),
       {{"not_finite", "not finite", kProgramsOnly, stat<&ErrorStats::not_finite>}},
       quantization_fields<Row>(quantization_of),
       count_fields<Row>(
           [](auto& r) { return r.profile ? conflict_percent(r.profile->all) : std::nullopt; }),
       {{"detail", "detail", kWraps, or_none<&Row::detail>}}});
}

Fields<EmulatedLine> emulated_line_fields() {
  using Row = EmulatedLine;
  return joined_fields<Row>({{
                                 {"file", "file", [](auto& r) { return r.at.file; }},
                                 {"line", "line", [](auto& r) { return r.at.line; }},
                                 {"text", "text", or_none<&Row::text>},
                                 {"inlined_thread_instructions", "inlined",
                                  [](auto& r) { return r.inlined.thread_instructions; }},
                             },
                             count_fields<Row>([](auto& r) { return conflict_percent(r.own); })});
}

Fields<EmulatedPart> emulated_part_fields() {
  using Row = EmulatedPart;
  return joined_fields<Row>(
      {{{"what", "what", kWraps, &Row::what}, {"ptx_line", "PTX line", &Row::ptx_line}},
       count_fields<Row>([](auto& r) { return conflict_percent(r.counts); })});
}

Fields<EmulatedFinding> emulated_finding_fields() {
  using Row = EmulatedFinding;
  return {
      {"check", "check", &Row::check},
      {"kind", "kind", &Row::kind},
      {"ptx_line", "PTX line", or_none<&Row::ptx_line>},
      {"ptx", "PTX", or_none<&Row::ptx>},
      {"source", "source", [](auto& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block",
       [](auto& r) { return by_somebody(r) ? std::optional(r.block) : std::nullopt; }},
      {"thread", "thread",
       [](auto& r) { return by_somebody(r) ? std::optional(r.thread) : std::nullopt; }},
      {"schedule", "schedule", &Row::schedule},
      {"input", "input", &Row::input},
      {"text", "text", &Row::text},
      {"count", "count", &Row::count},
      {"memory", "memory", or_none<&Row::memory>},
      {"access", "access", or_none<&Row::access>},
      {"group", "group", &Row::group},
  };
}

Fields<EmulatedAccess> emulated_access_fields() {
  using Row = EmulatedAccess;
  return {
      {"access", "access", &Row::access},
      {"ptx_line", "PTX line", &Row::ptx_line},
      {"ptx", "PTX", &Row::ptx},
      {"source", "source", [](auto& r) { return text_or_none(chain_text(r.source)); }},
      {"block", "block", &Row::block},
      {"thread", "thread", &Row::thread},
  };
}

Fields<FindingGroup> finding_group_fields() {
  using Row = FindingGroup;
  return {
      {"group", "group", &Row::number},
      {"findings", "findings", &Row::findings},
      {"kinds", "kinds", [](auto& r) { return fmt::format("{}", fmt::join(r.kinds, ", ")); }},
      {"memory", "memory",
       [](auto& r) { return text_or_none(fmt::format("{}", fmt::join(r.tensors, ", "))); }},
      {"place", "place", [](auto& r) { return text_or_none(place_of(r)); }},
  };
}

Document emulate_document(const EmulateReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] { return json_emulation(report); }};
}

}  // namespace fatune
