#include "spillway/graph/parse_number.h"

#include <charconv>
#include <cstdlib>
#include <string>
#include <type_traits>

#include "spillway/graph/strings.h"

namespace spillway::graph {
namespace {

// Past the limits of T: what is left is infinity or zero, which the C library tells apart.
template <class T>
T beyond(const std::string& text) {
  if constexpr (std::is_same_v<T, float>)
    return std::strtof(text.c_str(), nullptr);
  else
    return std::strtod(text.c_str(), nullptr);
}

}  // namespace

template <class T>
std::optional<T> parse_number(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && text.front() == '+') {
    text.remove_prefix(1);
    if (!text.empty() && text.front() == '-') return std::nullopt;
  }
  const char* const end = text.data() + text.size();
  T value{};
  std::from_chars_result got{};
  if constexpr (std::is_integral_v<T>) {
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
    got = std::from_chars(text.data(), end, value);
    if (got.ec != std::errc()) return std::nullopt;
  } else {
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = text.substr(negative ? 1 : 0);
    const bool hex =
        digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    if (hex) digits.remove_prefix(2);
    if (digits.empty() || digits.front() == '-' || digits.back() == ')') return std::nullopt;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given
    got = std::from_chars(digits.data(), end, value,
                          hex ? std::chars_format::hex : std::chars_format::general);
    if (got.ec == std::errc::result_out_of_range) {
      value = beyond<T>((hex ? "0x" : "") + std::string(digits));
    } else if (got.ec != std::errc()) {
      return std::nullopt;
    }
    if (negative) value = -value;
  }
  if (got.ptr != end) return std::nullopt;
  return value;
}

template std::optional<float> parse_number(std::string_view);
template std::optional<double> parse_number(std::string_view);
template std::optional<std::int32_t> parse_number(std::string_view);
template std::optional<std::int64_t> parse_number(std::string_view);
template std::optional<std::uint32_t> parse_number(std::string_view);
template std::optional<std::uint64_t> parse_number(std::string_view);

}  // namespace spillway::graph
