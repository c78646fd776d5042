#pragma once

namespace fatune {

/// The measured rate at which a GPU multiplies dense matrices of 16-bit elements.
struct MatmulRate {
  double tflops = 0.0;
  double sm_mhz = 0.0;  ///< SM clock during the measurement; 0: unknown
};

}  // namespace fatune
