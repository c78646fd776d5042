#include "cli/option_groups.hpp"

#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/environment.hpp"
#include "base/file_tree.hpp"
#include "base/ranges.hpp"
#include "base/text_parts.hpp"
#include "cli/typed_words.hpp"
#include "engine/choice/problems.hpp"
#include "model/kv_lengths.hpp"
#include "model/verdict.hpp"

namespace fatune {
namespace {

constexpr std::int64_t kMostHeads = 65535;
constexpr std::int64_t kMostJobs = 1024;

OutputFormat parse_format(const std::string& text) {
  return text == "json"    ? OutputFormat::json
         : text == "jsonl" ? OutputFormat::json_lines
         : text == "csv"   ? OutputFormat::csv
         : text == "md"    ? OutputFormat::markdown
                           : OutputFormat::table;
}

constexpr std::int64_t kMostDevice = 1023;
constexpr std::string_view kDescending = ":desc";

/// Returns the text. Throws Error(usage) if it is empty.
std::string check_name(const std::string& text, const std::string& option) {
  if (text.empty()) {
    throw Error(ExitCode::usage, "the text is empty", option,
                "names are those of the CSV's columns, as in time_us");
  }
  return text;
}

std::vector<std::string> parse_names(const std::string& text) {
  return mapped(split_at_commas(text), [&](const std::string_view part) {
    return check_name(std::string(part), "--columns");
  });
}

void read_device(const std::string& text, TargetOptions& target) {
  target.no_gpu = text == "none";
  if (!target.no_gpu) {
    target.devices = {static_cast<int>(parse_integer(text, "--device", 0, kMostDevice))};
  }
}

void read_devices(const std::string& text, TargetOptions& target) {
  target.all_devices = text == "all";
  if (!target.all_devices) {
    for (const std::int64_t ordinal : parse_integer_list(text, "--devices", 0, kMostDevice)) {
      target.devices.push_back(static_cast<int>(ordinal));
    }
  }
}

void read_best(const std::string& text, MeasureOptions& options) {
  options.files.print_best = text == "-";
  if (!options.files.print_best) {
    options.files.best_file = read_path(text, "--best");
  }
}

/// Returns the preset of that name. Throws Error(usage) with the closest name, or with all names.
ProblemPreset read_preset(const std::string& text) {
  const std::vector<ProblemPreset> presets = load_presets();
  if (const ProblemPreset* const preset = find_in(presets, text, &ProblemPreset::name)) {
    return *preset;
  }
  const auto names = mapped(presets, &ProblemPreset::name);
  const std::string guess = closest_word(text, names);
  throw Error(ExitCode::usage, fmt::format("there is no preset '{}'", text), "--preset",
              guess.empty()
                  ? fmt::format("known: {}", fmt::join(names, ", "))
                  : fmt::format("did you mean '{}'? ('fatune list --presets' shows all)", guess));
}

/// The numbers of a file, as a list with commas.
std::string listed_in(const std::filesystem::path& file) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
  constexpr std::string_view kSeparators = ", \t\r\n";
  const std::string text = read_disk_file(file, kMostBytes);
  std::vector<std::string_view> numbers;
  std::size_t end = 0;
  for (std::size_t at = 0; (at = text.find_first_not_of(kSeparators, end)) != text.npos;) {
    end = std::min(text.find_first_of(kSeparators, at), text.size());
    numbers.push_back(std::string_view(text).substr(at, end - at));
  }
  return joined(numbers, ",");
}

/// Returns lengths of keys. Unless the text is a list or names a distribution, it names the file
/// that lists them.
std::string read_lengths(const std::string& text, const std::string& option) {
  const bool is_file = text.find_first_not_of("-0123456789, ") != text.npos &&
                       !text.starts_with("uniform:") && !text.starts_with("zipf:");
  if (is_file && !std::filesystem::exists(text)) {
    throw Error(ExitCode::usage, fmt::format("'{}' is no file, and no lengths of keys", text),
                option,
                "write a list such as 4096,17,0, uniform:LOW-HIGH[:SEED], "
                "zipf:LOW-HIGH[:EXPONENT[:SEED]], or the name of a file of numbers");
  }
  try {
    return canonical_lengths(is_file ? listed_in(text) : text);
  } catch (const Error& error) {
    throw Error(error.code(), error.what_was_wrong(),
                error.where().empty() ? option : error.where(), error.remedy());
  }
}

/// "bshd|bhsd": the names, which are read in any case.
std::string choices_text(const ProblemDetail& detail) {
  std::string text = joined(detail.names(), "|", &DetailName::name);
  std::ranges::transform(text, text.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Parses the option's text. Throws Error(usage) that names the option.
DetailValue read_detail_value(const ProblemDetail& detail, const std::string& text,
                              std::int64_t most) {
  const std::string option(detail.option);
  if (detail.kind == ProblemDetail::Kind::integer) {
    return parse_integer(text, option, static_cast<std::int64_t>(detail.least),
                         std::min(static_cast<std::int64_t>(detail.greatest), most));
  }
  if (detail.kind == ProblemDetail::Kind::number) {
    return parse_number(text, option, detail.least, detail.greatest);
  }
  if (detail.kind == ProblemDetail::Kind::lengths) {
    return read_lengths(text, option);
  }
  (void)detail.parse_name(text, option);
  return text;
}

constexpr int kExhaustiveWarmup = 10;

/// The options that were given; the others follow from the strategy.
struct GivenPolicy {
  std::optional<Strategy> strategy;
  std::optional<int> warmup;
  std::optional<int> repeats;
  bool parts = true;
};

/// Sets the policy. Without --strategy, --repeats selects the exhaustive strategy, because only
/// that one takes a fixed number of samples of each configuration.
void settle(const GivenPolicy& given, Strategy otherwise, MeasurePolicy& policy) {
  if (given.repeats && given.strategy == Strategy::race) {
    throw Error(ExitCode::usage, "a race takes as many samples as it needs", "--repeats",
                "leave it out, or choose --strategy exhaustive");
  }
  policy.strategy = given.strategy.value_or(given.repeats ? Strategy::exhaustive : otherwise);
  policy.parts = given.parts && policy.strategy == Strategy::race;
  policy.repeats = given.repeats.value_or(policy.repeats);
  policy.warmup =
      given.warmup.value_or(policy.strategy == Strategy::exhaustive ? kExhaustiveWarmup : 0);
}

bool read_parts(const std::string& text) {
  if (text != "auto" && text != "off") {
    throw Error(ExitCode::usage, "there is no mode '" + text + "'", "--parts",
                "auto races on a part of a problem first when a launch is long, off never does");
  }
  return text == "auto";
}

void add_strategy_options(CLI::App& app, GivenPolicy& given, MeasurePolicy& policy,
                          Strategy otherwise) {
  constexpr double kMostSeconds = 1e9;
  constexpr double kLeastTurnSeconds = 0.1;
  constexpr double kMostTurnSeconds = 600.0;
  constexpr double kPercent = 100.0;
  add_value(
      app, "--strategy", "race|exhaustive",
      "give samples to configurations that can still win, or the same number to each (default: " +
          std::string(enum_name(otherwise)) + ")",
      given.strategy, [](const std::string& text) {
        return parse_enum<Strategy>(text, ExitCode::usage, "--strategy",
                                    "strategies are race and exhaustive");
      });
  add_integer(app, "--repeats",
              "samples per configuration; implies --strategy exhaustive (default there: 64)", 1,
              kMostSamples, given.repeats);
  add_integer(app, "--warmup",
              "samples of each configuration that are discarded first (default: 10; in a race 0)",
              0, kMostSamples, given.warmup);
  add_number(app, "--budget", "SECONDS", "end the races after this time (default: no limit)", 1e-3,
             kMostSeconds, policy.budget_s);
  add_number(app, "--target-ci", "PERCENT",
             "end a race when the winner's interval is within this of its median (default: 0.5)",
             1e-3, 50.0, policy.target_ci, kPercent);
  add_value(app, "--parts", "auto|off",
            "race on a part of the problem first when a launch is long (default: auto)",
            given.parts, read_parts);
  add_number(
      app, "--sustain", "SECONDS",
      "at the power cap, let each of the fastest run alone for so long, in turns, and rank them by "
      "these times (default: off)",
      kLeastTurnSeconds, kMostTurnSeconds, policy.sustain_s);
  add_number(app, "--confidence", "PERCENT", "confidence of the reported intervals (default: 95)",
             50.0, 99.9, policy.confidence, kPercent);
}

void read_l2(const std::string& text, MeasurePolicy& policy) {
  if (text != "cold" && text != "warm") {
    throw Error(ExitCode::usage, "there is no L2 mode '" + text + "'", "--l2",
                "modes are cold (flushed before each sample) and warm");
  }
  policy.flush_l2 = text == "cold";
}

void add_sample_options(CLI::App& app, MeasurePolicy& policy) {
  auto* l2 =
      add_text_option(app, "--l2", "cold|warm", "L2 cache before each sample (default: cold)",
                      [&](const std::string& text) { read_l2(text, policy); });
  app.add_flag_callback(
         "--no-flush", [&] { policy.flush_l2 = false; }, "the same as --l2 warm")
      ->excludes(l2);
  app.add_flag("--graph", policy.cuda_graph, "launch as a CUDA graph of one kernel");
  app.add_flag_callback(
      "--no-gate", [&] { policy.device_gate = false; },
      "do not hold the GPU until the host has queued a sample");
  add_integer(app, "--seed", "seed of the random inputs and the order of the samples (default: 1)",
              0, std::numeric_limits<std::int64_t>::max(), policy.seed);
}

/// Returns the names of the given options that only a run which times something heeds.
std::vector<std::string> given_for_times(const CLI::App& app) {
  constexpr std::array kForTimes{
      "--strategy", "--repeats",    "--warmup", "--budget",   "--target-ci", "--parts",
      "--sustain",  "--confidence", "--l2",     "--no-flush", "--graph",     "--no-gate",
      "--no-wait",  "--fresh",      "--reuse",  "--audit",    "--runs",      "--counters"};
  std::vector<std::string> given;
  for (const char* const name : kForTimes) {
    const CLI::Option* const option = app.get_option_no_throw(name);
    if (option != nullptr && option->count() > 0) {
      given.emplace_back(name);
    }
  }
  return given;
}

/// The different values of a list's elements. `remedy`: for an empty element.
template <typename Parse>
auto parse_list(std::string_view list, const std::string& option, const std::string& remedy,
                const Parse& parse) {
  std::vector<decltype(parse(list))> values;
  for (const std::string_view part : split_at_commas(list)) {
    if (part.empty()) {
      throw Error(ExitCode::usage,
                  list.empty() ? "the list is empty"
                               : fmt::format("the list '{}' has an empty element", list),
                  option, remedy);
    }
    append_new(values, parse(part));
  }
  return values;
}

}  // namespace

std::vector<std::string_view> split_at_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.push_back(trim(text.substr(0, comma)));
    if (comma == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(comma + 1);
  }
}

std::int64_t parse_integer(std::string_view text, const std::string& option, std::int64_t least,
                           std::int64_t greatest) {
  std::int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  const bool is_whole = read.ec == std::errc() && read.ptr == end;
  const bool overflows = read.ec == std::errc::result_out_of_range && read.ptr == end;
  if (!is_whole || value < least || value > greatest) {
    throw Error(ExitCode::usage,
                is_whole || overflows ? fmt::format("{} is out of range", text)
                                      : fmt::format("'{}' is not an integer", text),
                option, fmt::format("give an integer from {} to {}", least, greatest));
  }
  return value;
}

std::optional<std::int64_t> parse_run(std::string_view text, const std::string& option) {
  return text == "last" ? std::nullopt
                        : std::optional(parse_integer(text, option, 1,
                                                      std::numeric_limits<std::int64_t>::max()));
}

double parse_number(std::string_view text, const std::string& option, double least,
                    double greatest) {
  const auto value = whole_number<double>(text);
  const bool is_number = value && std::isfinite(*value);
  if (!is_number || *value < least || *value > greatest) {
    throw Error(ExitCode::usage,
                is_number ? fmt::format("{} is out of range", text)
                          : fmt::format("'{}' is not a number", text),
                option, fmt::format("give a number from {} to {}", least, greatest));
  }
  return *value;
}

std::vector<std::int64_t> parse_integer_list(std::string_view text, const std::string& option,
                                             std::int64_t least, std::int64_t greatest) {
  return parse_list(
      text, option,
      least > 0 ? "give positive integers, as in 512,1024"
                : fmt::format("give integers from {}, as in 0,2", least),
      [&](std::string_view part) { return parse_integer(part, option, least, greatest); });
}

std::vector<DType> parse_dtype_list(std::string_view text, const std::string& option) {
  return parse_list(text, option, "give fp16, bf16, e4m3 or several of them, as in fp16,bf16",
                    [](std::string_view part) { return parse_dtype(part); });
}

std::filesystem::path read_path(const std::string& text, const std::string& option) {
  if (text.empty()) {
    throw Error(ExitCode::usage, "an empty name is neither a file nor a folder", option,
                "name one; is a shell variable not set?");
  }
  return text;
}

CLI::Option* add_paths(CLI::App& app, const std::string& name, const char* type,
                       const std::string& doc, std::vector<std::filesystem::path>& paths) {
  return app
      .add_option_function<std::vector<std::string>>(
          name,
          [name, &paths](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              paths.push_back(read_path(text, name));
            }
          },
          doc)
      ->type_name(type)
      ->allow_extra_args(!name.starts_with('-'));
}

