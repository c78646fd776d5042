#include "model/measure_policy.hpp"

#include "base/text_parts.hpp"

namespace fatune {
namespace {

constexpr std::string_view kAtAdmission = "eliminated at admission";
constexpr std::string_view kEliminatedIn = "eliminated in round ";

}  // namespace

std::string elimination_text(int round) {
  return round == 0 ? std::string(kAtAdmission)
                    : std::string(kEliminatedIn) + std::to_string(round);
}

std::optional<int> elimination_round(std::string_view text) {
  if (text == kAtAdmission) {
    return 0;
  }
  return text.starts_with(kEliminatedIn) ? whole_number<int>(text.substr(kEliminatedIn.size()))
                                         : std::nullopt;
}

}  // namespace fatune
