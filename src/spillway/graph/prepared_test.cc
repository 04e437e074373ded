#include "spillway/graph/prepared.h"

#include <gtest/gtest.h>

#include "spillway/graph/evaluate.h"
#include "spillway/testing/op_call.h"
#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

using graph::Node;
using graph::NodePtr;
using graph::Operand;
using graph::Prepared;

Operand op(const char* name, std::vector<Operand> inputs, graph::Attrs attrs = {}) {
  return {Node::make(*graph::find_op(name), std::move(inputs), std::move(attrs), nullptr).value(),
          0};
}
Operand parameter(Shape shape) { return {Node::parameter({DType::kInt64, std::move(shape)}), 0}; }
Result<std::vector<Tensor>> run(Prepared& prepared, std::vector<Tensor> values,
                                std::int64_t number = 0) {
  return prepared.run(values, {number, 0}, op_account(), Buffer::Ask::kRequired);
}

TEST(Prepared, OneGraphRunsOnValuesOfDifferentShapes) {
  const Operand x = parameter(Shape({-1}));
  auto prepared = Prepared::make({x}, {op("add", {x, x})}, op_account()).value();
  EXPECT_EQ(items_in<std::int64_t>(run(*prepared, {i64s({1, 2})}).value()[0]),
            (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(items_in<std::int64_t>(run(*prepared, {i64s({1, 2, 3})}).value()[0]),
            (std::vector<std::int64_t>{2, 4, 6}));
  EXPECT_EQ(prepared->plans(), 2U);
  prepared->drop_plans();
  EXPECT_EQ(prepared->plans(), 0U);
  EXPECT_EQ(items_in<std::int64_t>(run(*prepared, {i64s({5})}).value()[0]),
            (std::vector<std::int64_t>{10}));
}

TEST(Prepared, PlansAreBounded) {
  const Operand x = parameter(Shape({-1}));
  auto prepared = Prepared::make({x}, {op("add", {x, x})}, op_account()).value();
  for (std::size_t size = 1; size < 30; ++size) {
    ASSERT_TRUE(run(*prepared, {i64s(std::vector<std::int64_t>(size, 1))}).ok());
  }
  EXPECT_LE(prepared->plans(), 8U);
}

TEST(Prepared, WhatComputesAGivenOperandDoesNotRun) {
  const Operand x = parameter(Shape({2}));
  const Operand between = op("add", {x, x});
  auto prepared = Prepared::make({between}, {op("multiply", {between, between})}, op_account());
  ASSERT_TRUE(prepared.ok());
  EXPECT_EQ(items_in<std::int64_t>(run(*prepared.value(), {i64s({3, 4})}).value()[0]),
            (std::vector<std::int64_t>{9, 16}));
}

TEST(Prepared, AParameterWithoutAValueIsAnError) {
  const Operand x = parameter(Shape({2}));
  EXPECT_FALSE(Prepared::make({}, {op("add", {x, x})}, op_account()).ok());
  EXPECT_FALSE(Prepared::make({}, {x}, op_account()).ok());
}

TEST(Prepared, EachRunDrawsAnew) {
  const graph::Attrs attrs{{"shape", Shape({4})},
                           {"dtype", DType::kFloat32},
                           {"seed", std::int64_t{1}},
                           {"seed2", std::int64_t{2}},
                           {"per_row", true}};
  auto prepared = Prepared::make({}, {op("random_normal", {}, attrs)}, op_account()).value();
  const auto drawn = [&](std::int64_t number) {
    return items_in<float>(run(*prepared, {}, number).value()[0]);
  };
  EXPECT_EQ(drawn(3), drawn(3));
  EXPECT_NE(drawn(3), drawn(4));
}

TEST(Prepared, BoundToValuesItGivesTheVeryNumbersOfTheRun) {
  const graph::Attrs attrs{{"shape", Shape({3})},
                           {"dtype", DType::kInt64},
                           {"minval", std::int64_t{0}},
                           {"maxval", std::int64_t{1000}},
                           {"seed", std::int64_t{1}},
                           {"seed2", std::int64_t{2}},
                           {"per_row", true}};
  const Operand x = parameter(Shape({3}));
  const Operand drawn = op("random_uniform_int", {}, attrs);
  const Operand sum = op("add", {op("multiply", {x, x}), drawn});
  auto prepared = Prepared::make({x}, {sum, drawn, x}, op_account()).value();
  const std::vector<Tensor> values = {i64s({1, 2, 3})};
  for (const std::int64_t number : {0, 7}) {
    const auto ran = run(*prepared, values, number).value();
    const auto bound = prepared->bound(values, {number, 0}).value();
    ASSERT_TRUE(graph::evaluate(bound, op_account()).ok());
    for (std::size_t i = 0; i < ran.size(); ++i) {
      EXPECT_EQ(items_in<std::int64_t>(ran[i]), items_in<std::int64_t>(*bound[i].value())) << i;
    }
  }
}

TEST(Prepared, WhatCannotFitIsRefusedBeforeItRuns) {
  const graph::Attrs attrs{
      {"shape", Shape({1 << 20, 1 << 20, 1 << 10})}, {"dtype", DType::kFloat32}, {"per_row", true}};
  auto prepared = Prepared::make({}, {op("random_normal", {}, attrs)}, op_account()).value();
  const auto refused = run(*prepared, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind(), ErrorKind::kResource);
}

}  // namespace
}  // namespace spillway::testing