void add_counters_option(CLI::App& app, int& counters) {
  const OptionScope scope(app, option_group::kMeasuring);
  constexpr const char* kDefaultCount = "8";
  add_integer(app, "--counters",
              "also read hardware counters of the first N of each ranking, after its samples "
              "(without a number: 8)",
              1, kMostSamples, counters)
      ->expected(0, 1)
      ->default_str(kDefaultCount);
}

void add_policy_options(CLI::App& app, MeasureOptions& options, Strategy otherwise) {
  const OptionScope scope(app, option_group::kMeasuring);
  auto given = std::make_shared<GivenPolicy>();
  add_strategy_options(app, *given, options.policy, otherwise);
  add_sample_options(app, options.policy);
  app.parse_complete_callback([given, otherwise, &app, &options] {
    settle(*given, otherwise, options.policy);
    if (options.policy.sustain_s > 0.0 && options.store.reuse) {
      throw Error(ExitCode::usage, "results of earlier runs cannot run alone beside new ones",
                  "--sustain", "leave out --reuse, which takes such results");
    }
    options.given_for_times = given_for_times(app);
  });
}

void add_kernel_options(CLI::App& app, KernelOptions& kernels, SpaceOption space,
                        FamilyOption families) {
  const OptionScope scope(app, option_group::kKernels);
  const char* const help =
      families == FamilyOption::one
          ? "kernel family; auto, the default: that of the configuration or the space, or the "
            "one that --kernel-dir holds, else flash_sm80"
          : "kernel family, or several joined by +; auto, the default: all that the device can "
            "run, of those that --kernel-dir holds if it holds any";
  app.add_option("--family", kernels.family, help)->type_name("auto|FAMILY");
  add_paths(app, "--kernel-dir", "DIR", "folder of a kernel family, or of several; repeatable",
            kernels.kernel_dirs);
  add_paths(app, "--include", "DIR", "folder in which kernels' #include finds headers; repeatable",
            kernels.include_dirs);
  app.add_option("--allow-option", kernels.allowed_options,
                 "compiler option that family.json may have although it is none of the plain ones; "
                 "repeatable; not in fatune.toml")
      ->type_name("TEXT")
      ->allow_extra_args(false);
  if (space == SpaceOption::yes) {
    kernels.kernels_variable = environment_variable("KERNELS");
  }
  if (space != SpaceOption::no) {
    add_value(
        app, "--space", "SPACE|FILE",
        fmt::format("search space: tune, prog, progall, all, B_r,B_c (e.g. 64,32) or a "
                    "file (default: {})",
                    space == SpaceOption::of_file ? "what the file says"
                                                  : "the variable KERNELS, then the family's own"),
        kernels.space);
  }
}

