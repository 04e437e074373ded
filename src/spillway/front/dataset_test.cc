#include "spillway/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "spillway/memory.h"
#include "spillway/testing/pipelines.h"

namespace spillway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using I64 = std::int64_t;

// Every element as text; errors as their code.
std::vector<std::string> shown(const Dataset& dataset) {
  std::vector<std::string> out;
  for (const Result<Sample>& sample : dataset) {
    out.push_back(sample.ok() ? sample.value().to_string()
                              : "!" + std::string(to_string(sample.error().code())));
  }
  return out;
}

Result<Sample> doubled(const Sample& sample) {
  SW_ASSIGN(const I64 x, sample.get<I64>());
  return Sample(x * 2);
}

Result<Sample> fails_at_two(const Sample& sample) {
  SW_ASSIGN(const I64 x, sample.get<I64>());
  if (x == 2) return bad_data(Code::kDataLoss, "two is torn");
  return Sample(x);
}

TEST(CppDataset, AChainGivesWhatTheOperatorsGive) {
  const auto ds = Dataset::range(7).skip(1).map("double", Spec::of<I64>(), doubled).batch(4);
  EXPECT_THAT(shown(ds), ElementsAre("[2 4 6 8]", "[10 12]"));
  EXPECT_EQ(ds.cardinality(), 2);
  EXPECT_EQ(ds.element_spec(), Spec::of<I64>({-1}));
}

TEST(CppDataset, TheHashIsThatOfTheSameNodesBuiltByTheEngine) {
  const NodePtr node = testing::node(
      "shuffle", {{"buffer_size", I64{4}}, {"seed", I64{87654321}}, {"seed2", I64{42}}},
      {testing::range(10)});
  EXPECT_EQ(Dataset::range(10).shuffle(4, 42).spec_hash(), node->hash());
}

TEST(CppDataset, ASeededShuffleHasTensorFlowsOrder) {
  EXPECT_THAT(shown(Dataset::range(5).shuffle(5, 42)), ElementsAre("0", "4", "1", "3", "2"));
}

TEST(CppDataset, ApplyTakesDefaultsFromTheDefinition) {
  const auto named = Dataset::range(5).batch(2);
  EXPECT_EQ(Dataset::range(5).apply("batch", {{"batch_size", 2}}).spec_hash(), named.spec_hash());
  const auto counter = Dataset::source("counter", {{"start", 3}, {"step", 4}});
  EXPECT_THAT(shown(counter.take(3)), ElementsAre("3", "7", "11"));
  EXPECT_EQ(counter.spec_hash(),
            Dataset::source("counter", {{"start", 3.0}, {"step", 4.0}}).spec_hash());
}

TEST(CppDataset, AMistakeIsKeptWithItsLineAndPassedOn) {
  const auto ds = Dataset::range(3).batch(0).repeat(2);
  ASSERT_FALSE(ds.status().ok());
  EXPECT_EQ(ds.status().kind(), ErrorKind::kUser);
  EXPECT_THAT(describe(ds.status()), HasSubstr("dataset_test.cc:"));
  EXPECT_THAT(shown(ds), ElementsAre("!INVALID_ARGUMENT"));
  EXPECT_FALSE(ds.iterate().ok());
  EXPECT_FALSE(ds.to_json().ok());
}

TEST(CppDataset, WrongArgumentsAreNamed) {
  const auto range = Dataset::range(3);
  const auto why = [](const Dataset& ds) { return std::string(ds.status().message()); };
  EXPECT_EQ(why(range.apply("tkae", {})), "no such operator: tkae");
  EXPECT_EQ(why(range.apply("take", {})), "take: must be given: count");
  EXPECT_EQ(why(range.apply("take", {{"conut", 1}})), "take: has no parameter: conut");
  EXPECT_EQ(why(range.apply("take", {{"count", "a"}})), "take: count must be int: 'a'");
  EXPECT_EQ(why(range.apply("range", {{"start", 0}, {"stop", 1}})),
            "range: is a source, it continues no dataset");
  EXPECT_EQ(why(Dataset::source("take", {{"count", 1}})),
            "take: continues a dataset, it is no source");
  EXPECT_EQ(why(range.apply("take", {{"count", range}})), "take: count: must be int: a dataset");
  EXPECT_EQ(why(range.map("", Spec::of<I64>(), doubled)),
            "map: map_func: map: needs a name, the spec of the results and a function");
}

