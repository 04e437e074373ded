#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

StructurePtr shape_spec(Shape shape) { return i64_spec(std::move(shape)); }
ElementPtr scalar(Tensor value) {
  StructurePtr structure = Structure::tensor(value.dtype(), value.shape());
  return element(std::move(structure), {std::move(value)});
}
NodePtr padded(std::int64_t size, NodePtr input, NamedValues more = {}) {
  more.emplace_back("batch_size", size);
  return node("padded_batch", more, {std::move(input)});
}
Status refusal(NodePtr input, NamedValues more) {
  more.emplace_back("batch_size", std::int64_t{2});
  auto made = try_node("padded_batch", more, {std::move(input)});
  EXPECT_FALSE(made.ok());
  return made.ok() ? Status() : std::move(made).status();
}

TEST(PaddedBatch, PadsToTheLargestOfTheBatch) {
  check_operator({.build = [] { return padded(2, vectors_of({3, 1, 4, 0, 2})); },
                  .expect = {"[[3 3 3] [1 0 0]]", "[[4 4 4 4] [0 0 0 0]]", "[[2 2]]"}});
}

TEST(PaddedBatch, PadsToTheShapeGiven) {
  check_operator(
      {.build = [] { return padded(2, vectors_of({3, 1}), {{"padded_shapes", shape_spec({4})}}); },
       .expect = {"[[3 3 3 0] [1 0 0 0]]"}});
  const NodePtr node = padded(2, vectors_of({3, 1}), {{"padded_shapes", shape_spec({4})}});
  EXPECT_EQ(node->structure()->shape(), (Shape{kUnknownDim, 4}));
}

TEST(PaddedBatch, PadsWithTheValueGiven) {
  check_operator(
      {.build = [] { return padded(2, vectors_of({2, 1}), {{"padding_values", scalar(i64(-1))}}); },
       .expect = {"[[2 2] [1 -1]]"}});
}

TEST(PaddedBatch, PadsSeveralDimensions) {
  const auto matrices = [] {
    return node("batch", {{"batch_size", std::int64_t{2}}}, {vectors_of({1, 1, 3, 3, 2})});
  };
  check_operator({.build = [=] { return padded(3, matrices()); },
                  .expect = {"[[[1 0 0] [1 0 0]] [[3 3 3] [3 3 3]] [[2 2 0] [0 0 0]]]"}});
}

TEST(PaddedBatch, TakesAValueOrNoneForEachComponent) {
  const auto pairs = [] { return node("enumerate", {}, {vectors_of({2, 1})}); };
  auto list = std::make_shared<ValueList>();
  list->items = {Value(), scalar(i64(7))};
  const std::shared_ptr<const ValueList> values = list;
  check_operator({.build = [=] { return padded(2, pairs(), {{"padding_values", values}}); },
                  .expect = {"([0 1], [[2 2] [1 7]])"}});
}

TEST(PaddedBatch, StacksScalarsAndDropsARemainder) {
  check_operator({.build = [] { return padded(2, range(3)); }, .expect = {"[0 1]", "[2]"}});
  check_operator({.build = [] { return padded(2, range(3), {{"drop_remainder", true}}); },
                  .expect = {"[0 1]"}});
  check_operator({.build = [] { return padded(2, failing_range(5, 2)); },
                  .expect = {"[0 1]", "!DATA_LOSS", "[3 4]"}});
}

TEST(PaddedBatch, PadsStrings) {
  const auto words = [] {
    const auto body = [](const Values& in) -> Result<Values> {
      const std::vector<std::string_view> items(static_cast<std::size_t>(*in[0].as<std::int64_t>()),
                                                "x");
      const auto account = Budget::process().open_account("test");
      const Shape shape{static_cast<std::int64_t>(items.size())};
      SW_ASSIGN(Tensor out, make_strings(account, shape, items));
      return Values{std::move(out)};
    };
    return node("map", {{"map_func", fn(Structure::tensor(DType::kString, {kUnknownDim}), body)}},
                {range(3)});
  };
  check_operator({.build = [=] { return padded(3, words()); },
                  .expect = {"[[\x27\x27 \x27\x27] [\x27x\x27 \x27\x27] [\x27x\x27 \x27x\x27]]"}});
}

TEST(PaddedBatch, FailsWithTheWholeBatchWhenARowIsTooLong) {
  check_operator({.build =
                      [] {
                        return padded(2, vectors_of({3, 1, 4, 1, 2}),
                                      {{"padded_shapes", shape_spec({3})}});
                      },
                  .expect = {"[[3 3 3] [1 0 0]]", "!DATA_LOSS", "[[2 2 0]]"}});
}

TEST(PaddedBatch, FailsWhenARowHasAnotherRank) {
  check_operator({.build =
                      [] {
                        return padded(2, vectors_of({1, 2}, Shape::unknown_rank()),
                                      {{"padded_shapes", shape_spec({})}});
                      },
                  .expect = {"!INVALID_ARGUMENT"}});
}

TEST(PaddedBatch, RefusesWhatCannotFit) {
  EXPECT_EQ(refusal(vectors_of({1}, {3}), {{"padded_shapes", shape_spec({1})}}).message(),
            "The padded shape (1,) is not compatible with the shape (3,) of the corresponding "
            "input component.");
  EXPECT_EQ(refusal(vectors_of({1}), {{"padded_shapes", shape_spec({})}}).info().type,
            "ValueError");
  EXPECT_EQ(refusal(vectors_of({1}, Shape::unknown_rank()), {}).message(),
            "You must provide `padded_shapes` argument because component 0 has unknown rank.");
  EXPECT_EQ(
      refusal(vectors_of({1}), {{"padding_values", scalar(str("x"))}}).message(),
      "Invalid `padding_values`. `padding_values` values type <dtype: \x27string\x27> does not "
      "match type <dtype: \x27int64\x27> of the corresponding input component.");
  EXPECT_EQ(refusal(vectors_of({1}), {{"padding_values", scalar(i64s({1, 2}))}}).message(),
            "Invalid `padding_values`. `padding_values` values should be scalars, but got (2,).");
}

TEST(PaddedBatch, ThatFindsNoMemoryLosesNoRowAndGoesOn) {
  check_scarcity([] { return padded(4, large_rows(16)); });
}

}  // namespace
}  // namespace spillway::testing
