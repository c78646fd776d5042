#pragma once

namespace fatune {

/// How fast a GPU multiplies dense matrices of 16-bit elements, as it was measured.
struct MatmulRate {
  double tflops = 0.0;
  double sm_mhz = 0.0;  ///< SM clock meanwhile; 0: not said
};

}  // namespace fatune
