#include "spillway/pipeline/graph_function.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "spillway/base/clock.h"
#include "spillway/base/test_point.h"
#include "spillway/testing/op_call.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

using graph::Operand;

Operand known(std::int64_t value) { return {graph::Node::constant(i64(value)), 0}; }

Operand applied(std::string_view op, std::vector<Operand> inputs, graph::Attrs attrs = {}) {
  auto made = graph::Node::make(*graph::find_op(op), std::move(inputs), std::move(attrs), nullptr);
  EXPECT_TRUE(made.ok()) << made.error().message();
  return {std::move(made).value(), 0};
}

// int64 of `shape` -> OP(it, by).
FunctionPtr traced(std::string_view op, std::int64_t by, const Shape& shape = {}) {
  const graph::NodePtr parameter = graph::Node::parameter({DType::kInt64, shape}, nullptr);
  const Operand result = applied(op, {{parameter, 0}, known(by)});
  const Shape out = result.spec().shape;
  return make_graph_function(graph::Graph::make({parameter}, {result}), i64_spec(out),
                             std::string(op), std::string(op));
}

// int64 scalar -> that many of the number 7.
FunctionPtr as_many() {
  const graph::NodePtr parameter = graph::Node::parameter({DType::kInt64, {}}, nullptr);
  const Operand dims = applied("reshape", {{parameter, 0}, {graph::Node::constant(i64s({1})), 0}});
  const Operand result = applied("fill", {dims, known(7)});
  return make_graph_function(graph::Graph::make({parameter}, {result}), i64_spec({kUnknownDim}),
                             "many", "many");
}

NodePtr mapped(const FunctionPtr& function, NodePtr input) {
  return node("map", {{"map_func", function}}, {std::move(input)});
}

TEST(GraphFunction, MapsInARowAreAppliedAsOne) {
  check_operator({.build =
                      [] {
                        return mapped(
                            traced("subtract", 3),
                            mapped(traced("multiply", 2), mapped(traced("add", 1), range(4))));
                      },
                  .expect = {"-1", "1", "3", "5"}});
}

TEST(GraphFunction, WhatAMergedStageWouldMakeIsNeverMade) {
  const graph::NodePtr one = graph::Node::parameter({DType::kInt64, {}}, nullptr);
  const Operand many = applied(
      "add", {{one, 0}, {graph::Node::constant(i64s(std::vector<std::int64_t>(1000, 1))), 0}});
  const NodePtr wide = mapped(
      make_graph_function(graph::Graph::make({one}, {many}), i64_spec({1000}), "wide", "wide"),
      range(4));
  const NodePtr scaled = mapped(traced("multiply", 2, {1000}), wide);
  const Opened opened = open(scaled);
  ASSERT_TRUE(opened.it->next({4}).ok());
  EXPECT_EQ(opened.run->stage_of(*wide)->stats().out.rows, 4);
  EXPECT_LT(opened.run->stage_of(*wide)->stats().bytes, 1000);
  EXPECT_GE(opened.run->stage_of(*scaled)->stats().bytes, 4 * 8000);
}

TEST(GraphFunction, OneThatCanFailKeepsItsOwnStage) {
  const NodePtr both = mapped(traced("add", 1), mapped(traced("floordiv", 0), range(2)));
  const Opened opened = open(both);
  const Next next = opened.it->next(Demand::one());
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().stage, "map#1");
}

TEST(GraphFunction, AShapeThatDependsOnValuesLeavesTheOtherPartWhole) {
  check_operator(
      {.build =
           [] { return mapped(traced("multiply", 2, {kUnknownDim}), mapped(as_many(), range(3))); },
       .expect = {"[]", "[14]", "[14 14]"}});
}

TEST(GraphFunction, ShapesThatDependOnValuesAreKnownToDoSo) {
  EXPECT_TRUE(as_many()->row_by_row());
  EXPECT_FALSE(traced("multiply", 2, {kUnknownDim})->row_by_row());
  EXPECT_FALSE(traced("multiply", 2)->row_by_row());
}

TEST(GraphFunction, RowByRowCallsRunAtOnceAndLeaveInOrder) {
  std::vector<std::string> expect;
  for (int i = 0; i < 40; ++i) {
    std::string row = "[";
    for (int k = 0; k < i; ++k) row += k == 0 ? "7" : " 7";
    expect.push_back(row + "]");
  }
  check_operator(
      {.build =
           [] {
             return node("map", {{"map_func", as_many()}, {"num_parallel_calls", std::int64_t{4}}},
                         {range(40)});
           },
       .expect = expect});
}

