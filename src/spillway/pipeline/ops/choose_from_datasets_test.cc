#include <gtest/gtest.h>

#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

NodePtr from(std::int64_t start, std::int64_t stop) {
  return node("range", {{"start", start}, {"stop", stop}});
}

NodePtr mapped(const NodePtr& input, std::function<Result<std::int64_t>(std::int64_t)> f) {
  return node("map", {{"map_func", scalar_fn(std::move(f))}}, {input});
}

NodePtr choices(std::vector<std::int64_t> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return mapped(range(count), [values = std::move(values)](std::int64_t i) {
    return values[static_cast<std::size_t>(i)];
  });
}

NodePtr choose(const NodePtr& choice, std::vector<NodePtr> datasets, bool stop) {
  std::vector<NodePtr> inputs = {choice};
  inputs.insert(inputs.end(), datasets.begin(), datasets.end());
  return node("choose_from_datasets", {{"stop_on_empty_dataset", stop}}, std::move(inputs));
}

NodePtr failing(const NodePtr& input, std::int64_t bad) {
  return mapped(input, [bad](std::int64_t x) -> Result<std::int64_t> {
    if (x == bad) return bad_data(Code::kDataLoss, "bad");
    return x;
  });
}

TEST(ChooseFromDatasets, AnEmptyOneEndsAllOrIsPassedOver) {
  const auto build = [](bool stop) {
    return choose(choices({0, 1, 2, 2, 2, 0, 0, 0, 1, 1, 1}),
                  {range(3), from(10, 13), from(20, 22)}, stop);
  };
  check_operator({.build = [=] { return build(true); }, .expect = {"0", "10", "20", "21"}});
  check_operator({.build = [=] { return build(false); },
                  .expect = {"0", "10", "20", "21", "1", "2", "11", "12"}});
}

TEST(ChooseFromDatasets, EndsWhenAllDatasetsHaveEnded) {
  int asked = 0;
  const NodePtr choice = mapped(range(1000), [&](std::int64_t i) {
    ++asked;
    return i % 2;
  });
  EXPECT_EQ(elements(choose(choice, {range(1), from(10, 11)}, false)),
            (std::vector<std::string>{"0", "10"}));
  EXPECT_EQ(asked, 4);
}

TEST(ChooseFromDatasets, PureChoicesAndDatasetsGiveChunks) {
  const auto build = [] { return choose(range(2), {range(3), from(10, 13)}, true); };
  check_operator({.build = build, .expect = {"0", "10"}});
}

TEST(ChooseFromDatasets, AnErrorUsesUpItsChoice) {
  for (const bool stop : {false, true}) {
    check_operator({.build =
                        [=] {
                          return choose(choices({0, 1, 0, 1, 0, 1}),
                                        {failing(range(3), 1), from(10, 13)}, stop);
                        },
                    .expect = {"0", "10", "!DATA_LOSS", "11", "2", "12"}});
    check_operator({.build =
                        [=] {
                          return choose(failing(range(3), 1),
                                        {range(3), from(10, 13), from(20, 23)}, stop);
                        },
                    .expect = {"0", "!DATA_LOSS", "20"}});
  }
}

TEST(ChooseFromDatasets, AChoiceOutOfRangeIsAnError) {
  check_operator(
      {.build = [] { return choose(choices({0, 2, 0, -1, 0, 1}), {range(3), from(10, 13)}, true); },
       .expect = {"0", "!INVALID_ARGUMENT", "1", "!INVALID_ARGUMENT", "2", "10"}});
}

TEST(ChooseFromDatasets, ElementsAreOfTheCommonSpec) {
  const auto wide = mapped(range(2), [](std::int64_t x) { return x; });
  const NodePtr both = choose(range(2), {range(2), wide}, true);
  EXPECT_EQ(*both->structure(), *i64_spec());
  EXPECT_EQ(both->cardinality(), kUnknownCount);
}

TEST(ChooseFromDatasets, RefusesWhatTensorFlowRefuses) {
  const NodePtr small = node("range", {{"start", std::int64_t{0}},
                                       {"stop", std::int64_t{2}},
                                       {"output_type", std::string("int32")}});
  const auto refused = [](std::vector<NodePtr> inputs) {
    const auto made = try_node("choose_from_datasets", {}, std::move(inputs));
    return made.ok() ? std::string()
                     : made.error().info().type + ": " + std::string(made.error().message());
  };
  EXPECT_EQ(refused({range(2)}), "ValueError: Invalid `datasets`. `datasets` should not be empty.");
  EXPECT_TRUE(refused({small, range(2)})
                  .starts_with("TypeError: Invalid `choice_dataset`. Elements of `choice_dataset` "
                               "must be scalar `tf.int64` tensors but are "));
  EXPECT_TRUE(refused({range(2), range(2), small})
                  .starts_with("TypeError: Invalid `datasets`. `datasets` must have compatible "
                               "element specs."));
}

}  // namespace
}  // namespace spillway::testing
