#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

inline constexpr std::uint32_t kReplacementCharacter = 0xFFFD;

// What a text in UTF-8 begins with.
struct Utf8Character {
  std::uint32_t code = kReplacementCharacter;
  std::uint8_t bytes = 1;  // of a broken one: its longest part that could begin a character
  bool good = false;
  bool cut = false;  // broken only because the text ends inside it
};
// `text` must not be empty. No detours, no surrogates, nothing past the last character.
Utf8Character utf8_character(std::string_view text);

void append_utf8(std::uint32_t code, std::string& out);

// Bytes before the first one that is not ASCII.
std::size_t ascii_length(std::string_view text);

}  // namespace spillway
