#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/kernel_code.hpp"
#include "emit/document/document.hpp"
#include "sass/listing_text.hpp"
#include "sass/profile.hpp"

namespace fatune {

/// The machine code of one kernel.
struct SassReport {
  std::string source;                  ///< a configuration's short form, or a file
  std::optional<ResourceFacts> facts;  ///< absent for a file
  SassProfile profile;
};

/// One row of a table of counts: a class or an opcode.
struct SassRow {
  std::string what;
  std::string class_name;
  SassCount count;
  double main_loop_percent = 0.0;
  bool has_producer = false;  ///< SassProfile::producer_loop
};
[[nodiscard]] Fields<SassRow> sass_fields();

/// JSON follows configs/schema/sass.schema.json, and has both classes and opcodes.
[[nodiscard]] Document sass_document(const SassReport& report, bool opcodes);

[[nodiscard]] Fields<CountChange> sass_diff_fields();

/// The changes from `a` to `b`, the greatest change of the main loop first. JSON follows
/// configs/schema/sass_diff.schema.json.
[[nodiscard]] Document sass_diff_document(const SassReport& a, const SassReport& b, bool opcodes);

/// One side of a comparison of code.
struct NamedCode {
  std::string source;
  std::vector<NormalLine> lines;
};

/// The lines of both, aligned by their shapes and marked as `diff -u` does. Common lines have the
/// register numbers of the first.
[[nodiscard]] std::string print_listing_diff(const NamedCode& a, const NamedCode& b);

}  // namespace fatune
