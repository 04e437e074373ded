#include <gmock/gmock.h>

#include "spillway/graph/example_parser.h"
#include "spillway/testing/op_call.h"

// The expected values and messages are TensorFlow 2.21's.
namespace spillway::testing {
namespace {

using graph::Attrs;
using graph::FeatureKind;
using Ints = std::vector<std::int64_t>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A field of the wire format that holds bytes.
std::string field(int number, const std::string& body) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  out += static_cast<char>(body.size());
  return out + body;
}
std::string example(const std::string& key, const std::string& feature) {
  return field(1, field(1, field(1, key) + field(2, feature)));
}
std::string integers(std::initializer_list<int> small) {
  std::string run;
  for (const int value : small) run += static_cast<char>(value);
  return field(3, field(1, run));
}
std::string floats(std::initializer_list<float> values) {
  std::string run;
  for (const float value : values) {
    run.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return field(2, field(1, run));
}
std::string words(std::initializer_list<const char*> values) {
  std::string run;
  for (const char* value : values) run += field(1, value);
  return field(1, run);
}

Attrs one_feature(FeatureKind kind, DType dtype, const Ints& shape = {}, bool fallback = false) {
  Ints shapes = {static_cast<std::int64_t>(shape.size())};
  shapes.insert(shapes.end(), shape.begin(), shape.end());
  return {{"keys", std::string("1:a")},
          {"kinds", Ints{static_cast<std::int64_t>(kind)}},
          {"dtypes", Ints{static_cast<std::int64_t>(dtype)}},
          {"shapes", shapes},
          {"defaults", Ints{fallback ? 0 : -1}}};
}
const Attrs kInteger = one_feature(FeatureKind::kFixed, DType::kInt64);
const Attrs kPair = one_feature(FeatureKind::kFixed, DType::kInt64, {2});

TEST(ParseExample, ReadsFeaturesOfAKnownShape) {
  EXPECT_THAT(
      items_in<std::int64_t>(one_of(call_op(
          "parse_example",
          {strings_of({example("a", integers({1, 2})), example("a", integers({3, 4}))})}, kPair))),
      ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(items_in<float>(one_of(
                  call_op("parse_single_example", {string_of(example("a", floats({1.5F, 2.5F})))},
                          one_feature(FeatureKind::kFixed, DType::kFloat32, {2})))),
              ElementsAre(1.5F, 2.5F));
  EXPECT_THAT(
      strings_in(one_of(call_op("parse_single_example", {string_of(example("a", words({"x"})))},
                                one_feature(FeatureKind::kFixed, DType::kString)))),
      ElementsAre("x"));
}

TEST(ParseExample, FillsInDefaults) {
  const Tensor seven = tensor_of<std::int64_t>(DType::kInt64, Shape(), {7});
  EXPECT_THAT(items_in<std::int64_t>(one_of(
                  call_op("parse_example", {strings_of({"", example("a", integers({1}))}), seven},
                          one_feature(FeatureKind::kFixed, DType::kInt64, {}, true)))),
              ElementsAre(7, 1));
}

TEST(ParseExample, SaysWhatDoesNotFit) {
  const auto error = [](const std::string& bytes, const Attrs& attrs = kInteger) {
    return error_of(call_op("parse_example", {strings_of({bytes})}, attrs));
  };
  EXPECT_EQ(error(example("b", integers({1}))),
            "Name: <unknown>, Feature: a (data type: int64) is required but could not be found.");
  EXPECT_EQ(error(example("a", floats({1}))),
            "Name: <unknown>, Key: a, Index: 0.  Data types don't match. Data type: float but "
            "expected type: int64");
  EXPECT_EQ(error(example("a", integers({1, 2, 3})), kPair),
            "Name: <unknown>, Key: a, Index: 0.  Number of int64 values != expected.  Values size: "
            "3 but output shape: [2]");
  EXPECT_EQ(error("hello world"), "Could not parse example input, value: 'hello world'");
  EXPECT_EQ(error_of(call_op("parse_single_example", {string_of("")}, kInteger)),
            "Feature: a (data type: int64) is required but could not be found.");
  EXPECT_EQ(error(example("a", integers({1, 2, 3})),
                  one_feature(FeatureKind::kSequence, DType::kInt64, {2})),
            "Name: <unknown>, Key: a, Index: 0.  Number of int64 values is not a multiple of "
            "stride length. Saw 3 values but output shape is: [?,2]");
}

TEST(ParseExample, ReadsWhatProtocolBuffersAllow) {
  const auto value = [](const std::string& bytes) {
    const auto made = call_op("parse_single_example", {string_of(bytes)}, kInteger);
    return made.ok() ? made.value()[0].as<std::int64_t>()[0] : -1;
  };
  const std::string five = integers({5});
  EXPECT_EQ(value(example("a", five) + example("a", integers({6}))), 6);
  EXPECT_EQ(value(field(9, "zz") + example("a", five)), 5);
  EXPECT_EQ(value(example("a", five + integers({6}))), 5);
  EXPECT_EQ(value(field(1, field(1, field(2, five) + field(1, "a")))), 5);
  EXPECT_EQ(value(example("a", field(3, "\x08\x05"))), 5);
  EXPECT_EQ(value("\x4b\x4c" + example("a", five)), -1);
  EXPECT_EQ(value(field(1, field(1, field(1, "a")))), -1);
}

TEST(ParseExample, EveryTruncationIsRefusedOrLacksTheFeature) {
  const std::string whole = example("a", integers({1, 2}));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    EXPECT_FALSE(call_op("parse_single_example", {string_of(whole.substr(0, n))}, kPair).ok()) << n;
  }
}

TEST(ParseExample, FillsSequencesUpToTheLongest) {
  const Tensor nine = tensor_of<std::int64_t>(DType::kInt64, Shape(), {9});
  const Tensor in =
      strings_of({example("a", integers({1, 2, 3})), "", example("a", integers({4}))});
  const Tensor out = one_of(call_op("parse_example", {in, nine},
                                    one_feature(FeatureKind::kSequence, DType::kInt64, {}, true)));
  EXPECT_EQ(out.shape(), Shape({3, 3}));
  EXPECT_THAT(items_in<std::int64_t>(out), ElementsAre(1, 2, 3, 9, 9, 9, 4, 9, 9));
  EXPECT_EQ(one_of(call_op("parse_single_example", {string_of("")},
                           one_feature(FeatureKind::kSequence, DType::kInt64, {2})))
                .shape(),
            Shape({0, 2}));
}

TEST(ParseExample, GivesSparseFeaturesAsThree) {
  const Attrs sparse = one_feature(FeatureKind::kSparse, DType::kInt64);
  const Tensor in = strings_of({example("a", integers({1, 2})), "", example("a", integers({4}))});
  const auto batch = call_op("parse_example", {in}, sparse);
  ASSERT_TRUE(batch.ok()) << error_of(batch);
  EXPECT_THAT(items_in<std::int64_t>(batch.value()[0]), ElementsAre(0, 0, 0, 1, 2, 0));
  EXPECT_THAT(items_in<std::int64_t>(batch.value()[1]), ElementsAre(1, 2, 4));
  EXPECT_THAT(items_in<std::int64_t>(batch.value()[2]), ElementsAre(3, 2));
  const auto single = call_op("parse_single_example", {string_of("")}, sparse);
  ASSERT_TRUE(single.ok()) << error_of(single);
  EXPECT_EQ(single.value()[0].shape(), Shape({0, 1}));
  EXPECT_THAT(items_in<std::int64_t>(single.value()[1]), IsEmpty());
  EXPECT_THAT(items_in<std::int64_t>(single.value()[2]), ElementsAre(0));
}

TEST(ParseExample, RefusesFeaturesThatAreDescribedBadly) {
  for (const char* keys : {"", "9:a", "a", "1", ":a"}) {
    Attrs attrs{{"keys", std::string(keys)}};
    for (const auto& [name, value] : kInteger.items()) {
      if (name != "keys") attrs.set(name, value);
    }
    EXPECT_FALSE(call_op("parse_single_example", {string_of("")}, attrs).ok()) << keys;
  }
}

TEST(ParseExample, SharesStringsThatAreMostOfTheirRecords) {
  const Attrs word = one_feature(FeatureKind::kFixed, DType::kString);
  const std::string large(100, 'x');
  const std::string small(3, 'y');
  const auto parsed = [&](const std::string& a, const std::string& b) {
    const Tensor records =
        strings_of({example("a", words({a.c_str()})), example("a", words({b.c_str()}))});
    Tensor out = one_of(call_op("parse_example", {records}, word));
    EXPECT_THAT(strings_in(out), ElementsAre(a, b));
    return out.buffer() == records.buffer();
  };
  EXPECT_TRUE(parsed(large, large));
  EXPECT_FALSE(parsed(small, small)) << "what is kept would be mostly something else";
}

}  // namespace
}  // namespace spillway::testing
