// How the reference for Q, K and V of 8 bits rounds exponentials of scores. Included by the host;
// no includes.
#ifndef FATUNE_KERNELS_REFERENCE_PROBABILITY_UNITS_H
#define FATUNE_KERNELS_REFERENCE_PROBABILITY_UNITS_H

// An exponential times this, relative to the greatest of its row or up to twice that, becomes an
// e4m3. It is then within the format, whose greatest number is 448, and exponentials down to 2^-14
// are normal numbers.
inline constexpr float kProbabilityUnits = 256.0f;

// Exponentials are relative to a power of two, the least that no exponential of the row exceeds.
// Its exponent is the greatest score times this, rounded up. So an exponential has the same
// significand relative to every power of two, and is rounded alike in whichever order a kernel sees
// the keys.
inline constexpr double kLog2OfE = 1.44269504088896340736;

#endif
