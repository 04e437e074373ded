#include "spillway/io/formats/text_lines.h"

#include <gtest/gtest.h>

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

TEST(TextLines, MayHoldAnyByte) {
  const std::string odd("a\0\xff", 3);
  EXPECT_EQ(records_of(read_text_lines, {odd + "\n" + odd}), (std::vector<std::string>{odd, odd}));
}

}  // namespace
}  // namespace spillway::testing
