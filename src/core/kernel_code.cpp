#include "core/kernel_code.hpp"

namespace fatune {

std::string notes_text(const std::vector<AssemblerNote>& notes) {
  std::string text;
  for (const AssemblerNote& note : notes) {
    text += (text.empty() ? "" : "; ") + note.code + ": " + note.text;
  }
  return text;
}

bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b) {
  LaunchGeometry as_b = a;
  if (a.arguments.standard && b.arguments.standard) {
    as_b.arguments = b.arguments;
  }
  return as_b == b;
}

}  // namespace fatune
