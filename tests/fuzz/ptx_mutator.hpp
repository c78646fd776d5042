#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

// Mutations of PTX that mostly remain valid PTX, so that they are decoded and run.
namespace fatune::fuzz {

class PtxMutator {
 public:
  explicit PtxMutator(std::uint64_t seed) : random_(seed) {}

  /// Returns the text with one to four changes to statements, operands or modifiers.
  [[nodiscard]] std::string mutate(std::string_view text);
  /// Inserts statements of one text into the other.
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
