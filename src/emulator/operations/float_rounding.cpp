#include <cfenv>
#include <functional>
#include <string_view>
#include <type_traits>

#include "emulator/operations/lane_wise.hpp"
#include "emulator/operations/operations.hpp"
#include "emulator/values/floats.hpp"

// Floating-point operations that do not round to nearest, or that saturate. This file is compiled
// with -frounding-math: see CMakeLists.txt.
namespace fatune::emulate {
namespace {

/// The details of an instruction of such a form.
struct RoundedForm {
  Rounding rounding = Rounding::nearest;
  bool flushes = false;
  bool saturates = false;
};

/// Sets the rounding mode of arithmetic during its lifetime.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding) : before_(std::fegetround()) {
    constexpr int kModes[]{FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    (void)std::fesetround(kModes[static_cast<std::size_t>(rounding)]);
  }
  ~RoundingScope() { (void)std::fesetround(before_); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int before_;
};

/// Clamps to [0, 1]. A NaN becomes 0.
template <typename T>
T clamped(T value) {
  return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
}

template <typename T>
T flushed(T value, bool flushes) {
  if constexpr (sizeof(T) == 4) {
    return flushes ? flush_subnormal(value) : value;
  } else {
    return value;
  }
}

/// What .ftz changes in a result of F, besides subnormal numbers.
template <typename F, typename... T>
float flushed_result(float result, T... values) {
  if constexpr (std::is_same_v<F, std::multiplies<>> || std::is_same_v<F, FusedMultiplyAdd>) {
    return flush_tiny(result, values...);
  } else if constexpr (std::is_same_v<F, std::divides<>>) {
    return flush_tiny_quotient(result, values...);
  } else {
    return result;
  }
}

template <typename F, typename T, typename... From>
void rounded(const Step& step) {
  const auto form = step.instruction.details_as<RoundedForm>();
  const RoundingScope scope(form.rounding);
  with_sources<From...>(step, [&](const auto*... from) {
    auto* const to = step.lanes<Raw<T>>(0);
    const auto value_of = [&](auto... values) {
      T result = canonical_result<F>(values...);
      if constexpr (sizeof(T) == 4) {
        result = form.flushes ? flushed_result<F>(result, values...) : result;
      }
      return flushed(form.saturates ? clamped(result) : result, form.flushes);
    };
    step.for_each([&](int lane) {
      to[lane] = to_raw<T>(value_of(flushed(from_raw<T>(from[lane]), form.flushes)...));
    });
  });
}

template <typename T>
Handler rounded_handler(std::string_view name) {
  if (name == "add") return &rounded<std::plus<>, T, T, T>;
  if (name == "sub") return &rounded<std::minus<>, T, T, T>;
  if (name == "mul") return &rounded<std::multiplies<>, T, T, T>;
  if (name == "div") return &rounded<std::divides<>, T, T, T>;
  if (name == "rcp") return &rounded<Reciprocal, T, T>;
  if (name == "sqrt") return &rounded<SquareRoot, T, T>;
  return &rounded<FusedMultiplyAdd, T, T, T, T>;
}

}  // namespace

void use_rounded_form(Decoder& d) {
  d.result.handler = d.type() == ScalarType::f64 ? rounded_handler<double>(d.name())
                                                 : rounded_handler<float>(d.name());
  const auto rounding = d.one_of({"rn", "rz", "rm", "rp"}).value_or(0);
  d.result.set_details(RoundedForm{static_cast<Rounding>(rounding), d.has("ftz"), d.has("sat")});
}

}  // namespace fatune::emulate
