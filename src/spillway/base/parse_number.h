#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace spillway {

// A number as TensorFlow reads it: spaces around it, a sign, for floats also hexadecimal, "inf",
// "infinity" and "nan" in any case. Integers that do not fit are refused; floats become infinite
// or zero, and are otherwise the nearest to what is written. T: float, double and integers of 32
// and 64 bits.
template <class T>
std::optional<T> parse_number(std::string_view text);

}  // namespace spillway
