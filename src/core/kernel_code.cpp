#include "core/kernel_code.hpp"

#include "core/text_parts.hpp"

namespace fatune {

std::string notes_text(const std::vector<AssemblerNote>& notes) {
  return joined(notes, "; ",
                [](const AssemblerNote& note) { return note.code + ": " + note.text; });
}

bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b) {
  LaunchGeometry as_b = a;
  if (a.arguments.standard && b.arguments.standard) {
    as_b.arguments = b.arguments;
  }
  return as_b == b;
}

}  // namespace fatune
