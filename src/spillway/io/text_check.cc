#include "spillway/io/text_check.h"

#include <algorithm>
#include <string>

#include "spillway/base/hex.h"
#include "spillway/base/utf8.h"

namespace spillway {
namespace {

constexpr std::size_t kLongest = 4;  // bytes of a character

Status not_text(const ByteStream& stream, std::size_t at, std::string_view expected,
                std::string_view found) {
  const std::uint64_t offset = stream.position() + at;
  const std::string& path = stream.file().path();
  return corrupt_file(path, offset, path, ": ", expected, ", found ", found, " at byte ", offset);
}

// How far `text` is good; the error of what follows where that is not merely cut off.
Result<std::size_t> good_part(const ByteStream& stream, std::string_view text, bool last) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t plain = ascii_length(text.substr(at));
    if (const std::size_t nul = text.substr(at, plain).find('\0'); nul != text.npos) {
      return not_text(stream, at + nul, "a text has no NUL", "0x00");
    }
    at += plain;
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0x80U) != 0) {
      const Utf8Character next = utf8_character(text.substr(at));
      if (!next.good && next.cut && !last) return at;
      const std::string found = in_hex(text.substr(at, next.bytes));
      if (!next.good && next.cut) {
        return not_text(stream, at,
                        "the text ends inside a character: expected more bytes of UTF-8", found);
      }
      if (!next.good) return not_text(stream, at, "the text is not UTF-8: expected UTF-8", found);
      at += next.bytes;
    }
    if (at == text.size()) return at;
  }
}

}  // namespace

Result<std::uint64_t> check_utf8(ByteStream& stream) {
  std::size_t wanted = 1;
  for (;;) {
    SW_ASSIGN(const auto next, stream.look(wanted));
    if (next.empty()) return stream.position();
    const std::string_view text(reinterpret_cast<const char*>(next.data()), next.size());
    SW_ASSIGN(const std::size_t good, good_part(stream, text, /*last=*/text.size() < wanted));
    stream.pass(good);
    // What is left is the beginning of a character: the rest of it has to be looked at together.
    wanted = good == text.size() ? 1 : std::min(text.size() - good + 1, kLongest);
  }
}

}  // namespace spillway
