#include <exception>

#include <fmt/format.h>

#include "base/ranges.hpp"
#include "cli/subcommands.hpp"
#include "commands/row_reports.hpp"
#include "engine/choice/kernel_choice.hpp"
#include "engine/compiling.hpp"
#include "gpu/compiler.hpp"
#include "gpu/driver.hpp"
#include "gpu/machine.hpp"
#include "gpu/nvml.hpp"
#include "gpu/nvrtc.hpp"
#include "model/record_json.hpp"
#include "plan/space.hpp"
#include "print/run_report.hpp"
#include "store/open_store.hpp"
#include "store/run_reader.hpp"

namespace fatune {
namespace {

enum class Health {
  fine,
  limited,  ///< works, but something that depends on this is not available
  broken,   ///< fatune cannot do its job
};

struct Check {
  std::string subject;  ///< "NVRTC", "cubin cache"
  Health health = Health::fine;
  std::string finding;
  std::string remedy;  ///< empty when there is nothing to do
};

CompileRequest probe_request() {
  auto sources = std::make_shared<SourceBundle>();
  sources->main = {"doctor.cu", "extern \"C\" __global__ void doctor(int* p) { *p = 1; }\n"};
  CompileRequest request;
  request.label = "doctor";
  request.sources = std::move(sources);
  request.entry_point = "doctor";
  request.arch = Arch{80, '\0'};
  return request;
}

Check fine(const std::string& subject, std::string what) {
  return {subject, Health::fine, std::move(what), {}};
}

Check limited(const std::string& subject, std::string why, std::string remedy) {
  return {subject, Health::limited, std::move(why), std::move(remedy)};
}

Check check_family(const std::string& name) {
  KernelOptions options;
  options.family = name;
  const KernelSet kernels = choose_kernels(options);
  std::size_t spaces = 0;
  for (const SpaceInfo& space : list_spaces(kernels.tree, kernels.family())) {
    static_cast<void>(load_space(kernels.tree, kernels.family(), space.key));
    ++spaces;
  }
  return fine("kernel family " + name,
              fmt::format("{} parameters, {} spaces", kernels.family().parameters.size(), spaces));
}

std::string cache_contents(const CubinCache& cache) {
  const CacheContents kernels = cache.contents();
  const CacheContents verdicts = cache.contents(CacheKind::verdict);
  return fmt::format("{}: {} kernels, {} verdicts of emulation, {:.1f} of {} MiB",
                     cache.settings().folder.string(), kernels.entries, verdicts.entries,
                     static_cast<double>(kernels.bytes + verdicts.bytes) / (1 << 20),
                     cache.settings().cap_bytes >> 20);
}

std::vector<Check> check_driver(const CompileSettings&) {
  const gpu::DriverStatus& driver = gpu::probe_driver();
  if (!driver.usable()) {
    return {limited("CUDA driver", driver.problem + "; sweep and run can only estimate",
                    driver.remedy)};
  }
  return {fine("CUDA driver", fmt::format("{}, CUDA {}", driver.library, driver.version_text()))};
}

std::vector<Check> check_gpus(const CompileSettings&) {
  if (!gpu::probe_driver().usable()) {
    return {};
  }
  std::vector<Check> checks;
  for (const gpu::Device& device : gpu::list_devices()) {
    const std::string subject = fmt::format("GPU {} {}", device.ordinal, device.limits.name);
    checks.push_back(device.usable() ? fine(subject, arch_name(device.limits.arch))
                                     : limited(subject, device.unusable_because, device.remedy));
  }
  return checks;
}

/// Finds NVRTC, and compiles a small kernel.
std::vector<Check> check_nvrtc(const CompileSettings&) {
  const gpu::LibraryStatus& nvrtc = gpu::probe_nvrtc();
  if (!nvrtc.usable()) {
    return {{"NVRTC", Health::broken, nvrtc.problem, nvrtc.remedy}};
  }
  const std::string version = gpu::nvrtc_version_text();
  const CompileResult result = compile(probe_request());
  if (const auto failed = failure_of(result)) {
    return {
        {"NVRTC", Health::broken,
         fmt::format("version {} does not compile: {}", version, outcome_summary(*failed)),
         "libnvrtc-builtins of the same version must be in the same folder as " + nvrtc.library}};
  }
  return {fine("NVRTC", fmt::format("version {} compiles, for sm {}: {}", version,
                                    fmt::join(gpu::nvrtc_supported_sms(), ", "), nvrtc.library))};
}

/// Loads every built-in family and space.
std::vector<Check> check_kernels(const CompileSettings&) {
  std::vector<Check> checks;
  for (const std::string& name : family_names(FileTree())) {
    try {
      checks.push_back(check_family(name));
    } catch (const Error& error) {
      checks.push_back({"kernel family " + name, Health::broken, error.what(),
                        "the program's own files are damaged: build it again"});
    }
  }
  return checks;
}

std::vector<Check> check_cache(const CompileSettings& settings) {
  const std::string subject = "cubin cache";
  if (settings.no_cache) {
    return {limited(subject, "switched off (--no-cache)", {})};
  }
  if (!settings.cache_dir && cache_settings_from_environment().folder.empty()) {
    return {limited(subject, "there is none, and every run compiles everything", kNoCacheFolder)};
  }
  const auto cache = open_cache(settings);
  const std::string why = cache->why_unwritable();
  if (!why.empty()) {
    return {limited(subject,
                    fmt::format("{} cannot be used ({}): every run compiles everything",
                                cache->settings().folder.string(), why),
                    "choose another folder with --cache-dir or XDG_CACHE_HOME")};
  }
  return {fine(subject, cache_contents(*cache))};
}

std::vector<Check> check_store(const CompileSettings&) {
  const std::string subject = "database of measurements";
  const auto path = default_store_path();
  if (!path) {
    return {limited(subject, "its location is not known: neither XDG_DATA_HOME nor HOME is set",
                    "name a file with --db, or use --no-db")};
  }
  std::error_code ignored;
  if (!std::filesystem::exists(*path, ignored)) {
    return {
        fine(subject, fmt::format("none yet; the first measurement creates {}", path->string()))};
  }
  try {
    Database database = open_store(*path, Database::Mode::existing);
    const std::string runs =
        fmt::format("{}: {} runs", path->string(), list_runs(database).runs.size());
    return {database.can_be_written()
                ? fine(subject, runs)
                : limited(subject,
                          runs + "; it, or its folder, may only be read: sweep and run measure but "
                                 "store nothing",
                          "choose another file with --db")};
  } catch (const Error& error) {
    return {limited(subject,
                    fmt::format("{}; sweep and run measure but store nothing", error.what()),
                    "choose another file with --db, or move this one away")};
  }
}

/// Checks that NVML reads the clocks, power and temperature of each usable GPU.
std::vector<Check> check_readings(const CompileSettings&) {
  if (!gpu::probe_driver().usable()) {
    return {};
  }
  std::vector<Check> checks;
  for (const gpu::Device& device : gpu::list_devices()) {
    if (!device.usable()) {
      continue;
    }
    const std::string subject = fmt::format("clocks of GPU {}", device.ordinal);
    const gpu::Nvml nvml(device.limits.uuid);
    const auto reading = nvml.available() ? nvml.read() : std::nullopt;
    checks.push_back(
        reading ? fine(subject, fmt::format("{:.0f} MHz, {:.0f} W, {:.0f} C", reading->sm_mhz,
                                            reading->power_w, reading->temperature_c))
                : limited(subject, fmt::format("NVML reports nothing: {}", nvml.problem()),
                          "measuring works; results do not say what the clocks were"));
  }
  return checks;
}

std::vector<Check> check_counters(const CompileSettings&) {
  const std::string subject = "performance counters";
  const CounterAccess access = counter_access();
  if (access == CounterAccess::unknown) {
    return {limited(subject, "no NVIDIA kernel module is loaded", "only profiling needs them")};
  }
  if (access == CounterAccess::admins_only) {
    return {limited(subject, "only an administrator may read them",
                    "for ncu, load the module with NVreg_RestrictProfilingToAdminUsers=0; timing "
                    "does not need them")};
  }
  return {fine(subject, "this user may read them")};
}

/// Checks what fatune needs of this machine, with one or more checks for each subject. `broken`: no
/// command can do its job. `limited`: measuring, or something smaller, is not available.
std::vector<Check> run_checks(const CompileSettings& settings) {
  std::vector<Check> checks;
  for (const auto check : {check_driver, check_gpus, check_nvrtc, check_kernels, check_cache,
                           check_store, check_readings, check_counters}) {
    try {
      append(checks, check(settings));
    } catch (const std::exception& error) {  // unexpected: the other findings are not lost
      checks.push_back({"check", Health::broken, error.what(), {}});
    }
  }
  return checks;
}

template <auto kMember>
const auto limit = [](const ListedDevice& device) { return device.limits.*kMember; };

Fields<ListedDevice> device_fields() {
  using L = DeviceLimits;
  return {
      {"index", "#", &ListedDevice::index},
      {"name", "name", kWraps, limit<&L::name>},
      {"uuid", "uuid", kProgramsOnly, limit<&L::uuid>},
      {"arch", "arch", [](auto& d) { return arch_name(d.limits.arch); }},
      {"sm_count", "SMs", limit<&L::sm_count>},
      {"clock_khz", "clock kHz", kProgramsOnly, limit<&L::clock_khz>},
      {"memory_gbps", "GB/s", limit<&L::memory_gbps>},
      {"total_memory_bytes", "memory B", limit<&L::total_memory_bytes>},
      {"l2_bytes", "L2 B", limit<&L::l2_bytes>},
      {"smem_per_block_optin_bytes", "smem/block", limit<&L::smem_per_block_optin_bytes>},
      {"smem_per_sm_bytes", "smem/SM", kProgramsOnly, limit<&L::smem_per_sm_bytes>},
      {"registers_per_sm", "regs/SM", limit<&L::registers_per_sm>},
      {"max_threads_per_sm", "threads/SM", limit<&L::max_threads_per_sm>},
      {"max_threads_per_block", "threads/block", kProgramsOnly, limit<&L::max_threads_per_block>},
      {"max_blocks_per_sm", "blocks/SM", kProgramsOnly, limit<&L::max_blocks_per_sm>},
      {"usable", "usable", [](auto& d) { return d.unusable_because.empty(); }},
      {"unusable_because", "why not", kWraps, or_none<&ListedDevice::unusable_because>},
  };
}

Json json_device(const ListedDevice& device) {
  Json json = {{"index", device.index},
               {"usable", device.unusable_because.empty()},
               {"unusable_because", json_or_null(device.unusable_because)}};
  json.update(record_json(device.limits));
  return json;
}

Table records_of(const DeviceReport& report) { return table_of(device_fields(), report.devices); }

Blocks blocks_of(const DeviceReport& report) {
  Blocks blocks{block::Line{"driver: " + report.driver}};
  if (!report.remedy.empty()) {
    blocks.push_back(block::Line{"  " + report.remedy});
  }
  if (report.devices.empty()) {
    blocks.push_back(block::Text{"no GPU is visible\n"});
  } else {
    append(blocks, {block::Text{"\n"}, block::Rows{records_of(report)}});
  }
  return blocks;
}

std::string_view health_name(Health health) {
  static constexpr std::array<std::string_view, 3> kNames{"fine", "limited", "broken"};
  return kNames.at(static_cast<std::size_t>(health));
}

TextColour health_colour(Health health) {
  static constexpr std::array<TextColour, 3> kColours{TextColour::green, TextColour::yellow,
                                                      TextColour::red};
  return kColours.at(static_cast<std::size_t>(health));
}

Fields<Check> check_fields() {
  return {
      {"subject", "what", &Check::subject},
      {"health", "state", [](auto& c) { return health_name(c.health); }},
      {"finding", "finding", &Check::finding},
      {"remedy", "remedy", or_none<&Check::remedy>},
  };
}

/// Findings are sentences: on a terminal, one paragraph per check reads better than a table of wide
/// columns.
block::Rows rows_of(const std::vector<Check>& checks) {
  block::Rows rows{table_of(check_fields(), checks)};
  for (const Check& check : checks) {
    auto& paragraph = rows.paragraphs.emplace_back();
    paragraph = {fmt::format("{:<8}", health_name(check.health)), health_colour(check.health),
                 fmt::format(" {}: {}\n", check.subject, check.finding)};
    if (!check.remedy.empty()) {
      paragraph.text += fmt::format("         -> {}\n", check.remedy);
    }
  }
  return rows;
}

Document doctor_document(const std::vector<Check>& checks) {
  const auto object = [&] {
    return json_document("doctor", {{"checks", json_rows(check_fields(), checks)}});
  };
  return {[&] { return Blocks{rows_of(checks)}; }, [&] { return table_of(check_fields(), checks); },
          object};
}

struct DoctorOptions {
  CompileSettings compile;
  OutputOptions output;
};

ExitCode doctor(const DoctorOptions& options) {
  const std::vector<Check> checks = run_checks(options.compile);
  print_document(doctor_document(checks), options.output);
  const bool broken = is_among(Health::broken, checks, &Check::health);
  return broken ? ExitCode::internal : ExitCode::ok;
}

struct DevicesOptions {
  OutputOptions output;
};

ListedDevice listed(const gpu::Device& device) {
  std::string why = device.unusable_because;
  if (!device.usable() && !device.remedy.empty()) {
    why += " (" + device.remedy + ")";
  }
  return {device.ordinal, device.limits, std::move(why)};
}

DeviceReport make_report() {
  const gpu::DriverStatus& driver = gpu::probe_driver();
  DeviceReport report;
  if (!driver.usable()) {
    report.driver = driver.problem;
    report.remedy = driver.remedy;
    return report;
  }
  const std::string& release = gpu::driver_release();
  report.driver = (release.empty() ? "" : release + ", ") + "CUDA " + driver.version_text();
  report.devices = mapped(gpu::list_devices(), [](const auto& device) { return listed(device); });
  return report;
}

ExitCode devices(const DevicesOptions& options) {
  print_document(device_document(make_report()), options.output);
  return ExitCode::ok;
}

}  // namespace

Document device_document(const DeviceReport& report) {
  return {[&] { return blocks_of(report); }, [&] { return records_of(report); },
          [&] {
            return json_document(
                "devices", {{"driver", report.driver},
                            {"remedy", report.remedy.empty() ? Json(nullptr) : Json(report.remedy)},
                            {"devices", json_list(report.devices, json_device)}});
          }};
}

void add_doctor_command(const Subcommands& all) {
  const auto [sub, options] =
      add_subcommand(all, "doctor", "Check driver, NVRTC, kernels, cache and permissions", doctor);
  add_cache_options(sub, options.compile);
  add_output_options(sub, options.output);
  sub.footer(R"(Exit code 0 unless something that every command needs is broken.
Examples:
  fatune doctor
  fatune doctor --format json)");
}

void add_devices_command(const Subcommands& all) {
  const auto [sub, options] = add_subcommand(
      all, "devices", "Show the GPUs, their limits, and why one is unusable", devices);
  add_output_options(sub, options.output);
  sub.footer(R"(Examples:
  fatune devices
  fatune devices --format json)");
}

}  // namespace fatune
