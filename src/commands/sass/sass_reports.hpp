#pragma once

#include "inspect/sass/attribution.hpp"
#include "inspect/sass/listing_text.hpp"
#include "inspect/sass/loops.hpp"
#include "inspect/sass/profile.hpp"
#include "model/kernel_code.hpp"
#include "print/document/document.hpp"

namespace fatune {

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

/// A source line with its text and the counts of the instructions that it became.
struct MapLineRow {
  LineCount count;
  std::string text;  ///< empty: the source is not at hand
};
struct MapPtxRow {
  std::int64_t line = 0;
  int depth = 0;  ///< 0: belongs to the line asked for; else steps away from it
  std::string text;
  SourceChain source;
};
struct MapSassRow {
  std::uint64_t address = 0;
  std::string text;
  OpcodeClass which = OpcodeClass::unknown;
  LoopPlace place = LoopPlace::outside;
  std::int64_t ptx_line = 0;  ///< 0: not known
  SourceChain source;
};

struct MapSelection {
  std::string what;                ///< "softmax.cuh:40", "PTX line 70", "SASS 0x22d0"
  std::vector<MapLineRow> source;  ///< innermost first
  std::vector<MapPtxRow> ptx;      ///< ordered by line
  std::vector<MapSassRow> sass;    ///< ordered by address
};

struct SassMapReport {
  SassReport code;
  SassCount without_line;         ///< instructions of no known line
  std::vector<MapLineRow> lines;  ///< hottest first
  std::optional<MapSelection> selection;
  /// Text of each source file, by line; for annotated_source.
  std::map<std::string, std::vector<std::string>> files;
};

[[nodiscard]] Fields<MapLineRow> map_line_fields();
[[nodiscard]] Fields<MapPtxRow> map_ptx_fields();
[[nodiscard]] Fields<MapSassRow> map_sass_fields();

/// The selection, or else the lines (`top` of them in tables; 0: all). CSV has the selection's
/// machine instructions, else the lines. JSON follows configs/schema/sass_map.schema.json.
[[nodiscard]] Document sass_map_document(const SassMapReport& report, std::size_t top);

/// The whole source files that have code, with each line's counts in front of it.
[[nodiscard]] std::string annotated_source(const SassMapReport& report);

/// How instruction counts correlate with the measured times of one problem of a run.
struct WhyProblem {
  std::string problem;
  std::vector<ClassCorrelation> correlations;
};

/// The report on the machine code of a space's configurations.
struct SassWhyReport {
  std::string family;
  std::string space;   ///< empty: the configurations of a run
  std::string target;  ///< "sm_90"
  std::optional<std::int64_t> run;
  std::string device;         ///< the GPU of the run; empty: there is no run
  bool measured = true;       ///< false: the run's times are estimates
  double confidence = 0.95;   ///< confidence of the intervals
  Coverage coverage;          ///< counts each configuration once for each problem of a run
  std::int64_t left_out = 0;  ///< how many did not compile, or have unknown work
  /// Kernels of the run with other code than compiled now (another compiler or kernel source).
  std::int64_t other_code = 0;
  struct Sample {
    std::string short_form;
    WorkCounts counts;
  };
  std::vector<Sample> samples;
  std::vector<ParameterEffect> effects;
  std::vector<WhyProblem> problems;
};

[[nodiscard]] Fields<ParameterEffect> effect_fields();
[[nodiscard]] Fields<ClassCorrelation> correlation_fields();

/// Tables show the first `top` effects (0: all). CSV has the counts of each configuration. JSON
/// follows configs/schema/sass_why.schema.json.
[[nodiscard]] Document sass_why_document(const SassWhyReport& report, std::size_t top);

}  // namespace fatune
