#include "core/arch.hpp"

#include <regex>

#include <fmt/format.h>

#include "core/error.hpp"

namespace fatune {

Arch parse_arch(std::string_view text) {
  static const std::regex pattern(R"((?:sm_)?(\d{1,2})\.?(\d)([a]?))");
  std::match_results<std::string_view::const_iterator> match;
  if (!std::regex_match(text.begin(), text.end(), match, pattern)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is not a GPU architecture", text), {},
                "write it as sm_80, sm_86, sm_89, sm_90a, sm_100a, ...");
  }
  const Arch arch{std::stoi(match[1].str()) * 10 + std::stoi(match[2].str()),
                  match[3].length() == 0 ? '\0' : 'a'};
  if (arch.sm < kOldestArch.sm) {
    throw Error(ExitCode::usage, fmt::format("{} is older than sm_80", arch_name(arch)), {},
                "fatune's kernels need compute capability 8.0 or newer");
  }
  if (arch.suffix != '\0' && arch.sm < kFirstSuffixSm) {
    throw Error(
        ExitCode::usage, fmt::format("there is no architecture {}", arch_name(arch)), {},
        fmt::format("write sm_{}; names with an 'a' begin with sm_{}a", arch.sm, kFirstSuffixSm));
  }
  return arch;
}

bool provides(Arch arch, Arch least) {
  return least.suffix == '\0' ? arch.sm >= least.sm : arch == least;
}

namespace {

std::string with_number(std::string_view kind, Arch arch) {
  return arch.suffix == '\0' ? fmt::format("{}_{}", kind, arch.sm)
                             : fmt::format("{}_{}{}", kind, arch.sm, arch.suffix);
}

}  // namespace

std::string arch_name(Arch arch) { return with_number("sm", arch); }

std::string virtual_arch_name(Arch arch) { return with_number("compute", arch); }

}  // namespace fatune