void add_binding_options(CLI::App& app, ProblemOptions& problems) {
  const OptionScope scope(app, option_group::kProblem);
  add_text_option(app, "--dhead", "LIST", "head dimensions (default: those of the configurations)",
                  [&](const std::string& text) {
                    problems.d_heads = parse_integer_list(text, "--dhead", 1, kMostHeadDim);
                  });
  add_value(app, "--dtype", "fp16|bf16|e4m3,...",
            "element types (default: those of the configurations)", problems.dtypes,
            parse_dtype_list);
}

void add_preset_option(CLI::App& app, ProblemOptions& problems) {
  const OptionScope scope(app, option_group::kProblem);
  add_text_option(app, "--preset", "PRESET",
                  "a published model's heads, head dimensions, mask and type: see 'fatune list "
                  "--presets'; other options take precedence",
                  [&](const std::string& text) { apply_preset(read_preset(text), problems); });
}

void add_causal_options(CLI::App& app, ProblemOptions& problems) {
  const OptionScope scope(app, option_group::kProblem);
  auto* causal = app.add_flag_callback(
      "--causal", [&] { problems.causal = true; }, "a query sees only keys up to its own position");
  app.add_flag_callback(
         "--no-causal", [&] { problems.causal = false; },
         "a query sees all keys, whatever the preset (default)")
      ->excludes(causal);
}

