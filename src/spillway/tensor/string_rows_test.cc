#include "spillway/tensor/string_rows.h"

#include <gtest/gtest.h>

#include <array>

namespace spillway {
namespace {

AccountPtr account() { return Budget::process().open_account("test"); }

TEST(StringRows, TakeShortStringsWhereBothSidesHaveRoom) {
  const std::string text = "one" + std::string(100, '.');
  StringRows rows(account(), 3, 100);
  EXPECT_FALSE(rows.add_short(text.data(), 3, text.size())) << "nothing is there yet";
  ASSERT_TRUE(rows.add("zero").value());
  EXPECT_TRUE(rows.add_short(text.data(), 3, text.size()));
  EXPECT_FALSE(rows.add_short(text.data(), 3, 3)) << "it reads behind the string";
  EXPECT_FALSE(rows.add_short(text.data(), 80, text.size())) << "it writes behind the string";
  EXPECT_TRUE(rows.add_short(text.data(), 2, text.size()));
  EXPECT_FALSE(rows.add_short(text.data(), 0, text.size())) << "it is full";
  const Tensor strings = rows.take();
  ASSERT_EQ(strings.shape(), Shape{3});
  EXPECT_EQ(strings.string_at(0), "zero");
  EXPECT_EQ(strings.string_at(1), "one");
  EXPECT_EQ(strings.string_at(2), "on");
  EXPECT_FALSE(rows.add_short(text.data(), 3, text.size())) << "what was there is taken";
}

class StringsWithin : public ::testing::Test {
 protected:
  // "one", "" and "three" out of a record.
  Tensor apart() {
    const std::string_view record = "<one><><three>";
    BufferPtr bytes = Buffer::share(account(), record.size(), Buffer::Ask::kRequired).value();
    std::memcpy(bytes->data(), record.data(), record.size());
    const std::string_view all(reinterpret_cast<const char*>(bytes->data()), record.size());
    const std::array items = {all.substr(1, 3), all.substr(6, 0), all.substr(8, 5)};
    return strings_within(account(), Shape{3}, std::move(bytes), items, Buffer::Ask::kRequired)
        .value();
  }
  const Tensor side_by_side_ =
      make_strings(account(), Shape{3}, std::array<std::string_view, 3>{"one", "", "three"})
          .value();
};

TEST_F(StringsWithin, AreWhatTheyWouldBeSideBySide) {
  const Tensor strings = apart();
  EXPECT_TRUE(strings_apart(strings));
  EXPECT_FALSE(strings_apart(side_by_side_));
  EXPECT_TRUE(strings.equals(side_by_side_));
  EXPECT_EQ(strings.footprint(), side_by_side_.footprint());
  EXPECT_EQ(strings.row(2).string_at(0), "three");
  EXPECT_TRUE(strings.slice(1, 3).equals(side_by_side_.slice(1, 3)));
  EXPECT_FALSE(strings.owns_whole_buffer());
  EXPECT_EQ(string_extent(strings), (std::pair<std::int64_t, std::int64_t>(1, 13)));
  EXPECT_EQ(string_extent(strings.slice(2, 3)), (std::pair<std::int64_t, std::int64_t>(8, 13)));
}

TEST_F(StringsWithin, AreCopiedTogether) {
  const Tensor strings = apart();
  const Tensor copy = compact(account(), strings).value();
  EXPECT_FALSE(strings_apart(copy));
  EXPECT_TRUE(copy.owns_whole_buffer());
  EXPECT_TRUE(copy.equals(side_by_side_));
  const std::array both = {side_by_side_.slice(1, 3), strings.slice(2, 3), strings};
  const Tensor joined = concat_rows(account(), both).value();
  ASSERT_EQ(joined.count(), 6);
  EXPECT_EQ(joined.string_at(1), "three");
  EXPECT_EQ(joined.string_at(2), "three");
  EXPECT_TRUE(joined.slice(3, 6).equals(side_by_side_));
  const std::array<std::int64_t, 2> backwards = {2, 0};
  const Tensor gathered = gather_rows(account(), strings, backwards).value();
  EXPECT_EQ(gathered.string_at(0), "three");
  EXPECT_EQ(gathered.string_at(1), "one");
}

}  // namespace
}  // namespace spillway
