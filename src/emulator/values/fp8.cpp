#include "emulator/values/fp8.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/values/floats.hpp"

namespace fatune::emulate {

std::uint8_t to_fp8(double value, Fp8 format) {
  const bool e4m3 = format == Fp8::e4m3;
  const FloatFormat& layout = e4m3 ? kE4m3Format : kE5m2Format;
  if (std::isnan(value)) {
    return static_cast<std::uint8_t>(layout.nan());
  }
  // .e4m3 has numbers where other formats have infinities, and one NaN.
  const std::uint64_t most = e4m3 ? layout.nan() - 1 : layout.infinity() - 1;
  const std::uint64_t magnitude =
      std::isinf(value) ? most : rounded_magnitude(value, layout, Rounding::nearest);
  return static_cast<std::uint8_t>(std::min(magnitude, most) |
                                   (std::signbit(value) ? layout.sign() : 0U));
}

}  // namespace fatune::emulate
