#include "commands/sass/sass_code.hpp"

#include <elf.h>
#include <cstring>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/cuda_installation.hpp"
#include "base/descriptor.hpp"
#include "base/ranges.hpp"
#include "base/run_program.hpp"
#include "base/task_pool.hpp"
#include "engine/choice/plan_problems.hpp"
#include "engine/compiling.hpp"
#include "engine/interrupt.hpp"
#include "gpu/compiler.hpp"
#include "gpu/cubin_cache.hpp"
#include "print/files.hpp"
#include "store/study_inputs.hpp"

namespace fatune {
namespace {

std::int64_t seq_len_of_code(const ProblemOptions& problems) {
  if (problems.seq_lens.size() > 1) {
    throw Error(ExitCode::usage, "sass takes one sequence length", "--seq",
                "its remainder modulo the tiles is compiled in");
  }
  return first_seq_len(problems);
}

SassCase named_case(const CodeOptions& options, const std::string& text) {
  KernelSet kernels = choose_kernels(options.kernels, {text});
  Config config = parse_configs(kernels.families, {text}, options.problems).front();
  const Target target = offline_target(options.arch, kernels.tree, kernels.families.all());
  const Problem problem =
      problem_for(kernels.family(), config, options.problems, seq_len_of_code(options.problems));
  return {std::move(kernels), std::move(config), problem, target.limits, {}};
}

const ProblemReport& only_problem(const RunReport& run, const ProblemOptions& asked) {
  const ProblemReport* found = nullptr;
  std::vector<std::string> names;
  for (const ProblemReport& problem : run.problems) {
    names.push_back(describe(problem.problem));
    if (is_asked_for(problem.problem, asked)) {
      if (found != nullptr && describe(found->problem) != names.back()) {
        throw Error(ExitCode::usage, "the run has several such problems", "--run",
                    "choose one with --seq, --dhead, --dtype or --causal");
      }
      found = &problem;  // the last of several repetitions
    }
  }
  if (found == nullptr) {
    throw Error(ExitCode::usage, "the run has no such problem", "--run",
                fmt::format("it has {}", fmt::join(names, ", ")));
  }
  return *found;
}

const Result& result_of_rank(const ProblemReport& problem, std::int64_t rank) {
  for (const Result& result : problem.ranking) {
    if (result.rank == rank) {
      return result;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no rank {}", rank), "--rank",
              fmt::format("{} has {} ranked", describe(problem.problem), problem.ranking.size()));
}

SassCase stored_case(const CodeOptions& options, const CodeSource& source) {
  const RunReport run = stored_report(options.db_file, source.run);
  const ProblemReport& problem = only_problem(run, options.problems);
  const Result& result = result_of_rank(problem, options.rank);
  KernelOptions kernels = options.kernels;
  kernels.family = names_families(kernels) ? kernels.family : result.config.family;
  SassCase one{choose_kernels(kernels), {}, problem.problem, run.device, result.artifact_key};
  one.config = parse_configs(one.kernels.families, {result.short_form}).front();
  return one;
}

constexpr std::size_t kShortestPrefix = 4;
constexpr std::size_t kMostNamed = 8;
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr const char* kWhere = "--artifact";

void check_prefix(const std::string& prefix) {
  if (prefix.size() < kShortestPrefix ||
      prefix.find_first_not_of(kHexDigits) != std::string::npos) {
    throw Error(
        ExitCode::usage, fmt::format("'{}' is not the beginning of a key", prefix), kWhere,
        fmt::format("give {} or more of the hexadecimal digits of artifact_key in JSON and CSV",
                    kShortestPrefix));
  }
}

/// Returns the only artifact of the cache whose key begins with `prefix`. Throws Error(usage) if
/// `prefix` is not the beginning of a key, if no key or several keys begin with it, if the artifact
/// is only PTX, and without a cache. Throws Error(bad_file) if the artifact is damaged.
Artifact cached_artifact(CubinCache* cache, const std::string& prefix) {
  check_prefix(prefix);
  if (cache == nullptr) {
    throw Error(ExitCode::usage, "artifacts are in the cubin cache, which is off", kWhere,
                "leave --no-cache out");
  }
  std::vector<std::string> keys = cache->keys(prefix);
  if (keys.empty()) {
    throw Error(ExitCode::usage, fmt::format("the cache has no artifact '{}'", prefix), kWhere,
                "the cache removes what was used longest ago; --config or --run compiles it again");
  }
  if (keys.size() > 1) {
    const std::size_t count = keys.size();
    keys.resize(std::min(count, kMostNamed));
    throw Error(ExitCode::usage, fmt::format("{} artifacts begin with '{}'", count, prefix), kWhere,
                fmt::format("give more digits: {}", fmt::join(keys, ", ")));
  }
  auto artifact = cache->find(keys.front());
  if (!artifact) {
    throw Error(ExitCode::bad_file, "the artifact is damaged", keys.front(),
                "compile its configuration again, which replaces it");
  }
  if (artifact->cubin.empty()) {
    throw Error(ExitCode::usage, "the artifact is PTX, which was not compiled further",
                keys.front(), "`fatune compile` compiles its configuration to machine code");
  }
  return std::move(*artifact);
}

namespace fs = std::filesystem;

constexpr std::string_view kArtifactPrefix = "artifact:";

SassCode disassemble_artifact(const std::string& tool, const fs::path& folder,
                              const Artifact& artifact, const std::string& name) {
  SassCode code{name, artifact.facts, artifact.key, disassemble(tool, artifact, folder, name)};
  code.function = index_of(code.listing, artifact.lowered_name, name);
  return code;
}

SassCode disassemble_one(const Artifact& artifact, const std::string& name) {
  const ScratchFolder scratch;
  return disassemble_artifact(nvdisasm(), scratch.path(), artifact, name);
}

SassCode load_artifact(const CodeOptions& options, const std::string& key) {
  const Artifact artifact = cached_artifact(open_cache(options.compile).get(), key);
  return disassemble_one(artifact, std::string(kArtifactPrefix) + artifact.key);
}

/// Loads the code that a run measured, if the cache still has it. Otherwise compiles its
/// configuration now.
SassCode load_case(const CodeOptions& options, const SassCase& one) {
  const auto cache = open_cache(options.compile);
  if (cache && !one.measured_key.empty()) {
    if (const auto artifact = cache->find(one.measured_key)) {
      return disassemble_one(*artifact, one.name());
    }
  }
  const Artifact artifact = artifact_of(compile(one.request(), cache.get()), one.name());
  if (!one.measured_key.empty() && artifact.key != one.measured_key) {
    spdlog::warn("the code that was measured is gone; this is what the compiler makes of {} now",
                 one.name());
  }
  return disassemble_one(artifact, one.name());
}

enum class CodeFileKind {
  cubin,
  container,  ///< an ELF file for the host, or a fatbinary: may embed cubins
  text,       ///< anything else
};

constexpr Elf64_Half kCudaMachine = 190;                     // EM_CUDA
constexpr std::string_view kFatbinary = "\x50\xed\x55\xba";  // NVIDIA's fatbinary.h

std::string cuobjdump(const fs::path& file) {
  return fs::absolute(needed_tool(find_tool("cuobjdump"),
                                  "cuobjdump, which takes cubins out of other files,",
                                  file.string(),
                                  "scripts/setup --tools, 'pip install nvidia-cuda-cuobjdump' and "
                                  "CUDA toolkits install it; or set its path in FATUNE_CUOBJDUMP"))
      .string();
}

/// Returns "sm_90a" for "a.out.2.sm_90a.cubin", which is how cuobjdump names extracted cubins.
std::string arch_of(const fs::path& cubin) {
  const std::string arch = cubin.stem().extension().string();
  return arch.empty() ? arch : arch.substr(1);
}

std::map<std::string, std::vector<fs::path>> by_arch(const fs::path& folder) {
  std::map<std::string, std::vector<fs::path>> cubins;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".cubin") {
      cubins[arch_of(entry.path())].push_back(entry.path());
    }
  }
  for (auto& [arch, paths] : cubins) {
    std::ranges::sort(paths);
  }
  return cubins;
}

/// Determines the kind by the first bytes of the file.
CodeFileKind code_file_kind(std::string_view bytes) {
  if (bytes.starts_with(kFatbinary)) {
    return CodeFileKind::container;
  }
  if (!bytes.starts_with(std::string_view(ELFMAG, SELFMAG))) {
    return CodeFileKind::text;
  }
  Elf64_Half machine = kCudaMachine;  // nvdisasm reports what is wrong with too short a file
  constexpr std::size_t kAt = offsetof(Elf64_Ehdr, e_machine);
  if (bytes.size() >= kAt + sizeof machine) {
    std::memcpy(&machine, bytes.data() + kAt, sizeof machine);
  }
  return machine == kCudaMachine ? CodeFileKind::cubin : CodeFileKind::container;
}

/// Extracts the cubins that a file embeds into `folder` with cuobjdump. Returns those for `arch`,
/// or for the only architecture. Throws Error(bad_file) if cuobjdump is not installed or finds
/// none, and Error(usage) if there is none for `arch` or there are several architectures to choose
/// from.
std::vector<fs::path> embedded_cubins(const fs::path& file, std::optional<Arch> arch,
                                      const fs::path& folder) {
  (void)run_program(cuobjdump(file), {"-xelf", "all", fs::absolute(file).string()}, {},
                    {folder, {}});
  const auto cubins = by_arch(folder);
  if (cubins.empty()) {
    throw Error(ExitCode::bad_file, "cuobjdump finds no cubin in this file", file.string(),
                "PTX alone is not machine code");
  }
  const auto found = arch ? cubins.find(arch_name(*arch)) : cubins.begin();
  if (found == cubins.end() || (!arch && cubins.size() > 1)) {
    throw Error(ExitCode::usage,
                arch ? fmt::format("the file has no machine code for {}", arch_name(*arch))
                     : fmt::format("{} architectures to choose from", cubins.size()),
                file.string(),
                fmt::format("choose with --arch: {}", fmt::join(std::views::keys(cubins), ", ")));
  }
  return found->second;
}

constexpr std::size_t kMostFileBytes = std::size_t{256} << 20;

/// Whether it is a kernel: it has a section of its name.
bool is_kernel(const SassFunction& function) {
  return function.section == ".text." + function.name;
}

std::size_t choose_function(const Listing& listing, const std::string& asked,
                            const std::string& source) {
  if (!asked.empty()) {
    return index_of(listing, asked, source);
  }
  const auto names = mapped(filtered(listing.functions, is_kernel), &SassFunction::name);
  if (names.size() != 1) {
    throw Error(ExitCode::usage, fmt::format("there are {} kernels to choose from", names.size()),
                source, fmt::format("choose with --function: {}", fmt::join(names, ", ")));
  }
  return index_of(listing, names.front(), source);
}

bool has_function(const Listing& listing, const std::string& name) {
  return name.empty() || is_among(name, listing.functions, &SassFunction::name);
}

/// Returns the only listing, among those that have the requested function if one is requested.
Listing choose_listing(std::vector<Listing> listings, const std::string& function,
                       const std::string& source) {
  std::erase_if(listings, [&](const Listing& listing) { return !has_function(listing, function); });
  if (listings.size() != 1) {
    throw Error(ExitCode::usage,
                fmt::format("{} cubins of the file match the request", listings.size()), source,
                "choose one with --function; cuobjdump -lelf and -symbols list them");
  }
  return std::move(listings.front());
}

Listing embedded_listing(const fs::path& file, const CodeOptions& options) {
  const std::string tool = nvdisasm();
  const ScratchFolder scratch;
  std::vector<Listing> listings =
      mapped(embedded_cubins(file, options.arch, scratch.path()),
             [&](const fs::path& cubin) { return disassemble(tool, cubin, file.string()); });
  return choose_listing(std::move(listings), options.function, file.string());
}

Listing file_listing(const fs::path& file, const CodeOptions& options) {
  const std::string bytes = read_disk_file(file, kMostFileBytes);
  switch (code_file_kind(bytes)) {
    case CodeFileKind::cubin:
      return disassemble(nvdisasm(), fs::absolute(file), file.string());
    case CodeFileKind::container:
      return embedded_listing(file, options);
    case CodeFileKind::text:
      break;
  }
  return parse_listing(bytes, file.string());
}

/// Loads the machine code of a file: a cubin, the output of nvdisasm for one, or a file that
/// cuobjdump takes cubins from (an executable, a library, an object file, a fatbinary). The
/// options' architecture and function select one of these. Throws as load_code().
SassCode load_code_file(const fs::path& file, const CodeOptions& options) {
  SassCode code;
  code.source = file.string();
  code.listing = file_listing(file, options);
  code.function = choose_function(code.listing, options.function, code.source);
  return code;
}

}  // namespace

