#include <gmock/gmock.h>

#include "spillway/testing/op_call.h"

// The expected values are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

using graph::Attrs;
using ::testing::ElementsAre;

std::string text(const char* s) { return s; }
std::vector<std::string> map(std::string_view op, std::vector<std::string_view> items,
                             const Attrs& attrs = {}) {
  return strings_in(one_of(call_op(op, {strings_of(std::move(items))}, attrs)));
}

TEST(StringOps, CompareAndAddBroadcast) {
  const Tensor row = strings_of({"a", "b"});
  const Tensor column = strings_of(Shape({2, 1}), {"a", "b"});
  EXPECT_THAT(items_in<bool>(one_of(call_op("string_equal", {row, column}))),
              ElementsAre(true, false, false, true));
  EXPECT_THAT(items_in<bool>(one_of(call_op("string_not_equal", {row, string_of("a")}))),
              ElementsAre(false, true));
  EXPECT_THAT(strings_in(one_of(call_op("string_add", {row, column}))),
              ElementsAre("aa", "ba", "ab", "bb"));
  EXPECT_EQ(error_of(call_op("string_add", {row, strings_of({"a", "b", "c"})})),
            "Incompatible shapes: [2] vs. [3]");
}

TEST(StringOps, JoinTakesScalarsWithAnyShapeAndNothingElse) {
  const Tensor row = strings_of({"a", "b"});
  EXPECT_THAT(strings_in(one_of(
                  call_op("string_join", {string_of("x"), row, row}, {{"separator", text("-")}}))),
              ElementsAre("x-a-a", "x-b-b"));
  EXPECT_THAT(strings_in(one_of(call_op("string_join", {}))), ElementsAre(""));
  EXPECT_EQ(error_of(call_op("string_join", {row, strings_of({"c"})})),
            "Input shapes do not match: [2] vs. [1]");
}

TEST(StringOps, LengthCountsBytesOrCharacters) {
  const Tensor in = strings_of({"a\xC3\xA9", "\xF0\x9F\x98\x80",
                                "\xFF\x80"
                                "a",
                                "\x80"});
  EXPECT_THAT(items_in<std::int32_t>(one_of(call_op("string_length", {in}))),
              ElementsAre(3, 4, 3, 1));
  EXPECT_THAT(
      items_in<std::int32_t>(one_of(call_op("string_length", {in}, {{"unit", text("UTF8_CHAR")}}))),
      ElementsAre(2, 1, 2, 0));
  EXPECT_FALSE(call_op("string_length", {in}, {{"unit", text("FOO")}}).ok());
}

std::string part(std::string_view of, std::int32_t pos, std::int32_t len,
                 const char* unit = "BYTE") {
  auto made = call_op("substr",
                      {string_of(of), tensor_of<std::int32_t>(DType::kInt32, Shape(), {pos}),
                       tensor_of<std::int32_t>(DType::kInt32, Shape(), {len})},
                      {{"unit", text(unit)}});
  return made.ok() ? std::string(made.value()[0].string_at(0)) : error_of(made);
}

TEST(StringOps, SubstrTakesPartsFromEitherEnd) {
  EXPECT_EQ(part("hello", 1, 3), "ell");
  EXPECT_EQ(part("ab", 2, 3), "");
  EXPECT_EQ(part("hello", -3, 2), "ll");
  EXPECT_EQ(part("hello", 1, -1), "ello");
  EXPECT_EQ(part("hello", 6, 2), "pos 6 out of range for string b'hello' at index 0");
  EXPECT_EQ(part("hello", -6, 2), "pos -6 out of range for string b'hello' at index 0");
  EXPECT_EQ(part("h\xC3\xA9llo", 1, 2, "UTF8_CHAR"), "\xC3\xA9l");
  EXPECT_EQ(part("h\xC3\xA9llo", -4, 2, "UTF8_CHAR"), "\xC3\xA9l");
  EXPECT_EQ(part("h\xC3\xA9llo", 5, 2, "UTF8_CHAR"), "");
  EXPECT_EQ(part("h\xC3\xA9llo", 6, 2, "UTF8_CHAR"), "pos 6 out of range for string at index 0");
}

