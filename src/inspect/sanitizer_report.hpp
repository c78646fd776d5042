#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/sanitizer.hpp"

namespace fatune {

/// Numbers the groups of races from 1. Races that share an instruction, directly or through others,
/// are in one group, because one missing barrier causes many of them. Other findings are in no
/// group.
void number_race_groups(std::vector<SanitizerFinding>& findings);

/// The number of groups.
[[nodiscard]] std::int64_t count_groups(const std::vector<SanitizerFinding>& findings);

/// A call of compute-sanitizer.
struct SanitizerCommand {
  std::string program;
  SanitizerTool tool = SanitizerTool::memcheck;
  std::string log_folder;  ///< each of its processes writes <pid>.log there
  /// Parts of the mangled names of the kernels to look at; not empty.
  std::vector<std::string> kernel_names;
};

/// The command with its options. The program to be checked, and its arguments, must follow.
[[nodiscard]] std::vector<std::string> sanitizer_words(const SanitizerCommand& command);

/// The result of one run of compute-sanitizer.
struct SanitizerReport {
  std::vector<SanitizerFinding> findings;  ///< ordered by when they were first reported
  std::int64_t errors = 0;                 ///< the summary's count, errors of API calls included
  std::int64_t warnings = 0;               ///< the count in racecheck's summary
  bool complete = false;                   ///< there is a summary: the tool ran to its end
  std::vector<std::string> problems;       ///< errors of the tool itself: it could not continue
};

/// Reads what compute-sanitizer (2022 to 2025) prints or writes to its --log-file. Lines that are
/// not the tool's are ignored. Reports of an unknown kind are findings of kind "other". Reports of
/// failed API calls are not findings, because the driver tells the program too. Reports that differ
/// only in thread and address become one. Never throws because of the content of `text`.
[[nodiscard]] SanitizerReport parse_sanitizer_report(std::string_view text);

/// Appends the findings of another process of the same run.
void merge(const SanitizerReport& more, SanitizerReport& report);

}  // namespace fatune
