#include "core/measure_policy.hpp"

#include <string>

#include "core/error.hpp"

namespace fatune {

std::string_view strategy_name(Strategy strategy) {
  return strategy == Strategy::race ? "race" : "exhaustive";
}

Strategy parse_strategy(std::string_view text) {
  for (const Strategy strategy : {Strategy::exhaustive, Strategy::race}) {
    if (text == strategy_name(strategy)) {
      return strategy;
    }
  }
  throw Error(ExitCode::usage, "there is no strategy '" + std::string(text) + "'", "--strategy",
              "strategies are race and exhaustive");
}

}  // namespace fatune
