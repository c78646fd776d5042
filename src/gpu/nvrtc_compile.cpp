#include "gpu/nvrtc_compile.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "gpu/cubin_elf.hpp"
#include "gpu/nvrtc.hpp"

namespace fatune {
namespace {

// ptxas writes these notes before the report of the kernel, each in one line:
//   ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are serialized
//   due to insufficient register resources for the function 'NAME'
//   ptxas info    : (C7519) warpgroup.arrive is injected in around line 7 by compiler to allow use
//   of registers in GMMA in function 'NAME'
// Codes differ between releases, so a note is recognised by its text.

constexpr std::string_view kLoss = "Potential Performance Loss: ";
constexpr std::array<std::string_view, 4> kSubjects{"wgmma", "setmaxnreg", "warpgroup.arrive",
                                                    "warpgroup.wait"};

/// "C7512" for "ptxas info    : (C7512) ..."; empty if the line is not a note.
std::string_view note_code(std::string_view line) {
  const std::string_view code = between(line, " : (", ") ");
  const bool is_code = line.starts_with("ptxas ") && code.starts_with("C") &&
                       whole_number<int>(code.substr(1)).has_value();
  return is_code ? code : std::string_view();
}

/// The function that a note names at its end, and the note's text without it.
struct NamedFunction {
  std::string_view text;
  std::string_view function;
};

NamedFunction split_function(std::string_view text) {
  static constexpr std::array<std::string_view, 4> kBefore{
      " in the function '", " for the function '", " in function '", " for function '"};
  for (const std::string_view before : kBefore) {
    const std::size_t at = text.rfind(before);
    if (at != std::string_view::npos) {
      return {text.substr(0, at), between(text.substr(at), "'", "'")};
    }
  }
  return {text, {}};
}

std::optional<AssemblerNote> read_note(std::string_view line, const std::string& kernel,
                                       std::span<const std::string> kernels) {
  const std::string_view code = note_code(line);
  if (code.empty()) {
    return std::nullopt;
  }
  std::string_view text = trim(line.substr(line.find(") ") + 2));
  const bool is_about_products = std::ranges::any_of(
      kSubjects, [&](std::string_view subject) { return contains(text, subject); });
  const bool loses_speed = text.starts_with(kLoss);
  text.remove_prefix(loses_speed ? kLoss.size() : 0);
  const NamedFunction note = split_function(text);
  const bool is_of_another = note.function != kernel && is_among(note.function, kernels);
  if (!is_about_products || is_of_another) {
    return std::nullopt;
  }
  return AssemblerNote{std::string(code), std::string(note.text), loses_speed};
}

// ptxas -v writes for each kernel
//   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
//   ptxas info    : Function properties for NAME
//   ptxas         .     936 bytes stack frame, 1508 bytes spill stores, 1796 bytes spill loads
//   ptxas info    : Used 32 registers, used 1 barriers, 1024 bytes smem
// and a "Function properties" pair for each device function that was not inlined.

/// The number in front of `unit` in "936 bytes stack frame, ..."; nothing if `unit` is not there.
std::optional<std::int64_t> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view before = line.substr(0, at);
  const std::size_t last_other = before.find_last_not_of("0123456789");
  return whole_number<std::int64_t>(
      before.substr(last_other == std::string_view::npos ? 0 : last_other + 1));
}

void read_stack_line(std::string_view line, ResourceFacts& facts) {
  facts.local_bytes = number_before(line, " bytes stack frame").value_or(0);
  facts.spill_store_bytes = number_before(line, " bytes spill stores").value_or(0);
  facts.spill_load_bytes = number_before(line, " bytes spill loads").value_or(0);
}

/// Returns true if the line ends a kernel's report.
bool read_usage_line(std::string_view line, ResourceFacts& facts) {
  const auto registers = number_before(line, " registers");
  if (!registers || line.find("Used ") == std::string_view::npos) {
    return false;
  }
  facts.registers_per_thread = static_cast<int>(*registers);
  facts.static_smem_bytes = number_before(line, " bytes smem").value_or(0);
  return true;
}

std::optional<ResourceFacts> read_report(std::string_view log, const std::string& name) {
  const std::string entry_line = fmt::format("Compiling entry function '{}'", name);
  const std::string properties_line = fmt::format("Function properties for {}", name);
  ResourceFacts facts;
  bool in_entry = false;
  bool in_properties = false;
  while (!log.empty()) {
    const std::string_view line = take_until(log, '\n');
    if (contains(line, "Compiling entry function '")) {
      in_entry = contains(line, entry_line);
    } else if (contains(line, "Function properties for ")) {
      in_properties = line.ends_with(properties_line);
    } else if (in_properties && contains(line, "bytes stack frame")) {
      read_stack_line(line, facts);
      in_properties = false;
    } else if (in_entry && read_usage_line(line, facts)) {
      return facts;
    }
  }
  return std::nullopt;
}

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
  if (contains(line, "open source file")) {
    return std::string(is_among(quoted, kStandardHeaders) ? kLibraryHint : kHeaderHint);
  }
  if (contains(line, "is undefined")) {
    const auto* const missing = find_in(kMissingNames, quoted, &MissingName::name);
    return missing == nullptr ? std::string()
                              : fmt::format("NVRTC has no standard headers: {}", missing->instead);
  }
  return line.find("namespace \"std\" has no member") != std::string_view::npos
             ? std::string(kLibraryHint)
             : std::string();
}

