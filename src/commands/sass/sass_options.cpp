#include "commands/sass/sass_options.hpp"

namespace fatune {
namespace {

using Kind = CodeSource::Kind;

constexpr std::int64_t kLastRank = 1000000;

CLI::Option* add_source(CLI::App& app, CodeOptions& options, const char* name, const char* type,
                        const char* doc, Kind kind) {
  return add_text_option(app, name, type, doc, [&options, kind](const std::string& text) {
    options.sources.push_back({text, kind, {}});
  });
}

void add_run_source(CLI::App& app, CodeOptions& options) {
  auto* run =
      add_text_option(app, "--run", "N|last", "a configuration of a stored run, by its rank",
                      [&options](const std::string& text) {
                        options.sources.push_back({text, Kind::run, parse_run(text, "--run")});
                      });
  add_integer(app, "--rank", "rank in that run; 1: the fastest", 1, kLastRank, options.rank)
      ->needs(run);
  run->excludes(app.get_option("--config"));
  run->excludes(app.get_option("--arch"));
  add_db_option(app, options.db_file);
}

}  // namespace

void add_compile_options(CLI::App& app, CodeOptions& options) {
  add_kernel_options(app, options.kernels, SpaceOption::no);
  add_problem_options(app, options.problems, kCompiledSeqLen);
  add_arch_option(app, options.arch);
  add_cache_options(app, options.compile);
}

void add_function_option(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  app.add_option("--function", options.function, "the function of a file that has several")
      ->type_name("NAME");
}

void add_case_options(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  add_source(app, options, "--config", "CONFIG", "configuration, in short form or as a kernel name",
             Kind::config);
  add_run_source(app, options);
}

void add_code_options(CLI::App& app, CodeOptions& options) {
  const OptionScope scope(app, option_group::kKernels);
  add_case_options(app, options);
  auto* file = add_text_option(
      app, "--cubin", "FILE", "cubin, a file that embeds cubins, or what 'nvdisasm -c' printed",
      [&options](const std::string& text) {
        options.sources.push_back({read_path(text, "--cubin").string(), Kind::file, {}});
      });
  auto* artifact =
      add_source(app, options, "--artifact", "KEY",
                 "artifact of the cubin cache whose key begins with KEY", Kind::artifact);
  file->excludes(artifact);
  for (const char* other : {"--config", "--run"}) {
    file->excludes(app.get_option(other));
    artifact->excludes(app.get_option(other));
  }
  add_function_option(app, options);
}

}  // namespace fatune
