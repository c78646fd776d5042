#include "sass/sequence_diff.hpp"

#include <fmt/format.h>
#include <dtl/dtl.hpp>

#include "core/error.hpp"

namespace fatune {

std::vector<DiffLine> diff_lines(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) {
  constexpr std::size_t kMostSteps = std::size_t{4} << 30;
  if (!a.empty() && b.size() > kMostSteps / a.size()) {
    throw Error(ExitCode::bad_file,
                fmt::format("{} and {} lines are too many to compare", a.size(), b.size()));
  }
  dtl::Diff<std::string> diff(a, b, true);
  diff.compose();
  std::vector<DiffLine> lines;
  std::size_t i = 0;
  std::size_t j = 0;
  // dtl's own indices begin anew where it begins anew, so they are counted here.
  for (const auto& [text, change] : diff.getSes().getSequence()) {
    const bool added = change.type == dtl::SES_ADD;
    const bool deleted = change.type == dtl::SES_DELETE;
    lines.push_back({added ? '+' : deleted ? '-' : ' ', added ? j : i});
    i += added ? 0U : 1U;
    j += deleted ? 0U : 1U;
  }
  return lines;
}

}  // namespace fatune
