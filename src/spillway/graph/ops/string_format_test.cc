#include <gmock/gmock.h>

#include "spillway/testing/op_call.h"
#include "spillway/testing/op_conformance.h"

// The expected values are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

std::string shown(const Tensor& value, std::int64_t summarize = 3) {
  auto made = call_op("string_format", {value},
                      {{"template", std::string("{}")}, {"summarize", summarize}});
  return made.ok() ? std::string(made.value()[0].string_at(0)) : error_of(made);
}

TEST(StringFormatOp, PutsTensorsIntoTheirPlaces) {
  check_op({.op = "string_format",
            .inputs = {bools({}, {1}), text({2}, {"a\"b\n", "\xC3\xA4\x01"})},
            .attrs = {{"template", std::string("<%> and %.")}, {"placeholder", std::string("%")}},
            .expect = {text({}, {"<1> and [\"a\\\"b\\n\" \"\xC3\xA4\\001\"]."})}});
  expect_refused("string_format", {i32({}, {1})}, {{"template", std::string("none")}},
                 "The template expects 0 tensors");
}

TEST(StringFormatOp, ShowsTheFewestDigitsThatGiveANumberBack) {
  EXPECT_EQ(shown(f32({6}, {1e10, 0.1, 1.0 / 3, 1e6, 123456792, -0.0})),
            "[1e+10 0.1 0.333333343 1e+06 123456792 -0]");
  EXPECT_EQ(shown(f64({3}, {1e10, 0.1, 1.0 / 3})), "[10000000000 0.1 0.33333333333333331]");
}

TEST(StringFormatOp, ShortensLongAxes) {
  EXPECT_EQ(shown(i32({7}, {0, 1, 2, 3, 4, 5, 6})), "[0 1 2 ... 4 5 6]");
  EXPECT_EQ(shown(i32({3, 1}, {0, 1, 2}), 1), "[[0]\n ...\n [2]]");
  EXPECT_EQ(shown(i32({1, 2, 1}, {0, 1}), -1), "[[[0]\n  [1]]]");
  EXPECT_EQ(shown(i32({2}, {1, 2}), 0), "[ ...]");
  EXPECT_EQ(shown(i32({}, {1}), 0), "...");
  EXPECT_EQ(shown(f32({2, 0}, {})), "[\n ...]");
  EXPECT_EQ(shown(bools({2, 0}, {})), "");
  EXPECT_EQ(shown(f32({0, 2}, {})), "[]");
}

TEST(StringFormatOp, ShowsComplexNumbersAsQuestionMarks) {
  EXPECT_EQ(shown(c64({}, {1, 2})), "?");
  EXPECT_EQ(shown(c64({4}, {1, 2, 3, 4, 5, 6, 7, 8})), "[? ? ?...]");
}

}  // namespace
}  // namespace spillway::testing
