#pragma once

#include <cstdint>
#include <string>

#include "attention/problem_details.hpp"

namespace fatune {

/// The attention of a published model: a problem without batch and lengths.
struct ProblemPreset {
  std::string name;
  std::int64_t heads = 0;
  std::int64_t d_head = 0;
  DType dtype = DType::fp16;
  bool causal = false;
  DetailValues details;
  std::string note;    ///< what a problem cannot say about the model; may be empty
  std::string source;  ///< where the model's publisher states the values
};

}  // namespace fatune