void add_detail_options(CLI::App& app, ProblemOptions& problems, std::int64_t most_keys) {
  const OptionScope scope(app, option_group::kProblem);
  using Kind = ProblemDetail::Kind;
  for (const ProblemDetail& detail : kProblemDetails) {
    const std::string option(detail.option);
    const std::string doc(detail.doc);
    const auto ask = [&problems, &detail](const DetailValue& value) {
      problems.details[&detail] = held_value(detail, value);
    };
    if (detail.kind == Kind::flag) {
      app.add_flag_callback(
          option, [ask] { ask(true); }, doc);
      continue;
    }
    const std::string type = !detail.names().empty()        ? choices_text(detail)
                             : detail.kind == Kind::lengths ? "SPEC|FILE"
                                                            : "N";
    add_text_option(app, option, type, doc, [ask, &detail, most_keys](const std::string& text) {
      ask(read_detail_value(detail, text, most_keys));
    });
  }
}

void add_problem_options(CLI::App& app, ProblemOptions& problems,
                         const std::string& default_seq_lens) {
  const OptionScope scope(app, option_group::kProblem);
  add_preset_option(app, problems);
  add_text_option(app, "--seq", "LIST", "sequence lengths (default: " + default_seq_lens + ")",
                  [&](const std::string& text) {
                    problems.seq_lens = parse_integer_list(text, "--seq", 1, kMostSeqLen);
                  });
  add_binding_options(app, problems);
  add_causal_options(app, problems);
  add_integer(app, "--batch",
              "sequences per launch (default: by length, 16 for 512 ... 4 for 16384)", 1,
              kMostHeads, problems.batch);
  add_integer(app, "--heads", "attention heads (default: 16)", 1, kMostHeads, problems.heads);
  add_detail_options(app, problems, kMostSeqLen);
}