Artifact make_artifact(const gpu::Program& program, const CompileJob& job) {
  Artifact artifact;
  artifact.key = job.key;
  artifact.log = program.log();
  artifact.lowered_name =
      job.entry_is_template ? program.lowered_name(job.entry_point) : job.entry_point;
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

std::vector<AssemblerNote> read_assembler_notes(std::string_view log, const std::string& kernel,
                                                std::span<const std::string> kernels) {
  std::vector<AssemblerNote> notes;
  while (!log.empty()) {
    if (auto note = read_note(take_until(log, '\n'), kernel, kernels)) {
      notes.push_back(*std::move(note));
    }
  }
  return notes;
}

ResourceFacts read_resource_facts(std::string_view log, std::span<const char> cubin,
                                  const std::string& lowered_name) {
  const std::vector<ElfSection> sections = read_elf_sections(cubin);
  const std::vector<std::string> names = code_names(sections);
  if (!is_among(lowered_name, names)) {
    throw Error(ExitCode::internal,
                fmt::format("the module has no kernel '{}'; it has: {}", lowered_name,
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))),
                {}, "is the entry point a __global__ function, and extern \"C\" or a template?");
  }
  std::optional<ResourceFacts> facts = read_report(log, lowered_name);
  if (!facts) {
    throw Error(ExitCode::internal,
                fmt::format("the compiler's report does not mention kernel '{}'", lowered_name));
  }
  facts->notes = read_assembler_notes(log, lowered_name, names);
  facts->code_bytes = section_bytes(sections, ".text." + lowered_name);
  facts->constant_bytes = section_bytes(sections, ".nv.constant0." + lowered_name);
  return *facts;
}

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

std::optional<Outcome> failure_of(const CompileResult& result) {
  const auto* const failed = std::get_if<CompileFailed>(&result);
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return failed != nullptr    ? std::optional<Outcome>(*failed)
         : crashed != nullptr ? std::optional<Outcome>(*crashed)
                              : std::nullopt;
}

const std::string* failure_log(const CompileResult& result) {
  const auto* const failed = std::get_if<CompileFailed>(&result);
  const auto* const crashed = std::get_if<CompilerCrashed>(&result);
  return failed != nullptr ? &failed->log : crashed != nullptr ? &crashed->log : nullptr;
}

CompileResult compile_here(const CompileJob& job) {
  const auto start = std::chrono::steady_clock::now();
  gpu::Program program(*job.sources);
  if (job.entry_is_template) {
    program.add_name_expression(job.entry_point);
  }
  if (!program.compile(job.options)) {
    return CompileFailed{with_hints(program.log())};
  }
  Artifact artifact = make_artifact(program, job);
  artifact.compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return artifact;
}

std::string toolchain_name() { return "NVRTC " + gpu::nvrtc_version_text(); }

}  // namespace fatune
