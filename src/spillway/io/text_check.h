#pragma once

#include <cstdint>
#include <string_view>

#include "spillway/io/byte_stream.h"

namespace spillway {

// Reads a text to its end through the stream's buffer, whatever its size. CorruptFile with the
// offset where it is not UTF-8, ends inside a character, or has a NUL, which no text has. The
// number of bytes otherwise.
Result<std::uint64_t> check_utf8(ByteStream& stream);

}  // namespace spillway
