#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/enum_names.hpp"
#include "emit/document/json_text.hpp"

// The results of a tunable kernel as in files of other auto-tuners, whatever the format.
namespace fatune {

inline constexpr double kUsPerMs = 1000.0;

/// How a setting ended. The enumerators are the words of T4's "invalidity".
enum class Validity { correct, compile, runtime, timeout, correctness, constraints };
template <>
inline constexpr EnumNames<6> kEnumNames<Validity>{
    "invalidity", {"correct", "compile", "runtime", "timeout", "correctness", "constraints"}};

/// One choice of values for the kernel's parameters.
struct TunedSetting {
  Json configuration = Json::object();  ///< values by parameter
  Validity validity = Validity::correct;
  std::optional<double> time_ms{};  ///< what it is ranked by; absent: it has no time
  std::vector<double> runtimes_ms{};
  double compile_ms = 0.0;
  std::string timestamp{};
};

/// The contents of a file: one kernel, on one problem and device.
struct TuningResults {
  std::string kernel_name{};                ///< empty: the file does not say
  std::string device_name{};                ///< likewise
  Json device = nullptr;                    ///< all that is known about it
  std::vector<std::string> requirements{};  ///< "nvrtc==13.0": what it was measured with
  std::vector<std::int64_t> problem_size{};
  std::vector<TunedSetting> settings{};
  nlohmann::json records{};  ///< what only fatune knows (run_parts.hpp); null: not its file
};

}  // namespace fatune
