#include "compile/nvrtc_compile.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>

#include "compile/resource_facts.hpp"
#include "core/text_parts.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

/// A name that a host compiler's headers define and NVRTC does not, and what to write instead.
struct MissingName {
  std::string_view name;
  std::string_view instead;
};

constexpr std::string_view kFp16 = "add #include <cuda_fp16.h>";
constexpr std::string_view kBf16 = "add #include <cuda_bf16.h>";

constexpr std::array kMissingNames{
    MissingName{"INFINITY", "write __int_as_float(0x7f800000)"},
    MissingName{"HUGE_VALF", "write __int_as_float(0x7f800000)"},
    MissingName{"NAN", "write __int_as_float(0x7fffffff)"},
    MissingName{"FLT_MAX", "write 3.402823466e+38f"},
    MissingName{"FLT_MIN", "write 1.175494351e-38f"},
    MissingName{"FLT_EPSILON", "write 1.192092896e-07f"},
    MissingName{"DBL_MAX", "write 1.7976931348623157e+308"},
    MissingName{"M_PI", "write 3.14159265358979323846"},
    MissingName{"M_LOG2E", "write 1.44269504088896340736"},
    MissingName{"INT_MAX", "write 2147483647"},
    MissingName{"UINT_MAX", "write 4294967295u"},
    MissingName{"int8_t", "write signed char"},
    MissingName{"uint8_t", "write unsigned char"},
    MissingName{"int16_t", "write short"},
    MissingName{"uint16_t", "write unsigned short"},
    MissingName{"int32_t", "write int"},
    MissingName{"uint32_t", "write unsigned int"},
    MissingName{"int64_t", "write long long"},
    MissingName{"uint64_t", "write unsigned long long"},
    MissingName{"intptr_t", "write long long"},
    MissingName{"uintptr_t", "write unsigned long long"},
    MissingName{"ptrdiff_t", "write long long"},
    MissingName{"half", kFp16},
    MissingName{"half2", kFp16},
    MissingName{"__half", kFp16},
    MissingName{"__half2", kFp16},
    MissingName{"__nv_bfloat16", kBf16},
    MissingName{"__nv_bfloat162", kBf16},
};

constexpr std::array<std::string_view, 32> kStandardHeaders{
    "algorithm",        "array",    "assert.h", "cassert",  "cfloat",  "climits", "cmath",
    "cstddef",          "cstdint",  "cstdio",   "cstdlib",  "cstring", "float.h", "functional",
    "initializer_list", "iostream", "limits",   "limits.h", "math.h",  "memory",  "stddef.h",
    "stdint.h",         "stdio.h",  "stdlib.h", "string.h", "string",  "tuple",   "type_traits",
    "utility",          "vector",   "complex",  "numeric"};

constexpr std::string_view kLibraryHint =
    "NVRTC has no standard library: functions such as expf, fmaxf, min, printf and assert need no "
    "header; for more there is cuda::std, in <cuda/std/...>";

constexpr std::string_view kHeaderHint =
    "headers lie in the family's folder, in kernels/common, in families that \"includes\" names or "
    "in a folder of --include, and a directive has their whole name between quotes or brackets";

/// The line without what is said of a file that a compiler process may not open.
std::string_view without_descriptors(std::string_view line) {
  constexpr std::string_view kMeansNothing = ": Too many open files";
  line.remove_suffix(line.ends_with(kMeansNothing) ? kMeansNothing.size() : 0);
  return line;
}

std::string hint_for(std::string_view line) {
  const std::string_view quoted = between(line, "\"", "\"");
  if (line.find("open source file") != std::string_view::npos) {
    const bool is_standard = std::ranges::count(kStandardHeaders, quoted) > 0;
    return std::string(is_standard ? kLibraryHint : kHeaderHint);
  }
  if (line.find("is undefined") != std::string_view::npos) {
    const auto* const missing = std::ranges::find(kMissingNames, quoted, &MissingName::name);
    return missing == kMissingNames.end()
               ? std::string()
               : fmt::format("NVRTC has no standard headers: {}", missing->instead);
  }
  return line.find("namespace \"std\" has no member") != std::string_view::npos
             ? std::string(kLibraryHint)
             : std::string();
}

}  // namespace

std::string with_hints(std::string_view log) {
  std::string hinted;
  while (!log.empty()) {
    const bool ends = log.find('\n') != std::string_view::npos;
    const std::string_view line = without_descriptors(take_until(log, '\n'));
    const std::string hint = hint_for(line);
    hinted += line;
    hinted += hint.empty() ? "" : fmt::format(" ({})", hint);
    hinted += ends ? "\n" : "";
  }
  return hinted;
}

namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::string lowered_entry(const gpu::Program& program, const CompileJob& job) {
  return job.entry_is_template ? program.lowered_name(job.entry_point) : job.entry_point;
}

Artifact make_artifact(const gpu::Program& program, const CompileJob& job) {
  Artifact artifact;
  artifact.key = job.key;
  artifact.log = program.log();
  artifact.lowered_name = lowered_entry(program, job);
  if (job.output != CompileOutput::ptx) {
    artifact.cubin = program.cubin();
    artifact.facts = read_resource_facts(artifact.log, artifact.cubin, artifact.lowered_name);
  }
  if (job.output != CompileOutput::cubin) {
    artifact.ptx = program.ptx();
  }
  artifact.toolchain = toolchain_name();
  return artifact;
}

}  // namespace

std::optional<Outcome> failure_of(const CompileResult& result) {
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    return *failed;
  }
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return crashed == nullptr ? std::nullopt : std::optional<Outcome>(*crashed);
}

const std::string* failure_log(const CompileResult& result) {
  if (const auto* failed = std::get_if<CompileFailed>(&result)) {
    return &failed->log;
  }
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return crashed == nullptr ? nullptr : &crashed->log;
}

CompileResult compile_here(const CompileJob& job) {
  const Clock::time_point start = Clock::now();
  gpu::Program program(*job.sources);
  if (job.entry_is_template) {
    program.add_name_expression(job.entry_point);
  }
  if (!program.compile(job.options)) {
    return CompileFailed{with_hints(program.log())};
  }
  Artifact artifact = make_artifact(program, job);
  artifact.compile_ms = ms_since(start);
  return artifact;
}

std::string toolchain_name() { return "NVRTC " + gpu::nvrtc_version_text(); }

}  // namespace fatune
