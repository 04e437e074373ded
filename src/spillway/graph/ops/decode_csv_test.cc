#include <gmock/gmock.h>

#include "spillway/testing/op_call.h"

// The expected values and messages are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

using graph::Attrs;
using ::testing::ElementsAre;

std::string text(const char* s) { return s; }
Tensor number(std::int32_t value) {
  return tensor_of<std::int32_t>(DType::kInt32, Shape({1}), {value});
}
Tensor word(std::string_view value) { return strings_of({value}); }

// The fields of one record of strings, '|' between them, or the error.
std::string fields(std::string_view record, int n, const Attrs& attrs = {}) {
  std::vector<Tensor> inputs = {string_of(record)};
  for (int i = 0; i < n; ++i) inputs.push_back(word("d"));
  const auto made = call_op("decode_csv", inputs, attrs);
  if (!made.ok()) return error_of(made);
  std::string all;
  for (const Tensor& field : made.value()) {
    all += field.string_at(0);
    all += '|';
  }
  return all;
}

TEST(DecodeCsv, GivesAColumnForEachDefault) {
  const Tensor real = tensor_of<float>(DType::kFloat32, Shape(), {0});
  const auto made =
      call_op("decode_csv", {strings_of({"1,2.5,a", "3,,\"b,c\""}), number(0), real, word("")});
  ASSERT_TRUE(made.ok()) << error_of(made);
  EXPECT_THAT(items_in<std::int32_t>(made.value()[0]), ElementsAre(1, 3));
  EXPECT_THAT(items_in<float>(made.value()[1]), ElementsAre(2.5F, 0.0F));
  EXPECT_THAT(strings_in(made.value()[2]), ElementsAre("a", "b,c"));
}

TEST(DecodeCsv, CutsQuotedFields) {
  EXPECT_EQ(fields("\"a \"\"b\"\" c\",e", 2), "a \"b\" c|e|");
  EXPECT_EQ(fields("\"a\nb\",e", 2), "a\nb|e|");
  EXPECT_EQ(fields("\"\",b", 2), "d|b|");
  EXPECT_EQ(fields("a,b,", 3), "a|b|d|");
  EXPECT_EQ(fields("\"a,b\"", 2, {{"use_quote_delim", false}}), "\"a|b\"|");
  EXPECT_EQ(fields("a;b", 2, {{"field_delim", text(";")}}), "a|b|");
  EXPECT_EQ(fields("NA,b", 2, {{"na_value", text("NA")}}), "d|b|");
  EXPECT_EQ(fields("\"a\"b,e", 2), "Quote inside a string has to be escaped by another quote");
  EXPECT_EQ(fields("\"a,e", 2), "Quoted field has to end with quote followed by delim or end");
  EXPECT_EQ(fields("a\"b,e", 2), "Unquoted fields cannot have quotes/CRLFs inside");
  EXPECT_EQ(fields("a,e\r\n", 2), "Unquoted fields cannot have quotes/CRLFs inside");
}

TEST(DecodeCsv, TakesTheColumnsThatAreWanted) {
  using Ints = std::vector<std::int64_t>;
  EXPECT_EQ(fields("a,b,c", 2, {{"select_cols", Ints{0, 2}}}), "a|c|");
  EXPECT_EQ(fields("a,\"b", 1, {{"select_cols", Ints{0}}}), "a|");
  EXPECT_EQ(fields("a,b", 2, {{"select_cols", Ints{0, 2}}}),
            "Expect 2 fields but have 1 in record 0");
  EXPECT_EQ(fields("a,b", 2, {{"select_cols", Ints{2, 0}}}),
            "select_cols is not strictly increasing.");
}

TEST(DecodeCsv, RefusesRecordsThatDoNotFit) {
  EXPECT_EQ(fields("1,2", 3), "Expect 3 fields but have 2 in record 0");
  EXPECT_EQ(fields("1,2,3,4", 3), "Expect 3 fields but have 4 in record 0");
  EXPECT_EQ(fields("", 1), "Expect 1 fields but have 0 in record 0");
  EXPECT_EQ(error_of(call_op("decode_csv", {strings_of({"1,2", "1,abc"}), number(0), number(0)})),
            "Field 1 in record 1 is not a valid int32: abc");
  const Tensor required = tensor_of<std::int32_t>(DType::kInt32, Shape({0}), {});
  EXPECT_EQ(error_of(call_op("decode_csv", {string_of("1,"), number(0), required})),
            "Field 1 is required but missing in record 0!");
  EXPECT_EQ(fields("a;b", 2, {{"field_delim", text(";;")}}), "field_delim should be only 1 char");
}

}  // namespace
}  // namespace spillway::testing
