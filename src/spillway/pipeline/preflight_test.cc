#include "spillway/pipeline/preflight.h"

#include <gmock/gmock.h>

#include "spillway/testing/pipelines.h"

namespace spillway::testing {
namespace {

using ::testing::ElementsAre;

NodePtr on(std::string_view op, NodePtr input, const NamedValues& params = {}) {
  return node(op, params, {std::move(input)});
}
NodePtr mapped(NodePtr input, const NamedValues& more = {}) {
  NamedValues params = more;
  params.emplace_back("map_func", Value(scalar_fn([](std::int64_t x) { return x; })));
  return node("map", params, {std::move(input)});
}
// The operators from the source on.
std::vector<std::string> operators(const NodePtr& of) {
  std::vector<std::string> out;
  if (!of->inputs().empty()) out = operators(of->inputs()[0]);
  out.emplace_back(of->op().name);
  return out;
}
std::vector<std::string> checked(const NodePtr& root) { return operators(preflight(root).value()); }
Value number(std::int64_t n) { return n; }

TEST(Preflight, LeavesOutWhatOnlyOrdersOrRepeatsElements) {
  NodePtr root = on("shuffle", range(10), {{"buffer_size", number(5)}});
  root = on("cache", mapped(on("repeat", root)));
  root = on("prefetch", batches_of(4, root), {{"buffer_size", number(2)}});
  EXPECT_THAT(checked(root), ElementsAre("range", "map"));
  EXPECT_EQ(preflight(root).value()->cardinality(), 10);
}

TEST(Preflight, KeepsBatchesThatAFunctionGets) {
  const StructurePtr batch = i64_spec({kUnknownDim});
  const FunctionPtr f = fn(batch, [](const Values& values) -> Result<Values> { return values; });
  const NodePtr root = node("map", {{"map_func", Value(f)}}, {batches_of(4, mapped(range(10)))});
  EXPECT_THAT(checked(root), ElementsAre("range", "map", "on_error", "batch", "map"));
  EXPECT_THAT(checked(on("take", batches_of(4, range(10)), {{"count", number(1)}})),
              ElementsAre("range", "on_error", "batch", "take"));
}

TEST(Preflight, ABatchIsFilledWithWhatDidNotFail) {
  const StructurePtr batch = i64_spec({kUnknownDim});
  const FunctionPtr f = fn(batch, [](const Values& values) -> Result<Values> { return values; });
  const NodePtr root = node("map", {{"map_func", Value(f)}}, {batches_of(2, failing_range(5, 1))});
  EXPECT_THAT(elements(preflight(root).value()), ElementsAre("[0 2]", "[3 4]"));
}

TEST(Preflight, TellsOfElementsThatThePipelineSkips) {
  const FunctionPtr fails = scalar_fn([](std::int64_t x) -> Result<std::int64_t> {
    if (x == 1) return bad_data(Code::kDataLoss, "one");
    return x;
  });
  const auto skipping = [&](std::string_view action) {
    return node("map", {{"map_func", Value(fails)}, {"on_error", Value(std::string(action))}},
                {range(3)});
  };
  EXPECT_THAT(elements(skipping("skip")), ElementsAre("0", "2"));
  EXPECT_THAT(elements(preflight(skipping("skip")).value()), ElementsAre("0", "!DATA_LOSS", "2"));
  EXPECT_THAT(elements(preflight(on("ignore_errors", skipping("skip"))).value()),
              ElementsAre("0", "!DATA_LOSS", "2"));
  const NodePtr retried = preflight(skipping("retry")).value();
  EXPECT_EQ(retried->int_param("retries"), 2);
  EXPECT_EQ(retried->string_param("on_error"), "raise");
}

TEST(Preflight, TakesAllOfWhatAShuffleWouldChooseFrom) {
  const NodePtr shuffled = on("shuffle", range(10), {{"buffer_size", number(5)}});
  EXPECT_THAT(checked(on("take", shuffled, {{"count", number(3)}})), ElementsAre("range"));
  EXPECT_THAT(checked(on("take", range(10), {{"count", number(3)}})), ElementsAre("range", "take"));
  const NodePtr endless =
      on("take", on("shuffle", on("repeat", range(2)), {{"buffer_size", number(5)}}),
         {{"count", number(3)}});
  EXPECT_THAT(checked(endless), ElementsAre("range", "take"));
}

TEST(Preflight, ARepeatBesideSomethingThatEndsStays) {
  const NodePtr zipped = node("zip", {}, {range(5), on("repeat", range(2))});
  EXPECT_EQ(preflight(zipped).value()->cardinality(), 5);
  const NodePtr endless = node("zip", {}, {on("repeat", range(5)), on("repeat", range(5))});
  EXPECT_EQ(preflight(endless).value()->cardinality(), 5);
}

}  // namespace
}  // namespace spillway::testing