TEST(CppDataset, AnErrorComesInItsElementsPlaceWithItsAddress) {
  const auto ds = Dataset::range(4).map("torn", Spec::of<I64>(), fails_at_two);
  EXPECT_THAT(shown(ds), ElementsAre("0", "1", "!DATA_LOSS", "3"));
  auto it = std::move(ds.iterate()).value();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(it.next().ok());
  const auto next = it.next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.error().info().stage, "map#1");
  EXPECT_EQ(next.error().info().index, 2);
  EXPECT_THAT(describe(next.error()), HasSubstr("element 2 of its input"));
}

TEST(CppDataset, AnExceptionOfTheFunctionIsItsElementsError) {
  const auto ds = Dataset::range(2).map(
      "throws", Spec::of<I64>(),
      [](const Sample&) -> Result<Sample> { throw std::runtime_error("no luck"); });
  const auto next = std::move(ds.iterate()).value().next();
  EXPECT_EQ(next.error().message(), "throws: no luck");
  EXPECT_EQ(next.error().code(), Code::kUnknown);
}

TEST(CppDataset, AStatusThatTheFunctionKeepsIsNotChangedByTheEngine) {
  const Status kept = bad_data(Code::kDataLoss, "kept");
  const auto ds = Dataset::range(3).map("keeps", Spec::of<I64>(),
                                        [&](const Sample&) -> Result<Sample> { return kept; });
  EXPECT_EQ(shown(ds).size(), 3U);
  EXPECT_EQ(kept.info().stage, "");
  EXPECT_EQ(kept.info().index, -1);
}

TEST(CppDataset, AResultThatIsNotAsDeclaredIsRefused) {
  const auto other = Dataset::range(1).map("double", Spec::of<float>(), doubled);
  EXPECT_THAT(shown(other), ElementsAre("!INVALID_ARGUMENT"));
  const auto nest = Dataset::range(1).map("double", Spec::tuple({Spec::of<I64>()}), doubled);
  EXPECT_THAT(shown(nest), ElementsAre("!INVALID_ARGUMENT"));
}

TEST(CppDataset, FunctionsMakeStringsTuplesAndArraysOfAnyShape) {
  const Spec spec = Spec::tuple({Spec::tensor("string"), Spec::of<I64>({-1})});
  const auto ds = Dataset::range(3).map("name", spec, [](const Sample& s) -> Result<Sample> {
    SW_ASSIGN(const I64 n, s.get<I64>());
    return Sample::tuple({"n" + std::to_string(n), Array::of(std::vector<I64>(n, n))});
  });
  EXPECT_THAT(shown(ds), ElementsAre("('n0', [])", "('n1', [1])", "('n2', [2 2])"));
}

TEST(CppDataset, ParallelCallsKeepTheOrder) {
  std::atomic<int> calls{0};
  const auto ds = Dataset::range(200).map(
      "count", Spec::of<I64>(),
      [&](const Sample& s) {
        ++calls;
        return doubled(s);
      },
      4);
  const auto out = shown(ds);
  ASSERT_EQ(out.size(), 200U);
  for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], std::to_string(2 * i));
  EXPECT_EQ(calls, 200);
}

