#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <type_traits>

#include "spillway/tensor/dtype.h"

// The C++ types behind dtypes, and arithmetic on them that is defined for every value.
namespace spillway::graph {

// IEEE half. Arithmetic happens in float and is rounded to nearest even, as TensorFlow does.
struct Half {
  std::uint16_t bits = 0;
  Half() = default;
  [[gnu::always_inline]] explicit Half(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = (f >> 16U) & 0x8000U;
    const std::uint32_t magnitude = f & 0x7fffffffU;
    std::uint32_t out = 0;
    if (magnitude >= 0x47800000U) {
      out = magnitude > 0x7f800000U ? 0x7e00U : 0x7c00U;
    } else if (magnitude < 0x38800000U) {
      // Adding a half moves the subnormal's bits into place, rounded by the addition itself.
      out = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
    } else {
      const std::uint32_t odd = (magnitude >> 13U) & 1U;
      out = (magnitude + 0xc8000fffU + odd) >> 13U;
    }
    bits = static_cast<std::uint16_t>(out | sign);
  }
  [[gnu::always_inline]] explicit operator float() const {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
    const std::uint32_t exponent = bits & 0x7c00U;
    std::uint32_t out = static_cast<std::uint32_t>(bits & 0x7fffU) << 13U;
    if (exponent == 0x7c00U) {
      out += 0x70000000U;
    } else if (exponent == 0) {
      out = std::bit_cast<std::uint32_t>(std::bit_cast<float>(out + 0x38800000U) -
                                         std::bit_cast<float>(0x38800000U));
    } else {
      out += 0x38000000U;
    }
    return std::bit_cast<float>(out | sign);
  }
};

struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  [[gnu::always_inline]] explicit BFloat16(float value) {
    const auto f = std::bit_cast<std::uint32_t>(value);
    bits = value != value ? static_cast<std::uint16_t>((f >> 31U) << 15U | 0x7fc0U)
                          : static_cast<std::uint16_t>((f + 0x7fffU + ((f >> 16U) & 1U)) >> 16U);
  }
  [[gnu::always_inline]] explicit operator float() const {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
  }
};

template <class T>
inline constexpr bool kSmallFloat = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool kComplex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
template <class T>
inline constexpr bool kFloating = std::is_floating_point_v<T> || kSmallFloat<T>;
template <class T>
inline constexpr bool kInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// The type arithmetic on T is done in.
template <class T>
using Wide = std::conditional_t<kSmallFloat<T>, float, T>;
template <class T>
[[gnu::always_inline]] inline Wide<T> widen(T value) {
  return static_cast<Wide<T>>(value);
}
// A type whose arithmetic wraps without undefined behaviour.
template <class T>
struct WrappingOf {
  using type = T;
};
template <class T>
  requires kInteger<T>
struct WrappingOf<T> {
  // Narrow unsigned types would promote to int and overflow there.
  using type = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;
};
template <class T>
using Wrapping = typename WrappingOf<T>::type;

template <class T>
[[gnu::always_inline]] inline bool not_a_number(T x) {
  if constexpr (std::is_floating_point_v<T>) {
    return __builtin_isnan(x);
  } else {
    return false;
  }
}

template <class... Ts>
struct Types {};
template <class... As, class... Bs>
Types<As..., Bs...> operator|(Types<As...>, Types<Bs...>);

using SignedTypes = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedTypes = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using IntegerTypes = decltype(SignedTypes{} | UnsignedTypes{});
using FloatTypes = Types<Half, BFloat16, float, double>;
using ComplexTypes = Types<std::complex<float>, std::complex<double>>;
using BoolType = Types<bool>;
using RealTypes = decltype(IntegerTypes{} | FloatTypes{});
using NumberTypes = decltype(RealTypes{} | ComplexTypes{});
using PlainTypes = decltype(NumberTypes{} | BoolType{});
using SignedNumbers = decltype(SignedTypes{} | FloatTypes{} | ComplexTypes{});

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat32;
  if constexpr (std::is_same_v<T, double>) return DType::kFloat64;
  if constexpr (std::is_same_v<T, Half>) return DType::kFloat16;
  if constexpr (std::is_same_v<T, BFloat16>) return DType::kBFloat16;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::kInt8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::kInt16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::kInt32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::kInt64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::kUInt8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::kUInt16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::kUInt32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::kUInt64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::kComplex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::kComplex128;
}

// Calls `use.template operator()<T>()` with the type behind `dtype`; false when it is none of them.
template <class... Ts, class Use>
bool with_type(Types<Ts...>, DType dtype, Use use) {
  return ((dtype == dtype_of<Ts>() ? (use.template operator()<Ts>(), true) : false) || ...);
}
template <class... Ts>
bool is_one_of(Types<Ts...>, DType dtype) {
  return ((dtype == dtype_of<Ts>()) || ...);
}

}  // namespace spillway::graph
