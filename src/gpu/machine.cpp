#include "gpu/machine.hpp"

#include <unistd.h>
#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/environment.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "base/visible_text.hpp"
#include "gpu/nvml.hpp"

namespace fatune {
namespace {

/// Variables that load a tool into every process that uses CUDA or NVTX.
constexpr std::array<const char*, 4> kInjections{"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                                 "NV_NSIGHT_INJECTION_PORT_BASE",
                                                 "NV_TPS_LAUNCH_TOKEN"};
/// Settings that make the driver wait where it otherwise would not.
constexpr std::array<const char*, 3> kSlowSettings{"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_DEBUGGER",
                                                   "CUDA_DEBUGGER_SOFTWARE_PREEMPTION"};
/// Parts of the names of libraries that tools preload.
constexpr std::array<std::string_view, 4> kPreloaded{"sanitizer", "nsight", "injection", "cupti"};

/// Returns the variable's value; nothing if it is unset or "0".
std::optional<std::string> set_variable(const char* name) {
  const auto value = environment_variable(name);
  return value && *value != "0" ? value : std::nullopt;
}

bool is_preloaded_tool(std::string libraries) {
  std::ranges::transform(libraries, libraries.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::any_of(kPreloaded,
                             [&](std::string_view part) { return contains(libraries, part); });
}

std::vector<std::string> tools_around() {
  std::vector<std::string> found;
  const auto add = [&](const char* what, const char* name, auto disturbs) {
    if (const auto value = set_variable(name); value && disturbs(*value)) {
      found.push_back(fmt::format("{}: {}={}", what, name, visible_text(*value)));
    }
  };
  const auto always = [](const std::string&) { return true; };
  for (const char* name : kInjections) {
    add("a tool runs inside fatune", name, always);
  }
  add("a tool runs inside fatune", "LD_PRELOAD", is_preloaded_tool);
  for (const char* name : kSlowSettings) {
    add("launches wait", name, always);
  }
  return found;
}

std::filesystem::path proc_folder(int pid) { return fmt::format("/proc/{}", pid); }

/// Returns the number of a process' parent; 0 if there is no such process here.
int parent_of(int pid) {
  std::ifstream status(proc_folder(pid) / "status");
  constexpr std::string_view kName = "PPid:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kName)) {
      const std::size_t digits = line.find_first_of("0123456789");
      return digits == std::string::npos ? 0 : whole_number<int>(line.substr(digits)).value_or(0);
    }
  }
  return 0;
}

/// Whether the process is this one, or was started by it.
bool is_ours(int pid) {
  const int self = ::getpid();
  while (pid > 1 && pid != self) {
    pid = parent_of(pid);
  }
  return pid == self;
}

bool is_visible(int pid) {
  std::error_code ignored;
  return std::filesystem::exists(proc_folder(pid), ignored);
}

std::string process_text(int pid) {
  std::ifstream file(proc_folder(pid) / "comm");
  std::string name;
  std::getline(file, name);
  return name.empty() ? fmt::format("process {}", pid)
                      : fmt::format("process {} ({})", pid, visible_text(name));
}

}  // namespace

CounterAccess counter_access(std::string_view module_parameters, bool is_root) {
  if (module_parameters.empty()) {
    return CounterAccess::unknown;
  }
  const bool admins = module_parameters.find("RmProfilingAdminOnly: 1") != std::string_view::npos;
  return admins && !is_root ? CounterAccess::admins_only : CounterAccess::everybody;
}

CounterAccess counter_access() {
  std::ifstream file("/proc/driver/nvidia/params");
  const std::string parameters{std::istreambuf_iterator<char>(file), {}};
  return counter_access(parameters, ::geteuid() == 0);
}

Disturbances::Disturbances(std::vector<std::string> uuids) : uuids_(std::move(uuids)) {
  for (const std::string& uuid : uuids_) {
    const std::vector<int> pids = gpu::Nvml(uuid).compute_processes();
    before_.insert(pids.begin(), pids.end());
  }
}

void Disturbances::add(std::string what) {
  static std::set<std::string> said;  // a command may measure several runs
  if (said.insert(what).second) {
    spdlog::warn("times may be disturbed: {}", what);
  }
  if (!is_among(what, seen_)) {
    seen_.push_back(std::move(what));
  }
}

/// In a container, numbers may be those of processes that cannot be seen here. Such a process is
/// another one if it was there before this process started a worker.
const std::vector<std::string>& Disturbances::look() {
  for (std::string& tool : uuids_.empty() ? std::vector<std::string>() : tools_around()) {
    add(std::move(tool));
  }
  for (const std::string& uuid : uuids_) {
    for (const int pid : gpu::Nvml(uuid).compute_processes()) {
      if (!is_ours(pid) && (is_visible(pid) || before_.contains(pid))) {
        add(fmt::format("{} uses GPU {}", process_text(pid), uuid));
      }
    }
  }
  return seen_;
}

}  // namespace fatune
