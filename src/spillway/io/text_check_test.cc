#include "spillway/io/text_check.h"

#include <gtest/gtest.h>

#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

// "ok", or the offset and what the error says behind the path.
std::string checked(const std::string& content, std::size_t piece = SIZE_MAX,
                    std::size_t buffer = 0) {
  const auto stream = stream_of({content, piece}, Compression::kNone, buffer);
  const auto done = check_utf8(*stream);
  if (done.ok()) return done.value() == content.size() ? "ok" : "too few bytes";
  const std::string message(done.error().message());
  return std::to_string(done.error().info().offset) + message.substr(message.find(':'));
}

TEST(TextCheck, SaysWhereATextEndsToBeOne) {
  EXPECT_EQ(checked("caf\xC3\xA9 \xF0\x9F\x98\x80\n"), "ok");
  EXPECT_EQ(checked(""), "ok");
  EXPECT_EQ(checked("caf\xE9 au lait"),
            "3: the text is not UTF-8: expected UTF-8, found 0xE9 at byte 3");
  EXPECT_EQ(checked(std::string("ab\0c", 4)), "2: a text has no NUL, found 0x00 at byte 2");
  EXPECT_EQ(checked("ab\xE2\x82"),
            "2: the text ends inside a character: expected more bytes of UTF-8, found 0xE2 0x82 at "
            "byte 2");
}

// A character may lie across any two reads, and the place of the damage does not depend on them.
TEST(TextCheck, ReadsInAnyPieces) {
  std::string good;
  for (int i = 0; i < 3000; ++i)
    good += i % 3 == 0 ? "\xF0\x9F\x98\x80" : i % 3 == 1 ? "\xC3\xA9" : "x";
  for (const std::size_t piece : {1U, 2U, 3U, 5U, 4096U}) {
    EXPECT_EQ(checked(good, piece, 4096), "ok") << piece;
    EXPECT_EQ(checked(good + "\xFFz", piece, 4096).substr(0, 5), std::to_string(good.size()) + ":")
        << piece;
    EXPECT_EQ(checked(good + "\xF0\x9F", piece, 4096).substr(0, 5),
              std::to_string(good.size()) + ":")
        << piece;
  }
}

}  // namespace
}  // namespace spillway::testing
