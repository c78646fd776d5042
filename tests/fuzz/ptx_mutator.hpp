#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// Changes to PTX that mostly leave it PTX: what comes out is decoded, and runs.
namespace fatune::fuzz {

class PtxMutator {
 public:
  explicit PtxMutator(std::uint64_t seed) : random_(seed) {}

  /// The text with one to four changes: to statements, to operands, to modifiers.
  [[nodiscard]] std::string mutate(std::string_view text);
  /// Statements of one text put into the other.
  [[nodiscard]] std::string cross(std::string_view into, std::string_view from);

 private:
  using Statements = std::vector<std::string>;

  [[nodiscard]] std::size_t below(std::size_t count) {
    return count == 0 ? 0 : static_cast<std::size_t>(random_() % count);
  }
  void change(Statements& statements);
  void change_token(std::string& statement);

  std::mt19937_64 random_;
};

}  // namespace fatune::fuzz