void add_arch_option(CLI::App& app, std::optional<Arch>& arch) {
  const OptionScope scope(app, option_group::kDevice);
  add_value(app, "--arch", "ARCH", "architecture to compile for, e.g. sm_80 or sm_90a", arch,
            parse_arch);
}

void add_target_options(CLI::App& app, TargetOptions& target) {
  const OptionScope scope(app, option_group::kDevice);
  add_text_option(app, "--device", "N|none",
                  "GPU by number (see 'fatune devices'), or none: estimate (default: the first "
                  "usable one)",
                  [&](const std::string& text) { read_device(text, target); });
  add_text_option(app, "--devices", "all|LIST",
                  "GPUs to spread the problems over: numbers, or all usable ones",
                  [&](const std::string& text) { read_devices(text, target); })
      ->excludes("--device");
  app.add_flag("--no-wait", target.no_wait, "fail while another fatune measures on the GPU");
  add_arch_option(app, target.arch);
  app.add_flag("--require-gpu", target.require_gpu, "fail instead of estimating");
}

void add_cache_options(CLI::App& app, CompileSettings& compile) {
  const OptionScope scope(app, option_group::kKernels);
  add_path_option(app, "--cache-dir", "DIR",
                  "cache of compiled kernels (default: $XDG_CACHE_HOME/fatune)", compile.cache_dir);
  app.add_flag("--no-cache", compile.no_cache, "compile everything anew, store nothing");
}

