#pragma once

#include "record/record_json.hpp"

/// Calls `macro` for each type that has records.
#define FATUNE_RECORD_TYPES(macro)                                                                 \
  macro(fatune::Outcome) macro(fatune::Timing) macro(fatune::Verification) macro(                  \
      fatune::ErrorStats) macro(fatune::Problem) macro(fatune::Config) macro(fatune::DeviceLimits) \
      macro(fatune::MeasurePolicy) macro(fatune::MeasuringSummary) macro(fatune::GpuReading)       \
          macro(fatune::GpuConditions) macro(fatune::MatmulRate) macro(fatune::RuleAudit)          \
              macro(fatune::Toolchain) macro(fatune::LaunchGeometry)                               \
                  macro(std::optional<fatune::Problem>) macro(std::optional<fatune::Verification>) \
                      macro(std::optional<fatune::LaunchGeometry>)                                 \
                          macro(std::optional<fatune::GpuReading>)                                 \
                              macro(std::optional<fatune::DumpExtents>) macro(fatune::CountedWork) \
                                  macro(fatune::ResourceFacts) macro(fatune::Result)               \
                                      macro(fatune::ProblemReport) macro(fatune::RivalCheck)       \
                                          macro(fatune::GateReport) macro(fatune::RunReport)       \
                                              macro(fatune::Shard)
