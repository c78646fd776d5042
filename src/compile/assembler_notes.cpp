#include "compile/assembler_notes.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/ranges.hpp"
#include "core/text_parts.hpp"

namespace fatune {
namespace {

// ptxas writes these notes before the report of the kernel, each in one line:
//   ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized
//   due to insufficient register resources for the function 'NAME'
//   ptxas info    : (C7519) warpgroup.arrive is injected in around line 7 by compiler to allow use
//   of registers in GMMA in function 'NAME'
// Codes differ between releases, so a note is recognised by its text.

constexpr std::string_view kLoss = "Potential Performance Loss: ";
constexpr std::array<std::string_view, 4> kSubjects{"wgmma", "setmaxnreg", "warpgroup.arrive",
                                                    "warpgroup.wait"};

/// "C7512" for "ptxas info    : (C7512) ..."; empty if the line is not a note.
std::string_view note_code(std::string_view line) {
  const std::string_view code = between(line, " : (", ") ");
  const bool is_code = line.starts_with("ptxas ") && code.starts_with("C") &&
                       whole_number<int>(code.substr(1)).has_value();
  return is_code ? code : std::string_view();
}

/// The function that a note names at its end, and the note's text without it.
struct NamedFunction {
  std::string_view text;
  std::string_view function;
};

NamedFunction split_function(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kBefore{
      " in the function '", " for the function '", " in function '", " for function '"};
  for (const std::string_view before : kBefore) {
    const std::size_t at = text.rfind(before);
    if (at != std::string_view::npos) {
      return {text.substr(0, at), between(text.substr(at), "'", "'")};
    }
  }
  return {text, {}};
}

std::optional<AssemblerNote> read_note(std::string_view line, const std::string& kernel,
                                       std::span<const std::string> kernels) {
  const std::string_view code = note_code(line);
  if (code.empty()) {
    return std::nullopt;
  }
  std::string_view text = trim(line.substr(line.find(") ") + 2));
  const bool is_about_products = std::ranges::any_of(kSubjects, [&](std::string_view subject) {
    return text.find(subject) != std::string_view::npos;
  });
  const bool loses_speed = text.starts_with(kLoss);
  text.remove_prefix(loses_speed ? kLoss.size() : 0);
  const NamedFunction note = split_function(text);
  const bool is_of_another = note.function != kernel && is_among(note.function, kernels);
  if (!is_about_products || is_of_another) {
    return std::nullopt;
  }
  return AssemblerNote{std::string(code), std::string(note.text), loses_speed};
}

}  // namespace

std::vector<AssemblerNote> read_assembler_notes(std::string_view log, const std::string& kernel,
                                                std::span<const std::string> kernels) {
  std::vector<AssemblerNote> notes;
  while (!log.empty()) {
    if (auto note = read_note(take_until(log, '\n'), kernel, kernels)) {
      notes.push_back(*std::move(note));
    }
  }
  return notes;
}

}  // namespace fatune
