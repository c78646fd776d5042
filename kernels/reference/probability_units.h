// How the reference for Q, K and V of 8 bits rounds probabilities. Included by the host; no
// includes.
#ifndef FATUNE_KERNELS_REFERENCE_PROBABILITY_UNITS_H
#define FATUNE_KERNELS_REFERENCE_PROBABILITY_UNITS_H

// exp(score - maximum) times this becomes an e4m3. The greatest one is then within the format,
// whose greatest number is 448, and probabilities down to 2^-14 of the greatest are normal numbers.
inline constexpr float kProbabilityUnits = 256.0f;

#endif
