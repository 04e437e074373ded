#include "spillway/pipeline/sealed_state.h"

#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <string>

#include "spillway/base/bytes.h"

namespace spillway {
namespace {

const std::string kContent("\x01\x00\xff content of operators", 23);

TEST(SealedState, GivesBackWhatWasSealed) {
  for (const std::string& content : {kContent, std::string(), std::string(100'000, 'x')}) {
    const std::string state = seal_state(0x0123456789abcdef, content);
    EXPECT_EQ(state.size(), kStateHeaderBytes + content.size());
    const auto opened = open_state(state);
    ASSERT_TRUE(opened.ok());
    EXPECT_EQ(opened.value().pipeline, 0x0123456789abcdef);
    EXPECT_EQ(opened.value().content, content);
  }
}

TEST(SealedState, RefusesEveryFlippedBit) {
  const std::string state = seal_state(7, kContent);
  for (std::size_t bit = 0; bit < state.size() * 8; ++bit) {
    std::string flipped = state;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto opened = open_state(flipped);
    ASSERT_FALSE(opened.ok()) << bit;
    EXPECT_EQ(opened.error().code(), Code::kDataLoss) << bit;
    EXPECT_EQ(opened.error().kind(), ErrorKind::kData) << bit;
  }
}

TEST(SealedState, RefusesEveryTruncationAndEveryLengthening) {
  const std::string state = seal_state(7, kContent);
  for (std::size_t size = 0; size < state.size(); ++size) {
    const auto opened = open_state(state.substr(0, size));
    ASSERT_FALSE(opened.ok()) << size;
    EXPECT_EQ(opened.error().code(), Code::kDataLoss) << size;
  }
  EXPECT_NE(open_state(state.substr(0, 40)).error().message().find("cut off: expected 23 bytes"),
            std::string_view::npos);
  for (const std::string& more : {std::string(1, '\0'), std::string("x"), state}) {
    const auto opened = open_state(state + more);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code(), Code::kDataLoss);
    EXPECT_NE(opened.error().message().find("bytes too many"), std::string_view::npos);
  }
}

TEST(SealedState, NamesAnotherVersion) {
  const std::string first("\x06SPW\x02\x00", 6);
  ASSERT_FALSE(open_state(first).ok());
  EXPECT_EQ(open_state(first).error().code(), Code::kUnimplemented);
  EXPECT_NE(open_state(first).error().message().find("version 1"), std::string_view::npos);
  std::string next = seal_state(7, kContent);
  next[8] = 9;
  const auto bytes = std::as_bytes(std::span(next));
  const std::uint32_t checksum = crc32c(bytes.subspan(16), crc32c(bytes.subspan(8, 4)));
  std::memcpy(next.data() + 12, &checksum, sizeof checksum);
  ASSERT_FALSE(open_state(next).ok());
  EXPECT_EQ(open_state(next).error().code(), Code::kUnimplemented);
  EXPECT_NE(open_state(next).error().message().find("version 9"), std::string_view::npos);
}

}  // namespace
}  // namespace spillway
