#include "spillway/element.h"

#include <gtest/gtest.h>

#include <numeric>

#include "spillway/memory.h"

namespace spillway {
namespace {

TEST(Element, AnArrayGivesBackTheNumbersItWasMadeOf) {
  const Array array = Array::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(array.dtype(), "float32");
  EXPECT_EQ(std::vector<std::int64_t>(array.shape().begin(), array.shape().end()),
            (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(array.values<float>().value()[4], 5.0F);
  EXPECT_EQ(array.to_string(), "[[1 2 3] [4 5 6]]");
}

TEST(Element, EveryNumberHasTheNameNumPyGivesIt) {
  EXPECT_EQ(Array(std::int8_t{-1}).dtype(), "int8");
  EXPECT_EQ(Array(std::uint16_t{1}).dtype(), "uint16");
  EXPECT_EQ(Array(1).dtype(), "int32");
  EXPECT_EQ(Array(1LL).dtype(), "int64");
  EXPECT_EQ(Array(1.5).dtype(), "float64");
  EXPECT_EQ(Array(true).dtype(), "bool");
  EXPECT_EQ(Array(true).to_string(), "True");
  EXPECT_EQ(Array("a").dtype(), "string");
}

TEST(Element, AskingForAnotherTypeOrItemIsAnErrorNotACast) {
  const Array array = Array::of(std::vector<std::int64_t>{1, 2});
  EXPECT_EQ(array.values<double>().error().message(),
            "array: asked for float64, its items are int64");
  EXPECT_EQ(array.item<std::int64_t>(2).error().message(), "array: item must be one of 2: 2");
  EXPECT_EQ(array.item<std::int64_t>(-1).error().code(), Code::kInvalidArgument);
  EXPECT_FALSE(array.text().ok());
  EXPECT_FALSE(Array().item<int>().ok());
}

TEST(Element, AShapeThatDoesNotHoldTheItemsIsRefused) {
  EXPECT_EQ(Array::of(std::vector<int>{1, 2, 3}, {2, 2}).status().message(),
            "array: shape (2, 2) must hold all items: 3");
  EXPECT_FALSE(Array::of(std::vector<int>{1}, {-1}).status().ok());
  EXPECT_FALSE(Array::filled<int>({1LL << 40, 1LL << 40}, [](auto) { FAIL(); }).status().ok());
}

TEST(Element, StringsKeepTheirBytes) {
  const Array array = Array::of({std::string("a\0b", 3), std::string()});
  EXPECT_EQ(array.text(0).value(), std::string_view("a\0b", 3));
  EXPECT_EQ(array.text(1).value(), "");
  EXPECT_EQ(Array(std::string("xyz")).to_string(), "'xyz'");
}

TEST(Element, ALargeArrayIsInTheLedgerUntilItGoes) {
  const std::size_t before = memory_report().used;
  {
    const Array array = Array::filled<std::int64_t>(
        {1000}, [](std::span<std::int64_t> room) { std::iota(room.begin(), room.end(), 0); });
    EXPECT_EQ(array.item<std::int64_t>(999).value(), 999);
    EXPECT_GE(memory_report().used, before + 8000);
  }
  EXPECT_EQ(memory_report().used, before);
}

TEST(Element, ASampleFindsItsArraysByNumberAndByName) {
  const Sample dict = Sample::dict({{"y", Array(2)}, {"x", Array("a")}});
  EXPECT_EQ(dict.to_string(), "{x: 'a', y: 2}");
  EXPECT_EQ(dict["y"].item<int>().value(), 2);
  EXPECT_EQ(dict.get<int>("y").value(), 2);
  EXPECT_EQ(dict.get<int>(1).value(), 2);
  const Sample pair = Sample::tuple({Array(1), Array(2.5)});
  EXPECT_EQ(pair.to_string(), "(1, 2.5)");
  EXPECT_EQ(pair.get<double>("1").value(), 2.5);
}

TEST(Element, AComponentThatIsNotThereSaysSo) {
  const Sample sample = Sample::dict({{"x", Array(1)}});
  EXPECT_EQ(sample.get<int>(3).error().message(),
            "sample {x: TensorSpec(shape=(), dtype=int32)} must have a component: 3");
  EXPECT_FALSE(sample["y"].status().ok());
  EXPECT_FALSE(sample["x/0"].status().ok());
  EXPECT_FALSE(Sample()[0].status().ok());
}

TEST(Element, SpecsCompareByWhatTheySay) {
  EXPECT_EQ(Spec::of<std::int64_t>(), Spec::tensor("int64"));
  EXPECT_FALSE(Spec::of<std::int64_t>() == Spec::of<std::int64_t>({-1}));
  EXPECT_EQ(Spec::dict({{"b", Spec::of<float>()}, {"a", Spec::any_shape("string")}}).to_string(),
            "{a: TensorSpec(shape=<unknown>, dtype=string), b: TensorSpec(shape=(), "
            "dtype=float32)}");
  EXPECT_FALSE(Spec::tensor("int65").status().ok());
  EXPECT_FALSE(Spec::tuple({Spec::tensor("int65")}).status().ok());
  EXPECT_FALSE(Spec::tuple({Spec()}).status().ok());
}

}  // namespace
}  // namespace spillway