void add_compile_settings(CLI::App& app, CompileSettings& compile) {
  const OptionScope scope(app, option_group::kKernels);
  add_integer(app, "--jobs", "compilations at a time (default: one per usable core)", 1, kMostJobs,
              compile.jobs);
  add_cache_options(app, compile);
}

CLI::Option* add_configs_option(CLI::App& app, std::vector<std::string>& configs,
                                const std::string& doc) {
  const OptionScope scope(app, option_group::kKernels);
  return app.add_option("--config", configs, doc)->type_name("CONFIG")->allow_extra_args(false);
}

void add_cover_option(CLI::App& app, const char* help, std::optional<double>& percent) {
  const OptionScope scope(app, option_group::kSearch);
  add_number(app, "--cover", "PERCENT", help, 0.0, 1000.0, percent);
}

void add_tolerance_option(CLI::App& app, std::optional<double>& percent) {
  const OptionScope scope(app, option_group::kMeasuring);
  add_number(
      app, "--tolerance", "PERCENT",
      fmt::format("difference up to which times count as equal (default: {})", kTolerancePercent),
      0.0, 1000.0, percent);
}

void add_junit_option(CLI::App& app, std::optional<std::filesystem::path>& file) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--junit", "FILE", "also write the verdicts as JUnit XML, for CI systems",
                  file);
}

void add_db_option(CLI::App& app, std::optional<std::filesystem::path>& file) {
  const OptionScope scope(app, option_group::kStore);
  add_path_option(app, "--db", "FILE",
                  "database of measurements (default: $XDG_DATA_HOME/fatune/fatune.db)", file);
}

void add_tuned_options(CLI::App& app, TunedOptions& tuned) {
  const OptionScope scope(app, option_group::kStore);
  add_paths(
      app, "--best", "FILE",
      "best_configs.json or results.json of a sweep; repeatable (default, without --run: what "
      "fatune ships)",
      tuned.best_files);
  app.add_option_function<std::vector<std::string>>(
         "--run",
         [&](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             tuned.runs.push_back(parse_run(text, "--run"));
           }
         },
         "stored run: number from 'fatune history', or last; repeatable")
      ->type_name("N|last")
      ->allow_extra_args(false);
  add_db_option(app, tuned.db_file);
}