TEST(StringOps, SubstrBroadcastsPositions) {
  const Tensor pos = tensor_of<std::int64_t>(DType::kInt64, Shape({2, 1}), {1, 2});
  EXPECT_THAT(strings_in(one_of(
                  call_op("substr", {strings_of(Shape({1, 2}), {"hello", "world"}), pos, pos}))),
              ElementsAre("e", "o", "ll", "rl"));
  EXPECT_EQ(error_of(call_op("substr", {string_of("hello"), pos,
                                        tensor_of<std::int64_t>(DType::kInt64, Shape(), {1})})),
            "pos and len should have the same shape, got: [2,1] vs. []");
}

TEST(StringOps, CaseFollowsTheEncoding) {
  EXPECT_THAT(map("string_lower", {"ABC\xC3\x89"}), ElementsAre("abc\xC3\x89"));
  EXPECT_THAT(map("string_lower", {"ABC\xC3\x89", "\xC3\x80\xC3\x9F\xCE\xA3 \xC4\xB0"},
                  {{"encoding", text("utf-8")}}),
              ElementsAre("abc\xC3\xA9", "\xC3\xA0\xC3\x9F\xCF\x82 i\xCC\x87"));
  EXPECT_THAT(map("string_upper", {"ABC\xC3\x89\xC3\x9F", "\xEF\xAC\x81", "a\xFFz"},
                  {{"encoding", text("utf-8")}}),
              ElementsAre("ABC\xC3\x89SS", "FI", "A\xEF\xBF\xBDZ"));
  EXPECT_EQ(error_of(call_op("string_upper", {string_of("a")}, {{"encoding", text("latin")}})),
            "only utf-8 or '' (no encoding) is supported, received latin");
}

TEST(StringOps, StripKeepsWhatIsNotAsciiSpace) {
  EXPECT_THAT(map("string_strip", {" \t\n\r\v\f a \xC2\xA0 ", "", "  "}),
              ElementsAre("a \xC2\xA0", "", ""));
}

std::vector<std::string> split(std::string_view of, const char* sep, std::int64_t most = -1) {
  Attrs attrs{{"maxsplit", most}};
  if (sep != nullptr) attrs.set("sep", text(sep));
  return strings_in(one_of(call_op("string_split", {string_of(of)}, attrs)));
}

