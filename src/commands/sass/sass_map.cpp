#include "commands/sass/sass_map_command.hpp"

#include <fmt/format.h>

#include "cli/option_groups.hpp"
#include "cli/option_scope.hpp"
#include "cli/text_option.hpp"
#include "commands/sass/map_target_text.hpp"
#include "commands/sass/sass_options.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostSteps = 1000000;
constexpr std::int64_t kDefaultSteps = 4;

void add_target_option(CLI::App& sub, SassMapOptions& options, const char* name, const char* type,
                       const char* doc, MapTarget (*read)(const std::string&)) {
  add_text_option(sub, name, type, doc,
                  [&options, read](const std::string& text) { options.target = read(text); });
}

void add_map_options(CLI::App& sub, SassMapOptions& options) {
  const OptionScope scope(sub, option_group::kOutput);
  add_target_option(sub, options, "--source", "FILE:LINE",
                    "a line of the source, e.g. softmax.cuh:40", read_source_target);
  add_target_option(sub, options, "--ptx", "LINE", "a line of the PTX", read_ptx_target);
  add_target_option(sub, options, "--sass", "ADDRESS", "a machine instruction, e.g. 0x22d0",
                    read_sass_target);
  options.depth = kDefaultSteps;
  add_integer(
      sub, "--depth",
      fmt::format("how many steps back to follow the PTX that feeds it; 0: all (default: {})",
                  kDefaultSteps),
      0, kMostSteps, options.depth);
  sub.add_flag("--annotate", options.annotate, "the whole source files, with counts in front");
  sub.add_flag("--ptx-text", options.ptx_text, "the PTX alone, whose line numbers --ptx takes");
  const std::vector<std::string> exclusive{"--source", "--ptx", "--sass", "--annotate",
                                           "--ptx-text"};
  for (const std::string& one : exclusive) {
    for (const std::string& other : exclusive) {
      if (one < other) {
        sub.get_option(one)->excludes(sub.get_option(other));
      }
    }
  }
}

}  // namespace

void add_sass_map_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "map", "Which source line became which PTX and which machine code, and back", sass_map);
  add_compile_options(sub, options);
  add_case_options(sub, options);
  add_map_options(sub, options);
  add_output_options(sub, options.output);
  add_top_option(sub, options.output);
  sub.footer(R"(Examples:
  fatune sass map --run last --rank 1
  fatune sass map --run last --source softmax.cuh:40
  fatune sass map --arch sm_80 --annotate \
    --config "(FP16,128,64,64,4):async+eager+swizzled+load_2_2_2_tiles")");
}

}  // namespace fatune
