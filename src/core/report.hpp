#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/config.hpp"
#include "core/device_limits.hpp"
#include "core/kernel_code.hpp"
#include "core/outcome.hpp"
#include "core/problem.hpp"

namespace fatune {

/// A parameter as outputs show it: value as text ("FP16", "128", "true").
struct NamedValue {
  std::string name;
  std::string text;
};

/// One configuration on one problem, with everything known about it.
struct Entry {
  Config config;
  std::string short_form;
  std::string kernel_name;  ///< as a profiler prints it; empty where the family has no such form
  std::vector<NamedValue> parameters;
  std::optional<ResourceFacts> facts;  ///< absent when it was never compiled
  std::int64_t dynamic_smem_bytes = 0;
  int threads_per_block = 0;
  int blocks_per_sm = 0;  ///< from the facts and the device's limits
  double compile_ms = 0.0;
  bool from_cache = false;
  std::string artifact_key;
  std::optional<double> total_flop;  ///< the family's own count, softmax included
  Outcome outcome;
  bool reused = false;  ///< the outcome was taken from an earlier run (docs/store.md)

  // Filled by rank/.
  int rank = 0;       ///< 1 is best; 0: not ranked
  int tie_group = 0;  ///< entries with the same number cannot be told apart from its first
  double relative_percent = 0.0;  ///< 100 * baseline / this; the baseline is the best unless chosen
};

struct ProblemReport {
  Problem problem;
  int run = 1;                  ///< which repetition of the whole measurement this is, from 1
  std::vector<Entry> ranking;   ///< best first; measured or estimated, nothing else
  std::vector<Entry> failures;  ///< everything compiled or tried that has no rank
  std::int64_t pruned = 0;      ///< how many the space's rules dropped
  std::int64_t invalid = 0;     ///< how many the family cannot build
};

struct Toolchain {
  std::string fatune_version;
  std::string nvrtc_version;
  std::string driver_version;  ///< CUDA version of the driver; empty without one
};

/// How the numbers came about; goes into every output.
struct MeasurePolicy {
  int warmup = 10;
  int repeats = 64;
  bool flush_l2 = true;     ///< write a buffer of twice the L2 before each sample
  bool device_gate = true;  ///< hold the stream until the host has queued the sample
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

struct RunReport {
  std::string command_line;
  std::string started_at;  ///< ISO 8601, UTC
  double wall_s = 0.0;
  bool measured = false;  ///< false: everything here is an estimate, nothing was timed
  bool complete = true;
  std::string space;
  std::string family;
  DeviceLimits device;
  Toolchain toolchain;
  MeasurePolicy policy;
  std::vector<ProblemReport> problems;
};

}  // namespace fatune
