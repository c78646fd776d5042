#pragma once

#include "core/members.hpp"

namespace fatune {

/// The measured rate at which a GPU multiplies dense matrices of 16-bit elements.
struct MatmulRate {
  double tflops = 0.0;
  double sm_mhz = 0.0;
};
FATUNE_DESCRIBED(MatmulRate, (tflops, "10^12 FLOP per second"),
                 (sm_mhz, kOrNull, "SM clock in MHz during the measurement; null: not known"))

}  // namespace fatune