void add_store_options(CLI::App& app, StoreOptions& store) {
  const OptionScope scope(app, option_group::kStore);
  add_db_option(app, store.file);
  app.add_flag("--no-db", store.off, "store nothing, and use nothing stored")->excludes("--db");
  app.add_flag("--fresh", store.fresh, "measure anew what an interrupted run has measured");
  app.add_flag("--reuse", store.reuse,
               "reuse what any earlier run measured of the same code on this GPU")
      ->excludes("--fresh")
      ->excludes("--no-db");
}

void add_file_options(CLI::App& app, MeasureOptions& options) {
  const OptionScope scope(app, option_group::kOutput);
  add_path_option(app, "--out", "DIR", "folder for results.json, results.csv and best_configs.json",
                  options.files.folder);
  add_text_option(app, "--best", "FILE|-",
                  "file for the best configurations (best_configs.json); -: standard output, in "
                  "place of the table",
                  [&](const std::string& text) { read_best(text, options); });
}

void add_output_options(CLI::App& app, OutputOptions& output) {
  const OptionScope scope(app, option_group::kOutput);
  app.add_option_function<std::string>(
         "--format", [&](const std::string& text) { output.format = parse_format(text); },
         "how to print the result (default: table)")
      ->type_name("table|json|jsonl|csv|md")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "md"}).description(""));
  add_verbosity_options(app, output);
}

void add_verbosity_options(CLI::App& app, OutputOptions& output) {
  const OptionScope scope(app, option_group::kOutput);
  auto* quiet = app.add_flag_callback(
      "-q,--quiet", [&] { output.verbosity = Verbosity::quiet; }, "no progress, no notes");
  app.add_flag_callback(
         "-v,--verbose", [&] { output.verbosity = Verbosity::verbose; }, "say more while working")
      ->excludes(quiet);
}

void add_top_option(CLI::App& app, OutputOptions& output) {
  const OptionScope scope(app, option_group::kOutput);
  add_text_option(app, "--top", "N", "rows per problem in a table (default: 10; 0: all)",
                  [&output](const std::string& text) {
                    output.top = parse_integer(text, "--top", 0, kMostSamples);
                    output.view.top = static_cast<std::size_t>(output.top);
                  });
}

void add_view_options(CLI::App& app, TableView& view) {
  const OptionScope scope(app, option_group::kOutput);
  add_value(app, "--columns", "NAME,...", "one table of the records, with these columns of the CSV",
            view.columns, parse_names);
  add_text_option(app, "--sort", "NAME[:desc]", "sort the records by a column",
                  [&view](const std::string& text) {
                    const std::size_t end = text.ends_with(kDescending)
                                                ? text.size() - kDescending.size()
                                                : text.size();
                    view.descending = end != text.size();
                    view.sort = check_name(text.substr(0, end), "--sort");
                  });
  add_value(app, "--filter", "EXPRESSION",
            "only records for which it holds, e.g. \"time_us < 100 && family == 'flash_sm90'\"",
            view.filter, check_name);
}

void add_emulate_option(CLI::App& app, bool& emulate) {
  const OptionScope scope(app, option_group::kMeasuring);
  app.add_flag_callback(
      "--no-emulate", [&emulate] { emulate = false; },
      "without a GPU: do not verify by running the PTX on the CPU");
}

void add_measure_options(CLI::App& app, MeasureOptions& options, SpaceOption space,
                         Strategy strategy) {
  add_problem_options(app, options.problems);
  add_kernel_options(app, options.kernels, space, FamilyOption::several);
  add_target_options(app, options.target);
  add_compile_settings(app, options.compile);
  add_emulate_option(app, options.emulate);
  add_policy_options(app, options, strategy);
  add_store_options(app, options.store);
  const OptionScope scope(app, option_group::kOutput);
  add_file_options(app, options);
  add_value(app, "--baseline", "CONFIG", "configuration that counts as 100 % (default: the best)",
            options.baseline);
  app.add_flag("--strict", options.strict,
               "exit with 6 if a configuration was wrong, crashed or did not compile");
  add_output_options(app, options.output);
  add_top_option(app, options.output);
}

}  // namespace fatune
