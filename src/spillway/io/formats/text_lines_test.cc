#include "spillway/io/formats/text_lines.h"

#include <gtest/gtest.h>

#include "spillway/base/random.h"
#include "spillway/testing/files.h"

namespace spillway::testing {
namespace {

TEST(TextLines, EndWithANewlineOrTheFile) {
  check_format(read_text_lines, "one\n\nthree\nlast", {"one", "", "three", "last"});
  check_format(read_text_lines, "one\ntwo\n", {"one", "two"});
  EXPECT_TRUE(records_of(read_text_lines, {""}).empty());
  EXPECT_EQ(records_of(read_text_lines, {"\n"}), std::vector<std::string>{""});
}

TEST(TextLines, HaveNoCarriageReturns) {
  EXPECT_EQ(records_of(read_text_lines, {"a\r\nb\rc\n\r\n\rd\r"}),
            (std::vector<std::string>{"a", "bc", "", "d"}));
}

TEST(TextLines, MayBeLongerThanTheBufferAndTheChunk) {
  const std::string longer(10'000, 'x');
  EXPECT_EQ(records_of(read_text_lines, {"a\n" + longer + "\nb\n" + longer, 100}),
            (std::vector<std::string>{"a", longer, "b", longer}));
}

// As one would cut a text by hand.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else if (c != '\r') {
      lines.back() += c;
    }
  }
  if (text.empty() || text.back() == '\n') lines.pop_back();
  return lines;
}

// Ends of lines at every place of the blocks that are searched at once, and of the buffers.
TEST(TextLines, OfAnyLengthsAreFoundWhereverTheyEnd) {
  PhiloxStream numbers = PhiloxStream::at(1, 2, 3);
  for (const std::uint32_t longest : {3U, 40U, 70U, 200U}) {
    for (const bool returns : {false, true}) {
      std::string text;
      while (text.size() < 5'000) {
        text.append(numbers.next() % longest, static_cast<char>('a' + numbers.next() % 26));
        text += returns && numbers.next() % 4 == 0 ? "\r\n" : "\n";
      }
      if (longest == 40) text.pop_back();
      const auto expect = lines_of(text);
      for (const std::size_t bytes : {100, 4096}) {
        EXPECT_EQ(records_of(read_text_lines, {text}, Compression::kNone, 1'000, bytes), expect);
      }
      EXPECT_EQ(records_of(read_text_lines, {text, 100}), expect);
    }
  }
}

TEST(TextLines, MayHoldAnyByte) {
  const std::string odd("a\0\xff", 3);
  EXPECT_EQ(records_of(read_text_lines, {odd + "\n" + odd}), (std::vector<std::string>{odd, odd}));
}

}  // namespace
}  // namespace spillway::testing
