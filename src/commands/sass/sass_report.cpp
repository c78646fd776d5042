#include "base/ranges.hpp"
#include "commands/sass/sass_reports.hpp"

#include <fmt/format.h>

#include "base/visible_text.hpp"
#include "inspect/sass/listing_text.hpp"

namespace fatune {
namespace {

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<SassRow> class_rows(const SassProfile& profile) {
  std::vector<SassRow> rows;
  for (const OpcodeClassText& text : opcode_classes()) {
    const SassCount& count = profile.of(text.which);
    if (count.total > 0) {
      rows.push_back({std::string(text.name), std::string(text.name), count,
                      share(count.main_loop, profile.all.main_loop),
                      profile.producer_loop.has_value()});
    }
  }
  rows.push_back({"all",
                  {},
                  profile.all,
                  share(profile.all.main_loop, profile.all.main_loop),
                  profile.producer_loop.has_value()});
  return rows;
}

std::vector<SassRow> opcode_rows(const SassProfile& profile) {
  return mapped(profile.opcodes, [&](const OpcodeCount& opcode) {
    return SassRow{opcode.mnemonic, std::string(class_name(opcode.which)), opcode.count,
                   share(opcode.count.main_loop, profile.all.main_loop),
                   profile.producer_loop.has_value()};
  });
}

std::optional<int> registers_of(const SassReport& report) {
  return report.facts ? std::optional(report.facts->registers_per_thread)
                      : report.profile.registers;
}

Json json_main_loop(const SassProfile& profile) {
  if (!profile.main_loop) {
    return {};
  }
  const MainLoop& loop = *profile.main_loop;
  return {{"first_address", loop.first_address},
          {"last_address", loop.last_address},
          {"instructions", profile.all.main_loop},
          {"conditional", profile.all.conditional},
          {"depth", loop.depth},
          {"inner_loops", loop.inner_loops},
          {"calls", loop.calls},
          {"tensor_flop", loop.tensor_flop ? Json(*loop.tensor_flop) : Json()}};
}

Json json_producer_loop(const SassProfile& profile) {
  if (!profile.producer_loop) {
    return {};
  }
  const ProducerLoop& loop = *profile.producer_loop;
  return {{"first_address", loop.first_address},
          {"last_address", loop.last_address},
          {"instructions", profile.all.producer_loop},
          {"depth", loop.depth},
          {"bulk_loads", loop.bulk_loads}};
}

Json json_code(const SassReport& report) {
  const SassProfile& profile = report.profile;
  const auto registers = registers_of(report);
  Json json = {{"source", report.source},
               {"function", profile.function},
               {"target", profile.target},
               {"registers_per_thread", registers ? Json(*registers) : Json()}};
  json["spill_store_bytes"] = report.facts ? Json(report.facts->spill_store_bytes) : Json();
  json["spill_load_bytes"] = report.facts ? Json(report.facts->spill_load_bytes) : Json();
  json["instructions"] = profile.all.total;
  json["loops"] = profile.loops;
  json["irreducible_edges"] = profile.irreducible_edges;
  json["main_loop"] = json_main_loop(profile);
  json["producer_loop"] = json_producer_loop(profile);
  json["unknown_opcodes"] = unknown_opcodes(profile);
  return json;
}

std::string loop_line(const SassProfile& profile) {
  if (!profile.main_loop) {
    return "no loop\n";
  }
  const MainLoop& loop = *profile.main_loop;
  std::string line = fmt::format(
      "main loop {:#06x}-{:#06x}: {} instructions, {} of them conditional; depth {}, {} inner "
      "loops, {} calls",
      loop.first_address, loop.last_address, profile.all.main_loop, profile.all.conditional,
      loop.depth, loop.inner_loops, loop.calls);
  if (loop.tensor_flop.value_or(0) > 0) {
    line += fmt::format("; {} tensor FLOP per warp and iteration", *loop.tensor_flop);
  }
  return line + "\n";
}

std::string producer_line(const ProducerLoop& loop, const SassProfile& profile) {
  return fmt::format(
      "producer's loop {:#06x}-{:#06x}: {} instructions, {} of them bulk loads; depth {}\n",
      loop.first_address, loop.last_address, profile.all.producer_loop, loop.bulk_loads,
      loop.depth);
}

std::string code_line(const SassReport& report) {
  const auto registers = registers_of(report);
  std::string text =
      fmt::format("{}{}{}: {} instructions, {} registers", visible_line(report.source),
                  report.profile.target.empty() ? "" : " for ", visible_line(report.profile.target),
                  report.profile.all.total, registers ? std::to_string(*registers) : "?");
  if (report.facts) {
    text += fmt::format(", spills {} + {} bytes", report.facts->spill_store_bytes,
                        report.facts->spill_load_bytes);
  }
  return text + "\n";
}

/// The lines above the tables, each a paragraph of its own.
Blocks headline(const SassReport& report) {
  std::vector<std::string> lines{code_line(report), loop_line(report.profile)};
  if (report.profile.producer_loop) {
    lines.push_back(producer_line(*report.profile.producer_loop, report.profile));
  }
  if (const auto unknown = unknown_opcodes(report.profile); !unknown.empty()) {
    lines.push_back(visible_line(fmt::format("unknown opcodes: {}", fmt::join(unknown, ", "))) +
                    "\n");
  }
  Blocks blocks;
  for (std::string& line : lines) {
    append(blocks, {block::Text{std::move(line)}, block::ParagraphEnd{}});
  }
  return blocks;
}

std::vector<std::string> shapes_of(const NamedCode& code) {
  return mapped(code.lines, &NormalLine::shape);
}

template <auto kGet, BeforeAfter CountChange::*kWhere>
const auto of = [](const CountChange& change) { return kGet(change.*kWhere); };

auto before(const BeforeAfter& counts) { return counts.before; }
auto after(const BeforeAfter& counts) { return counts.after; }
auto delta(const BeforeAfter& counts) { return counts.delta(); }
std::optional<double> relative(const BeforeAfter& counts) { return counts.relative_percent(); }

}  // namespace

Fields<SassRow> sass_fields() {
  return {
      {"what", "what", &SassRow::what},
      {"class", "class", kProgramsOnly, or_none<&SassRow::class_name>},
      {"total", "total", [](const SassRow& r) { return r.count.total; }},
      {"main_loop", "main loop", [](const SassRow& r) { return r.count.main_loop; }},
      {"conditional", "conditional", [](const SassRow& r) { return r.count.conditional; }},
      {"main_loop_percent", "loop %", Look{.decimals = 1}, &SassRow::main_loop_percent},
      {"producer_loop", "producer",
       [](const SassRow& r) {
         return r.has_producer ? std::optional(r.count.producer_loop) : std::nullopt;
       }},
  };
}

Fields<CountChange> sass_diff_fields() {
  using C = CountChange;
  return {
      {"what", "what", &C::what},
      {"main_loop_before", "loop before", of<before, &C::main_loop>},
      {"main_loop_after", "loop after", of<after, &C::main_loop>},
      {"main_loop_delta", "loop delta", of<delta, &C::main_loop>},
      {"main_loop_relative_percent", "loop %", Look{.decimals = 1}, of<relative, &C::main_loop>},
      {"total_before", "total before", of<before, &C::total>},
      {"total_after", "total after", of<after, &C::total>},
      {"total_delta", "total delta", of<delta, &C::total>},
      {"total_relative_percent", "total %", Look{.decimals = 1}, of<relative, &C::total>},
  };
}

Document sass_document(const SassReport& report, bool opcodes) {
  const auto records = [&report, opcodes] {
    return table_of(sass_fields(),
                    opcodes ? opcode_rows(report.profile) : class_rows(report.profile));
  };
  const auto for_people = [&report, records] {
    Blocks blocks = headline(report);
    append(blocks, {block::Text{"\n"}, block::Rows{records()}});
    return blocks;
  };
  const auto object = [&] {
    Json json = json_head("sass");
    json.update(json_code(report));
    json["classes"] = json_rows(sass_fields(), class_rows(report.profile));
    json["opcodes"] = json_rows(sass_fields(), opcode_rows(report.profile));
    return json;
  };
  return {for_people, records, object};
}

Document sass_diff_document(const SassReport& a, const SassReport& b, bool opcodes) {
  const auto records = [&a, &b, opcodes] {
    return table_of(sass_diff_fields(), opcodes ? opcode_changes(a.profile, b.profile)
                                                : class_changes(a.profile, b.profile));
  };
  const auto for_people = [&a, &b, records] {
    Blocks blocks = headline(a);
    append(blocks, headline(b));
    append(blocks, {block::Text{"\n"}, block::Rows{records()}});
    return blocks;
  };
  const auto object = [&] {
    Json json = json_head("sass_diff");
    json["before"] = json_code(a);
    json["after"] = json_code(b);
    json["classes"] = json_rows(sass_diff_fields(), class_changes(a.profile, b.profile));
    json["opcodes"] = json_rows(sass_diff_fields(), opcode_changes(a.profile, b.profile));
    return json;
  };
  return {for_people, records, object};
}

std::string print_listing_diff(const NamedCode& a, const NamedCode& b) {
  std::string text = fmt::format("--- {}\n+++ {}\n", a.source, b.source);
  for (const DiffLine& line : diff_lines(shapes_of(a), shapes_of(b))) {
    const std::vector<NormalLine>& side = line.sign == '+' ? b.lines : a.lines;
    text += line.sign + side[line.index].text + "\n";
  }
  return text;
}

}  // namespace fatune