TEST(CppDataset, FilterAndFlatMapTakeFunctions) {
  const auto odd = [](const Sample& s) -> Result<bool> {
    SW_ASSIGN(const I64 x, s.get<I64>());
    return x % 2 == 1;
  };
  const auto up_to = [](const Sample& s) -> Result<Dataset> {
    SW_ASSIGN(const I64 x, s.get<I64>());
    return Dataset::range(x);
  };
  EXPECT_THAT(shown(Dataset::range(5).filter("odd", odd)), ElementsAre("1", "3"));
  EXPECT_THAT(shown(Dataset::range(4).filter("odd", odd).flat_map("up", Spec::of<I64>(), up_to)),
              ElementsAre("0", "0", "1", "2"));
}

TEST(CppDataset, ConstantsZipAndConcatenateMakeNests) {
  const auto slices = Dataset::from_tensor_slices(
      Sample::dict({{"y", Array::of({std::string("a"), std::string("b")})},
                    {"x", Array::of(std::vector<float>{1, 2, 3, 4}, {2, 2})}}));
  EXPECT_THAT(shown(slices), ElementsAre("{x: [1 2], y: 'a'}", "{x: [3 4], y: 'b'}"));
  const auto zipped = Dataset::zip({Dataset::range(2), Dataset::range(5, 7)});
  EXPECT_THAT(shown(zipped), ElementsAre("(0, 5)", "(1, 6)"));
  EXPECT_THAT(shown(Dataset::from_tensors(Array(7)).concatenate(Dataset::from_tensors(Array(8)))),
              ElementsAre("7", "8"));
}

TEST(CppDataset, ASavedPositionGoesOnInAnEqualPipeline) {
  const auto make = [] { return Dataset::range(50).shuffle(10, 7).batch(3); };
  auto first = std::move(make().iterate()).value();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(first.next().ok());
  const std::string state = std::move(first.save()).value();
  auto second = std::move(make().iterate()).value();
  ASSERT_TRUE(second.restore(state).ok());
  for (auto want = first.next(); want.value(); want = first.next()) {
    EXPECT_EQ(second.next().value()->to_string(), want.value()->to_string());
  }
  EXPECT_FALSE(second.next().value().has_value());
  auto other = std::move(Dataset::range(50).iterate()).value();
  EXPECT_FALSE(other.restore(state).ok());
}

TEST(CppDataset, TheAuditAddsUpAndCloseEndsThePass) {
  const auto ds = Dataset::range(10).filter("most", [](const Sample& s) -> Result<bool> {
    SW_ASSIGN(const I64 x, s.get<I64>());
    return x != 3;
  });
  auto it = std::move(ds.iterate({.read_ahead = false, .name = ""})).value();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(it.next().ok());
  const AuditTotals audit = it.audit();
  EXPECT_EQ(audit.delivered, 5);
  EXPECT_EQ(audit.filtered, 1);
  EXPECT_EQ(audit.total, audit.delivered + audit.filtered + audit.held);
  it.close();
  EXPECT_FALSE(it.next().value().has_value());
}

TEST(CppDataset, AKeptSampleDoesNotKeepItsChunk) {
  std::optional<Sample> kept;
  {
    auto it = std::move(Dataset::range(1000).iterate({.name = "thousand"})).value();
    for (int i = 0; i < 500; ++i) kept = std::move(it.next().value());
  }
  EXPECT_EQ(kept->get<I64>().value(), 499);
  EXPECT_THAT(memory_report().text, ::testing::Not(HasSubstr("thousand")));
}

TEST(CppDataset, JsonCarriesThePipelineAndAsksForItsFunctions) {
  const auto ds = Dataset::range(3).map("double", Spec::of<I64>(), doubled);
  const std::string text = std::move(ds.to_json()).value();
  EXPECT_FALSE(Dataset::from_json(text).status().ok());
  const auto back =
      Dataset::from_json(text, {{"double", Callable::map("double", Spec::of<I64>(), doubled)}});
  EXPECT_EQ(back.spec_hash(), ds.spec_hash());
  EXPECT_THAT(shown(back), ElementsAre("0", "2", "4"));
}

}  // namespace
}  // namespace spillway
