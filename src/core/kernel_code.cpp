#include "core/kernel_code.hpp"

#include "core/text_parts.hpp"

namespace fatune {

std::string notes_text(const std::vector<AssemblerNote>& notes) {
  return joined(notes, "; ",
                [](const AssemblerNote& note) { return note.code + ": " + note.text; });
}

std::int64_t block_count(const LaunchGeometry& geometry) {
  return geometry.grid[0] * geometry.grid[1] * geometry.grid[2];
}

std::int64_t thread_count(const LaunchGeometry& geometry) {
  return geometry.block[0] * geometry.block[1] * geometry.block[2];
}

bool same_launch(const LaunchGeometry& a, const LaunchGeometry& b) {
  LaunchGeometry as_b = a;
  if (a.arguments.standard && b.arguments.standard) {
    as_b.arguments = b.arguments;
  }
  return as_b == b;
}

}  // namespace fatune