// int64 of `shape` -> whether its sum is even.
FunctionPtr even(const Shape& shape = {}) {
  const graph::NodePtr parameter = graph::Node::parameter({DType::kInt64, shape}, nullptr);
  const Operand sum = applied("reduce_sum", {{parameter, 0}});
  const Operand verdict = applied("equal", {applied("bitwise_and", {sum, known(1)}), known(0)});
  return make_graph_function(graph::Graph::make({parameter}, {verdict}),
                             Structure::tensor(DType::kBool, {}), "even", "even");
}

NodePtr filtered(const FunctionPtr& predicate, NodePtr input) {
  return node("filter", {{"predicate", predicate}}, {std::move(input)});
}

TEST(GraphFunction, AFilterTestsWhatTheMapBelowMakesInTheSameGraph) {
  check_operator({.build = [] { return filtered(even(), mapped(traced("floordiv", 2), range(9))); },
                  .expect = {"0", "0", "2", "2", "4"}});
  check_operator({.build = [] { return filtered(even(), mapped(traced("add", 1), range(6))); },
                  .expect = {"2", "4", "6"}});
  const NodePtr below = mapped(traced("add", 1), range(6));
  const NodePtr above = filtered(even(), below);
  const Opened opened = open(above);
  const Next next = opened.it->next({6});
  ASSERT_TRUE(next.ok() && next.value());
  EXPECT_EQ(next.value()->row(0).values[0].as<std::int64_t>()[0], 2);
  // The map handed its input on.
  EXPECT_EQ(opened.run->stage_of(*below)->stats().out.rows, 6);
  EXPECT_EQ(opened.it->stage().stats().filtered.rows, 3);
}

TEST(GraphFunction, AFilterTakesNoMoreMappedRowsThanAreDemanded) {
  const graph::NodePtr one = graph::Node::parameter({DType::kInt64, {}}, nullptr);
  const Operand many = applied(
      "add", {{one, 0}, {graph::Node::constant(i64s(std::vector<std::int64_t>(1000, 1))), 0}});
  const NodePtr wide = mapped(
      make_graph_function(graph::Graph::make({one}, {many}), i64_spec({1000}), "wide", "wide"),
      range(100));
  const Opened opened = open(filtered(even({1000}), wide));
  const Next next = opened.it->next({100, 17'000, 1'000'000'000});
  ASSERT_TRUE(next.ok() && next.value());
  EXPECT_EQ(next.value()->rows(), 2);
}

TEST(GraphFunction, AFilterOverRowsOfDifferentShapesTestsThemAll) {
  check_operator(
      {.build = [] { return filtered(even({kUnknownDim}), mapped(as_many(), range(4))); },
       .expect = {"[]", "[7 7]"}});
}

#ifdef SW_TEST_POINTS
TEST(GraphFunction, TimeThatIsUpDoesNotMoveAnErrorToAnotherRow) {
  const graph::NodePtr one = graph::Node::parameter({DType::kInt64, {}}, nullptr);
  const Operand quotient = applied("floordiv", {known(12), {one, 0}});
  const FunctionPtr function =
      make_graph_function(graph::Graph::make({one}, {quotient}), i64_spec({}), "by", "by");
  const auto call = [&](std::vector<std::int64_t> by, std::int64_t deadline) {
    const auto rows = std::ssize(by);
    std::vector<Column> columns;
    columns.emplace_back(i64s(std::move(by)));
    CallContext context{op_account(), 0, 0};
    context.deadline_ns = deadline;
    return function->call({i64_spec({}), rows, std::move(columns), Origins()}, context);
  };
  ASSERT_TRUE(call({1, 2}, INT64_MAX).error.ok());  // from now on it knows how long a row takes
  const std::int64_t deadline = now_ns() + 500'000'000;
  const ScopedTestPoint late("graph_function.failed", [&] {
    while (now_ns() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  });
  const Function::Outcome outcome = call({1, 2, 3, 0, 4}, deadline);
  EXPECT_FALSE(outcome.error.ok());
  EXPECT_EQ(outcome.out.rows(), 3);
}
#endif

TEST(GraphFunction, TheMergedFunctionIsMadeOnce) {
  const FunctionPtr inner = traced("add", 1);
  const FunctionPtr outer = traced("multiply", 2);
  EXPECT_EQ(outer->after(inner), outer->after(inner));
  EXPECT_EQ(outer->after(scalar_fn([](std::int64_t x) -> Result<std::int64_t> { return x; })),
            nullptr);
}

}  // namespace
}  // namespace spillway::testing