TEST(StringOps, SplitAtWhiteSpaceOrAtASeparator) {
  EXPECT_THAT(split(" a  b\tc ", nullptr), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split(" a  b  c ", nullptr, 1), ElementsAre("a", "b  c "));
  EXPECT_THAT(split(" a  b  c ", nullptr, 0), ElementsAre(" a  b  c "));
  EXPECT_THAT(split("", nullptr), ElementsAre());
  EXPECT_THAT(split("a,,b,", ","), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("a,,b,", ",", 1), ElementsAre("a", ",b,"));
  EXPECT_THAT(split("", ","), ElementsAre(""));
  EXPECT_THAT(split("a<>b<><>c", "<>"), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(strings_in(one_of(call_op("bytes_split", {string_of("a\xC3\xA9")}))),
              ElementsAre("a", "\xC3", "\xA9"));
}

TEST(StringOps, NumbersAreReadAsTensorFlowReadsThem) {
  const auto number = [](std::string_view item, DType type) {
    return call_op("string_to_number", {string_of(item)}, {{"out_type", type}});
  };
  for (const std::string_view good : {" 1 ", "+1", "00001", "\t1\n", "1.", "0x1", "1e0"}) {
    EXPECT_EQ(one_of(number(good, DType::kFloat32)).as<float>()[0], 1) << good;
  }
  for (const std::string_view bad :
       {"abc", "", "+", "+-1", "--1", "1e", "1f", "1 2", "1_0", "nan(1)", "0x", "-"}) {
    EXPECT_EQ(error_of(number(bad, DType::kFloat32)),
              "StringToNumberOp could not correctly convert string: " + std::string(bad));
    EXPECT_FALSE(number(bad, DType::kInt64).ok()) << bad;
  }
  EXPECT_EQ(one_of(number("-1e39", DType::kFloat32)).as<float>()[0], -HUGE_VALF);
  EXPECT_EQ(one_of(number("1e-400", DType::kFloat64)).as<double>()[0], 0);
  EXPECT_EQ(one_of(number("Infinity", DType::kFloat64)).as<double>()[0], HUGE_VAL);
  EXPECT_TRUE(std::isnan(one_of(number("-nan", DType::kFloat64)).as<double>()[0]));
  EXPECT_EQ(one_of(number("-2147483648", DType::kInt32)).as<std::int32_t>()[0], INT32_MIN);
  EXPECT_FALSE(number("2147483648", DType::kInt32).ok());
  EXPECT_FALSE(number("0x10", DType::kInt32).ok());
  EXPECT_FALSE(number("1", DType::kInt8).ok());
}

std::vector<std::string> printed(const Tensor& in, const Attrs& attrs = {}) {
  return strings_in(one_of(call_op("as_string", {in}, attrs)));
}

TEST(StringOps, NumbersAreWrittenAsPrintfWritesThem) {
  const Tensor floats = tensor_of<float>(DType::kFloat32, Shape({3}), {1.5F, -0.1F, HUGE_VALF});
  EXPECT_THAT(printed(floats), ElementsAre("1.500000", "-0.100000", "inf"));
  EXPECT_THAT(printed(floats, {{"precision", std::int64_t{2}}, {"scientific", true}}),
              ElementsAre("1.50e+00", "-1.00e-01", "inf"));
  EXPECT_THAT(printed(floats, {{"shortest", true}}), ElementsAre("1.5", "-0.1", "inf"));
  EXPECT_THAT(printed(floats, {{"width", std::int64_t{10}}, {"fill", text("0")}}),
              ElementsAre("001.500000", "-00.100000", "       inf"));
  const Tensor ints = tensor_of<std::int32_t>(DType::kInt32, Shape({2}), {1, -5});
  EXPECT_THAT(printed(ints), ElementsAre("1", "-5"));
  EXPECT_THAT(printed(ints, {{"width", std::int64_t{4}}, {"fill", text("-")}}),
              ElementsAre("1   ", "-5  "));
  EXPECT_THAT(printed(tensor_of<double>(DType::kFloat64, Shape(), {1e300})),
              ElementsAre(::testing::StartsWith("100000000000000005250476025520")));
  EXPECT_THAT(printed(tensor_of<bool>(DType::kBool, Shape({2}), {true, false})),
              ElementsAre("true", "false"));
  EXPECT_THAT(printed(tensor_of<float>(DType::kComplex64, Shape({1}), {1, 2})),
              ElementsAre("(1.000000,2.000000)"));
  EXPECT_EQ(error_of(call_op("as_string", {ints}, {{"precision", std::int64_t{3}}})),
            "precision not supported for datatype int32");
  EXPECT_EQ(error_of(call_op("as_string", {floats}, {{"fill", text("x")}})),
            "Fill argument not supported: \"x\"");
}

TEST(StringOps, RegularExpressionsAreRe2s) {
  const auto replace = [](std::string_view in, const char* pattern, const char* rewrite,
                          bool global = true) {
    auto made = call_op("regex_replace", {string_of(in), string_of(pattern), string_of(rewrite)},
                        {{"replace_global", global}});
    return made.ok() ? std::string(made.value()[0].string_at(0)) : error_of(made);
  };
  EXPECT_EQ(replace("abab", "a(b)", "[\\1]"), "[b][b]");
  EXPECT_EQ(replace("abab", "a(b)", "[\\1]", false), "[b]ab");
  EXPECT_EQ(replace("abc", "", "-"), "-a-b-c-");
  EXPECT_EQ(replace("a", "a", "\\1"), "a");
  EXPECT_EQ(replace("a", "a(", "x"), "Invalid pattern: a(, error: missing ): a(");
  EXPECT_THAT(items_in<bool>(one_of(
                  call_op("regex_full_match", {strings_of({"abc", "ab"}), string_of("a.c")}))),
              ElementsAre(true, false));
  EXPECT_EQ(error_of(call_op("regex_full_match", {string_of("a"), strings_of({"a"})})),
            "Pattern must be scalar, but received [1]");
}

TEST(StringOps, ReduceJoinFollowsTheOrderOfTheAxes) {
  const Tensor in = strings_of(Shape({2, 2}), {"a", "b", "c", "d"});
  const auto join = [&](std::vector<std::int64_t> axes, bool keep = false) {
    return call_op("strings_reduce_join", {in}, {{"axis", std::move(axes)}, {"keepdims", keep}});
  };
  EXPECT_THAT(strings_in(one_of(call_op("strings_reduce_join", {in}))), ElementsAre("abcd"));
  EXPECT_THAT(strings_in(one_of(join({0, 1}))), ElementsAre("acbd"));
  EXPECT_THAT(strings_in(one_of(join({0}))), ElementsAre("ac", "bd"));
  EXPECT_EQ(one_of(join({-1}, true)).shape(), Shape({2, 1}));
  EXPECT_EQ(error_of(join({2})), "Invalid reduction dimension 2 for input with 2 dimension(s)");
  EXPECT_EQ(error_of(join({0, -2})), "Duplicate reduction dimension -2");
  EXPECT_THAT(strings_in(one_of(call_op("strings_reduce_join", {strings_of(Shape({0, 2}), {})},
                                        {{"axis", std::int64_t{0}}}))),
              ElementsAre("", ""));
}

TEST(StringOps, BucketsAreFarmHashs) {
  EXPECT_THAT(items_in<std::int64_t>(
                  one_of(call_op("string_to_hash_bucket_fast", {strings_of({"", "a", "hello"})},
                                 {{"num_buckets", std::int64_t{1000}}}))),
              ElementsAre(263, 939, 296));
  EXPECT_FALSE(
      call_op("string_to_hash_bucket_fast", {string_of("a")}, {{"num_buckets", std::int64_t{0}}})
          .ok());
}

TEST(StringOps, Base64IsWebSafe) {
  EXPECT_THAT(map("encode_base64", {"a", "ab", "abc", "\xFF\xFE\xFD"}),
              ElementsAre("YQ", "YWI", "YWJj", "__79"));
  EXPECT_THAT(map("encode_base64", {"a", "ab", "abc"}, {{"pad", true}}),
              ElementsAre("YQ==", "YWI=", "YWJj"));
  EXPECT_THAT(map("decode_base64", {"YQ", "YQ==", "YWI=", "__79", "", "YR"}),
              ElementsAre("a", "a", "ab", "\xFF\xFE\xFD", "", "a"));
  for (const std::string_view bad : {"YQ=", "//79", "YQ=a", "YQ===", "YW I", "====", "YWJj===="}) {
    EXPECT_EQ(error_of(call_op("decode_base64", {string_of(bad)})),
              "Invalid character found in base64.")
        << bad;
  }
  EXPECT_EQ(error_of(call_op("decode_base64", {string_of("Y")})),
            "Base64 string length cannot be 1 modulo 4.");
}

TEST(StringOps, RawBytesBecomeNumbers) {
  const Tensor in = strings_of({"abcd", "efgh"});
  EXPECT_THAT(
      items_in<std::int16_t>(one_of(call_op("decode_raw", {in}, {{"out_type", DType::kInt16}}))),
      ElementsAre(25185, 25699, 26213, 26727));
  EXPECT_THAT(items_in<std::int16_t>(one_of(call_op(
                  "decode_raw", {in}, {{"out_type", DType::kInt16}, {"little_endian", false}}))),
              ElementsAre(24930, 25444, 25958, 26472));
  EXPECT_THAT(items_in<std::uint8_t>(one_of(
                  call_op("decode_raw", {strings_of({"abcd", "e"})},
                          {{"out_type", DType::kUInt8}, {"fixed_length", std::int64_t{3}}}))),
              ElementsAre(97, 98, 99, 101, 0, 0));
  EXPECT_EQ(error_of(call_op("decode_raw", {string_of("abc")}, {{"out_type", DType::kInt16}})),
            "Input to DecodeRaw has length 3 that is not a multiple of 2, the size of int16");
  EXPECT_EQ(
      error_of(call_op("decode_raw", {strings_of({"abcd", "ef"})}, {{"out_type", DType::kUInt8}})),
      "DecodeRaw requires input strings to all be the same size, but element 1 has size 4 != 2");
  EXPECT_EQ(one_of(call_op("decode_raw", {strings_of(std::vector<std::string_view>())},
                           {{"out_type", DType::kInt16}}))
                .shape(),
            Shape({0, 0}));
}

std::string transcoded(std::string_view from, const char* in, const char* out,
                       const char* errors = "replace", bool controls = false) {
  const auto made = call_op("unicode_transcode", {string_of(from)},
                            {{"input_encoding", text(in)},
                             {"output_encoding", text(out)},
                             {"errors", text(errors)},
                             {"replacement_char", std::int64_t{'?'}},
                             {"replace_control_characters", controls}});
  return made.ok() ? std::string(made.value()[0].string_at(0)) : error_of(made);
}

TEST(StringOps, TranscodeReplacesTheLongestPartThatCouldBeginACharacter) {
  const auto utf8 = [](std::string_view from, const char* errors = "replace") {
    return transcoded(from, "UTF-8", "UTF-8", errors);
  };
  EXPECT_EQ(utf8("a\xC3\xA9\xF0\x9F\x98\x80"), "a\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(utf8("\xED\xA0\x80"), "???");
  EXPECT_EQ(utf8("\xC0\x80"), "??");
  EXPECT_EQ(utf8("\xF4\x90\x80\x80"), "????");
  EXPECT_EQ(utf8("a\xF0\x9F\x98z"), "a?z");
  EXPECT_EQ(utf8("\xE2\xE2\x82\xAC"), "?\xE2\x82\xAC");
  EXPECT_EQ(utf8("a\xF0\x90", "ignore"), "a");
  EXPECT_EQ(utf8("0123456789\xFFgh"), "0123456789?gh");
}

TEST(StringOps, TranscodeSaysWhereATextIsBroken) {
  const auto strict = [](std::string_view from) {
    return transcoded(from, "UTF-8", "UTF-8", "strict");
  };
  EXPECT_EQ(strict("ab\xFFz"),
            "Invalid formatting on input string: expected UTF-8, found 0xFF at byte 2 of 4");
  EXPECT_EQ(strict("ab\xE2\x82"),
            "Invalid formatting on input string: it ends inside a character of UTF-8: found 0xE2 "
            "0x82 at byte 2 of 4");
  const auto made = call_op("unicode_transcode", {string_of("abc\xFF")},
                            {{"input_encoding", text("UTF-8")},
                             {"output_encoding", text("UTF-8")},
                             {"errors", text("strict")}});
  EXPECT_EQ(made.error().info().offset, 3);
  EXPECT_EQ(made.error().kind(), ErrorKind::kData);
}

TEST(StringOps, TranscodeKnowsTheOtherEncodings) {
  using namespace std::string_literals;
  const std::string all = "a\xE2\x82\xAC\xF0\x9F\x98\x80";
  const std::string wide = "\0a\x20\xAC\xD8\x3D\xDE\0"s;
  const std::string full = "\0\0\0a\0\0\x20\xAC\0\1\xF6\0"s;
  EXPECT_EQ(transcoded(all, "UTF-8", "UTF-16-BE"), wide);
  EXPECT_EQ(transcoded(all, "utf8", "UTF-32-BE"), full);
  EXPECT_EQ(transcoded(wide, "UTF-16-BE", "UTF-8"), all);
  EXPECT_EQ(transcoded(full, "UTF-32-BE", "UTF-8"), all);
  EXPECT_EQ(transcoded("\xFF\xFE"
                       "a\0"s,
                       "UTF-16", "UTF-8"),
            "a");
  EXPECT_EQ(transcoded("\0a"s, "UTF-16", "UTF-8"), "a");
  EXPECT_EQ(transcoded("a\0"s, "UTF-16-LE", "UTF-8"), "a");
  EXPECT_EQ(transcoded("a\0\0\0"s, "UTF-32-LE", "UTF-8"), "a");
  EXPECT_EQ(transcoded("\xE4", "latin1", "UTF-8"), "\xC3\xA4");
  EXPECT_EQ(transcoded("a\xE4", "US-ASCII", "UTF-8"), "a?");
  EXPECT_EQ(transcoded("\xD8\0\xD8\0\xDC\0"s, "UTF-16-BE", "UTF-8"), "?\xF0\x90\x80\x80");
  EXPECT_EQ(transcoded("\xD8\0\0"s, "UTF-16-BE", "UTF-8"), "?");
  EXPECT_EQ(transcoded("\0\0\xD8\0\0\x11\0\0\0"s, "UTF-32-BE", "UTF-8"), "???");
  EXPECT_EQ(transcoded("\0a\t\x7F"s, "UTF-8", "UTF-8", "replace", true), "?a?\x7F");
  EXPECT_NE(transcoded("a\n", "UTF-8", "UTF-8", "strict", true).find("no control characters"),
            std::string::npos);
}

TEST(StringOps, TranscodeRefusesWhatItDoesNotKnow) {
  EXPECT_NE(transcoded("a", "shift_jis", "UTF-8").find("input encoding: shift_jis; those here are"),
            std::string::npos);
  EXPECT_NE(transcoded("a", "UTF-8", "UTF-16").find("allowed values"), std::string::npos);
  EXPECT_NE(transcoded("a", "UTF-8", "UTF-8", "bogus").find("allowed values"), std::string::npos);
}

}  // namespace
}  // namespace spillway::testing