SassCase sass_case(const CodeOptions& options, const CodeSource& source) {
  return source.kind == CodeSource::Kind::run ? stored_case(options, source)
                                              : named_case(options, source.text);
}

std::string nvdisasm() {
  return needed_tool(find_tool("nvdisasm"), "nvdisasm, which reads machine code,", {},
                     "scripts/setup --tools, 'pip install nvidia-cuda-nvdisasm' and CUDA toolkits "
                     "install it; or set its path in FATUNE_NVDISASM");
}

Listing disassemble(const std::string& tool, const std::filesystem::path& cubin,
                    const std::string& name, LineInfo lines) {
  std::vector<std::string> arguments{"-c"};
  if (lines == LineInfo::with) {
    arguments.insert(arguments.end(), {"-gi", "-gp"});
  }
  arguments.push_back(cubin.string());
  return parse_listing(run_program(tool, arguments).out, name);
}

Listing disassemble(const std::string& tool, const Artifact& artifact,
                    const std::filesystem::path& folder, const std::string& name, LineInfo lines) {
  static std::atomic<unsigned> count{0};
  const std::filesystem::path cubin = folder / fmt::format("{}.cubin", count++);
  write_output_file(cubin, {artifact.cubin.data(), artifact.cubin.size()});
  return disassemble(tool, cubin, name, lines);
}

