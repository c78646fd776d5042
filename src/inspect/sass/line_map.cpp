#include "inspect/sass/line_map.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/ranges.hpp"

namespace fatune {
namespace {

bool names_file(const std::string& path, const std::string& asked) {
  return path == asked || path.ends_with("/" + asked);
}

/// All lines that have code, in PTX or SASS.
std::set<SourceLine> known_lines(const MappedKernel& kernel) {
  std::set<SourceLine> lines;
  for (const auto* places : {&kernel.listing.places, &kernel.ptx_module.places}) {
    for (const SourceChain& chain : *places) {
      lines.insert(chain.begin(), chain.end());
    }
  }
  return lines;
}

std::string file_of(const std::set<SourceLine>& lines, const std::string& asked) {
  std::set<std::string> all;
  std::set<std::string> matching;
  for (const SourceLine& line : lines) {
    all.insert(line.file);
    if (names_file(line.file, asked)) {
      matching.insert(line.file);
    }
  }
  if (matching.contains(asked)) {
    return asked;
  }
  if (matching.size() == 1) {
    return *matching.begin();
  }
  throw Error(
      ExitCode::usage,
      matching.empty() ? fmt::format("no code comes from a file '{}'", asked)
                       : fmt::format("'{}' matches several files", asked),
      "--source",
      fmt::format("files with code: {}", fmt::join(matching.empty() ? all : matching, ", ")));
}

/// Returns the line, or throws an error that names the nearest lines with code.
SourceLine existing(const std::set<SourceLine>& lines, const SourceLine& asked) {
  SourceLine line{file_of(lines, asked.file), asked.line};
  const auto next = lines.lower_bound(line);
  if (next != lines.end() && *next == line) {
    return line;
  }
  std::vector<std::int64_t> near;
  if (next != lines.begin() && std::prev(next)->file == line.file) {
    near.push_back(std::prev(next)->line);
  }
  if (next != lines.end() && next->file == line.file) {
    near.push_back(next->line);
  }
  throw Error(ExitCode::usage,
              fmt::format("no code comes from line {} of {}", line.line, line.file), "--source",
              fmt::format("the nearest lines with code: {}", fmt::join(near, ", ")));
}

/// The indices of the items for which `holds` is true.
template <typename Items, typename Holds>
std::vector<std::size_t> indices_where(const Items& items, Holds holds) {
  return filtered(indices_of(items), [&](std::size_t i) { return holds(items[i]); });
}

std::vector<std::size_t> statements_at(const PtxFunction& function, std::int64_t line) {
  return indices_where(function.statements,
                       [&](const PtxStatement& statement) { return statement.line == line; });
}

LineMap map_target(const MappedKernel& kernel, const SourceLine& asked, int depth) {
  const SourceLine line = existing(known_lines(kernel), asked);
  const auto at = [&line](const std::vector<SourceChain>& places) {
    return [&](const auto& one) { return is_among(line, places.at(one.place)); };
  };
  const auto selected = indices_where(kernel.ptx.statements, at(kernel.ptx_module.places));
  return {{line},
          feeding_statements(kernel.ptx, selected, depth),
          indices_where(kernel.sass.instructions, at(kernel.listing.places))};
}

LineMap map_target(const MappedKernel& kernel, const PtxLine& asked, int depth) {
  const std::vector<std::size_t> selected = statements_at(kernel.ptx, asked.line);
  if (selected.empty()) {
    const auto& all = kernel.ptx.statements;
    throw Error(ExitCode::usage, fmt::format("no PTX instruction begins in line {}", asked.line),
                "--ptx",
                all.empty() ? "the kernel has none"
                            : fmt::format("the kernel's instructions are in lines {} to {}; "
                                          "--ptx-text prints them",
                                          all.front().line, all.back().line));
  }
  return {kernel.ptx_module.places.at(kernel.ptx.statements[selected.front()].place),
          feeding_statements(kernel.ptx, selected, depth),
          indices_where(kernel.sass.instructions, [&](const Instruction& instruction) {
            return instruction.ptx_line == asked.line;
          })};
}

LineMap map_target(const MappedKernel& kernel, const SassAddress& asked, int depth) {
  const auto& all = kernel.sass.instructions;
  const auto found = std::ranges::find(all, asked.address, &Instruction::address);
  if (found == all.end()) {
    throw Error(
        ExitCode::usage, fmt::format("there is no instruction at {:#06x}", asked.address), "--sass",
        fmt::format("they are at {:#06x} to {:#06x}", all.front().address, all.back().address));
  }
  return {kernel.listing.places.at(found->place),
          feeding_statements(kernel.ptx, statements_at(kernel.ptx, found->ptx_line), depth),
          {static_cast<std::size_t>(found - all.begin())}};
}

}  // namespace

LineMap map_line(const MappedKernel& kernel, const MapTarget& target, int depth) {
  return std::visit([&](const auto& asked) { return map_target(kernel, asked, depth); }, target);
}

}  // namespace fatune
