#include "spillway/pipeline/dataset_template.h"

#include <gtest/gtest.h>

#include "spillway/graph/graph.h"
#include "spillway/pipeline/graph_function.h"
#include "spillway/testing/operator_conformance.h"

namespace spillway::testing {
namespace {

using graph::Operand;

// int64 scalar x -> (x): what goes into the holes.
FunctionPtr the_element() {
  const graph::NodePtr x = graph::Node::parameter({DType::kInt64, {}}, nullptr);
  return make_graph_function(graph::Graph::make({x}, {{x, 0}}), Structure::tuple({i64_spec()}),
                             "same", "same");
}

FunctionPtr form_of(NodePtr dataset, std::vector<TemplateHole> holes, bool values = true) {
  auto made = make_template_function(
      {std::move(dataset), std::move(holes), {}, values ? the_element() : nullptr},
      Structure::dataset(i64_spec()), "code", "form");
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

NodePtr flat(const FunctionPtr& function, std::int64_t n) {
  return node("flat_map", {{"map_func", function}}, {range(n)});
}

TEST(DatasetTemplate, PutsAValueIntoASize) {
  check_operator({.build =
                      [] {
                        const NodePtr taken =
                            node("take", {{"count", std::int64_t{1}}}, {range(9)});
                        return flat(form_of(taken, {{taken, 0, 0, 0}}), 4);
                      },
                  .expect = {"0", "0", "1", "0", "1", "2"}});
}

TEST(DatasetTemplate, PutsAValueIntoASource) {
  check_operator({.build =
                      [] {
                        const NodePtr one =
                            node("from_tensors", {{"tensors", element(i64_spec(), {i64(0)})}});
                        return flat(form_of(one, {{one, 0, 0, 0}}), 3);
                      },
                  .expect = {"0", "1", "2"}});
}

TEST(DatasetTemplate, BindsWhatAnInnerFunctionTakesFromOutside) {
  check_operator(
      {.build =
           [] {
             const graph::NodePtr y = graph::Node::parameter({DType::kInt64, {}}, nullptr);
             const graph::NodePtr x = graph::Node::parameter({DType::kInt64, {}}, nullptr);
             auto sum = graph::Node::make(*graph::find_op("add"), {{y, 0}, {x, 0}}, {}, nullptr);
             const FunctionPtr add = make_graph_function(
                 graph::Graph::make({y, x}, {{sum.value(), 0}}), i64_spec(), "add", "add");
             const NodePtr mapped = node("map", {{"map_func", add}}, {range(2)});
             return flat(form_of(mapped, {{mapped, 0, 0, 0}}), 3);
           },
       .expect = {"0", "1", "1", "2", "2", "3"}});
}

TEST(DatasetTemplate, AnErrorInOneElementsPipelineStandsInItsPlace) {
  check_operator({.build =
                      [] {
                        const NodePtr batched = batches_of(1, range(2));
                        return flat(form_of(batched, {{batched, 0, 0, 0}}), 2);
                      },
                  .expect = {"!INVALID_ARGUMENT", "[0]", "[1]"}});
}

TEST(DatasetTemplate, WhatACallWouldDrawAnewIsNoForm) {
  const NodePtr shuffled = node("shuffle", {{"buffer_size", std::int64_t{3}}}, {range(3)});
  const auto made =
      make_template_function({shuffled, {}, {}, nullptr}, Structure::dataset(i64_spec()), "", "");
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace spillway::testing