std::size_t index_of(const Listing& listing, const std::string& name, const std::string& source) {
  for (std::size_t i = 0; i < listing.functions.size(); ++i) {
    if (listing.functions[i].name == name) {
      return i;
    }
  }
  throw Error(ExitCode::usage, fmt::format("there is no function '{}'", name), source);
}

SassCode load_code(const CodeOptions& options, const CodeSource& source) {
  using Kind = CodeSource::Kind;
  std::error_code ignored;
  switch (source.kind) {
    case Kind::file:
      return load_code_file(source.text, options);
    case Kind::artifact:
      return load_artifact(options, source.text);
    case Kind::either:
      if (source.text.starts_with(kArtifactPrefix)) {
        return load_artifact(options, source.text.substr(kArtifactPrefix.size()));
      }
      if (fs::exists(source.text, ignored)) {
        return load_code_file(source.text, options);
      }
      break;
    case Kind::config:
    case Kind::run:
      break;
  }
  return load_case(options, sass_case(options, source));
}

const CodeSource& named_source(const CodeOptions& options) {
  if (options.sources.empty()) {
    throw Error(
        ExitCode::usage, "no kernel is named", {},
        "name it with --config, --run, or, where the command has them, --cubin or --artifact");
  }
  return options.sources.front();
}

std::vector<std::optional<SassCode>> compile_code(const FamilySet& families,
                                                  const std::vector<TimedCase>& cases,
                                                  const DeviceLimits& limits,
                                                  const CompileSettings& settings) {
  const std::string tool = nvdisasm();
  const auto requests = mapped(cases, [&](const TimedCase& one) {
    return compile_request({families.of(one.config), one.config, one.problem, limits});
  });
  const auto results = compile_all(requests, settings, open_cache(settings).get());
  const ScratchFolder scratch;
  std::vector<std::optional<SassCode>> codes(cases.size());
  for_each_index(cases.size(), job_count(settings), [&](std::size_t i) {
    const auto* artifact = std::get_if<Artifact>(results[i].get());
    if (artifact != nullptr && !InterruptWatch::interrupted()) {
      const Config& config = cases[i].config;
      codes[i] = disassemble_artifact(tool, scratch.path(), *artifact,
                                      short_form(families.of(config), config));
    }
  });
  return codes;
}

}  // namespace fatune
