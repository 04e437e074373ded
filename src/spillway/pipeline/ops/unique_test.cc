#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr unique(NodePtr input) { return node("unique", {}, {std::move(input)}); }
NodePtr modulo(std::int64_t by, NodePtr input) {
  return node(
      "map",
      {{"map_func", scalar_fn([by](std::int64_t x) -> Result<std::int64_t> { return x % by; })}},
      {std::move(input)});
}

TEST(Unique, KeepsFirstOccurrences) {
  check_operator({.build = [] { return unique(modulo(3, range(8))); }, .expect = {"0", "1", "2"}});
  check_operator({.build = [] { return unique(range(3)); }, .expect = {"0", "1", "2"}});
}

TEST(Unique, ComparesWholeTensorsWithTheirShapes) {
  check_operator({.build = [] { return unique(vectors_of({2, 1, 2, 0, 1, 0})); },
                  .expect = {"[2 2]", "[1]", "[]"}});
}

TEST(Unique, ComparesStrings) {
  const auto words = [] {
    return node("from_tensor_slices",
                {{"tensors", element(Structure::tensor(DType::kString, {4}),
                                     {make_strings(Budget::process().open_account("test"), {4},
                                                   std::vector<std::string_view>{"a", "", "a", ""})
                                          .value()})}});
  };
  check_operator({.build = [=] { return unique(words()); },
                  .expect = {"\x27"
                             "a\x27",
                             "\x27\x27"}});
}

TEST(Unique, HandsOutErrorsInTheirPlaces) {
  check_operator({.build = [] { return unique(modulo(3, failing_range(6, 4))); },
                  .expect = {"0", "1", "2", "!DATA_LOSS"}});
}

TEST(Unique, ChargesWhatItRemembers) {
  const Opened opened = open(unique(range(100)));
  drain(*opened.it);
  EXPECT_GT(opened.run->stages()[1]->account()->held(), 100U * 8);
}

TEST(Unique, RefusesOtherTypesAndSeveralComponents) {
  const NodePtr floats = node("range", {{"start", std::int64_t{0}},
                                        {"stop", std::int64_t{2}},
                                        {"output_type", std::string("float32")}});
  const auto made = try_node("unique", {}, {floats});
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().info().type, "TypeError");
  EXPECT_EQ(made.error().message(),
            "`tf.data.Dataset.unique` does not support type <dtype: \x27"
            "float32\x27> -- only "
            "`tf.int32`, `tf.int64`, and `tf.string` are supported.");
  const auto pair = try_node("unique", {}, {node("enumerate", {}, {range(2)})});
  ASSERT_FALSE(pair.ok());
  EXPECT_EQ(pair.error().message(), "UniqueDataset only supports inputs with a single component.");
}

}  // namespace
}  // namespace spillway::testing
