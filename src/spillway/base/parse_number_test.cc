#include "spillway/base/parse_number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace spillway {
namespace {

TEST(ParseNumber, ReadsIntegersThatFit) {
  EXPECT_EQ(parse_number<std::int32_t>(" -2147483648\t"), INT32_MIN);
  EXPECT_EQ(parse_number<std::int32_t>("+7"), 7);
  EXPECT_EQ(parse_number<std::int32_t>("2147483648"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(parse_number<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_number<std::int64_t>("0000000000000000000000012"), 12);
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(parse_number<std::uint32_t>("-1"), std::nullopt);
  for (const char* wrong : {"", " ", "-", "+", "--1", "+-1", "1 2", "1.0", "0x10", "a"}) {
    EXPECT_EQ(parse_number<std::int64_t>(wrong), std::nullopt) << wrong;
  }
}

TEST(ParseNumber, ReadsFloatsInAnyNotation) {
  EXPECT_EQ(parse_number<float>(" 1.5e3 "), 1500.0F);
  EXPECT_EQ(parse_number<double>(".5"), 0.5);
  EXPECT_EQ(parse_number<double>("5."), 5.0);
  EXPECT_EQ(parse_number<double>("-0x1.8p1"), -3.0);
  EXPECT_TRUE(std::isnan(*parse_number<float>("NaN")));
  EXPECT_EQ(parse_number<float>("-Infinity"), -INFINITY);
  EXPECT_EQ(parse_number<float>("1e39"), INFINITY);
  EXPECT_EQ(parse_number<float>("1e-60"), 0.0F);
  EXPECT_TRUE(std::signbit(*parse_number<float>("-0")));
  for (const char* wrong : {"", ".", "-", "1e", "1e+", "1.5.2", "--1", "1 2", "nan(1)", "e5"}) {
    EXPECT_EQ(parse_number<double>(wrong), std::nullopt) << wrong;
    EXPECT_EQ(parse_number<float>(wrong), std::nullopt) << wrong;
  }
}

// As many digits as lead beyond what is computed directly, and powers around its limits.
TEST(ParseNumber, GivesTheNearestFloatOfEveryDecimal) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    const auto digits = std::to_string(random() >> (random() % 60));
    std::string text = (i % 2 == 0 ? "-" : "") + digits;
    text.insert(text.size() - random() % digits.size(), ".");
    if (i % 3 == 0) text += "e" + std::to_string(static_cast<int>(random() % 60) - 30);
    ASSERT_EQ(parse_number<double>(text), std::strtod(text.c_str(), nullptr)) << text;
    ASSERT_EQ(parse_number<float>(text), std::strtof(text.c_str(), nullptr)) << text;
  }
}

// Doubles half-way between two floats, and a digit to either side: rounding twice would be wrong.
TEST(ParseNumber, RoundsToFloatOnce) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto below = static_cast<float>(1 + random() % (1U << 24U));
    const double half = (static_cast<double>(below) + std::nextafter(below, INFINITY)) / 2;
    char text[64];
    (void)std::snprintf(text, sizeof text, "%.1f", half);
    for (const std::string& more : {std::string(), std::string("0000001"), std::string("9")}) {
      const std::string whole = text + more;
      ASSERT_EQ(parse_number<float>(whole), std::strtof(whole.c_str(), nullptr)) << whole;
    }
  }
}

}  // namespace
}  // namespace spillway
