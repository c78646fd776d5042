// Checks whether a configuration can be used for a problem on a device.
#pragma once

#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// A problem, its strides and a device, for which configurations are checked.
struct Request {
  Facts facts;
  const Device* device = nullptr;
  bool contiguous = false;  ///< all tensors are contiguous, in the same layout
};
Request request_for(const Problem& problem, const Tensors& tensors, const Device& device);

/// The answer for one configuration.
struct Answer {
  int kernel = -1;  ///< index in the table; -1: refused
  std::size_t workspace_bytes = 0;
  const char* refusal = nullptr;  ///< null: it can be used
};
Answer ask(int configuration, const Request& request);

}  // namespace fatune_attention::detail
