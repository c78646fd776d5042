#include "app/sass_code.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/plan_problems.hpp"
#include "app/scratch_folder.hpp"
#include "app/session.hpp"
#include "app/target.hpp"
#include "compile/compile_pool.hpp"
#include "core/error.hpp"
#include "emit/output_file.hpp"
#include "plan/planner.hpp"
#include "plan/short_form.hpp"
#include "process/find_tool.hpp"
#include "process/run_program.hpp"
#include "sass/parse_listing.hpp"

namespace fatune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFileBytes = std::size_t{256} << 20;
constexpr std::int64_t kDefaultSeqLen = 4096;

std::string nvdisasm() {
  const auto tool = find_nvdisasm();
  if (!tool) {
    throw Error(ExitCode::bad_file, "nvdisasm, which reads machine code, is not installed", {},
                "scripts/setup --tools brings it; or 'pip install nvidia-cuda-nvdisasm', a CUDA "
                "toolkit, or its path in FATUNE_NVDISASM");
  }
  return tool->string();
}

Listing disassemble(const std::string& tool, const fs::path& cubin, const std::string& name) {
  return parse_listing(run_program(tool, {"-c", cubin.string()}).out, name);
}

std::size_t index_of(const Listing& listing, const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < listing.functions.size(); ++i) {
    if (listing.functions[i].name == name) {
      return i;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no function '{}'", name), source);
}

/// The functions that a kernel's section is named after.
std::vector<std::string> kernel_names(const Listing& listing) {
  std::vector<std::string> names;
  for (const SassFunction& function : listing.functions) {
    if (function.section == ".text." + function.name) {
      names.push_back(function.name);
    }
  }
  return names;
}

std::size_t choose_function(const Listing& listing, const std::string& asked,
                            const std::string& source) {
  if (!asked.empty()) {
    return index_of(listing, asked, source);
  }
  const std::vector<std::string> names = kernel_names(listing);
  if (names.size() != 1) {
    throw Error(ExitCode::usage, fmt::format("there are {} kernels to choose from", names.size()),
                source, fmt::format("choose with --function: {}", fmt::join(names, ", ")));
  }
  return index_of(listing, names.front(), source);
}

SassCode load_file(const fs::path& file, const std::string& function) {
  SassCode code;
  code.source = file.string();
  const std::string bytes = read_disk_file(file, kMostFileBytes);
  code.listing = bytes.starts_with(
                     "\x7f"
                     "ELF")
                     ? disassemble(nvdisasm(), fs::absolute(file), code.source)
                     : parse_listing(bytes, code.source);
  code.function = choose_function(code.listing, function, code.source);
  return code;
}

SassCode disassemble_artifact(const std::string& tool, const fs::path& folder, std::size_t index,
                              const Artifact& artifact, const std::string& name) {
  const fs::path cubin = folder / fmt::format("{}.cubin", index);
  write_output_file(cubin, {artifact.cubin.data(), artifact.cubin.size()});
  SassCode code{name, artifact.facts, artifact.key, disassemble(tool, cubin, name)};
  code.function = index_of(code.listing, artifact.lowered_name, name);
  return code;
}

/// What the pool has compiled, by request.
std::vector<std::shared_ptr<const CompileResult>> compile_all(std::vector<CompileRequest> requests,
                                                              const CompileSettings& settings) {
  std::vector<std::shared_ptr<const CompileResult>> results(requests.size());
  const auto cache = open_cache(settings);
  CompilePool pool(std::move(requests),
                   [&](const CompileRequest& request) { return compile(request, cache.get()); },
                   {job_count(settings), 0});
  while (const std::optional<Compiled> compiled = pool.next()) {
    results.at(compiled->index) = compiled->result;
  }
  return results;
}

/// Calls `work(i)` for each index below `count`, on several threads; the first exception is thrown
/// when all have ended.
template <typename Work>
void for_each_index(std::size_t count, int jobs, Work work) {
  std::atomic<std::size_t> next{0};
  std::vector<std::exception_ptr> failures(static_cast<std::size_t>(jobs));
  std::vector<std::jthread> threads;
  for (std::exception_ptr& failure : failures) {
    threads.emplace_back([&] {
      try {
        for (std::size_t i = next++; i < count; i = next++) {
          work(i);
        }
      } catch (...) {
        failure = std::current_exception();
        next = count;
      }
    });
  }
  threads.clear();
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

std::int64_t only_seq_len(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "sass takes one sequence length", "--seq",
                "its remainder by the tiles is compiled in");
  }
  return problems.seq_lens.empty() ? kDefaultSeqLen : problems.seq_lens.front();
}

SassCode load_config(const SassOptions& options, const std::string& text) {
  const KernelChoice kernels = choose_kernels(options.kernels);
  const Config config = parse_configs(kernels.family, {text}).front();
  const Target target = offline_target(options.arch, kernels.tree);
  const Problem problem =
      problem_for(kernels.family, config, options.problems, only_seq_len(options.problems));
  const auto results = compile_all(
      {compile_request(kernels.family, config, problem, target.limits.arch, target.limits)},
      options.compile);
  const std::string name = short_form(kernels.family, config);
  if (const auto* failed = std::get_if<CompileFailed>(results.front().get())) {
    throw Error(ExitCode::bad_file, "the configuration does not compile", name, failed->log);
  }
  const ScratchFolder scratch;
  return disassemble_artifact(nvdisasm(), scratch.path(), 0, std::get<Artifact>(*results.front()),
                              name);
}

}  // namespace

SassCode load_code(const SassOptions& options, const CodeSource& source) {
  std::error_code ignored;
  const bool is_file =
      source.kind == CodeSource::Kind::file ||
      (source.kind == CodeSource::Kind::either && fs::exists(source.text, ignored));
  return is_file ? load_file(source.text, options.function) : load_config(options, source.text);
}

std::vector<std::optional<SassCode>> compile_code(const Family& family,
                                                  const std::vector<Config>& configs,
                                                  const std::vector<Problem>& problems,
                                                  const DeviceLimits& limits,
                                                  const CompileSettings& settings) {
  const std::string tool = nvdisasm();
  std::vector<CompileRequest> requests;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    requests.push_back(compile_request(family, configs[i], problems.at(i), limits.arch, limits));
  }
  const auto results = compile_all(std::move(requests), settings);
  const ScratchFolder scratch;
  std::vector<std::optional<SassCode>> codes(configs.size());
  for_each_index(configs.size(), job_count(settings), [&](std::size_t i) {
    if (const auto* artifact = std::get_if<Artifact>(results[i].get())) {
      codes[i] =
          disassemble_artifact(tool, scratch.path(), i, *artifact, short_form(family, configs[i]));
    }
  });
  return codes;
}

}  // namespace fatune
