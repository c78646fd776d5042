#pragma once

#include "cli/subcommands.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "inspect/sass/listing.hpp"
#include "model/device_limits.hpp"
#include "model/kernel_code.hpp"
#include "plan/config_text.hpp"
#include "plan/planner.hpp"

// Options that the subcommands of `sass` share.
namespace fatune {

/// The source of the machine code that a command analyses.
struct CodeSource {
  enum class Kind {
    config,
    file,      ///< a cubin, or a listing
    artifact,  ///< the cubin cache's artifact whose key begins with the text
    run,       ///< a configuration by its rank in a stored run
    either,    ///< "artifact:KEY", else a file if one has that name, else a configuration
  };
  std::string text;
  Kind kind = Kind::config;
  std::optional<std::int64_t> run;  ///< absent: the run that began last
};

/// The sources of machine code, and how configurations are compiled.
struct CodeOptions : OfflineOptions {
  std::vector<CodeSource> sources;  ///< two for a comparison
  std::int64_t rank = 1;            ///< the configuration's rank in the run that the source names
  std::optional<std::filesystem::path> db_file;
  std::string function;  ///< empty: the only kernel
};

void add_compile_options(CLI::App& app, CodeOptions& options);
/// Adds --config, --run and --rank, which choose what is compiled. Call it after
/// add_compile_options().
void add_case_options(CLI::App& app, CodeOptions& options);

void add_sass_map_command(const Subcommands& all);
void add_sass_why_command(const Subcommands& all);

/// A configuration whose machine code is analysed, and the problem and device that it is compiled
/// for.
struct SassCase {
  KernelSet kernels;
  Config config;
  Problem problem;
  DeviceLimits limits;
  std::string measured_key;  ///< names the code that a stored run measured; empty: none did

  /// The short form.
  [[nodiscard]] std::string name() const { return short_form(kernels.family(), config); }
  [[nodiscard]] CompileRequest request() const {
    return compile_request({kernels.family(), config, problem, limits});
  }
};

/// Returns the configuration that the options name, or the one with the requested rank in a stored
/// run. Throws Error(usage) if it does not parse, if the family cannot build it, if there is no
/// such run or rank, or if several problems of the run fit the options. Precondition: the source is
/// a configuration or a run.
[[nodiscard]] SassCase sass_case(const CodeOptions& options, const CodeSource& source);

/// One kernel's machine code, disassembled.
struct SassCode {
  std::string source;                  ///< a configuration's short form, or a file
  std::optional<ResourceFacts> facts;  ///< absent for a file
  std::string artifact_key;            ///< empty for a file
  Listing listing;
  std::size_t function = 0;  ///< index of the kernel

  [[nodiscard]] const SassFunction& kernel() const { return listing.functions.at(function); }
};

/// Loads the code that the user names: a configuration, compiled for the options' problem, an
/// artifact of the cache, or a file (load_code_file()). Throws Error(usage) for a configuration
/// that does not parse, and for a file of several kernels without --function. Throws
/// Error(bad_file) for any other file, for code that does not compile, and if nvdisasm is not
/// installed.
[[nodiscard]] SassCode load_code(const CodeOptions& options, const CodeSource& source);

/// Returns the source that the options name. Throws Error(usage) if they name none.
[[nodiscard]] const CodeSource& named_source(const CodeOptions& options);

/// A configuration to compile for a problem, with the time that a run measured.
struct TimedCase {
  Config config;
  Problem problem;
  std::optional<double> time_us;  ///< absent: nothing was measured
  std::string artifact_key;       ///< names the code that the run measured; empty: there is no run
};

/// Returns the code of the cases, in order. Absent: not compiled, or interrupted.
[[nodiscard]] std::vector<std::optional<SassCode>> compile_code(const FamilySet& families,
                                                                const std::vector<TimedCase>& cases,
                                                                const DeviceLimits& limits,
                                                                const CompileSettings& settings);

/// Returns the path of nvdisasm. Throws Error(bad_file), with how to get it, if there is none.
[[nodiscard]] std::string nvdisasm();

enum class LineInfo { without, with };

/// Disassembles a cubin on disk with nvdisasm. Messages call it `name`. Line information includes
/// inlining locations and PTX lines.
[[nodiscard]] Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                                  const std::string& name, LineInfo lines = LineInfo::without);

/// Disassembles a cubin in memory, through a file in `folder`.
[[nodiscard]] Listing disassemble(const std::string& tool, const Artifact& artifact,
                                  const std::filesystem::path& folder, const std::string& name,
                                  LineInfo lines = LineInfo::without);

/// Returns the index of a function. Throws Error(usage), naming `source`, if there is none of that
/// name.
[[nodiscard]] std::size_t index_of(const Listing& listing, const std::string& name,
                                   const std::string& source);

}  // namespace fatune
