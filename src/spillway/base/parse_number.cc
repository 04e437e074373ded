#include "spillway/base/parse_number.h"

#include <array>
#include <bit>
#include <cfloat>
#include <charconv>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

namespace spillway {
namespace {

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Digits from `at` on, added to `value`; stops behind the 19th, the last that always fits.
const char* digits(const char* at, const char* end, std::uint64_t& value, int& count) {
  for (; at != end && is_digit(*at) && count < 19; ++at, ++count) {
    value = value * 10 + static_cast<unsigned>(*at - '0');
  }
  return at;
}

constexpr std::array<double, 23> kTens = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                          1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                          1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// The numbers most files have: both the digits and the power of ten are exact doubles, so that one
// product or quotient is the nearest double (Clinger). Nothing where that does not hold.
std::optional<double> plain_decimal(const char* at, const char* end) {
  std::uint64_t number = 0;
  int count = 0;
  at = digits(at, end, number, count);
  int power = 0;
  if (at != end && *at == '.') {
    const int whole = count;
    at = digits(at + 1, end, number, count);
    power = whole - count;
  }
  if (count == 0) return std::nullopt;
  if (at != end && (*at == 'e' || *at == 'E')) {
    ++at;
    const bool down = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    std::uint64_t tens = 0;
    int places = 0;
    const char* const begin = at;
    at = digits(at, end, tens, places);
    if (at == begin || places > 3) return std::nullopt;
    power += down ? -static_cast<int>(tens) : static_cast<int>(tens);
  }
  constexpr std::uint64_t kExact = std::uint64_t{1} << 53U;
  if (at != end || number > kExact || power < -22 || power > 22) return std::nullopt;
  const auto value = static_cast<double>(number);
  return power < 0 ? value / kTens[static_cast<std::size_t>(-power)]
                   : value * kTens[static_cast<std::size_t>(power)];
}

// Rounding to double and then to float is rounding to float, but where the double lies half-way
// between two floats: the number itself may lie on either side of it.
std::optional<float> to_float(double value) {
  if (value == 0) return 0.0F;
  constexpr std::uint64_t kBelowFloat = (std::uint64_t{1} << 29U) - 1;
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 28U;
  if (value < FLT_MIN || value >= FLT_MAX) return std::nullopt;
  if ((std::bit_cast<std::uint64_t>(value) & kBelowFloat) == kHalf) return std::nullopt;
  return static_cast<float>(value);
}

// Past the limits of T: what is left is infinity or zero, which the C library tells apart.
template <class T>
T beyond(const std::string& text) {
  if constexpr (std::is_same_v<T, float>)
    return std::strtof(text.c_str(), nullptr);
  else
    return std::strtod(text.c_str(), nullptr);
}

// Any float without a sign.
template <class T>
std::optional<T> any_float(std::string_view text) {
  const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  if (text.empty() || text.front() == '-' || text.back() == ')') return std::nullopt;
  const char* const end = text.data() + text.size();
  T value{};
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
  const auto got = std::from_chars(text.data(), end, value,
                                   hex ? std::chars_format::hex : std::chars_format::general);
  if (got.ptr != end || got.ec == std::errc::invalid_argument) return std::nullopt;
  if (got.ec == std::errc::result_out_of_range) {
    return beyond<T>((hex ? "0x" : "") + std::string(text));
  }
  return value;
}

template <class T>
std::optional<T> parse_float(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  std::optional<T> value;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
  if (const auto plain = plain_decimal(text.data(), text.data() + text.size())) {
    if constexpr (std::is_same_v<T, float>)
      value = to_float(*plain);
    else
      value = plain;
  }
  if (!value) value = any_float<T>(text);
  if (value && negative) return -*value;
  return value;
}

template <class T>
std::optional<T> parse_integer(std::string_view text) {
  const char* const end = text.data() + text.size();
  const bool negative = std::is_signed_v<T> && !text.empty() && text.front() == '-';
  std::uint64_t number = 0;
  int count = 0;
  const char* const begin = text.data() + (negative ? 1 : 0);
  if (digits(begin, end, number, count) == end && count > 0 && count < 19) {
    const auto value = static_cast<std::int64_t>(number) * (negative ? -1 : 1);
    if (!std::in_range<T>(value)) return std::nullopt;
    return static_cast<T>(value);
  }
  T value{};
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
  const auto got = std::from_chars(text.data(), end, value);
  if (got.ec != std::errc() || got.ptr != end) return std::nullopt;
  return value;
}

}  // namespace

template <class T>
std::optional<T> parse_number(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  if constexpr (std::is_integral_v<T>)
    return parse_integer<T>(text);
  else
    return parse_float<T>(text);
}

template std::optional<float> parse_number(std::string_view);
template std::optional<double> parse_number(std::string_view);
template std::optional<std::int32_t> parse_number(std::string_view);
template std::optional<std::int64_t> parse_number(std::string_view);
template std::optional<std::uint32_t> parse_number(std::string_view);
template std::optional<std::uint64_t> parse_number(std::string_view);

}  // namespace spillway
