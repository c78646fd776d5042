// Whether a configuration can be used for a problem on a device.
#pragma once

#include "kernel_table.hpp"

namespace fatune_attention::detail {

/// A problem, its strides and a device, as configurations are asked about them.
struct Request {
  Facts facts;
  const Device* device = nullptr;
  bool contiguous = false;  ///< every tensor is, in the same layout
};
Request request_for(const Problem& problem, const Tensors& tensors, const Device& device);

/// A configuration that was asked about.
struct Answer {
  int kernel = -1;  ///< of the table; -1: refused
  std::size_t workspace_bytes = 0;
  const char* refusal = nullptr;  ///< null: it can be used
};
Answer ask(int configuration, const Request& request);

}  // namespace fatune_attention::detail
