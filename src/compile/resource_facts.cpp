#include "compile/resource_facts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "compile/assembler_notes.hpp"
#include "compile/cubin_elf.hpp"
#include "core/error.hpp"
#include "core/ranges.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

// ptxas -v writes for each kernel
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
//   ptxas info    : Function properties for NAME
//   ptxas         .     936 bytes stack frame, 1508 bytes spill stores, 1796 bytes spill loads
//   ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem
// and a "Function properties" pair for each device function that was not inlined.

/// The number in front of `unit` in "936 bytes stack frame, ..."; nothing if `unit` is not there.
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = line.substr(0, at);
  const std::size_t last_other = before.find_last_not_of("0123456789");
  return whole_number<std::int64_t>(
      before.substr(last_other == std::string_view::npos ? 0 : last_other + 1));
}

void read_stack_line(std::string_view line, ResourceFacts& facts) {
  facts.local_bytes = number_before(line, " bytes stack frame").value_or(0);
  facts.spill_store_bytes = number_before(line, " bytes spill stores").value_or(0);
  facts.spill_load_bytes = number_before(line, " bytes spill loads").value_or(0);
}

/// Returns true if the line ends a kernel's report.
bool read_usage_line(std::string_view line, ResourceFacts& facts) {
  const auto registers = number_before(line, " registers");
  if (!registers || line.find("Used ") == std::string_view::npos) {
    return false;
  }
  facts.registers_per_thread = static_cast<int>(*registers);
  facts.static_smem_bytes = number_before(line, " bytes smem").value_or(0);
  return true;
}

std::optional<ResourceFacts> read_report(std::string_view log, const std::string& name) {
  const std::string entry_line = fmt::format("Compiling entry function '{}'", name);
  const std::string properties_line = fmt::format("Function properties for {}", name);
  ResourceFacts facts;
  bool in_entry = false;
  bool in_properties = false;
  while (!log.empty()) {
    const std::string_view line = take_until(log, '\n');
    if (line.find("Compiling entry function '") != std::string_view::npos) {
      in_entry = line.find(entry_line) != std::string_view::npos;
    } else if (line.find("Function properties for ") != std::string_view::npos) {
      in_properties = line.ends_with(properties_line);
    } else if (in_properties && line.find("bytes stack frame") != std::string_view::npos) {
      read_stack_line(line, facts);
      in_properties = false;
    } else if (in_entry && read_usage_line(line, facts)) {
      return facts;
    }
  }
  return std::nullopt;
}

}  // namespace

ResourceFacts read_resource_facts(std::string_view log, std::span<const char> cubin,
                                  const std::string& lowered_name) {
  const std::vector<ElfSection> sections = read_elf_sections(cubin);
  const std::vector<std::string> names = code_names(sections);
  if (!is_among(lowered_name, names)) {
    throw Error(ExitCode::internal,
                fmt::format("the module has no kernel '{}'; it has: {}", lowered_name,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
                {}, "is the entry point a __global__ function, and extern \"C\" or a template?");
  }
  std::optional<ResourceFacts> facts = read_report(log, lowered_name);
  if (!facts) {
    throw Error(ExitCode::internal,
                fmt::format("the compiler's report does not mention kernel '{}'", lowered_name));
  }
  facts->notes = read_assembler_notes(log, lowered_name, names);
  facts->code_bytes = section_bytes(sections, ".text." + lowered_name);
  facts->constant_bytes = section_bytes(sections, ".nv.constant0." + lowered_name);
  return *facts;
}

}  // namespace fatune
