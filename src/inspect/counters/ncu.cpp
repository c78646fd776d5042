#include "inspect/counters/ncu.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text_parts.hpp"

namespace fatune {

std::vector<std::string> ncu_profile_arguments(const NcuProfile& profile) {
  std::vector<std::string> arguments;
  const auto add = [&](const char* option, const std::string& value) {
    arguments.insert(arguments.end(), {option, value});
  };
  add("--profile-from-start", "off");
  add("--clock-control", "none");
  add("--cache-control", "all");
  add("--replay-mode", "kernel");
  add("--target-processes", "all");
  add("--log-file", profile.log);
  add("--export", profile.report);
  arguments.emplace_back("--force-overwrite");
  if (!profile.set.empty()) {
    add("--set", profile.set);
  }
  for (const std::string& section : profile.sections) {
    add("--section", section);
  }
  if (!profile.metrics.empty()) {
    add("--metrics", fmt::format("{}", fmt::join(profile.metrics, ",")));
  }
  return arguments;
}

namespace {

struct Cause {
  std::string_view signs;  ///< texts in the messages, in lower case and separated by '|'
  ExitCode code;
  std::string_view what;
  std::string_view remedy;  ///< empty: counter_permission_remedy()
};

constexpr std::string_view kUnknownRemedy =
    "'ncu --query-metrics' lists what it knows; choose others with --metrics";

// The order matters: earlier rows are causes of later ones.
constexpr std::array<Cause, 10> kCauses{{
    {"err_nvgpuctrperm|insufficient privileges", ExitCode::gpu_failure,
     "there is no permission to read the GPU's performance counters", ""},
    {"driver resource was unavailable", ExitCode::gpu_busy,
     "another program holds the GPU's performance counters",
     "only one program at a time can read them: end the other profiler, or DCGM's profiling "
     "('dcgmi profile --pause')"},
    {"not supported on device|no supported device|is not supported on this device|unsupported gpu",
     ExitCode::no_gpu, "Nsight Compute does not support this GPU",
     "'fatune devices' lists the GPUs; a newer Nsight Compute may know this one"},
    {"librarynotloaded", ExitCode::gpu_failure,
     "Nsight Compute cannot use the driver's profiling library",
     "install the driver's complete package (libcuda and libnvidia-ml alone are not enough), "
     "and no older than Nsight Compute needs"},
    {"cuda driver version is insufficient", ExitCode::gpu_failure,
     "the driver is too old for this Nsight Compute",
     "install a newer driver, or an older Nsight Compute and name it in FATUNE_NCU"},
    {"failed to find metric|metric not found", ExitCode::usage,
     "Nsight Compute does not know a metric", kUnknownRemedy},
    {"failed to find section", ExitCode::usage, "Nsight Compute does not know a section",
     kUnknownRemedy},
    {"no metrics to collect found", ExitCode::usage, "Nsight Compute knows none of these metrics",
     kUnknownRemedy},
    {"interprocesslock", ExitCode::io,
     "Nsight Compute cannot open its lock file among the temporary files",
     "another user has created it: set TMPDIR to a folder of your own"},
    {"no kernels were profiled", ExitCode::gpu_failure, "Nsight Compute saw no launch to profile",
     "its messages say more; a profiler of another version may work (FATUNE_NCU)"},
}};

bool has_any(std::string_view text, std::string_view signs) {
  bool found = false;
  while (!signs.empty()) {
    found = contains(text, take_until(signs, '|')) || found;
  }
  return found;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// The errors, without warnings and progress; all messages if there is no error.
std::string errors_in(std::string_view messages) {
  std::string errors;
  for (std::string_view rest = messages; !rest.empty();) {
    const std::string_view line = take_until(rest, '\n');
    if (line.starts_with("==ERROR==")) {
      errors += fmt::format("{}{}", errors.empty() ? "" : "\n", line);
    }
  }
  return errors.empty() ? std::string(messages) : errors;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kMostMessageBytes = 2000;
  return text.size() <= kMostMessageBytes ? text : text.substr(0, kMostMessageBytes) + " ...";
}

}  // namespace

Error ncu_failure(std::string_view messages, const std::string& where) {
  const std::string text = lower(messages);
  const std::string said = shortened(errors_in(messages));
  for (const Cause& cause : kCauses) {
    if (has_any(text, cause.signs)) {
      const std::string remedy =
          cause.remedy.empty() ? counter_permission_remedy() : std::string(cause.remedy);
      return {cause.code, std::string(cause.what), where,
              said.empty() ? remedy : fmt::format("{}\nits messages: {}", remedy, said)};
    }
  }
  return {ExitCode::gpu_failure, "Nsight Compute failed", where,
          said.empty() ? "it wrote no message" : "its messages: " + said};
}

bool has_ncu_errors(std::string_view messages) { return contains(messages, "==ERROR=="); }

std::string counter_permission_remedy() {
  return "run as root, or have an administrator allow all users: 'options nvidia "
         "NVreg_RestrictProfilingToAdminUsers=0' in a file of /etc/modprobe.d, then reload the "
         "driver "
         "(https://developer.nvidia.com/ERR_NVGPUCTRPERM)";
}

std::string ncu_version(std::string_view text) {
  constexpr std::string_view kBefore = "Version ";
  const std::size_t at = text.find(kBefore);
  if (at == std::string_view::npos) {
    return {};
  }
  const std::size_t from = at + kBefore.size();
  const std::size_t to = text.find_first_not_of("0123456789.", from);
  return std::string(text.substr(from, to == std::string_view::npos ? to : to - from));
}

}  // namespace fatune
