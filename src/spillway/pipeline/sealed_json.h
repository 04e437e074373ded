#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace spillway {

// A JSON object whose last member is a checksum of the bytes before it: {...,"crc32c":"0123abcd"}.
// Any reader of JSON can read it; ours refuses it when a bit of it changed.

// `object`, which is not empty, with the checksum added.
std::string seal_json(std::string object);

// kNone: there is no checksum at the end, as in files of older versions.
enum class JsonSeal : std::uint8_t { kWhole, kBroken, kNone };
// Of the text without the line's end.
JsonSeal check_json(std::string_view text);

}  // namespace spillway
