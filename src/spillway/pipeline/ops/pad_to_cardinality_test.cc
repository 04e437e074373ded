#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

// {"key": x} for x in 1..n.
NodePtr dicts(std::int64_t n, const std::string& key = "n") {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= n; ++i) values.push_back(i);
  return node("from_tensor_slices",
              {{"tensors", element(Structure::dict({key}, {i64_spec({n})}), {i64s(values)})}});
}

NodePtr padded(std::int64_t to, NodePtr input, const std::string& mask = "valid") {
  return node("pad_to_cardinality", {{"cardinality", to}, {"mask_key", mask}}, {std::move(input)});
}

std::string refusal(std::int64_t to, NodePtr input) {
  const auto made = try_node("pad_to_cardinality", {{"cardinality", to}, {"mask_key", "valid"}},
                             {std::move(input)});
  if (made.ok()) return "accepted";
  EXPECT_EQ(made.error().info().type, "ValueError");
  return std::string(made.error().message());
}

TEST(PadToCardinality, AddsZerosAndTellsThemApart) {
  check_operator({.build = [] { return padded(4, dicts(2)); },
                  .expect = {"{n: 1, valid: true}", "{n: 2, valid: true}", "{n: 0, valid: false}",
                             "{n: 0, valid: false}"}});
  check_operator({.build = [] { return padded(2, dicts(2)); },
                  .expect = {"{n: 1, valid: true}", "{n: 2, valid: true}"}});
  EXPECT_EQ(padded(4, dicts(2))->cardinality(), 4);
}

TEST(PadToCardinality, PutsTheMaskInTheOrderOfTheKeys) {
  check_operator({.build = [] { return padded(2, dicts(1, "zebra")); },
                  .expect = {"{valid: true, zebra: 1}", "{valid: false, zebra: 0}"}});
}

TEST(PadToCardinality, TakesThePlaceOfAnEntryOfTheSameName) {
  check_operator(
      {.build = [] { return padded(2, dicts(1), "n"); }, .expect = {"{n: true}", "{n: false}"}});
}

TEST(PadToCardinality, RefusesWhatItCannotPad) {
  EXPECT_NE(refusal(1, dicts(2)).find("target cardinality (1)"), std::string::npos);
  EXPECT_NE(refusal(5, range(2)).find("a dictionary"), std::string::npos);
  EXPECT_NE(refusal(5, node("repeat", {}, {dicts(2)})).find("known cardinality"),
            std::string::npos);
}

}  // namespace
}  // namespace spillway::testing
